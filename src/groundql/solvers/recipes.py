"""Every named solver and every ablation, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from groundql.checking.constants import constant_gate
from groundql.checking.gates import kind_gate, limit_gate, number_gate, path_gate, value_gate
from groundql.checking.joins import join_gate
from groundql.checking.probes import bisect_probe, empty_probe, leaked_id_probe, multiplied_probe, null_column_probe
from groundql.checking.rewrites import stored_forms, whole_limits
from groundql.core.answer import Grounding, Question
from groundql.core.ports import Env
from groundql.solvers.arbitrate import arbitrated_cluster
from groundql.solvers.choose import handed_in, largest_cluster, voted_or_handed_in
from groundql.solvers.direct import draft_by_sql, draft_directly, draft_in_steps
from groundql.solvers.explain import unexplained
from groundql.solvers.knockouts import spread_card, top_level_card, without_values
from groundql.solvers.local import LOCAL
from groundql.solvers.loop import Loop
from groundql.solvers.prompting import WriteCard, draft_pipeline
from groundql.solvers.react import draft_by_acting
from groundql.solvers.views import MOST_VALUES, WHOLE, see_documents, see_name, see_schema, ungrounded


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

# --- baselines: a view of the database instead of a grounding, no gates, no repair ------------------------------------

see_three = partial(see_documents, documents=3)
see_eight = partial(see_documents, documents=8, values=MOST_VALUES)
see_raw = partial(see_documents, documents=3, bounds=WHOLE, document_chars=12_288)

NLQ_ONLY: Final = Loop(
    name="nlq-only",
    ground=ungrounded,
    draft=partial(draft_directly, see=see_name),
    choose=handed_in,
    explain=unexplained,
)
SCHEMA_DIRECT: Final = replace(NLQ_ONLY, name="schema-direct", draft=partial(draft_directly, see=see_schema))
SAMPLED_DIRECT: Final = replace(NLQ_ONLY, name="sampled-direct", draft=partial(draft_directly, see=see_three))
RICH_DIRECT: Final = replace(NLQ_ONLY, name="rich-direct", draft=partial(draft_directly, see=see_eight))
SQL_PIVOT: Final = replace(NLQ_ONLY, name="sql-pivot", draft=partial(draft_by_sql, see=see_eight))
DIN_SQL: Final = replace(NLQ_ONLY, name="din-sql", draft=partial(draft_in_steps, see=see_eight))
REACT: Final = replace(NLQ_ONLY, name="react", draft=partial(draft_by_acting, see=see_schema))
BASELINES: Final = (NLQ_ONLY, SCHEMA_DIRECT, SAMPLED_DIRECT, RICH_DIRECT, SQL_PIVOT, DIN_SQL, REACT)


def consistent(arm: Loop) -> Loop:
    """Lay SAG's attempts and vote around a one-shot arm: what agreement alone is worth."""
    return replace(arm, name=f"sc3-{arm.name}", attempts=3, eager=3, choose=voted_or_handed_in)


CONTROLS: Final = tuple(consistent(arm) for arm in (SAMPLED_DIRECT, RICH_DIRECT, SQL_PIVOT))

# --- knockouts: SAG without one of its parts --------------------------------------------------------------------------


def carded(name: str, card: WriteCard) -> Loop:
    """Change SAG's card alone, for the drafts and for the choice between them."""
    return replace(
        SAG, name=name, draft=partial(draft_pipeline, card=card), choose=partial(arbitrated_cluster, card=card)
    )


NO_GATE: Final = replace(SAG, name="sag-no-gate", gates=())
NO_VALUE: Final = replace(
    SAG,
    name="sag-no-value",
    ground=without_values,
    rewrites=(whole_limits,),
    gates=(path_gate, kind_gate, constant_gate, join_gate),
    probes=(empty_probe, null_column_probe, multiplied_probe),
)
PLAIN_EMPTY: Final = replace(
    SAG, name="sag-plain-empty", probes=(empty_probe, null_column_probe, leaked_id_probe, multiplied_probe)
)
TOP_CARD: Final = carded("sag-top-card", top_level_card)
NO_COLLAPSE: Final = carded("sag-no-collapse", spread_card)
ONE_DECODE: Final = replace(CARD, name="sag-one-decode", ground=lattice)
NO_GROUNDING: Final = replace(
    SAG,
    name="sag-no-grounding",
    ground=ungrounded,
    draft=partial(draft_directly, see=see_raw),
    rewrites=(),
    gates=(),
    probes=(empty_probe,),
    choose=largest_cluster,
)
KNOCKOUTS: Final = (NO_GATE, NO_VALUE, PLAIN_EMPTY, TOP_CARD, NO_COLLAPSE, ONE_DECODE, NO_GROUNDING)

# --- the same without a word on the form of results -------------------------------------------------------------------


PLAIN: Final = (
    replace(
        SAG,
        name="sag-plain",
        draft=partial(draft_pipeline, conventions=""),
        choose=partial(arbitrated_cluster, conventions=""),
    ),
    replace(SAMPLED_DIRECT, name="sampled-direct-plain", draft=partial(draft_directly, see=see_three, conventions="")),
    replace(RICH_DIRECT, name="rich-direct-plain", draft=partial(draft_directly, see=see_eight, conventions="")),
    replace(REACT, name="react-plain", draft=partial(draft_by_acting, see=see_schema, conventions="")),
)

LADDER: Final = (CARD, GATED, VALUE, SAG)
SOLVERS: Final[Mapping[str, Loop]] = {s.name: s for s in (*LADDER, LOCAL, *BASELINES, *CONTROLS, *KNOCKOUTS, *PLAIN)}
