"""The local recipe: two drafts by a small model, in two forms, answered only where they agree."""

from __future__ import annotations

from typing import Final

from groundql.checking.gates import kind_gate, limit_gate, path_gate, value_gate
from groundql.checking.probes import leaked_id_probe
from groundql.checking.rewrites import stored_forms, whole_limits
from groundql.core.answer import Grounding, Question
from groundql.core.ports import Env
from groundql.solvers.local_arrays import unwound_groups
from groundql.solvers.local_checks import counted_gate, empty_column_probe, misplaced_probe, unfiltered_gate
from groundql.solvers.local_choose import agreeing_forms
from groundql.solvers.local_counts import counted_items, counted_values, owned_field
from groundql.solvers.local_draft import draft_two_forms
from groundql.solvers.local_names import stated_categories, stated_limit, stored_names, without_missing
from groundql.solvers.loop import Loop


async def _ground(question: Question, env: Env) -> Grounding:
    return await env.grounder.ground(question)


LOCAL: Final = Loop(
    name="local",
    ground=_ground,
    draft=draft_two_forms,
    rewrites=(
        whole_limits,
        stored_names,
        stored_forms,
        unwound_groups,
        counted_items,
        owned_field,
        counted_values,
        stated_categories,
        stated_limit,
        without_missing,
    ),
    gates=(path_gate, kind_gate, value_gate, limit_gate, counted_gate, unfiltered_gate),
    probes=(empty_column_probe, misplaced_probe, leaked_id_probe),
    choose=agreeing_forms,
    attempts=4,
    eager=2,
    rounds=1,
)
"""Both forms are drafted once; only where they differ, once more with some chance, for a second opinion.

One round each: where measured, a small model that was told what is wrong said the same again, while a fresh draft often
does not.
"""
