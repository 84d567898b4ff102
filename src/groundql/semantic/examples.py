"""Example questions by template from the user's own data, each with its query and the pipeline it compiles to.

They show a model how *these* documents are asked about: their containers, paths, stored values and map keys. Same
data, same examples.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from groundql.core.answer import Grounding, Question
from groundql.core.catalog import Catalog, Container
from groundql.core.path import ITEMS
from groundql.core.program import MqlProgram
from groundql.errors import InputError
from groundql.grounding.fence import number_text
from groundql.grounding.profile import StoredValues
from groundql.grounding.relevance import Relevance, weigh
from groundql.grounding.words import is_plural, split_words, stem
from groundql.semantic.query import parse_query
from groundql.semantic.ref import Ref
from groundql.semantic.roles import Role, Roles, label_of
from groundql.semantic.to_mql import compile_query

DEFAULT_COUNT: Final = 7


@dataclass(frozen=True, slots=True)
class Example:
    """A question, the compact query that answers it, and the program that the query compiles to."""

    question: str
    query: Mapping[str, Any]
    program: MqlProgram


def make_examples(
    catalog: Catalog,
    values: Sequence[StoredValues] = (),
    count: int = DEFAULT_COUNT,
    question: str | None = None,
    never: str | None = None,
) -> tuple[Example, ...]:
    """Make up to `count` examples that differ in what they ask, spread over the containers.

    With a question, its containers and paths come first. Neither it nor `never` is among the examples.
    """
    relevance = weigh(Grounding(Question(question), catalog)) if question else None
    makers = [_Maker(c, values, relevance) for c in _ordered(catalog, relevance)]
    made: list[Example] = []
    asked = {_bare(text) for text in (question, never) if text}
    for turn, template in enumerate(_TEMPLATES * 2):
        if len(made) >= count or not makers:
            break
        first = 0 if relevance else turn
        for maker in (makers[(first + n) % len(makers)] for n in range(len(makers))):
            example = _built(template(maker), catalog)
            if example and _bare(example.question) not in asked:
                asked.add(_bare(example.question))
                made.append(example)
                maker.tell_used(example)
                break
    return tuple(made)


def _bare(question: str) -> str:
    return " ".join(split_words(question))


def _ordered(catalog: Catalog, relevance: Relevance | None) -> list[Container]:
    known = [c for c in catalog.containers if c.is_known and c.fields]
    if relevance is not None:
        place = {name: n for n, name in enumerate(relevance.ranked())}
        return sorted(known, key=lambda c: place.get(c.name, len(place)))
    return sorted(known, key=lambda c: (-(c.info.documents or 0), c.name))


def _built(asked: _Asked | None, catalog: Catalog) -> Example | None:
    if asked is None:
        return None
    try:
        return Example(asked.question, asked.query, compile_query(parse_query(asked.query, catalog), catalog))
    except InputError:
        return None


@dataclass(frozen=True, slots=True)
class _Asked:
    question: str
    query: Mapping[str, Any]


@dataclass
class _Maker:
    """What one container can be asked."""

    container: Container
    values: Sequence[StoredValues]
    relevance: Relevance | None = None
    used: set[str] = field(default_factory=set[str])

    def __post_init__(self) -> None:
        self.roles = Roles(self.container, self.values, self._worth)
        words = " ".join(split_words(self.container.name))
        self.things = words if words.endswith("s") else plural_of(words)

    def tell_used(self, example: Example) -> None:
        """Prefer other paths in the examples that follow."""
        for text in _texts(example.query):
            self.used.add(text)

    def _worth(self, path: Any) -> float:
        if self.relevance is None:
            return 0.0
        return sum(self.relevance.of(self.container.name, path).values())

    def fresh(self, roles: Iterator[Role]) -> Role | None:
        """The first role whose path no example has used yet, else the first."""
        listed = list(roles)
        return next((r for r in listed if str(r.ref) not in self.used), listed[0] if listed else None)

    def query(self, **parts: Any) -> dict[str, Any]:
        return {"container": self.container.name, **parts}


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():  # pyright: ignore[reportUnknownVariableType]
            yield from _texts(part)
    elif isinstance(value, list):
        for part in value:  # pyright: ignore[reportUnknownVariableType]
            yield from _texts(part)


def _count_where(maker: _Maker) -> _Asked | None:
    role = maker.fresh(maker.roles.categories())
    if role is None:
        return None
    value = role.values[0]
    return _Asked(
        f"How many {maker.things} have the {role.label} {said(value)}?",
        maker.query(filters=[_is(role, value)], metrics=[{"op": "count"}]),
    )


def _top_groups(maker: _Maker) -> _Asked | None:
    role = maker.fresh(maker.roles.categories())
    if role is None:
        return None
    return _Asked(
        f"Which three {plural_of(role.label)} have the most {maker.things}? "
        f"Return the {role.label} and the number of {maker.things}.",
        maker.query(
            group_by=[str(role.ref)], metrics=[{"op": "count"}], order_by=[{"by": "count", "desc": True}], limit=3
        ),
    )


def _list_highest(maker: _Maker) -> _Asked | None:
    number, name = maker.fresh(maker.roles.numbers()), maker.roles.name()
    if number is None or number.ref == name.ref:
        return None
    return _Asked(
        f"Which five {maker.things} have the highest {number.label}? Return {name.label} and {number.label}.",
        maker.query(select=[str(name.ref), str(number.ref)], order_by=[{"by": str(number.ref), "desc": True}], limit=5),
    )


def _count_missing(maker: _Maker) -> _Asked | None:
    role = maker.fresh(maker.roles.sparse())
    if role is None:
        return None
    return _Asked(
        f"How many {maker.things} have no {label_of(role.ref)}?",
        maker.query(filters=[{"path": str(role.ref), "op": "missing"}], metrics=[{"op": "count"}]),
    )


def _count_with_key(maker: _Maker) -> _Asked | None:
    role = maker.fresh(maker.roles.maps())
    if role is None:
        return None
    key = next((v for v in role.values if isinstance(v, str)), None)
    if key is None:
        return None
    path = str(role.ref.path.parent / key)
    return _Asked(
        f"How many {maker.things} have {said(key)} among their {role.label}?",
        maker.query(filters=[{"path": path, "op": "exists"}], metrics=[{"op": "count"}]),
    )


def _list_with_item(maker: _Maker) -> _Asked | None:
    role, name = maker.fresh(maker.roles.items()), maker.roles.name()
    if role is None:
        return None
    value = role.values[min(2, len(role.values) - 1)]
    inside = "" if role.ref.path.last is ITEMS else f" {label_of(Ref(role.ref.path.parent.parent))} with"
    return _Asked(
        f"List the {plural_of(name.label)} of the {maker.things} that have{inside} {said(value)} "
        f"in their {role.label}.",
        maker.query(filters=[_is(role, value)], select=[str(name.ref)]),
    )


def _average_where(maker: _Maker) -> _Asked | None:
    number, category = maker.fresh(maker.roles.numbers()), maker.fresh(maker.roles.categories())
    if number is None:
        return None
    if category is None or len(category.values) < 2:
        return _Asked(
            f"What is the average {number.label} of the {maker.things}?",
            maker.query(metrics=[{"op": "avg", "path": str(number.ref)}]),
        )
    value = category.values[1]
    return _Asked(
        f"What is the average {number.label} of the {maker.things} with the {category.label} {said(value)}?",
        maker.query(filters=[_is(category, value)], metrics=[{"op": "avg", "path": str(number.ref)}]),
    )


def _look_up(maker: _Maker) -> _Asked | None:
    name = maker.roles.name()
    wanted = maker.fresh(r for r in [*maker.roles.numbers(), *maker.roles.categories()] if r.ref != name.ref)
    value = next((v for v in name.values if isinstance(v, str)), None)
    if wanted is None or value is None:
        return None
    return _Asked(
        f"What is the {wanted.label} of {value}?",
        maker.query(filters=[_is(name, value)], select=[str(wanted.ref)]),
    )


def _different(maker: _Maker) -> _Asked | None:
    role = maker.fresh(maker.roles.categories())
    if role is None:
        return None
    return _Asked(
        f"Which different {plural_of(role.label)} do the {maker.things} have?",
        maker.query(select=[str(role.ref)], distinct=True),
    )


def _count_above(maker: _Maker) -> _Asked | None:
    number = maker.fresh(maker.roles.numbers())
    found = maker.container.get(number.ref.path) if number else None
    if number is None or found is None or found.numbers is None:
        return None
    middle = (float(found.numbers.low) + float(found.numbers.high)) / 4
    if not math.isfinite(middle):
        return None
    bound = _round(middle)
    return _Asked(
        f"How many {maker.things} have a {number.label} of more than {number_text(bound)}?",
        maker.query(filters=[{"path": str(number.ref), "op": "gt", "value": bound}], metrics=[{"op": "count"}]),
    )


def _count_true(maker: _Maker) -> _Asked | None:
    role = maker.fresh(maker.roles.truths())
    if role is None:
        return None
    value = bool(role.values[0])
    return _Asked(
        f"How many {maker.things} have {role.label} set to {said(value)}?",
        maker.query(filters=[_is(role, value)], metrics=[{"op": "count"}]),
    )


def _count_in_year(maker: _Maker) -> _Asked | None:
    role = maker.fresh(maker.roles.dates())
    found = maker.container.get(role.ref.path) if role else None
    if role is None or found is None or found.dates is None:
        return None
    year = str(found.dates.high.year)
    return _Asked(
        f"How many {maker.things} have a {role.label} in {year}?",
        maker.query(filters=[{"path": str(role.ref), "op": "eq", "value": year}], metrics=[{"op": "count"}]),
    )


def _count_keys(maker: _Maker) -> _Asked | None:
    role = maker.fresh(maker.roles.maps())
    if role is None:
        return None
    return _Asked(
        f"How many {maker.things} are there for each of the {plural_of(role.label)}?",
        maker.query(group_by=[str(role.ref)], metrics=[{"op": "count"}], order_by=[{"by": "count", "desc": True}]),
    )


_Template: TypeAlias = Callable[[_Maker], _Asked | None]
_TEMPLATES: Final[tuple[_Template, ...]] = (
    _count_where,
    _top_groups,
    _look_up,
    _count_missing,
    _list_highest,
    _list_with_item,
    _average_where,
    _count_with_key,
    _different,
    _count_above,
    _count_true,
    _count_in_year,
    _count_keys,
)


def _is(role: Role, value: object) -> dict[str, Any]:
    return {"path": str(role.ref), "op": "eq", "value": value}


def said(value: object) -> str:
    """Put a stored value in words."""
    if isinstance(value, bool):
        return str(value).lower()
    return number_text(value) if isinstance(value, int | float) else str(value)


def _round(value: float) -> int | float:
    """Round to one leading digit, which is how people ask."""
    if abs(value) < 1:
        return round(value, 2)
    size = 10 ** (len(str(int(abs(value)))) - 1)
    return int(value / size) * size


def plural_of(words: str) -> str:
    """Return the plural of an English noun phrase that is singular."""
    head, blank, last = words.rpartition(" ")
    if not last or is_plural(last) or (stem(last) != last and last.endswith("s")):
        return words
    if last.endswith("y") and last[-2:-1] not in "aeiou":
        return f"{head}{blank}{last[:-1]}ies"
    return f"{head}{blank}{last}{'es' if last.endswith(('s', 'x', 'ch', 'sh')) else 's'}"
