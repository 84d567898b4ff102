"""What to tell a model about each kind of finding: one directive a code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from bson import json_util

from groundql.core.answer import Candidate, Grounding
from groundql.core.chat import Message
from groundql.core.finding import Code, Finding
from groundql.core.ports import Dialogue, Env
from groundql.grounding.fence import clean
from groundql.languages.read import write
from groundql.solvers.prompting import fill

ROWS_SHOWN: Final = 3
ROW_CHARS: Final = 300

DIRECTIVES: Final[Mapping[Code, str]] = {
    Code.UNKNOWN_CONTAINER: "Use one of the collections on the card.",
    Code.UNKNOWN_PATH: "Read a path that the card shows; names are exact.",
    Code.DROPPED_PATH: "Carry the field through the earlier stage, or read it where that stage put it.",
    Code.EARLY_PATH: "Compute it in an earlier stage.",
    Code.KEY_AS_FIELD: "Use a key that the map holds, or go over all of them with $objectToArray.",
    Code.ARRAY_AS_SCALAR: "Unwind the array, filter its items, or reduce it to one value before comparing.",
    Code.KIND_MISMATCH: "Write the literal in the stored kind.",
    Code.NOT_AN_ARRAY: "Read an object by its fields, take a map apart with $objectToArray, or leave the operator out.",
    Code.WRONG_OPERAND: "Convert the field first, or use an operator for what is stored.",
    Code.CONSTANT_FOR_FIELD: "Write $ before the name to read the field.",
    Code.STORED_FORM: "Write the value exactly as stored.",
    Code.VALUE_ELSEWHERE: "Compare it where it is stored.",
    Code.VALUE_ABSENT: "Use a stored value; if the question means another one, choose the nearest.",
    Code.OUT_OF_RANGE: "Compare it with a value that can be met; check the unit and the path.",
    Code.CONTRADICTION: "Keep the condition that the question means.",
    Code.VARIANT_LACKS: "Read a field that this variant has, or choose the variant that has the field.",
    Code.NULLS_KEPT: "Compare with null to leave the nulls out.",
    Code.VALUE_UNUSED: "Apply it as a restriction where it is stored, unless the question only mentions it.",
    Code.NUMBER_UNUSED: "Apply the threshold.",
    Code.LIMIT_MISSING: "Add the $limit after the sort.",
    Code.LIMIT_DIFFERS: "Return as many rows as the question asks for.",
    Code.JOIN_UNWITNESSED: "Join fields whose values really occur on both sides, or read an embedded copy instead.",
    Code.JOIN_KINDS: "Join fields of the same kind, converting one side where needed.",
    Code.UNKNOWN_OPERATOR: "Use operators that exist.",
    Code.FORBIDDEN: "Use read-only stages and operators only.",
    Code.REJECTED: "Mend what the database refused.",
    Code.TIMEOUT: "Filter earlier and carry less.",
    Code.EMPTY: "Check each condition of the stage that removes every row against the stored values shown.",
    Code.NULL_COLUMN: "Read the column from where it really is.",
    Code.LEAKED_ID: "Leave the identifier out.",
}
"""A code without a directive (a fan-out, say) is shown to people and never sent back."""


def needs_repair(candidate: Candidate, before: Sequence[Candidate] = ()) -> bool:
    """Tell whether there is something to ask the model to mend that it was not asked before.

    A point that was told and kept is meant, also where it now stands in another stage.
    """
    told = {_mark(f) for c in before for f in c.findings}
    return any(f.blocking or (f.code in DIRECTIVES and _mark(f) not in told) for f in candidate.findings)


def _mark(finding: Finding) -> tuple[Code, str, tuple[str, ...]]:
    return finding.code, finding.path.lstrip("$"), finding.nearest


async def directives(dialogue: Dialogue, candidate: Candidate, said: str, grounding: Grounding, env: Env) -> Dialogue:
    """Append what the model said, and what is wrong with it on which evidence."""
    reply = said or (write(candidate.program, "ejson") if candidate.program else "(nothing usable)")
    told = [f for f in candidate.findings if f.blocking or f.code in DIRECTIVES]
    problems = "\n".join(f"- {_line(f)}" for f in told)
    asked = fill("sag/repair", problems=problems, outcome=_outcome(candidate))
    return (*dialogue, Message("assistant", reply), Message("user", asked))


def _line(finding: Finding) -> str:
    weight = "must be mended" if finding.blocking else "check this; keep it if you meant it"
    return f"[{weight}] {clean(str(finding), 600)}. {DIRECTIVES.get(finding.code, '')}".rstrip()


def _outcome(candidate: Candidate) -> str:
    """What the program came to: nothing where it was not run, else its rows in short."""
    if candidate.rows is None:
        return "It was not run."
    records = candidate.rows.records
    shown = [f"  {clean(json_util.dumps(record), ROW_CHARS)}" for record in records[:ROWS_SHOWN]]
    return "\n".join(
        [f"It was run and returned {len(records)} rows" + (", the first of them:" if shown else "."), *shown]
    )
