from __future__ import annotations

import anyio
import pytest
from bson import Decimal128

from groundql.core.answer import Candidate, Grounding, Question
from groundql.core.catalog import Catalog
from groundql.core.finding import Code, Finding
from groundql.core.ports import Choice, Env
from groundql.core.program import MqlProgram
from groundql.core.rows import Rows
from groundql.databases.memory import MemoryDatabase
from groundql.llm.scripted import Scripted
from groundql.solvers.choose import agree, canonical, clusters, fewest_findings, largest_cluster, rank, row_key

ADVISORY = Finding(Code.NUMBER_UNUSED, "a number is not used", blocking=False)
BLOCKING = Finding(Code.UNKNOWN_PATH, "there is no such path")


class Grounded:
    async def ground(self, question: Question, /) -> Grounding:
        return Grounding(question, Catalog("d", ()))


def made(attempt: int, *values: object, findings: tuple[Finding, ...] = (), executed: bool = True) -> Candidate:
    rows = Rows(tuple({"v": v} for v in values)) if executed else None
    program = MqlProgram("c", ({"$match": {"n": attempt}},))
    return Candidate(program, findings=findings, rows=rows, attempt=attempt)


def chosen(*candidates: Candidate, text: str = "how many are there?") -> Choice:
    env = Env(MemoryDatabase(), Scripted([]), Grounded())
    grounding = Grounding(Question(text), Catalog("d", ()))
    return anyio.run(largest_cluster, candidates, grounding, env)


def test_the_largest_group_of_equal_rows_wins() -> None:
    assert chosen(made(0, 7), made(1, 8), made(2, 8)).winner == made(1, 8)


def test_two_empty_results_do_not_outvote_rows() -> None:
    winner = chosen(made(0), made(1), made(2, 5)).winner
    assert winner is not None
    assert winner.attempt == 2


def test_a_candidate_that_never_ran_does_not_beat_an_empty_result() -> None:
    assert chosen(made(0, findings=(BLOCKING,), executed=False), made(1)).winner == made(1)


def test_nothing_usable_is_no_winner_with_a_reason() -> None:
    choice = chosen(made(0, 1, findings=(BLOCKING,)))
    assert choice.winner is None
    assert choice.reason


def test_ties_go_to_fewest_findings_then_the_earliest_attempt() -> None:
    assert chosen(made(0, 1, findings=(ADVISORY,)), made(1, 2)).winner == made(1, 2)
    assert chosen(made(0, 1), made(1, 2)).winner == made(0, 1)


def test_row_order_matters_only_where_the_question_orders() -> None:
    unordered = clusters([made(0, 1, 2), made(1, 2, 1)], Question("which heroes fly?"))
    ordered = clusters([made(0, 1, 2), made(1, 2, 1)], Question("list heroes sorted by age"))
    assert (len(unordered), len(ordered)) == (1, 2)


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (1, 1.0, True),
        (0.1 + 0.2, 0.3, True),
        (Decimal128("1.00"), 1, True),
        (True, 1, False),
        (None, 0, False),
        ("1", 1, False),
        (float("nan"), float("nan"), True),
        ({"a": 1, "b": 2.0}, {"b": 2, "a": 1}, True),
        ([1, 2], [2, 1], False),
    ],
)
def test_values_are_the_same_whatever_number_type_holds_them(left: object, right: object, same: bool) -> None:
    assert (row_key({"v": canonical(left)}) == row_key({"v": canonical(right)})) is same


def test_column_names_do_not_tell_results_apart() -> None:
    assert row_key({"name": "a", "n": 1}) == row_key({"total": 1, "hero": "a"})


def test_attempts_agree_only_on_clean_rows_that_are_there() -> None:
    assert agree([made(0, 1), made(1, 1)])
    assert not agree([made(0, 1), made(1, 2)])
    assert not agree([made(0), made(1)])
    assert not agree([made(0, 1), made(1, 1, findings=(BLOCKING,))])
    assert not agree([made(0, 1)])


def test_executed_candidates_rank_before_cleaner_ones_that_never_ran() -> None:
    never = made(0, executed=False)
    ran = made(1, 1, findings=(ADVISORY, ADVISORY))
    assert rank([never, ran])[0] is ran


def test_without_a_vote_the_cleanest_candidate_is_taken() -> None:
    env = Env(MemoryDatabase(), Scripted([]), Grounded())
    candidates = [made(0, 1, findings=(ADVISORY,)), made(1, 2)]
    choice = anyio.run(fewest_findings, candidates, Grounding(Question("x"), Catalog("d", ())), env)
    assert choice.winner == candidates[1]
