from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from groundql.bench.case import Case
from groundql.bench.running.journal import read_predictions
from groundql.bench.running.manifest import MANIFEST, read_manifest, write_manifest
from groundql.bench.running.merge import merge
from groundql.bench.running.plan import Plan, Terms
from groundql.bench.running.shard import Shard, cases_of
from groundql.bench.running.stint import Ended, Parts, work_on
from groundql.errors import InputError, LoadError, ModelUnset
from groundql.solvers.recipes import SOLVERS
from unit.bench.running.doubles import REPLY, Hosts, case, scripted

CASES = [case(n) for n in range(6)]
PLAN = Plan(suite="comics", solvers=("path-card", "gated-repair"), model="test:model")


def work(
    folder: Path, cases: Sequence[Case] = CASES, plan: Plan = PLAN, terms: Terms | None = None, **parts: Any
) -> Ended:
    given: dict[str, Any] = {"hosts": Hosts(), "solvers": SOLVERS, "open_model": scripted(lambda _: REPLY), **parts}
    return anyio.run(work_on, folder, plan, "abc", cases, terms or Terms(), Parts(**given))


def test_a_run_leaves_all_that_its_figures_rest_on(tmp_path: Path) -> None:
    told: list[str] = []
    ended = work(tmp_path / "run", listen=lambda board: told.append(board.line()))
    assert (ended.halt, ended.board.done, len(told)) == (None, 12, 12)
    record = json.loads((tmp_path / "run" / MANIFEST).read_text(encoding="utf-8"))
    assert record["suite"] == {"name": "comics", "fingerprint": "abc", "phrasing": "canonical"}
    assert record["cases"] == [["comics", n] for n in range(6)]
    assert set(record["solvers"]) == {"path-card", "gated-repair"}
    assert record["solvers"]["path-card"]["uses_gold"] is False
    assert len(record["prompts"]["sag/system.md"]) == 64
    assert record["databases"] == {"comics": {"server": "", "groundings": ["f" * 32]}}
    (stint,) = record["stints"]
    assert (stint["finished"], stint["stopped"]) == (12, "")
    assert stint["began"] <= stint["ended"]
    assert stint["python"]


def test_a_stint_that_was_stopped_says_why_and_the_next_one_ends_the_run(tmp_path: Path) -> None:
    ended = work(tmp_path, terms=Terms(budget_tokens=1))
    assert ended.halt is not None
    assert ended.board.done == 1
    work(tmp_path, terms=Terms(budget_tokens=10_000_000))
    manifest = read_manifest(tmp_path)
    assert manifest is not None
    assert [s.stopped for s in manifest.stints] == ["the run's budget of 1 token is spent", ""]
    assert [s.finished for s in manifest.stints] == [1, 11]
    assert len(read_predictions(tmp_path)) == 12


def test_a_stint_that_was_interrupted_says_so(tmp_path: Path) -> None:
    async def interrupted() -> None:
        with anyio.CancelScope() as scope:
            parts = Parts(
                hosts=Hosts(),
                solvers=SOLVERS,
                open_model=scripted(lambda _: REPLY),
                listen=lambda board: scope.cancel() if board.here == 3 else None,
            )
            await work_on(tmp_path, PLAN, "abc", CASES, Terms(), parts)

    anyio.run(interrupted)
    manifest = read_manifest(tmp_path)
    assert manifest is not None
    assert [(s.stopped, s.finished) for s in manifest.stints] == [("interrupted", 3)]
    assert len(read_predictions(tmp_path)) == 3
    assert work(tmp_path).board.here == 9


