"""When results disagree, one call sees how the programs differ and the rows where they differ, and chooses."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from bson import json_util

from groundql.core.answer import Candidate, Grounding, Question
from groundql.core.chat import Message, ModelRequest
from groundql.core.counted import counted
from groundql.core.ports import Choice, Env
from groundql.errors import ModelError
from groundql.grounding.card import Card, write_card
from groundql.grounding.fence import clean
from groundql.languages.read import write
from groundql.llm.structured import complete_json
from groundql.solvers.choose import NOTHING_USABLE, clusters, rank, row_key, vote_text
from groundql.solvers.prompting import CARD_TOKENS, WriteCard, conventions_text, fill, hints_text, system

ROWS_SHOWN: Final = 4
ROW_CHARS: Final = 300
LETTERS: Final = "ABCDE"


async def arbitrated_cluster(
    candidates: Sequence[Candidate],
    grounding: Grounding,
    env: Env,
    /,
    *,
    card: WriteCard = write_card,
    conventions: str | None = None,
) -> Choice:
    """Choose by vote where a group of non-empty results has a majority of the attempts; else ask once.

    `card` and `conventions` as in `prompting.draft_pipeline`.
    Raises: BudgetExhausted when no call is left; the caller falls back on the vote.
    """
    groups = clusters(candidates, grounding.question)
    if not groups:
        return Choice(None, NOTHING_USABLE)
    best = rank(groups[0])[0]
    full = [g for g in groups if g[0].rows and g[0].rows.records]
    if len(full) < 2 or len(full[0]) * 2 > len(candidates):
        return Choice(best, vote_text(groups, len(candidates)))
    try:
        return await _ask(full[: len(LETTERS)], grounding, env, card(grounding, CARD_TOKENS), conventions)
    except ModelError as error:
        env.trace.add("arbitration_failed", error=str(error))
        return Choice(best, f"the results differ, and nothing decided between them: {error}", abstains=True)


async def _ask(
    groups: Sequence[Sequence[Candidate]], grounding: Grounding, env: Env, card: Card, conventions: str | None
) -> Choice:
    leaders = [rank(g)[0] for g in groups]
    letters = LETTERS[: len(leaders)]
    done = await complete_json(env.model, _request(groups, leaders, grounding.question, card, conventions))
    choice, difference = str(done.value["choice"]), clean(str(done.value["difference"]), 300)
    env.trace.add("arbitrated", choice=choice, difference=difference)
    if choice not in letters:
        return Choice(leaders[0], f"no reading was preferred: {difference}", abstains=True)
    return Choice(leaders[letters.index(choice)], f"chosen between {len(leaders)} results: {difference}")


def _request(
    groups: Sequence[Sequence[Candidate]],
    leaders: Sequence[Candidate],
    question: Question,
    card: Card,
    conventions: str | None,
) -> ModelRequest:
    letters = LETTERS[: len(leaders)]
    told = conventions_text() if conventions is None else conventions
    body = fill(
        "sag/arbitrate",
        focus=card.focus,
        question=question.text.strip(),
        hints=hints_text(question),
        readings="\n\n".join(_reading(n, groups, leaders, letters) for n in range(len(leaders))),
    )
    return ModelRequest(
        (system(card, told), Message("user", body)),
        schema=_schema(letters),
        purpose="arbitrate",
    )


def _schema(letters: str) -> Mapping[str, Any]:
    return {
        "type": "object",
        "properties": {
            "difference": {"type": "string"},
            "choice": {"type": "string", "enum": [*letters, "none"]},
        },
        "required": ["difference", "choice"],
        "additionalProperties": False,
    }


def _reading(n: int, groups: Sequence[Sequence[Candidate]], leaders: Sequence[Candidate], letters: str) -> str:
    leader = leaders[n]
    rows = leader.rows.records if leader.rows else ()
    others = frozenset(row_key(r) for o in leaders if o is not leader and o.rows for r in o.rows.records)
    only = [r for r in rows if row_key(r) not in others]
    program = write(leader.program, "shell") if leader.program else ""
    lines = [f"Result {letters[n]} ({counted(len(groups[n]), 'attempt')}, {counted(len(rows), 'row')})"]
    lines.append(program if n == 0 else _difference(leaders[0], program, letters))
    lines.append(f"Rows only here: {len(only)}, for instance" if only else "No row that the others lack.")
    lines += [clean(json_util.dumps(row), ROW_CHARS) for row in (only or list(rows))[:ROWS_SHOWN]]
    lines += [f"Found: {clean(str(f), ROW_CHARS)}" for f in leader.findings[:3]]
    return "\n".join(lines)


def _difference(first: Candidate, program: str, letters: str) -> str:
    """The second program as a difference from the first, or whole where little is shared."""
    before = write(first.program, "shell").splitlines() if first.program else []
    after = program.splitlines()
    if difflib.SequenceMatcher(None, before, after).ratio() < 0.5:
        return program
    diff = list(difflib.unified_diff(before, after, f"program {letters[0]}", "this program", lineterm="", n=2))
    return "\n".join(diff) if diff else program
