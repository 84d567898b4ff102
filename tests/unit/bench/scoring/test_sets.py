from __future__ import annotations

from typing import Any

import pytest

from groundql.bench.scoring.sets import unordered_arrays

GROUP = {"$group": {"_id": "$k", "tags": {"$addToSet": "$t"}, "all": {"$push": "$t"}}}
Ways = set[tuple[str, ...]]
CASES: dict[str, tuple[list[Any], Ways]] = {
    "collected into a set": ([GROUP], {("tags",)}),
    "carried on": ([GROUP, {"$sort": {"_id": 1}}, {"$limit": 3}], {("tags",)}),
    "renamed": ([GROUP, {"$project": {"x": "$tags"}}], {("x",)}),
    "kept": ([GROUP, {"$project": {"tags": 1}}], {("tags",)}),
    "left out": ([GROUP, {"$project": {"all": 1}}], set()),
    "kept by an exclusion": ([GROUP, {"$project": {"all": 0}}], {("tags",)}),
    "sorted": ([GROUP, {"$set": {"tags": {"$sortArray": {"input": "$tags", "sortBy": 1}}}}], set()),
    "united": ([{"$project": {"x": {"$setUnion": ["$a", "$b"]}}}], {("x",)}),
    "filtered": ([GROUP, {"$set": {"few": {"$filter": {"input": "$tags", "cond": True}}}}], {("tags",), ("few",)}),
    "mapped": ([GROUP, {"$project": {"x": {"$map": {"input": "$tags", "in": 1}}}}], {("x",)}),
    "or else another": ([GROUP, {"$project": {"x": {"$ifNull": ["$tags", []]}}}], {("x",)}),
    "chosen": ([GROUP, {"$project": {"x": {"$cond": [True, "$tags", "$all"]}}}], {("x",)}),
    "inside an object": ([GROUP, {"$project": {"o": {"inner": "$tags"}}}], {("o", "inner")}),
    "collected again": ([GROUP, {"$group": {"_id": None, "rows": {"$push": {"t": "$tags"}}}}], {("rows", "t")}),
    "made the root": ([GROUP, {"$replaceRoot": {"newRoot": {"t": "$tags"}}}], {("t",)}),
    "grouped away": ([GROUP, {"$group": {"_id": "$_id", "n": {"$sum": 1}}}], set()),
    "counted": ([GROUP, {"$project": {"n": {"$size": "$tags"}}}], set()),
    "never made": ([{"$match": {"a": 1}}], set()),
    "after a stage that is not understood": ([GROUP, {"$facet": {"a": []}}], set()),
}


@pytest.mark.parametrize(("stages", "ways"), CASES.values(), ids=CASES)
def test_arrays_without_order_are_followed_to_the_end(stages: list[Any], ways: Ways) -> None:
    assert unordered_arrays(stages) == ways
