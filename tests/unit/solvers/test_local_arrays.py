from __future__ import annotations

from typing import Any

import pytest

from groundql.core.answer import Grounding, Question
from groundql.core.program import MqlProgram
from groundql.solvers.local_arrays import unwound_groups
from tiny_catalog import catalog_of, container_of

DOCUMENTS: list[dict[str, Any]] = [{"_id": 1, "tags": ["a"], "teams": [{"name": "x", "cups": ["c"]}], "kind": "k"}]
GROUNDING = Grounding(Question("?"), catalog_of(container_of("things", DOCUMENTS)))


def unwound(*stages: dict[str, Any]) -> list[Any]:
    program = unwound_groups(MqlProgram("things", stages), GROUNDING)
    assert isinstance(program, MqlProgram)
    return list(program.stages)


@pytest.mark.parametrize(
    ("key", "arrays"),
    [("tags", ["tags"]), ("teams.name", ["teams"]), ("teams.cups", ["teams", "teams.cups"]), ("kind", []), ("no", [])],
)
def test_a_group_by_an_array_becomes_one_by_its_items(key: str, arrays: list[str]):
    group = {"$group": {"_id": f"${key}", "n": {"$sum": 1}}}
    assert unwound({"$match": {"kind": "k"}}, group) == [
        {"$match": {"kind": "k"}},
        *({"$unwind": f"${name}"} for name in arrays),
        group,
    ]


@pytest.mark.parametrize("done", ["$tags", {"path": "$tags", "preserveNullAndEmptyArrays": True}])
def test_what_is_unwound_already_is_not_unwound_again(done: Any):
    stages = [{"$unwind": done}, {"$group": {"_id": "$tags"}}]
    assert unwound(*stages) == stages


@pytest.mark.parametrize(
    "stages",
    [
        [{"$project": {"tags": {"$size": "$tags"}}}, {"$group": {"_id": "$tags"}}],
        [{"$group": {"_id": {"t": "$tags"}}}],
        [{"$count": "n"}],
    ],
)
def test_computed_keys_and_other_programs_stay(stages: list[Any]):
    assert unwound(*stages) == stages
