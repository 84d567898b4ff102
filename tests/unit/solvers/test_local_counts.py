from __future__ import annotations

from typing import Any

import pytest

from groundql.core.answer import Candidate, Grounding, Question
from groundql.core.catalog import Witness
from groundql.core.finding import Code, Finding
from groundql.core.path import Path
from groundql.core.program import MqlProgram
from groundql.core.rows import Rows
from groundql.solvers.local_checks import counted_gate, misplaced_probe
from groundql.solvers.local_counts import counted_container, counted_items, counted_values, owned_field
from groundql.solvers.local_focus import focus_on
from tiny_catalog import catalog_of, container_of

LANDS: list[dict[str, Any]] = [
    {
        "_id": n,
        "name": f"Land {n}",
        "languages": {key: {"share": n, "status": "official"} for key in ("fr", "nl", "de")[: n % 3 + 1]},
        "rivers": ["Rhine", "Meuse"][: n % 2 + 1],
        "region": ("north", "south")[n % 2],
        **({"sea_name": "Baltic"} if n % 4 else {}),
    }
    for n in range(12)
]
LANGUAGES: list[dict[str, Any]] = [{"_id": key, "name": f"Language {key}"} for key in ("fr", "nl", "de")]
CATALOG = catalog_of(container_of("lands", LANDS, ["languages"]), container_of("languages", LANGUAGES))
LAND = Witness("Land 2", "lands", Path.parse("name"), "Land 2")
ONE: dict[str, Any] = {"$match": {"name": "Land 2"}}


def asked(question: str, *witnesses: Witness) -> Grounding:
    return Grounding(Question(question), CATALOG, witnesses)


def stages_of(program: Any) -> list[Any]:
    assert isinstance(program, MqlProgram)
    return list(program.stages)


def test_a_container_is_counted_unless_a_named_document_of_another_holds_a_list_of_that_name():
    assert counted_container(asked("How many languages are there?")) == "languages"
    assert counted_container(asked("How many languages does Land 2 have?", LAND)) is None
    assert focus_on(asked("How many languages does Land 2 have?", LAND)).containers[0] == "lands"


def test_a_word_stored_in_the_counted_container_too_names_no_document_of_another():
    both = (LAND, Witness("Land 2", "languages", Path.parse("name"), "Land 2"))
    assert counted_container(asked("How many languages are called Land 2?", *both)) == "languages"


@pytest.mark.parametrize("noun", ["languages", "rivers"])
@pytest.mark.parametrize(
    "stages",
    [
        [{"$count": "n"}],
        [{"$group": {"_id": None, "n": {"$sum": 1}}}, {"$project": {"_id": 0, "n": 1}}],
    ],
)
def test_the_items_of_one_named_document_are_counted_in_place_of_the_document(noun: str, stages: list[Any]):
    program = counted_items(MqlProgram("lands", (ONE, *stages)), asked(f"How many {noun} does Land 2 have?", LAND))
    assert stages_of(program)[0] == ONE
    assert stages_of(program)[-1].keys() == {"$count"}
    assert {"$unwind": f"${noun}"} in stages_of(program)


@pytest.mark.parametrize(
    "listed",
    [
        [{"$unwind": "$rivers"}, {"$group": {"_id": "$rivers", "n": {"$sum": 1}}}],
        [{"$project": {"_id": 0, "rivers": "$rivers"}}],
    ],
)
def test_a_listing_of_the_items_is_counted_too(listed: list[Any]):
    program = counted_items(MqlProgram("lands", (ONE, *listed)), asked("How many rivers does Land 2 have?", LAND))
    assert stages_of(program) == [ONE, {"$unwind": "$rivers"}, {"$count": "count_rivers"}]


def test_the_name_of_the_document_may_be_stored_among_its_items_too():
    inside = (Witness("Land 2", "lands", Path.parse("rivers[]"), "Land 2"), LAND)
    program = counted_items(MqlProgram("lands", (ONE, {"$count": "n"})), asked("How many rivers of Land 2?", *inside))
    assert {"$unwind": "$rivers"} in stages_of(program)


