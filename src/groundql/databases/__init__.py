"""Thin drivers: describe, sample, execute, close."""
