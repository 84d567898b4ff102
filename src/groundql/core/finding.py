"""What a check found: data that a model can repair from and a person can read."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from groundql.core.program import Place


class Code(StrEnum):
    """The error taxonomy: what can be wrong with a candidate."""

    UNKNOWN_CONTAINER = "unknown_container"
    UNKNOWN_PATH = "unknown_path"
    DROPPED_PATH = "dropped_path"
    EARLY_PATH = "early_path"
    KEY_AS_FIELD = "key_as_field"
    FIELD_AS_MAP = "field_as_map"
    ARRAY_AS_SCALAR = "array_as_scalar"
    KIND_MISMATCH = "kind_mismatch"
    NOT_AN_ARRAY = "not_an_array"
    OBJECT_AS_SCALAR = "object_as_scalar"
    WRONG_OPERAND = "wrong_operand"
    CONSTANT_FOR_FIELD = "constant_for_field"
    STORED_FORM = "stored_form"
    VALUE_ELSEWHERE = "value_elsewhere"
    VALUE_ABSENT = "value_absent"
    OUT_OF_RANGE = "out_of_range"
    CONTRADICTION = "contradiction"
    VARIANT_LACKS = "variant_lacks"
    NULLS_KEPT = "nulls_kept"
    NO_EFFECT = "no_effect"
    VALUE_UNUSED = "value_unused"
    NUMBER_UNUSED = "number_unused"
    LIMIT_MISSING = "limit_missing"
    LIMIT_DIFFERS = "limit_differs"
    JOIN_UNWITNESSED = "join_unwitnessed"
    JOIN_KINDS = "join_kinds"
    JOIN_FANS_OUT = "join_fans_out"
    LOW_PRESENCE = "low_presence"
    UNKNOWN_OPERATOR = "unknown_operator"
    FORBIDDEN = "forbidden"
    REJECTED = "rejected"
    TIMEOUT = "timeout"
    EMPTY = "empty"
    NULL_COLUMN = "null_column"
    LEAKED_ID = "leaked_id"
    ROWS_MULTIPLIED = "rows_multiplied"
    TRUNCATED = "truncated"
    MALFORMED = "malformed"
    CUT_OFF = "cut_off"
    REFUSED = "refused"
    NOT_ANSWERED = "not_answered"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing a gate or probe has to say about a candidate.

    `evidence` is what was witnessed, `nearest` the right things closest to the wrong one, best first. A blocking
    finding keeps a candidate from running (gates) or from being taken as clean (probes); an advisory one is shown.
    """

    code: Code
    message: str
    place: Place = Place(-1)
    path: str = ""
    evidence: str = ""
    nearest: tuple[str, ...] = ()
    blocking: bool = True

    def __str__(self) -> str:
        parts = [f"{self.place}: " if self.place.stage >= 0 else "", self.message]
        if self.evidence:
            parts.append(f" ({self.evidence})")
        if self.nearest:
            parts.append(f"; nearest: {', '.join(self.nearest)}")
        return "".join(parts)