def test_a_run_does_not_go_on_with_other_prompts_records_or_product(tmp_path: Path) -> None:
    work(tmp_path, CASES[:1])
    manifest = read_manifest(tmp_path)
    assert manifest is not None
    for changed, told in (
        (
            replace(manifest, prompts={**manifest.prompts, "sag/system.md": "0" * 64}),
            "prompt sag/system.md: 000000000000",
        ),
        (replace(manifest, prompts={**manifest.prompts, "old.md": "0" * 64}), "prompt old.md: there when it began"),
        (replace(manifest, fingerprint="xyz"), "suite's records: xyz when it began, abc now"),
        (replace(manifest, product="groundql 0.0.1"), "product: groundql 0.0.1 when it began"),
        (replace(manifest, plan=replace(PLAN, seed=4)), "seed: 4 when it began, none now"),
    ):
        write_manifest(tmp_path, changed)
        with pytest.raises(InputError, match="was begun differently") as caught:
            work(tmp_path, CASES[:1])
        assert told in str(caught.value)


def test_data_that_changed_between_stints_is_told_and_both_are_kept(tmp_path: Path) -> None:
    work(tmp_path, terms=Terms(budget_tokens=1))
    manifest = read_manifest(tmp_path)
    assert manifest is not None
    earlier = {"comics": {"server": "", "groundings": ["e" * 32]}}
    write_manifest(tmp_path, replace(manifest, databases=earlier))
    told: list[str] = []
    work(tmp_path, remark=told.append)
    assert told == ["the data of comics is not what it was when this run began; both are in the manifest"]
    manifest = read_manifest(tmp_path)
    assert manifest is not None
    assert manifest.databases["comics"]["groundings"] == ["e" * 32, "f" * 32]


def test_trouble_is_handed_to_the_caller_with_where_the_run_stands(tmp_path: Path) -> None:
    ended = work(tmp_path, open_model=scripted([REPLY, ModelUnset("no key")]))
    assert ended.halt is not None
    assert str(ended.halt.error) == "no key"
    assert ended.board.done == 1


def test_a_file_that_is_no_manifest_is_told(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text("[]", encoding="utf-8")
    with pytest.raises(LoadError, match="is not the manifest"):
        work(tmp_path)


def sharded(folder: Path, number: int, plan: Plan = PLAN) -> Path:
    part = Shard(number, 2)
    work(folder / str(number), cases_of(CASES, part), replace(plan, shard=str(part)))
    return folder / str(number)


def test_shards_merge_into_the_run_that_one_machine_would_have_made(tmp_path: Path) -> None:
    parts = [sharded(tmp_path, 1), sharded(tmp_path, 2)]
    merged = merge(tmp_path / "out", parts)
    assert (merged.predictions, merged.twice, merged.open_tasks) == (12, 0, 0)
    work(tmp_path / "whole")
    assert read_predictions(tmp_path / "out").keys() == read_predictions(tmp_path / "whole").keys()
    manifest = read_manifest(tmp_path / "out")
    assert manifest is not None
    assert (manifest.shards, len(manifest.stints)) == (("1/2", "2/2"), 2)
    assert work(tmp_path / "out").board.here == 0


def test_a_merged_part_keeps_to_its_own_cases_when_it_goes_on(tmp_path: Path) -> None:
    part = sharded(tmp_path, 1)
    merge(tmp_path / "out", [part, part])
    ended = work(tmp_path / "out")
    assert (ended.board.here, ended.board.total) == (0, 2 * len(cases_of(CASES, Shard(1, 2))))


def test_a_task_that_several_folders_hold_is_kept_once(tmp_path: Path) -> None:
    part = sharded(tmp_path, 1)
    merged = merge(tmp_path / "out", [part, part])
    assert merged.twice == merged.predictions == len(read_predictions(part))


def test_runs_that_were_made_differently_are_not_merged(tmp_path: Path) -> None:
    one = sharded(tmp_path, 1)
    other = sharded(tmp_path, 2, replace(PLAN, model="test:other"))
    with pytest.raises(InputError, match="model: test:model in the first, test:other here"):
        merge(tmp_path / "out", [one, other])
    with pytest.raises(InputError, match="holds no run"):
        merge(tmp_path / "out", [one, tmp_path])
    with pytest.raises(InputError, match="holds a run already"):
        merge(one, [one, other])
