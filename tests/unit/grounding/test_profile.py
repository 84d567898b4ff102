from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

import pytest
from bson import Decimal128, Int64, ObjectId

from groundql.core.catalog import Container, ContainerInfo, KeyKind, NumberRange, Sampling, StopReason
from groundql.core.kind import Kind
from groundql.core.path import Path
from groundql.grounding.profile import Profile, Profiler


def profile(documents: Iterable[Mapping[str, Any]], name: str = "things") -> Profile:
    profiler = Profiler(ContainerInfo(name))
    for document in documents:
        profiler.add(document)
    return profiler.finish()


def container(documents: Iterable[Mapping[str, Any]]) -> Container:
    return profile(documents).container


def paths(found: Container) -> set[str]:
    return {str(field.path) for field in found.fields}


def field(found: Container, path: str) -> Any:
    got = found.get(Path.parse(path))
    assert got is not None, f"{path} is not among {sorted(paths(found))}"
    return got


def enumerate_names(names: list[str]) -> Iterable[tuple[str, object]]:
    kinds: list[object] = [1, "x", True, [1], {"a": 1}]
    return ((name, kinds[i % 5]) for i, name in enumerate(names))


class TestLattice:
    def test_every_path_is_found_with_its_kinds_and_counts(self) -> None:
        found = container(
            [{"a": 1, "b": {"c": "x", "d": [1, "y", {"e": None}]}}, {"a": 2.5, "b": {"d": []}}, {"a": None}]
        )

        assert paths(found) == {"a", "b", "b.c", "b.d", "b.d[]", "b.d[].e"}
        assert field(found, "a").kinds == ((Kind.DOUBLE, 1), (Kind.INT, 1), (Kind.NULL, 1))
        assert field(found, "b").parents == 3
        assert field(found, "b.c").present_share == 0.5
        assert field(found, "b.d[]").count == 3
        assert field(found, "b.d").lengths.low == 0
        assert field(found, "b.d").lengths.high == 3
        assert field(found, "b.d").lengths.mean == 1.5

    def test_null_and_missing_are_told_apart(self) -> None:
        found = container([{"a": None}, {}, {"a": 1}, {"a": 1}])

        assert field(found, "a").share(Kind.NULL) == pytest.approx(1 / 3)
        assert field(found, "a").share(Kind.MISSING) == 0.25

    def test_names_may_hold_dots_dollars_blanks_nothing_and_any_letter(self) -> None:
        names = ["a.b", "$set", "", " ", "<*>", "[]", "naïve", "日本", 'q"uote', "new\nline"]
        found = container([dict(enumerate_names(names)) | {f"plain_{i}": "x" for i in range(20)}])

        for name in names:
            assert found.get(Path.of(name)) is not None
        assert all(Path.parse(str(f.path)) == f.path for f in found.fields)

    def test_fields_come_in_the_order_of_their_paths(self) -> None:
        found = container([{"b": {"z": 1, "a": 1}, "a": [{"q": 1}], "_id": 1}])

        assert [f.path for f in found.fields] == sorted(f.path for f in found.fields)

    def test_numbers_that_are_not_numbers_stay_out_of_the_range(self) -> None:
        found = container([{"n": float("nan")}, {"n": 3}, {"n": Int64(2**40)}, {"n": Decimal128("1.50")}, {"n": -0.5}])

        assert field(found, "n").numbers.low == -0.5
        assert field(found, "n").numbers.high == 2**40
        assert dict(field(found, "n").kinds) == {Kind.DOUBLE: 2, Kind.INT: 1, Kind.LONG: 1, Kind.DECIMAL: 1}

    def test_numbers_that_are_in_no_range_are_counted_by_name(self) -> None:
        values = [1.0, 9.0, float("nan"), float("nan"), float("inf"), Decimal128("-Infinity"), Decimal128("NaN")]
        found = container({"a": value, "b": float("nan")} for value in values)

        assert field(found, "a").numbers == NumberRange(1.0, 9.0)
        assert field(found, "a").non_finite == (("-Infinity", 1), ("Infinity", 1), ("NaN", 3))
        assert field(found, "b").numbers is None
        assert field(found, "b").non_finite == (("NaN", 7),)

    def test_ranges_keep_longs_and_decimals_exactly(self) -> None:
        found = container(
            {"n": Int64(2**53 + i), "d": Decimal128(f"{i + 1}E+6000"), "p": Decimal128(f"0.{i}")} for i in range(100)
        )

        assert field(found, "n").numbers == NumberRange(2**53, 2**53 + 99)
        assert field(found, "d").numbers == NumberRange(Decimal("1E+6000"), Decimal("1.00E+6002"))
        assert field(found, "p").numbers == NumberRange(0.0, 0.99)

    def test_a_count_says_whether_it_is_exact_an_estimate_or_a_part(self) -> None:
        documents = [{"few": i % 100, "many": f"v{i}", "bad": float("nan")} for i in range(9000)]
        profiler = Profiler(ContainerInfo("things"))
        for document in documents:
            profiler.add(document)
        part = profiler.finish(Sampling(9000, StopReason.SATURATED)).container
        found = container(documents)

        assert [field(found, name).counted for name in ("few", "many", "bad")] == ["exact", "about", "exact"]
        assert [field(part, name).counted for name in ("few", "many", "bad")] == [
            "at least", "at least about", "at least",
        ]  # fmt: skip
        assert field(found, "few").distinct == 100
        assert field(found, "bad").distinct == 1

    def test_a_count_of_keys_says_the_same(self) -> None:
        few = container({"m": {f"2014-{i}": 1}} for i in range(300))
        many = container({"m": {f"k-{n}-{i}": n for i in range(30)}} for n in range(2000))

        assert (field(few, "m").keys.distinct, field(few, "m").keys.counted) == (300, "exact")
        assert field(many, "m").keys.counted == "about"

    def test_an_int_too_large_for_32_bits_is_a_long(self) -> None:
        found = container([{"n": 2**31 - 1}, {"n": 2**31}])

        assert dict(field(found, "n").kinds) == {Kind.INT: 1, Kind.LONG: 1}

    def test_decimals_keep_their_written_form(self) -> None:
        found = profile([{"n": Decimal128("1.0")}, {"n": Decimal128("1.00")}, {"n": Decimal128("1.0")}])

        assert [(str(v), n) for v, n in found.values[0].counts] == [("1.0", 2), ("1.00", 1)]
        assert all(isinstance(v, Decimal128) for v, _ in found.values[0].counts)

    def test_true_and_one_are_different_values(self) -> None:
        found = profile([{"n": True}, {"n": 1}, {"n": 1.0}])

        assert [v for v, _ in found.values[0].counts] == [True, 1.0, 1]
        assert found.values[0].distinct == 3

    def test_dates_with_and_without_a_zone_share_one_range_in_utc(self) -> None:
        east = dt.timezone(dt.timedelta(hours=2))
        found = container([{"d": dt.datetime(2020, 1, 1, 12)}, {"d": dt.datetime(2020, 1, 1, 13, tzinfo=east)}])

        assert field(found, "d").dates.low == dt.datetime(2020, 1, 1, 11, tzinfo=dt.UTC)
        assert field(found, "d").dates.high == dt.datetime(2020, 1, 1, 12, tzinfo=dt.UTC)

    def test_arrays_of_arrays_keep_each_level(self) -> None:
        found = container([{"m": [[1, 2], [3]]}, {"m": []}])

        assert paths(found) == {"m", "m[]", "m[][]"}
        assert field(found, "m[][]").count == 3

    def test_documents_counts_each_document_once(self) -> None:
        found = container([{"a": [{"b": 1}, {"b": 2}]}, {"a": [{}]}, {"a": [{"b": 3}]}])

        assert field(found, "a[].b").documents == 2
        assert field(found, "a[].b").count == 3
        assert field(found, "a[].b").parents == 4

    def test_an_object_or_an_array_at_one_path_keeps_both_below_it(self) -> None:
        found = container([{"s": {"v": 1}}, {"s": [{"v": 2, "w": 3}]}])

        assert paths(found) == {"s", "s.v", "s[]", "s[].v", "s[].w"}

    def test_an_empty_container_has_no_fields(self) -> None:
        assert container([]).fields == ()

    def test_values_are_complete_only_when_all_documents_were_seen_and_kept(self) -> None:
        found = container([{"s": f"v{i % 5}"} for i in range(50)])

        assert field(found, "s").complete
        assert field(found, "s").values == ("v0", "v1", "v2", "v3", "v4")
        assert found.sampling.stop is StopReason.EXHAUSTED


