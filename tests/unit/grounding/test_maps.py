from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path as FilePath
from typing import Any

import pytest

from groundql.core.catalog import Container, ContainerInfo, KeyKind
from groundql.core.path import Path
from groundql.grounding.profile import Profiler

SUPERHERO = FilePath(__file__).parents[3].parent / "shared" / "data" / "superhero" / "superhero.json.gz"


def container(documents: Iterable[Mapping[str, Any]]) -> Container:
    profiler = Profiler(ContainerInfo("things"))
    for document in documents:
        profiler.add(document)
    return profiler.finish().container


def maps(found: Container) -> set[str]:
    return {str(f.path) for f in found.fields if f.is_map}


def repeated(*documents: Mapping[str, Any], times: int = 10) -> list[dict[str, Any]]:
    """The same shapes many times over, with the fields that a usual document has beside them."""
    return [
        {"_id": i, "name": f"n{i}", "total": i, **documents[i % len(documents)]} for i in range(times * len(documents))
    ]


ROW = {"count": 3, "rows": [{"id": 1, "label": "x"}], "note": "some text"}

MAPS: dict[str, tuple[list[dict[str, Any]], set[str]]] = {
    "years": (repeated({"m": {"2019": 5, "2020": 6}}, {"m": {"2021": 1}}), {"m"}),
    "a single year in all documents": (repeated({"m": {"2019": {"n": 1}}}), {"m"}),
    "seasons": (repeated({"m": {"2008/2009": ROW}}, {"m": {"2009/2010": ROW}}), {"m"}),
    "months": (repeated({"m": {"2019-01": 1.5, "2019-02": 2.5}}), {"m"}),
    "days": (repeated({"m": {"2012-08-24": ROW, "2012-08-25": ROW}}), {"m"}),
    "numbers": (repeated({"m": {"1": 3, "2": 4, "10": 5}}), {"m"}),
    "object ids": (repeated({"m": {"5f3a1c2b9d8e7f6a5b4c3d2e": 1, "5f3a1c2b9d8e7f6a5b4c3d2f": 2}}), {"m"}),
    "uuids": (repeated({"m": {"123e4567-e89b-12d3-a456-426614174000": ROW}}), {"m"}),
    "ids with a prefix": (repeated({"m": {"user_10442": 1, "user_20117": 2, "user_9001": 1}}), {"m"}),
    "composite keys": (repeated({"m": {"Alameda::Berkeley Unified": ROW, "Alameda::Oakland Unified": ROW}}), {"m"}),
    "composite codes": (repeated({"m": {"PREVOD_NA_UCET::SIPO": ROW}}, {"m": {"VKLAD::UROK": ROW}}), {"m"}),
    "results": (repeated({"m": {"Finished": ROW, "+1 Lap": ROW}}, {"m": {"Accident": ROW, "+2 Laps": ROW}}), {"m"}),
    "bond symbols": (repeated({"m": {"=": 3, "-": 8}}, {"m": {"-": 2}}), {"m"}),
    "element symbols by name": (repeated({"elements_by_symbol": {"c": ROW, "cl": ROW}}), {"elements_by_symbol"}),
    "genders": (repeated({"m": {"F": ROW, "M": ROW}}, {"m": {"M": ROW}}), {"m"}),
    "one key that is written like a value": (repeated({"m": {"Dues": ROW}}), {"m"}),
    "one key of a field that says it is keyed": (repeated({"income_by_source": {"dues": ROW}}), {"income_by_source"}),
    "currencies": (repeated({"m": {"USD": 1.5, "EUR": 2.5}}, {"m": {"GBP": 1.0}}), {"m"}),
    "phrases": (
        repeated({"m": {"Simplified Chinese": "x", "Korean": "y"}}, {"m": {"Brazilian Portuguese": "z"}}),
        {"m"},
    ),
    "grade spans": (repeated({"m": {"K-12": ROW, "9-12": ROW}}, {"m": {"K-8": ROW}}), {"m"}),
    "languages": (repeated({"m": {"en": "x", "de": "y", "fr": "z", "it": "w"}}), {"m"}),
    "a dense small vocabulary whose values share one shape": (
        repeated({"m": {"bad": ROW, "good": ROW, "neutral": ROW}}),
        {"m"},
    ),
    "a dense small vocabulary that is stored as values": (
        [
            {"_id": i, "side": s, "counts": {"bad": 1, "good": 2, "neutral": 3}}
            for i, s in enumerate(["Good", "Bad", "Neutral"] * 5)
        ],
        {"counts"},
    ),
    "tags that keep growing": (
        [
            {"_id": i, "m": {f"tag{'abcdefghij'[i % 10]}{'klmnopqrst'[i // 10 % 10]}": i, "common": 1}}
            for i in range(100)
        ],
        {"m"},
    ),
    "status by year": (
        repeated({"m": {"2010": {"open": 3}, "2011": {"open": 1, "closed": 2}}}, {"m": {"2012": {"duplicate": 1}}}),
        {"m"},
    ),
    "two levels, as the name says": (
        repeated({"threads_by_status_by_year": {"open": {"2010": 4, "2011": 5}, "closed": {"2010": 1}}}),
        {"threads_by_status_by_year", "threads_by_status_by_year.<*>"},
    ),
    "two levels of data": (
        repeated({"m": {"2010": {"1": ROW, "2": ROW}}}, {"m": {"2011": {"3": ROW}}}),
        {"m", "m.<*>"},
    ),
    "below an array": (
        repeated({"items": [{"votes_by_type": {"1": 2, "2": 5}}, {"votes_by_type": {"3": 2}}]}),
        {"items[].votes_by_type"},
    ),
    "a map whose entries are now a text, now a list": (
        repeated(
            {"codes": {"github": "smile", "slack": ["smile", "grin"], "cldr": "s"}},
            {"codes": {"github": ["a", "b"], "slack": "b", "cldr": ["c"]}},
        ),
        {"codes"},
    ),
    "five keys of which each object has one": (
        [{"_id": i, "name": "x", "tag": {["shop", "route", "power", "lake", "inn"][i % 5]: "v"}} for i in range(40)],
        {"tag"},
    ),
}

