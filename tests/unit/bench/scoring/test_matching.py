from __future__ import annotations

import pytest

from groundql.bench.scoring.flow import Steps, is_saturable
from groundql.bench.scoring.matching import fits, match_in_any_order, match_in_order
from groundql.bench.scoring.overrun import overruns

SURPLUS = [((1,), (1, 2), True), ((1,), (1, 2, 3), True), ((1,), (1, 2, 3, 4), False), ((1, 2), (1,), False)]


@pytest.mark.parametrize(("gold", "predicted", "expected"), SURPLUS)
def test_a_row_may_hold_at_most_two_values_more(
    gold: tuple[int, ...], predicted: tuple[int, ...], expected: bool
) -> None:
    assert fits(gold, predicted) is expected


def test_a_value_that_stands_twice_must_be_there_twice() -> None:
    assert not fits((1, 1), (1, 2, 3))
    assert fits((1, 1), (1, 1, 3))


def test_matching_is_not_greedy() -> None:
    # the first gold row fits both predicted rows, the second only the first of them
    assert match_in_any_order([(1,), (1, 2)], [(1, 2), (1, 3)])


def test_order_is_kept_where_it_counts() -> None:
    assert match_in_order([(1,), (2,)], [(1,), (2, 3)])
    assert not match_in_order([(1,), (2,)], [(2,), (1,)])


def test_results_of_different_length_do_not_match() -> None:
    assert not match_in_order([(1,)], [(1,), (1,)])
    assert not match_in_any_order([(1,)], [(1,), (1,)])


def test_a_row_without_values_matches_any_narrow_row() -> None:
    assert match_in_any_order([(), (1,)], [(1, 2), (3, 4)])
    assert not match_in_any_order([(), (1,)], [(1, 2), (3, 4, 5)])


def test_a_long_chain_of_rows_that_must_all_move_on_is_matched() -> None:
    # every gold row but the last also fits the next row's partner, so the last one moves all others
    rows = 3000
    edges = [[i, i + 1] if i + 1 < rows else [0] for i in range(rows)]
    assert is_saturable(edges, [1] * rows, [1] * rows)


def test_groups_are_matched_by_their_counts() -> None:
    assert is_saturable([[0, 1], [0]], [3, 2], [2, 3])
    assert not is_saturable([[0, 1], [0]], [2, 3], [2, 3])


def test_equal_rows_cost_no_more_than_their_number() -> None:
    steps = Steps()
    assert match_in_any_order([(1,)] * 5000, [(1, 2)] * 5000, 2, steps)
    assert steps.count < 100


def test_a_thousand_equal_rows_overrun_the_published_matching() -> None:
    assert overruns([(1,)] * 1000, [(1,)] * 1000)
    assert not overruns([(1,)] * 999, [(1,)] * 999)


def test_a_thousand_different_rows_do_not_overrun_it() -> None:
    rows = [(i,) for i in range(1500)]
    assert not overruns(rows, rows)


def test_equal_rows_among_others_overrun_it_when_their_chain_is_long_enough() -> None:
    rows = [(i % 2,) for i in range(400)]
    assert not overruns(rows, rows, calls=201)
    assert overruns(rows, rows, calls=200)


def test_results_of_different_length_are_never_matched_and_overrun_nothing() -> None:
    assert not overruns([(1,)] * 1000, [(1,)] * 1001)
