"""Every solver is documented, and its disclosure can be written down."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from groundql.solvers.disclosure import disclosure_of
from groundql.solvers.recipes import SOLVERS

PAGE = Path(__file__).parents[3] / "docs" / "bench" / "solvers.md"


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_stands_on_the_page(name: str) -> None:
    assert f"`{name.removesuffix('-plain')}`" in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", SOLVERS)
def test_a_disclosure_is_json_and_claims_no_gold(name: str) -> None:
    record = json.loads(json.dumps(disclosure_of(name).to_record()))
    assert record["solver"] == name
    assert record["channel"]
    assert record["uses_gold"] is False
    assert record["calls_bound"] >= 1


def test_a_disclosure_names_the_gates_that_a_solver_has() -> None:
    assert "value_gate" in disclosure_of("sag").gates
    assert "value_gate" not in disclosure_of("sag-no-value").gates
    assert disclosure_of("sag-no-gate").gates == ()