RECORDS: dict[str, list[dict[str, Any]]] = {
    "an address": repeated({"address": {"street": "x", "zip": "1", "city": "y"}}),
    "optional flags": repeated({"flags": {"a": True}}, {"flags": {"b": True}}, {"flags": {"c": True}}),
    "optional fields of one kind": repeated(
        {"r": {"first": "x"}}, {"r": {"last": "y"}}, {"r": {"first": "x", "nick": "z"}}
    ),
    "sparse fields of differing kinds": [
        {"_id": i, "r": {f"field_{chr(97 + n)}": [1, "x", True, [1], {"q": 1}][n % 5] for n in (i % 12, i * 5 % 12)}}
        for i in range(120)
    ],
    "home and away": repeated({"score": {"home": {"goals": 1, "shots": 4}, "away": {"goals": 2, "shots": 5}}}),
    "two addresses": repeated({"to": {"billing": {"a": "x", "b": "y"}, "shipping": {"a": "x", "b": "y"}}}),
    "wrapped values": repeated(
        {"profile": {n: {"value": "x", "state": "present"} for n in ("first_name", "last_name", "city")}}
    ),
    "coordinates": repeated({"at": {"lat": 1.5, "lng": 2.5}}, {"at": {"lat": 1.5, "lng": 2.5, "alt": 3.0}}),
    "a place in GeoJSON": repeated({"at": {"type": "Point", "coordinates": [1.5, 2.5]}}),
    "states as texts": repeated({"state": {"profile": "present", "powers": "missing", "height": "present"}}),
    "who did it": repeated({"created_by_user": {"name": "x", "id": 3, "tags": ["a"]}}),
    "items of an array that says what it is ordered by": repeated({"teams_by_rank": [{"team": 1, "points": 3}]}),
    "numbered lines": repeated({"address": {"line1": "x", "line2": "y"}}),
    "statistics": repeated({"stats": {"min": 1, "max": 5, "mean": 2.5}}),
    "names with dots": repeated({"conf": {"server.port": 80, "server.host": "x", "debug": True}}),
    "linked data": repeated({"meta": {"dc:title": "x", "dc:date": 3, "dc:subject": ["a"]}}),
    "names that occur in a column of other names": [
        {"_id": i, "name": ["width", "name", "type", "value", "depth", "colour", "height"][i % 7] + "s" * (i // 14),
         "flags": [{"type": "preference", "name": "x", "value": "y"}]}
        for i in range(140)
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", MAPS)
def test_keys_that_are_data_collapse(name: str) -> None:
    documents, expected = MAPS[name]

    assert maps(container(documents)) >= expected


@pytest.mark.parametrize("name", RECORDS)
def test_records_do_not_collapse(name: str) -> None:
    assert maps(container(RECORDS[name])) == set()


def test_names_written_in_capitals_are_names_where_all_are() -> None:
    documents = [{"_id": i, "ID": i, "SEX": "F", "Lab": {"GOT": 1, "GPT": "x", "LDH": 2.5}} for i in range(20)]

    assert maps(container(documents)) == set()


def test_inner_maps_are_judged_on_all_their_siblings_together() -> None:
    """Each inner object has one word for a key; only together do they show that the words are data."""
    words = [f"{a}{b}ing" for a in "bcdfghklmn" for b in "aeiou"]
    documents = [{"_id": i, "m": {str(2000 + i % 30): {words[i % 50]: 1, words[i * 7 % 50]: 2}}} for i in range(60)]
    found = container(documents)

    assert maps(found) == {"m", "m.<*>"}
    assert found.by_path[Path.parse("m.<*>")].keys is not None


def test_keys_that_are_data_at_the_root_leave_the_names_beside_them() -> None:
    documents = [{"_id": i, "station": "x"} | {f"2020-01-{d:02}": d for d in range(1, 29)} for i in range(5)]
    found = container(documents)

    assert {str(f.path) for f in found.fields} == {"", "<*>", "_id", "station"}
    assert found.by_path[Path()].keys is not None


@pytest.mark.parametrize(
    ("keys", "kind"),
    [
        (["1", "2", "30"], KeyKind.NUMBER),
        (["2010", "2011", "2008/2009"], KeyKind.YEAR),
        (["2010-01", "2010-02-03", "2010-Q1"], KeyKind.DATE),
        (["USD", "EUR", "K-12"], KeyKind.CODE),
        (["user:17", "user:21", "a@b.org"], KeyKind.ID),
        (["Finished", "In progress", "good"], KeyKind.WORD),
        (["2010", "USD", "good", "="], KeyKind.MIXED),
    ],
)
def test_the_kind_of_keys_is_named(keys: list[str], kind: KeyKind) -> None:
    found = container(repeated({"m_by_key": dict.fromkeys(keys, 1)}))

    keyspace = found.by_path[Path.parse("m_by_key")].keys
    assert keyspace is not None
    assert keyspace.kind is kind


@cache
def superhero() -> dict[str, Container]:
    if not SUPERHERO.exists():
        pytest.skip(f"the superhero world is not at {SUPERHERO}")
    world = json.loads(gzip.decompress(SUPERHERO.read_bytes()))
    return {name: container(documents) for name, documents in world.items()}


class TestSuperhero:
    def test_the_maps_of_the_dossiers_are_maps_and_the_rest_are_records(self) -> None:
        assert maps(superhero()["hero_dossiers"]) == {
            "ability_matrix.attribute_score_buckets",
            "ability_matrix.attributes_by_name",
            "appearance.color_refs_by_role",
            "powers.powers_by_family",
            "query_views[].attribute_bands_by_name",
            "query_views[].power_families_by_bucket",
        }

    def test_the_maps_of_the_publishers_are_maps_and_the_rest_are_records(self) -> None:
        assert maps(superhero()["publisher_universes"]) == {
            "alignment_buckets_by_name",
            "power_families_by_bucket",
            "query_views[].alignment_power_matrix_by_alignment",
            "query_views[].alignment_power_matrix_by_alignment.<*>.power_families_by_bucket",
        }

    def test_the_maps_of_the_abilities_are_maps_and_the_rest_are_records(self) -> None:
        assert maps(superhero()["ability_catalog"]) == {
            "heroes_by_alignment",
            "query_views[].alignment_members_by_name",
            "values_by_bucket",
        }

    def test_the_maps_of_the_rosters_are_maps_though_there_are_four_documents(self) -> None:
        assert maps(superhero()["alignment_rosters"]) == {"power_families_by_bucket", "publishers_by_name"}

    def test_the_leaves_are_there_with_their_ranges(self) -> None:
        score = superhero()["hero_dossiers"].get(
            Path.parse("ability_matrix.attributes_by_name.<*>.observations[].score.value")
        )

        assert score is not None
        assert score.numbers is not None
        assert (score.numbers.low, score.numbers.high) == (5, 100)

    def test_the_kind_of_ability_tells_the_variants_apart(self) -> None:
        variants = superhero()["ability_catalog"].variants

        assert {v.value for v in variants} == {"power", "attribute"}
        power = next(v for v in variants if v.value == "power")
        assert Path.parse("heroes_by_alignment") in power.only
        assert Path.parse("values_by_bucket") in power.absent
