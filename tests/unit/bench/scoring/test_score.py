from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from groundql.bench.case import Case, CaseId, Gold, Suite
from groundql.bench.prediction import Prediction
from groundql.bench.scoring.figures import figures, last_of_each
from groundql.bench.scoring.ledger import RESULTS, SCORES, read_rows, read_scores
from groundql.bench.scoring.score import Scoring
from groundql.bench.verdict import STRICT, TEND_V1, Bucket, Scored
from groundql.core.answer import Question
from groundql.core.ports import Database
from groundql.core.program import MqlProgram, Program
from groundql.databases.memory import MemoryDatabase
from groundql.errors import DatabaseTimeout, DatabaseUnreachable, ProgramRejected

pytestmark = pytest.mark.anyio
IDS = [CaseId("shop", 1), CaseId("shop", 2), CaseId("zoo", 3)]
GOLD = 'db.c.aggregate([{"$match": {"of": %d}}])'
SUITE = Suite("s", tuple(Case(i, Question("?")) for i in IDS), {i: Gold(i, GOLD % i.record_id, "?") for i in IDS}, {})


class Room:
    """Databases by name, each answering `{$match: {of: n}}` with n rows, and kept to look at what it ran."""

    def __init__(self) -> None:
        self.open: dict[str, MemoryDatabase] = {}

    async def database(self, name: str) -> Database:
        return self.open.setdefault(name, MemoryDatabase(answers=answer, name=name))

    @property
    def ran(self) -> int:
        return sum(len(database.executed) for database in self.open.values())


def answer(program: Program) -> Sequence[dict[str, Any]]:
    assert isinstance(program, MqlProgram)
    wanted = program.stages[0]["$match"]["of"]
    if wanted == "slow":
        raise DatabaseTimeout("it took longer than 30 s")
    if wanted == "broken":
        raise ProgramRejected("unknown field")
    if wanted == "gone":
        raise DatabaseUnreachable("nobody answers")
    return [{"n": i, "k": "x"} for i in range(wanted)]


def given(case: CaseId, wanted: Any, solver: str = "a", **more: Any) -> Prediction:
    text = f'db.c.aggregate([{{"$match": {{"of": {wanted!r}}}}}])'.replace("'", '"')
    return Prediction(id=case, solver=solver, mql=text, **more)


async def score(predictions: Sequence[Prediction], **more: Any) -> list[Scored]:
    scoring = Scoring(more.pop("suite", SUITE), more.pop("room", None) or Room(), **more)
    return [one async for one in scoring.score(predictions)]


def buckets(scored: Sequence[Scored], protocol: str = TEND_V1) -> list[Bucket]:
    return [one.verdicts[protocol].bucket for one in scored]


async def test_predictions_are_scored_case_by_case_in_the_suites_order() -> None:
    scored = await score([given(IDS[2], 3), given(IDS[0], 2), given(IDS[1], 2)])
    assert [one.id for one in scored] == IDS
    assert buckets(scored) == [Bucket.ROW_SUPERSET, Bucket.CORRECT, Bucket.CORRECT]
    assert [(one.gold_rows, one.predicted_rows) for one in scored] == [(1, 2), (2, 2), (3, 3)]


async def test_every_solver_is_scored_on_every_case() -> None:
    scored = await score([given(IDS[0], 1, "a"), given(IDS[1], 2, "b")])
    assert len(scored) == 6
    assert buckets(scored).count(Bucket.NO_SUBMISSION) == 4


async def test_every_repeat_is_scored_on_every_case() -> None:
    scored = await score([given(IDS[0], 1, repeat=0), given(IDS[0], 1, repeat=1)])
    assert [one.repeat for one in scored if one.id == IDS[1]] == [0, 1]


async def test_a_typed_failure_counts_and_says_why() -> None:
    failed = Prediction(id=IDS[0], solver="a", failure="timeout", detail="after 60 s")
    (first, *_) = await score([failed])
    verdict = first.verdicts[STRICT]
    assert (verdict.bucket, verdict.exf1, verdict.detail) == (Bucket.NO_SUBMISSION, 0.0, "timeout: after 60 s")


async def test_an_unknown_record_is_a_row_of_zero_under_tend_v1_only() -> None:
    scored = await score([given(i, i.record_id) for i in IDS] + [given(CaseId("shop", 99), 1)])
    tend, strict = figures(scored, set(IDS))
    assert (tend.rows, tend.exc) == (4, 0.75)
    assert (strict.rows, strict.exc) == (3, 1.0)


async def test_a_second_prediction_is_a_second_row_under_tend_v1_and_replaces_the_first_under_strict() -> None:
    scored = await score([given(i, i.record_id) for i in IDS] + [given(IDS[0], 2)])
    tend, strict = figures(scored, set(IDS))
    assert (tend.rows, tend.buckets[Bucket.CORRECT]) == (4, 3)
    assert (strict.rows, strict.buckets[Bucket.CORRECT]) == (3, 2)
    assert [one.occurrence for one in last_of_each(scored) if one.id == IDS[0]] == [1]


