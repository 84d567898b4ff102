from __future__ import annotations

from typing import Any

import pytest

from groundql.core.answer import Grounding, Question
from groundql.core.catalog import Witness
from groundql.core.path import Path
from groundql.core.program import MqlProgram
from groundql.solvers.local_names import stated_categories, stated_limit, stored_names, without_missing
from tiny_catalog import catalog_of, container_of

PLACES: list[dict[str, Any]] = [{"_id": 1, "time_zone": "a", "codes": {"iata": "X"}, "a": {"n": 1}, "b": {"n": 2}}]
GROUNDING = Grounding(Question("?"), catalog_of(container_of("places", PLACES)))


def renamed(*stages: dict[str, Any]) -> list[Any]:
    program = stored_names(MqlProgram("places", stages), GROUNDING)
    assert isinstance(program, MqlProgram)
    return list(program.stages)


@pytest.mark.parametrize(
    ("stage", "mended"),
    [
        ({"$group": {"_id": "$time_zones"}}, {"$group": {"_id": "$time_zone"}}),
        ({"$group": {"_id": "time_zone"}}, {"$group": {"_id": "$time_zone"}}),
        ({"$group": {"_id": None, "n": {"$max": "a.n"}}}, {"$group": {"_id": None, "n": {"$max": "$a.n"}}}),
        ({"$match": {"timeZone": "a"}}, {"$match": {"time_zone": "a"}}),
        ({"$match": {"iata": "X"}}, {"$match": {"codes.iata": "X"}}),
        ({"$project": {"code": "$iata"}}, {"$project": {"code": "$codes.iata"}}),
    ],
)
def test_a_name_that_is_nearly_a_stored_one_becomes_it(stage: dict[str, Any], mended: dict[str, Any]):
    assert renamed(stage) == [mended]


@pytest.mark.parametrize(
    "stage",
    [
        {"$match": {"n": 1}},
        {"$match": {"height": 1}},
        {"$match": {"time_zone": "time_zones"}},
        {"$group": {"_id": {"$literal": "a"}}},
    ],
)
def test_a_name_that_could_be_two_paths_or_none_stays(stage: dict[str, Any]):
    assert renamed(stage) == [stage]


def test_a_forgotten_dollar_is_added_before_a_key_of_a_map_too():
    documents = [{"_id": 1, "tags": {"shop:type": "x", "name": "y"}}]
    grounding = Grounding(Question("?"), catalog_of(container_of("places", documents, ["tags"])))
    program = MqlProgram("places", ({"$group": {"_id": "tags.shop:type", "n": {"$sum": 1}}},))
    mended = stored_names(program, grounding)
    assert isinstance(mended, MqlProgram)
    assert mended.stages[0]["$group"]["_id"] == "$tags.shop:type"


def test_names_that_the_pipeline_made_itself_stay():
    stages = [{"$group": {"_id": "$time_zone", "time_zones": {"$sum": 1}}}, {"$sort": {"time_zones": -1}}]
    assert renamed(*stages) == stages


def test_what_is_no_pipeline_passes_through():
    odd = MqlProgram("nowhere", ({"$match": {"x": 1}},))
    assert stored_names(odd, GROUNDING) is odd


def test_the_key_of_a_group_is_read_where_the_group_put_it():
    group = {"$group": {"_id": "$time_zone", "n": {"$sum": 1}}}
    assert renamed(group, {"$sort": {"n": -1, "time_zone": 1}})[1] == {"$sort": {"n": -1, "_id": 1}}
    shown = renamed(group, {"$project": {"_id": 0, "time_zone": "$time_zone", "n": 1}})[1]
    assert shown == {"$project": {"_id": 0, "time_zone": "$_id", "n": 1}}
    two = {"$group": {"_id": {"zone": "$time_zone"}, "n": {"$sum": 1}}}
    assert renamed(two, {"$project": {"zone": "$time_zone"}})[1] == {"$project": {"zone": "$_id.zone"}}


@pytest.mark.parametrize(
    ("question", "limit"), [("Which airport has the highest elevation?", 1), ("Which five airports have the most?", 5)]
)
def test_sorted_rows_are_cut_to_as_many_as_the_question_asks_for(question: str, limit: int):
    stages = ({"$sort": {"n": -1}}, {"$project": {"n": 1}})
    grounding = Grounding(Question(question), GROUNDING.catalog)
    cut = stated_limit(MqlProgram("places", stages), grounding)
    assert cut == MqlProgram("places", (stages[0], {"$limit": limit}, stages[1]))
    assert stated_limit(cut, grounding) == cut
    assert stated_limit(MqlProgram("places", stages[1:]), grounding) == MqlProgram("places", stages[1:])


