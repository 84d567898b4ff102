"""The statistics: published p-values, bounds that hold their figure, families that are corrected."""

from __future__ import annotations

import pytest

from groundql.bench.stats.holm import holm
from groundql.bench.stats.intervals import bootstrap, wilson
from groundql.bench.stats.mcnemar import mcnemar, paired


@pytest.mark.parametrize(
    ("wins", "losses", "p"),
    [(214, 79, 1.5e-15), (215, 67, 2.9e-19), (88, 101, 0.38), (295, 50, 2.1e-43), (102, 69, 0.014)],
)
def test_published_p_values_come_out(wins: int, losses: int, p: float) -> None:
    assert float(f"{mcnemar(wins, losses):.2g}") == p


def test_without_a_decided_pair_nothing_is_shown() -> None:
    assert mcnemar(0, 0) == 1.0
    assert mcnemar(3, 3) == 1.0


def test_the_test_does_not_mind_who_is_first() -> None:
    assert mcnemar(12, 3) == mcnemar(3, 12)


def test_only_what_both_were_asked_is_paired() -> None:
    found = paired({"a": True, "b": True, "c": False, "d": False}, {"a": True, "b": False, "c": True, "e": True})
    assert (found.both, found.wins, found.losses, found.neither) == (1, 1, 1, 0)
    assert found.difference == 0


def test_wilson_stays_within_bounds_and_around_the_share() -> None:
    assert wilson(0, 10).low == 0
    assert wilson(10, 10).high == 1
    known = wilson(10, 40)
    assert (round(known.low, 4), round(known.high, 4)) == (0.1419, 0.4019)


def test_the_bootstrap_repeats_itself_and_draws_within_databases() -> None:
    values = {"a": [0.0, 1.0, 1.0, 0.0], "b": [1.0, 1.0]}
    assert bootstrap(values) == bootstrap(values)
    assert bootstrap({"a": [0.0] * 5, "b": [1.0] * 5}).low == bootstrap({"a": [0.0] * 5, "b": [1.0] * 5}).high == 0.5


def test_holm_raises_each_p_by_its_rank_and_never_lowers_the_order() -> None:
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03}) == {"a": 0.03, "b": 0.06, "c": 0.06}
    assert holm({"a": 0.9, "b": 0.8}) == {"a": 1.0, "b": 1.0}
