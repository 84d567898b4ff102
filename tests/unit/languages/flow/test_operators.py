"""Every operator that may run is one whose documents and results the flow knows."""

from __future__ import annotations

from typing import Any

import pytest

from flowing import claims_of
from groundql.languages.operators import OPERATORS, Position

STAND: dict[Position, Any] = {
    Position.STAGE: lambda name: {name: {}},
    Position.EXPRESSION: lambda name: {"$project": {"x": {name: ["$total", 1]}}},
    Position.ACCUMULATOR: lambda name: {"$group": {"_id": None, "x": {name: {"input": "$total"}}}},
    Position.WINDOW: lambda name: {"$setWindowFields": {"output": {"x": {name: {"input": "$total"}}}}},
    Position.QUERY: lambda name: {"$match": {name: []}},
    Position.PREDICATE: lambda name: {"$match": {"total": {name: 1}}},
}


@pytest.mark.parametrize("position", list(Position))
def test_an_operator_that_may_run_is_known_where_it_may_stand(position: Position) -> None:
    names = [row.name for row in OPERATORS[position].values() if row.reads_only]
    assert len(names) > 5
    assert [name for name in names if claims_of(STAND[position](name)).unknown_operators] == []
