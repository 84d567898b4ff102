"""What each solver is allowed to see and do, in a form that a benchmark run records."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Final, cast

from groundql.llm.structured import REPAIR_TURNS
from groundql.solvers.direct import draft_by_sql, draft_in_steps
from groundql.solvers.local_draft import draft_two_forms
from groundql.solvers.loop import Loop
from groundql.solvers.react import STEPS, draft_by_acting
from groundql.solvers.recipes import SOLVERS
from groundql.solvers.views import see_name, see_schema

CALLS: Final[Mapping[object, int]] = {draft_by_sql: 2, draft_in_steps: 4, draft_by_acting: STEPS}
"""Model calls of one draft, where it is more than one; turns that mend a reply's form come on top."""
FORMAT_CONTRACT: Final = (
    f"one JSON object that fits a schema; up to {REPAIR_TURNS} turns to mend its form; "
    "transport errors are tried again; everything else is final"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Disclosure:
    """What one solver sees and does.

    Shape: `channel` says what of the database reaches the model; `reads_*` say which parts of `Env` it touches before
    its first draft; `sees_results` whether what a program returned is ever told to the model. Gold programs and
    training examples of a suite are seen by none; `examples` names those that are part of the prompt.
    Units: `calls_bound` model calls at most, without turns that mend a reply's form.
    """

    solver: str
    channel: str
    reads_documents: bool
    reads_grounding: bool
    sees_results: bool
    conventions: bool
    attempts: int
    rounds: int
    calls_bound: int
    gates: tuple[str, ...] = ()
    probes: tuple[str, ...] = ()
    examples: str = "none"
    uses_gold: bool = False
    reply_contract: str = FORMAT_CONTRACT
    limitations: str = ""

    def to_record(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return asdict(self)


def disclosure_of(name: str) -> Disclosure:
    """Disclose a named solver, read off its own steps.

    Raises: KeyError for an unknown name.
    """
    loop = SOLVERS[name]
    draft = step_name(loop.draft)
    reads_documents = "see_documents" in step_name(_see(loop))
    sees_results = draft == draft_by_acting.__name__ or loop.rounds > 1 or step_name(loop.choose) in _SHOWN_ROWS
    return Disclosure(
        solver=name,
        channel=_channel(loop),
        reads_documents=reads_documents,
        reads_grounding=_see(loop) is None,
        sees_results=sees_results,
        conventions=_parameters(loop.draft).get("conventions") != "",
        attempts=loop.attempts,
        rounds=loop.rounds,
        calls_bound=loop.attempts * loop.rounds * CALLS.get(_function(loop.draft), 1)
        + (1 if step_name(loop.choose) in _SHOWN_ROWS else 0),
        gates=tuple(step_name(g) for g in loop.gates),
        probes=tuple(step_name(p) for p in loop.probes),
        examples=_EXAMPLES.get(draft, "none"),
        limitations=_LIMITATIONS.get(name, ""),
    )


_SHOWN_ROWS: Final = ("arbitrated_cluster",)
_EXAMPLES: Final = {
    draft_in_steps.__name__: "six fixed pipelines over invented collections",
    draft_two_forms.__name__: "made by template from the user's own stored data",
}
_LIMITATIONS: Final = {
    "schema-direct": "shows collection names and document counts only, as the published schema files do",
    "sag-no-collapse": "keys of maps are spread out without how often each is there",
    "sag-no-grounding": "without a catalog there is nothing for gates to check against",
    "local": "told short rules on output of its own, which suit a small model",
    "react": f"at most {STEPS} steps; a budget of calls may end it earlier",
}


def step_name(step: object) -> str:
    """Return the name of a step, whatever parameters are laid around it."""
    return str(getattr(_function(step), "__name__", step))


def _function(step: object) -> object:
    return _function(cast("partial[Any]", step).func) if isinstance(step, partial) else step


def _parameters(step: object) -> Mapping[str, Any]:
    return cast("partial[Any]", step).keywords if isinstance(step, partial) else {}


def _see(loop: Loop) -> object | None:
    return _parameters(loop.draft).get("see")


def _channel(loop: Loop) -> str:
    see = _see(loop)
    if see is None:
        return _card_channel(loop)
    if see is see_name:
        return "the database's name"
    if see is see_schema:
        return "collection names and document counts"
    shown = _parameters(see)
    values = f", up to {shown['values']} strings of each shallow field" if shown.get("values") else ""
    return f"collection names, counts and the first {shown['documents']} documents of each{values}"


def _card_channel(loop: Loop) -> str:
    card = cast("Callable[..., Any] | None", _parameters(loop.draft).get("card"))
    ground = step_name(loop.ground)
    said = "the path card" if card is None else f"the path card ({step_name(card).replace('_', ' ')})"
    return said + {"without_witnesses": " without witnesses", "without_values": " without any stored value"}.get(
        ground, " with witnesses"
    )