def test_a_forgotten_dollar_does_not_keep_the_groups_key_from_being_found():
    made = renamed({"$group": {"_id": "time_zone"}}, {"$project": {"zone": "$time_zone"}})
    assert made == [{"$group": {"_id": "$time_zone"}}, {"$project": {"zone": "$_id"}}]


def test_what_lacks_the_key_is_dropped_only_where_the_question_leaves_it_out():
    program = MqlProgram("places", ({"$group": {"_id": "$time_zone"}},))
    asked = Grounding(Question("How many of each? Leave out places without a zone."), GROUNDING.catalog)
    dropped = without_missing(program, asked)
    assert dropped == MqlProgram("places", ({"$match": {"time_zone": {"$ne": None}}}, *program.stages))
    assert without_missing(dropped, asked) == dropped
    assert without_missing(program, GROUNDING) == program


def found(term: str, path: str, stored: str) -> Witness:
    return Witness(term, "places", Path.parse(path), stored)


@pytest.mark.parametrize(
    ("places", "name"),
    [
        (["codes.iata"], "codes.iata"),
        (["codes.iata", "_id"], "_id"),
        (["codes.iata", "a"], "callsign"),
        ([], "callsign"),
    ],
)
def test_an_unknown_name_becomes_the_place_where_its_value_was_found(places: list[str], name: str):
    grounding = Grounding(Question("?"), GROUNDING.catalog, tuple(found("X", place, "X") for place in places))
    program = stored_names(MqlProgram("places", ({"$match": {"callsign": "X"}},)), grounding)
    assert isinstance(program, MqlProgram)
    assert list(program.stages) == [{"$match": {name: "X"}}]


KINDS = catalog_of(container_of("places", [{"_id": n, "kind": ("city", "airport")[n % 2]} for n in range(12)]))


@pytest.mark.parametrize(
    ("stages", "added"),
    [
        ([{"$count": "n"}], True),
        ([{"$match": {"kind": "airport"}}, {"$count": "n"}], False),
        ([{"$match": {"kind": {"$ne": "city"}}}, {"$count": "n"}], False),
        ([{"$group": {"_id": "$kind", "n": {"$sum": 1}}}], False),
    ],
)
def test_the_kind_that_the_question_speaks_of_is_added_where_nothing_is_said_of_it(stages: list[Any], added: bool):
    grounding = Grounding(Question("How many airports?"), KINDS, (found("airports", "kind", "airport"),))
    program = stated_categories(MqlProgram("places", tuple(stages)), grounding)
    assert isinstance(program, MqlProgram)
    assert list(program.stages) == [*([{"$match": {"kind": "airport"}}] if added else []), *stages]


TOWNS = [{"_id": n, "kind": ("city", "airport")[n % 2], **({"city": f"C{n}"} if n % 2 else {})} for n in range(12)]
NAMESAKES = catalog_of(container_of("places", TOWNS))


@pytest.mark.parametrize(
    ("question", "stage", "mended"),
    [
        ("Which codes do the cities have?", {"city": {"$exists": True}}, [{"$match": {"kind": "city"}}]),
        ("Which codes do the cities have?", {"city": {"$ne": None}}, [{"$match": {"kind": "city"}}]),
        ("Which codes does each city have?", {"city": {"$ne": None}}, [{"$match": {"city": {"$ne": None}}}]),
        (
            "Which cities have airports?",
            {"city": {"$ne": None}},
            [{"$match": {"kind": "airport"}}, {"$match": {"city": {"$ne": None}}}],
        ),
        ("Which codes do the cities have?", {"city": "C1"}, [{"$match": {"city": "C1"}}]),
        ("How many places are there?", {"city": {"$ne": None}}, [{"$match": {"city": {"$ne": None}}}]),
    ],
)
def test_a_plural_that_is_a_kind_of_document_is_not_the_field_of_that_name(question: str, stage: Any, mended: Any):
    count = {"$count": "n"}
    program = stated_categories(
        MqlProgram("places", ({"$match": stage}, count)), Grounding(Question(question), NAMESAKES)
    )
    assert isinstance(program, MqlProgram)
    assert list(program.stages) == [*mended, count]
