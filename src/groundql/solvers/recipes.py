"""Every named solver and every ablation, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from groundql.checking.constants import constant_gate
from groundql.checking.gates import kind_gate, limit_gate, number_gate, path_gate, value_gate
from groundql.checking.joins import join_gate
from groundql.checking.probes import bisect_probe, empty_probe, leaked_id_probe, multiplied_probe, null_column_probe
from groundql.checking.rewrites import stored_forms, whole_limits
from groundql.core.answer import Grounding, Question
from groundql.core.ports import Env, Solver
from groundql.solvers.arbitrate import arbitrated_cluster
from groundql.solvers.local import LOCAL
from groundql.solvers.loop import Loop
from groundql.solvers.prompting import draft_pipeline


async def lattice(question: Question, env: Env) -> Grounding:
    """Ground a question in the stored catalog, its terms looked up in the data."""
    return await env.grounder.ground(question)


async def without_witnesses(question: Question, env: Env) -> Grounding:
    """Ground a question in the catalog alone."""
    return replace(await env.grounder.ground(question), witnesses=(), missing_terms=())


GATES: Final = (path_gate, kind_gate, constant_gate, value_gate, number_gate, limit_gate, join_gate)
PROBES: Final = (bisect_probe, null_column_probe, leaked_id_probe, multiplied_probe)

CARD: Final = Loop(name="path-card", ground=without_witnesses, draft=draft_pipeline)
GATED: Final = replace(
    CARD, name="gated-repair", rewrites=(whole_limits,), gates=(path_gate,), probes=(empty_probe,), rounds=6
)
VALUE: Final = replace(
    GATED, name="value-bisect", ground=lattice, rewrites=(whole_limits, stored_forms), gates=GATES, probes=PROBES
)
SAG: Final = replace(VALUE, name="sag", attempts=3, eager=2, choose=arbitrated_cluster)

SOLVERS: Final[Mapping[str, Solver]] = {s.name: s for s in (CARD, GATED, VALUE, SAG, LOCAL)}