async def test_buckets_sum_to_the_rows() -> None:
    predictions = [given(IDS[0], "slow"), given(IDS[1], "broken"), given(IDS[2], 0), given(IDS[0], 1, "b")]
    for line in figures(await score(predictions), set(IDS)):
        assert sum(line.buckets.values()) == line.rows == 3


@pytest.mark.parametrize(("wanted", "said"), [("slow", "longer"), ("broken", "unknown field")])
async def test_a_program_that_fails_at_the_database_is_an_execution_error(wanted: str, said: str) -> None:
    (first, *_) = await score([given(IDS[0], wanted)])
    assert first.verdicts[TEND_V1].bucket is Bucket.EXEC_ERROR
    assert said in first.verdicts[TEND_V1].detail
    assert first.predicted_rows is None


async def test_a_server_that_is_gone_ends_the_scoring_and_is_no_verdict() -> None:
    with pytest.raises(DatabaseUnreachable):
        await score([given(IDS[0], "gone")])


async def test_what_the_safety_check_refuses_never_reaches_the_database() -> None:
    room = Room()
    evil = Prediction(id=IDS[0], solver="a", mql='db.c.aggregate([{"$currentOp": {}}])')
    (first,) = await score([evil], room=room, suite=SUITE.narrowed(limit=1))
    assert first.verdicts[TEND_V1].bucket is Bucket.EXEC_ERROR
    assert first.verdicts[TEND_V1].detail.startswith("not run: ")
    assert first.verdicts[STRICT].bucket in (Bucket.INVALID, Bucket.EXEC_ERROR)
    assert room.ran == 1


async def test_a_gold_that_gives_no_rows_to_judge_by_is_told() -> None:
    broken = Suite("s", SUITE.cases[:1], {IDS[0]: Gold(IDS[0], "nonsense", "?")}, {})
    scoring = Scoring(broken, Room())
    scored = [one async for one in scoring.score([given(IDS[0], 1)])]
    assert buckets(scored) == [Bucket.NO_SUBMISSION]
    assert "gold cannot be read" in scoring.gold_problems[IDS[0]]


async def test_a_program_runs_once_whoever_hands_it_in() -> None:
    room = Room()
    await score([given(IDS[0], 1, solver) for solver in "abc"], room=room, suite=SUITE.narrowed(limit=1))
    assert room.ran == 1


async def test_scoring_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    predictions = [given(i, i.record_id) for i in IDS]
    scoring = Scoring(SUITE, Room(), folder=tmp_path)
    stream = scoring.score(predictions)
    first = [await anext(stream), await anext(stream)]
    await stream.aclose()  # type: ignore[attr-defined]
    room = Room()
    again = await score(predictions, folder=tmp_path, room=room)
    assert again[:2] == first
    assert list(room.open) == ["zoo"]
    assert read_scores(tmp_path) == again == await score(predictions)


async def test_a_torn_line_is_scored_again(tmp_path: Path) -> None:
    predictions = [given(i, i.record_id) for i in IDS]
    whole = await score(predictions, folder=tmp_path)
    text = (tmp_path / SCORES).read_text()
    (tmp_path / SCORES).write_text(text[:-40])
    assert await score(predictions, folder=tmp_path) == whole
    assert (tmp_path / SCORES).read_text() == text


async def test_another_gold_or_prediction_is_judged_anew(tmp_path: Path) -> None:
    await score([given(IDS[0], 1)], folder=tmp_path)
    (first, *_) = await score([given(IDS[0], 2)], folder=tmp_path)
    assert first.verdicts[TEND_V1].bucket is Bucket.ROW_SUPERSET
    other = Suite("s", SUITE.cases, {**SUITE.golds, IDS[0]: Gold(IDS[0], GOLD % 2, "?")}, {})
    (first, *_) = await score([given(IDS[0], 2)], folder=tmp_path, suite=other)
    assert first.verdicts[TEND_V1].bucket is Bucket.CORRECT
    assert len(read_scores(tmp_path)) == 3


async def test_one_protocol_is_enough_and_the_other_is_added_later(tmp_path: Path) -> None:
    predictions = [given(IDS[0], 1)]
    (first, *_) = await score(predictions, folder=tmp_path, protocols=[TEND_V1])
    assert set(first.verdicts) == {TEND_V1}
    (first, *_) = await score(predictions, folder=tmp_path)
    assert set(first.verdicts) == {TEND_V1, STRICT}


async def test_rows_are_kept_to_be_looked_at(tmp_path: Path) -> None:
    await score([given(IDS[0], 2)], folder=tmp_path)
    gold, predicted = read_rows(tmp_path, IDS[0])
    assert (gold["of"], gold["count"], gold["rows"]) == ("gold", 1, [{"n": 0, "k": "x"}])
    assert (predicted["of"], predicted["system"], predicted["count"]) == ("prediction", "a", 2)
    assert len(list((tmp_path / RESULTS).iterdir())) == 3


async def test_only_the_first_rows_of_a_large_result_are_kept(tmp_path: Path) -> None:
    await score([given(IDS[0], 5000)], folder=tmp_path)
    kept = read_rows(tmp_path, IDS[0])[1]
    assert (kept["count"], len(kept["rows"])) == (5000, 200)
