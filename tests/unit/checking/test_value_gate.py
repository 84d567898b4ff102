"""Absence is claimed only where a complete list shows it, or the database was asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import anyio
import pytest

from groundql.checking.gates import MOST_ASKED, value_gate
from groundql.core.answer import Candidate, Grounding, Question
from groundql.core.catalog import Catalog, ContainerInfo, Witness
from groundql.core.finding import Code, Finding
from groundql.core.path import Path
from groundql.core.ports import Env
from groundql.core.program import MqlProgram, Program
from groundql.databases.memory import MemoryDatabase
from groundql.errors import DatabaseUnreachable
from groundql.grounding.profile import Profiler
from groundql.languages.flow import analyse
from groundql.llm.scripted import Scripted

MANY = 3000
SHOPS = [
    {
        "_id": n,
        "label": f"Shop {n}",
        "kind": ("food", "Garden Centre")[n % 2],
        "words": {f"k{n}": f"w{n}"},
        "links": {"web": f"shop{n}", "net": "x"},
    }
    for n in range(MANY)
]
ELSEWHERE = Witness("Gucci", "shops", Path.parse("links.web"), "gucci")


def catalog() -> Catalog:
    profiler = Profiler(ContainerInfo("shops", documents=len(SHOPS)))
    for document in SHOPS:
        profiler.add(document)
    return Catalog("d", (profiler.finish().container,))


CATALOG = catalog()


class Grounded:
    async def ground(self, question: Question, /) -> Grounding:
        return Grounding(question, CATALOG)


def gate(
    match: Mapping[str, Any], answers: Callable[[Program], Iterable[Mapping[str, Any]]], *witnesses: Witness
) -> tuple[list[Finding], MemoryDatabase]:
    program = MqlProgram("shops", ({"$match": match},))
    database = MemoryDatabase(answers=answers)
    candidate = Candidate(program, analyse(program, CATALOG))
    env = Env(database, Scripted([]), Grounded())
    found = anyio.run(value_gate, candidate, Grounding(Question(""), CATALOG, witnesses), env)
    return list(found), database


def first_stage(program: Program) -> Any:
    assert isinstance(program, MqlProgram)
    return program.stages[0]["$match"]


def held(_: Program) -> list[Mapping[str, Any]]:
    return [{"_id": 1}]


def nothing(_: Program) -> list[Mapping[str, Any]]:
    return []


def unreachable(_: Program) -> list[Mapping[str, Any]]:
    raise DatabaseUnreachable("gone")


def test_the_list_of_labels_is_incomplete_and_that_of_kinds_complete() -> None:
    fields = CATALOG.containers[0].by_path
    assert not fields[Path.parse("label")].complete
    assert fields[Path.parse("kind")].complete


def test_a_value_that_the_database_holds_is_no_finding_however_incomplete_the_list() -> None:
    found, database = gate({"label": "Gucci"}, held, ELSEWHERE)
    assert not found
    assert first_stage(database.executed[0]) == {"label": {"$in": ["Gucci"]}}


def test_a_value_that_the_database_does_not_hold_there_is_sent_to_where_it_is_stored() -> None:
    found, _ = gate({"label": "Gucci"}, nothing, ELSEWHERE)
    assert [f.code for f in found] == [Code.VALUE_ELSEWHERE]
    assert "links.web" in found[0].nearest[0]
    assert not found[0].blocking


def test_nothing_is_said_of_a_value_that_could_not_be_looked_up() -> None:
    assert not gate({"label": "Gucci"}, unreachable, ELSEWHERE)[0]


def test_what_a_complete_list_lacks_is_told_without_a_database_but_does_not_block() -> None:
    found, _ = gate({"kind": "toys"}, unreachable)
    assert [(f.code, f.blocking) for f in found] == [(Code.VALUE_ABSENT, False)]


def test_the_members_of_a_list_are_named_with_the_nearest_stored_value() -> None:
    found, database = gate({"kind": {"$in": ["food", "foods", "gardens"]}}, nothing)
    assert [f.code for f in found] == [Code.VALUE_ABSENT]
    assert "'foods' or 'gardens'" in found[0].message
    assert found[0].nearest == ('"food"', '"Garden Centre"')
    assert not found[0].blocking
    assert not database.executed


def test_a_list_of_a_thousand_absent_members_is_one_bounded_finding() -> None:
    found, _ = gate({"kind": {"$in": [f"none {n}" * 50 for n in range(1000)]}}, nothing)
    assert len(found) == 1
    assert len(str(found[0])) < 600
    assert "997 more" in found[0].message


def test_excluding_a_value_in_another_spelling_is_told_and_excluding_an_absent_one_is_not() -> None:
    assert [f.code for f in gate({"kind": {"$ne": "garden centre"}}, nothing)[0]] == [Code.STORED_FORM]
    assert not gate({"kind": {"$nin": ["toys"]}}, nothing)[0]


def test_a_named_key_is_asked_for_by_its_own_name() -> None:
    _, database = gate({"words.k7": "Gucci"}, held, ELSEWHERE)
    assert [first_stage(p) for p in database.executed] == [{"words.k7": {"$in": ["Gucci"]}}]


@pytest.mark.parametrize("count", [MOST_ASKED, MOST_ASKED + 5])
def test_the_lookups_of_one_program_are_bounded(count: int) -> None:
    names = [f"gone {n}" for n in range(count)]
    witnesses = [Witness(n, "shops", Path.parse("links.web"), n) for n in names]
    found, database = gate({"$or": [{"label": n} for n in names]}, nothing, *witnesses)
    assert len(database.executed) == len(found) == MOST_ASKED
