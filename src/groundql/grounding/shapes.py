"""Filing objects by the names they have, with the values of the fields that may tell variants apart.

Each object at the root or in an array is filed under its *form*: the names it has, one level of nested names included.
Beside each form stand counts of the values of short scalar fields; a field with too many values drops out. When forms
become too many (optional fields multiply them), they are boiled down to one table per field, and a nested object
whose names keep multiplying is not looked into any more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from bson import Int64

MOST_BRANCHES: Final = 24
MOST_FORMS: Final = 1000
MOST_NAMES: Final = 300
"""Wider objects are not filed: no discriminator is looked for among so many names."""
MOST_NESTED: Final = 12
MOST_INNER: Final = 60
MOST_KNOWN: Final = 3000
LONGEST_TAG: Final = 60
MOST_WORK: Final = 300_000
"""Names times tags over all forms before they are boiled down: wide objects are boiled down sooner."""
MOST_TAGS: Final = 24
"""Fields that stay in question once forms had to be boiled down: texts before numbers, those of fewest values first."""
_TAGS: Final = frozenset({str, int, bool, Int64})

Name: TypeAlias = tuple[str, ...]
Form: TypeAlias = tuple[Any, ...]


@dataclass(slots=True)
class Group:
    """Objects of one form, with the values of the fields that may discriminate."""

    names: tuple[Name, ...]
    count: int = 0
    tags: dict[Name, dict[Any, int]] = field(default_factory=dict[Name, "dict[Any, int]"])
    reads: list[tuple[str, str | None, dict[Any, int], Name]] = field(default_factory=list[Any])

    def prepare(self) -> None:
        """Lay out how to read each tag, for the walk."""
        self.reads = [(n[0], n[1] if len(n) > 1 else None, table, n) for n, table in self.tags.items()]


@dataclass(slots=True)
class Branch:
    """Objects with one value of a field: how many, and how many of them have each name."""

    count: int = 0
    names: Counter[Name] = field(default_factory=Counter[Name])


class Shapes:
    """The forms of the objects at one place."""

    __slots__ = ("branches", "closed", "count", "groups", "heads", "names", "opaque", "values", "work")

    def __init__(self) -> None:
        self.groups: dict[Form, Group] = {}
        self.heads: dict[tuple[str, ...], tuple[str, ...]] = {}
        self.opaque: set[str] = set()
        self.values: dict[Name, set[Any]] = {}
        self.closed: set[Name] = set()
        self.branches: dict[Name, dict[Any, Branch]] = {}
        self.names: Counter[Name] = Counter()
        self.count = 0
        self.work = 0

    def add(self, found: Mapping[str, Any]) -> None:
        """File one object."""
        names = tuple(found)
        head = self.heads.get(names)
        if head is None:
            if len(found) > MOST_NAMES:
                return
            head = self._head(names, found)
        form: Form = (names, *[_inner(found[key]) for key in head]) if head else names
        group = self.groups.get(form)
        if group is None:
            group = self._open(form, head, found)
        group.count += 1
        closing: Name | None = None
        for key, inner, table, name in group.reads:
            value = found[key] if inner is None else found[key][inner]
            if value is None:
                continue
            if type(value) in _TAGS and value in table:
                table[value] += 1
            elif not self._admit(name, table, value):
                closing = name
        if closing is not None:
            self._close(closing)

    def _head(self, names: tuple[str, ...], found: Mapping[str, Any]) -> tuple[str, ...]:
        """Tell which fields of objects with these names are looked into."""
        # Null may be an object in the next one; whatever else stands there first, the field is not looked into.
        maybe = (key for key in names if key not in self.opaque)
        nested = tuple(key for key in maybe if found[key] is None or _inner(found[key]) is not None)
        self.heads[names] = nested
        return nested

    def _open(self, form: Form, head: tuple[str, ...], found: Mapping[str, Any]) -> Group:
        if len(self.groups) >= MOST_FORMS or self.work > MOST_WORK:
            self.settle()
        names: list[Name] = [(key,) for key in found]
        names += [(key, inner) for key in head for inner in _inner(found[key]) or ()]
        group = self.groups[form] = Group(tuple(names))
        for name in names:
            value = found[name[0]] if len(name) == 1 else found[name[0]][name[1]]
            if name != ("_id",) and name not in self.closed and (value is None or type(value) in _TAGS):
                group.tags[name] = {}
        group.prepare()
        self.work += len(names) * len(group.tags)
        return group

    def _admit(self, name: Name, table: dict[Any, int], value: Any) -> bool:
        is_tag = type(value) in _TAGS and (type(value) is not str or len(value) <= LONGEST_TAG)
        known = self.values.setdefault(name, set())
        if not is_tag or (value not in known and len(known) >= MOST_BRANCHES):
            return False
        known.add(value)
        table[value] = 1
        return True

    def _close(self, name: Name) -> None:
        self.closed.add(name)
        self.values.pop(name, None)
        self.branches.pop(name, None)
        for group in self.groups.values():
            if group.tags.pop(name, None) is not None:
                group.prepare()

    def settle(self) -> None:
        """Boil the groups down to one table per field."""
        if len(self.values) > MOST_TAGS and self.work > MOST_WORK:
            ranked = sorted(self.values, key=lambda name: (_is_number(self.values[name]), len(self.values[name]), name))
            for name in ranked[MOST_TAGS:]:
                self._close(name)
        self.work = 0
        for group in self.groups.values():
            self.count += group.count
            for name in group.names:
                self.names[name] += group.count
            for tag, table in group.tags.items():
                branches = self.branches.setdefault(tag, {})
                for value, count in table.items():
                    branch = branches.setdefault(value, Branch())
                    branch.count += count
                    for name in group.names:
                        branch.names[name] += count
        self.groups.clear()
        self.heads.clear()
        self._forget()

    def _forget(self) -> None:
        """Drop names that keep multiplying: those of a nested map, and all when the objects are maps themselves."""
        inner = Counter(name[0] for name in self.names if len(name) > 1)
        wide = {key for key, count in inner.items() if count > MOST_INNER}
        self.opaque |= wide
        gone = {name for name in self.names if len(name) > 1 and name[0] in wide}
        if len(self.names) - len(gone) > MOST_KNOWN:
            gone = set(self.names)
        for name in gone:
            self.names.pop(name)
            self._close(name)
        for branches in self.branches.values():
            for branch in branches.values():
                for name in gone & branch.names.keys():
                    del branch.names[name]

    def joined(self, other: Shapes | None) -> Shapes:
        """Put two places' forms together into a new one."""
        both = Shapes()
        for part in (self, other):
            if part is not None:
                both._take(part)
        for name in both.closed | {n for n, seen in both.values.items() if len(seen) > MOST_BRANCHES}:
            both._close(name)
        for group in both.groups.values():
            group.prepare()
        return both

    def _take(self, part: Shapes) -> None:
        self.closed |= part.closed
        self.opaque |= part.opaque
        self.count += part.count
        self.names.update(part.names)
        for name, seen in part.values.items():
            self.values.setdefault(name, set()).update(seen)
        for tag, branches in part.branches.items():
            for value, branch in branches.items():
                mine = self.branches.setdefault(tag, {}).setdefault(value, Branch())
                mine.count += branch.count
                mine.names.update(branch.names)
        for form, group in part.groups.items():
            if form not in self.groups and len(self.groups) >= MOST_FORMS:
                self.settle()
            self._take_group(self.groups.setdefault(form, Group(group.names)), group)

    def _take_group(self, mine: Group, group: Group) -> None:
        mine.count += group.count
        for name, table in group.tags.items():
            tags = mine.tags.setdefault(name, {})
            for value, count in table.items():
                tags[value] = tags.get(value, 0) + count


def _is_number(values: set[Any]) -> bool:
    return not any(type(value) in (str, bool) for value in values)


def _inner(value: Any) -> tuple[str, ...] | None:
    """Give the names of a nested object that is small enough to be looked into."""
    return tuple(value) if type(value) is dict and len(value) <= MOST_NESTED else None  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