class TestDepth:
    def test_leaves_thirty_levels_down_are_found(self) -> None:
        document: dict[str, Any] = {"leaf": 1}
        for level in range(30):
            document = {f"level{level}": document}

        assert any(f.path.last == "leaf" and len(f.path) == 31 for f in container([document]).fields)

    def test_a_recursive_shape_ends_in_a_marked_fold(self) -> None:
        def thread(depth: int) -> dict[str, Any]:
            return {"text": "hello", "replies": [thread(depth - 1)] if depth else []}

        found = container([thread(30) for _ in range(3)])

        folded = [f for f in found.fields if f.folded]
        assert len(folded) == 1
        assert len(folded[0].path) <= 12
        assert len(found.fields) < 20

    def test_a_tree_that_branches_into_itself_ends_in_marked_folds(self) -> None:
        def tree(depth: int) -> dict[str, Any]:
            return {"value": depth} | ({"left": tree(depth - 1), "right": tree(depth - 1)} if depth else {})

        found = container([tree(9) for _ in range(3)])

        assert any(f.folded for f in found.fields)
        assert len(found.fields) < 150

    def test_a_repeated_name_with_something_new_below_is_not_folded(self) -> None:
        document = {"a": {"a": {"a": {"a": {"a": {"a": {"leaf": 1}}}}}}}

        assert any(f.path.last == "leaf" for f in container([document]).fields)

    def test_a_document_deeper_than_any_server_allows_does_not_break_the_walk(self) -> None:
        document: dict[str, Any] = {"leaf": 1}
        for level in range(5000):
            document = {f"n{level}": document} if level % 2 else {"items": [document]}

        assert any(f.folded for f in container([document]).fields)