OFFICIAL = Witness("official", "lands", Path.parse("languages.<*>.status"), "official")


@pytest.mark.parametrize(
    ("question", "first", "witnesses"),
    [
        ("How many languages does the south have?", {"$match": {"region": "south"}}, ()),
        ("How many languages of Land 2 are official?", ONE, (OFFICIAL,)),
        ("How many languages of Land 2 have a share over 20?", ONE, ()),
        ("How many languages of Land 2?", {"$match": {"name": "Land 2", "languages.fr.share": 2}}, ()),
        ("How many hills does Land 2 have?", ONE, ()),
    ],
)
def test_a_count_stays_where_many_documents_or_only_some_items_are_meant(question: str, first: Any, witnesses: Any):
    program = MqlProgram("lands", (first, {"$count": "n"}))
    assert counted_items(program, asked(question, LAND, *witnesses)) == program


@pytest.mark.parametrize(
    ("question", "condition"),
    [
        ("How many lands have a sea name?", {"$ne": None}),
        ("How many lands have a sea_name field?", {"$ne": None}),
        ("How many lands have no sea name?", None),
        ("How many lands are without a sea name?", None),
        ("How many lands do not have a sea name?", None),
    ],
)
def test_what_is_said_to_be_had_or_lacked_restricts_a_count_of_everything(question: str, condition: Any):
    program = owned_field(MqlProgram("lands", ({"$count": "n"},)), asked(question))
    assert stages_of(program)[0] == {"$match": {"sea_name": condition}}


@pytest.mark.parametrize(
    ("question", "stages"),
    [
        ("How many lands have a sea name?", [{"$match": {"region": "south"}}, {"$count": "n"}]),
        ("How many lands have boats?", [{"$count": "n"}]),
        ("How many people have a sea name?", [{"$count": "n"}]),
    ],
)
def test_a_count_stays_where_it_is_restricted_or_the_words_name_no_field(question: str, stages: list[Any]):
    assert stages_of(owned_field(MqlProgram("lands", tuple(stages)), asked(question))) == stages


def test_different_values_are_counted_and_no_value_is_none():
    groups = MqlProgram("lands", ({"$group": {"_id": "$region", "n": {"$sum": 1}}}, {"$project": {"n": 1}}))
    counted = [{"$group": {"_id": "$region"}}, {"$match": {"_id": {"$ne": None}}}, {"$count": "count"}]
    assert stages_of(counted_values(groups, asked("How many different regions do the lands have?"))) == counted
    for question in ("How many lands are there per region?", "How many different rivers does each region have?"):
        assert counted_values(groups, asked(question)) == groups


@pytest.mark.anyio
async def test_a_count_of_the_named_document_or_of_another_container_is_blocked():
    grounding = asked("How many languages does Land 2 have?", LAND)
    for program, findings in (
        (MqlProgram("languages", (ONE, {"$count": "n"})), 1),
        (MqlProgram("lands", (ONE, {"$count": "n"})), 1),
        (MqlProgram("lands", (ONE, {"$project": {"n": {"$size": "$rivers"}}})), 0),
    ):
        assert len(await counted_gate(Candidate(program), grounding, None)) == findings  # type: ignore[arg-type]


@pytest.mark.anyio
@pytest.mark.parametrize(("rows", "blocked"), [((), True), (({"n": 1},), False)])
async def test_no_rows_for_a_value_that_is_stored_elsewhere_is_no_answer(rows: Any, blocked: bool):
    elsewhere = Finding(Code.VALUE_ELSEWHERE, "not there", blocking=False)
    candidate = Candidate(MqlProgram("lands", ()), rows=Rows(rows), findings=(elsewhere,))
    found = await misplaced_probe(candidate, asked("?"), None)  # type: ignore[arg-type]
    assert [f.blocking for f in found] == [True] * blocked
