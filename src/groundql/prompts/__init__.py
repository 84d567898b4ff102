"""Prompts as text; `groundql.solvers.prompting` fills them in."""