class TestHostileSizes:
    def test_fifty_thousand_keys_become_one_map(self) -> None:
        found = container({"_id": i, "by": {f"k{i}x{j}": {"n": j} for j in range(500)}} for i in range(100))

        keys = field(found, "by").keys
        assert paths(found) == {"_id", "by", "by.<*>", "by.<*>.n"}
        assert not keys.complete
        assert 40_000 < keys.distinct < 60_000
        assert keys.mean == pytest.approx(500, rel=0.2)

    def test_fifty_thousand_keys_at_the_root_leave_the_id_a_field(self) -> None:
        found = container([{"_id": i} | {f"key {i} {j}": j for j in range(5000)} for i in range(10)])

        assert paths(found) == {"", "<*>", "_id"}

    def test_wide_objects_of_ever_new_names_stay_cheap(self) -> None:
        pool = random.Random(2)
        names = [f"{a}{b}{c}" for a in "bcdfg" for b in "aeiou" for c in "klmnprst"]
        found = container(
            {"_id": i} | {f"{n}{i % 400}": pool.choice([1, "x"]) for n in names[:100]} for i in range(600)
        )

        assert len(found.fields) < 50

    def test_numbered_columns_that_are_all_filled_are_names(self) -> None:
        found = container({"_id": i, **{f"col_{n}": i for n in range(280)}} for i in range(20))

        assert len(found.fields) == 281

    def test_one_document_of_many_wide_maps_is_read_whole(self) -> None:
        document = {
            "by_year": {str(1500 + y): {f"u{y}_{k}": {"n": k, "s": "x"} for k in range(300)} for y in range(300)}
        }
        found = container([document])

        assert paths(found) == {
            "by_year", "by_year.<*>", "by_year.<*>.<*>", "by_year.<*>.<*>.n", "by_year.<*>.<*>.s",
        }  # fmt: skip
        assert field(found, "by_year.<*>.<*>.n").count == 90_000
        assert not any(f.folded for f in found.fields)

    def test_many_different_strings_are_counted_without_being_kept(self) -> None:
        found = profile({"s": f"text number {i}", "t": "common" if i % 2 else f"rare {i}"} for i in range(60_000))

        seen = {str(v.path): v for v in found.values}
        assert not seen["s"].complete
        assert len(seen["s"].counts) < 10_000
        assert 45_000 < seen["s"].distinct < 75_000
        assert seen["t"].counts[0] == ("common", 30_000)
        assert field(found.container, "s").kinds == ((Kind.STRING, 60_000),)

    def test_the_range_is_exact_though_most_numbers_are_not_kept(self) -> None:
        numbers = [i / 7 for i in range(20_000)]
        random.Random(1).shuffle(numbers)
        found = container({"n": n} for n in numbers)

        assert field(found, "n").numbers.low == 0
        assert field(found, "n").numbers.high == 19_999 / 7
        assert field(found, "n").count == 20_000

    def test_a_very_long_text_is_not_kept(self) -> None:
        found = profile([{"s": "x" * 5_000_000}, {"s": "short"}])

        assert [v for v, _ in found.values[0].counts] == ["short"]
        assert not found.values[0].complete

    def test_ids_leave_few_examples(self) -> None:
        found = profile({"_id": ObjectId()} for _ in range(1000))

        assert len(found.values[0].counts) <= 64


class TestSameDataSameProfile:
    def test_the_order_of_documents_does_not_matter(self) -> None:
        documents = [
            {"_id": i, "kind": "ab"[i % 2], "by_year": {str(2000 + i % 7): {"n": i}}, "a": [{"x": i % 3}]}
            | ({"only_a": 1, "also_a": 2} if i % 2 == 0 else {"only_b": 1})
            for i in range(200)
        ]
        shuffled = random.Random(5).sample(documents, len(documents))

        assert repr(profile(documents)) == repr(profile(shuffled))

    def test_the_order_of_fields_does_not_matter(self) -> None:
        one = {"a": 1, "b": {"c": 1, "d": 2}}
        other = {"b": {"d": 2, "c": 1}, "a": 1}

        assert repr(profile([one, other])) == repr(profile([other, one]))


class TestKeySpace:
    def test_keys_come_with_kind_frequency_and_completeness(self) -> None:
        found = profile([{"by_year": {"2019": 1, "2020": 2}}, {"by_year": {"2020": 3}}, {"by_year": {}}])

        keys = field(found.container, "by_year").keys
        assert keys.kind is KeyKind.YEAR
        assert keys.examples == ("2020", "2019")
        assert keys.distinct == 2
        assert keys.complete
        assert keys.mean == 1.0
        stored = next(v for v in found.values if v.is_key)
        assert stored.counts == (("2020", 2), ("2019", 1))
        assert str(stored.path) == "by_year"
