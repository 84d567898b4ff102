"""Stored values as the strict protocol compares them: numbers by size, dates by instant, sets without order."""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final, TypeAlias, cast

from bson import DatetimeMS, Decimal128, json_util

RELATIVE: Final = 1e-9
"""How far two numbers may lie apart by their size: sums in another order differ far less, real results far more."""
ABSOLUTE: Final = 1e-12
"""How far they may lie apart in any case: what is left where sums should cancel out."""

Number: TypeAlias = int | float | Decimal
Way: TypeAlias = tuple[str, ...]
"""Field names on the way down to a value; items of arrays take no step."""
NO_SETS: Final[frozenset[Way]] = frozenset()


@dataclass(slots=True)
class Forms:
    """Give values forms that are equal where the values are, given all values that will be compared.

    Closeness is not transitive, equality is: numbers are therefore gathered first, and neighbours that are close are
    joined. Two integers are never close, only equal.
    """

    _classes: dict[Number, int] = field(default_factory=dict[Number, int])

    @staticmethod
    def over(values: Iterable[Any]) -> Forms:
        """Make forms for these values and everything inside them."""
        ordered = sorted(_numbers(values))
        classes, current = dict[Number, int](), 0
        for index, number in enumerate(ordered):
            current += bool(index) and not _is_close(ordered[index - 1], number)
            classes[number] = current
        return Forms(classes)

    def form(self, value: Any, sets: frozenset[Way] = NO_SETS) -> Hashable:
        """Return a value's form; `sets` are the paths in it that lead to arrays without order."""
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, bool):
            return ("bool", value)
        if isinstance(value, Mapping):
            items = cast("Mapping[str, Any]", value).items()
            return ("object", tuple(sorted((key, self.form(item, below(sets, key))) for key, item in items)))
        if isinstance(value, list | tuple):
            return self._array(cast("Sequence[Any]", value), sets)
        number = _as_number(value)
        if number is not None:
            return ("number", "nan" if _is_nan(number) else self._classes[number])
        return _other(value)

    def _array(self, items: Sequence[Any], sets: frozenset[Way]) -> Hashable:
        forms = [self.form(item, sets - {()}) for item in items]
        if () in sets:
            return ("set", frozenset(Counter(forms).items()))
        return ("array", tuple(forms))


def below(sets: frozenset[Way], name: str) -> frozenset[Way]:
    """Return the paths that go on below a field."""
    return frozenset(path[1:] for path in sets if path and path[0] == name) if sets else sets


def _other(value: Any) -> Hashable:
    if isinstance(value, dt.datetime):
        return ("date", int(DatetimeMS(value)))
    if isinstance(value, DatetimeMS):
        return ("date", int(value))
    return ("text", json_util.dumps(value))


def _as_number(value: Any) -> Number | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value
    return value.to_decimal() if isinstance(value, Decimal128) else None


def _numbers(values: Iterable[Any]) -> set[Number]:
    """Gather every number that is one, without recursion."""
    waiting, found = list(values), set[Number]()
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            waiting.extend(cast("Mapping[str, Any]", value).values())
        elif isinstance(value, list | tuple):
            waiting.extend(cast("Sequence[Any]", value))
        else:
            number = _as_number(value)
            if number is not None and not _is_nan(number):
                found.add(number)
    return found


def _is_nan(number: Number) -> bool:
    return number.is_nan() if isinstance(number, Decimal) else math.isnan(number)


def _is_close(low: Number, high: Number) -> bool:
    if low == high:
        return True
    if isinstance(low, int) and isinstance(high, int):
        return False
    return math.isclose(float(low), float(high), rel_tol=RELATIVE, abs_tol=ABSOLUTE)
