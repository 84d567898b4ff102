"""What the answers in plain Python share: their form, and the rows of a count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, cast

Document = dict[str, Any]
Documents = dict[str, list[Document]]
Answer = Callable[[Documents], list[Document]]


class Answers(dict[int, Answer]):
    """The answers of one world by record id; a decorator adds one."""

    def to(self, record_id: int) -> Callable[[Answer], Answer]:
        """Keep the function below as the answer to a task."""

        def keep(answer: Answer) -> Answer:
            assert record_id not in self
            self[record_id] = answer
            return answer

        return keep


def count(values: Iterable[Any], key: str, number: str, least: int = 1, limit: int | None = None) -> list[Document]:
    """Rows of value and number, most first, equal numbers by value; a cut through equal numbers is an error."""
    ranked = sorted(((n, v) for v, n in Counter(values).items() if n >= least), key=lambda pair: (-pair[0], pair[1]))
    if limit and len(ranked) > limit:
        assert ranked[limit - 1][0] != ranked[limit][0], "the limit cuts through a tie"
    return [{key: value, number: found} for found, value in ranked[:limit]]


def order(rows: Iterable[Document], *keys: str) -> list[Document]:
    """Sort rows by their columns, from the highest where a minus stands before; rows that tie are an error."""

    def rank(row: Document) -> tuple[Any, ...]:
        return tuple(-row[key[1:]] if key.startswith("-") else row[key] for key in keys)

    found = sorted(rows, key=rank)
    assert len({repr(rank(row)) for row in found}) == len(found), "nothing decides the order of two rows"
    return found


def as_list(value: Any) -> list[Any]:
    """Give a list as it stands and anything else as a list of one."""
    return cast("list[Any]", value) if isinstance(value, list) else [value]


def by_id(documents: Iterable[Document]) -> dict[Any, Document]:
    """Give documents by their ids."""
    return {document["_id"]: document for document in documents}
