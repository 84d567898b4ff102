"""What runs a solver for a measurement knows no gold answer, and lets none come near a solver."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import FunctionType, MethodType, ModuleType
from typing import Any

import anyio

from groundql.bench.case import Case, CaseId, Gold, Suite
from groundql.bench.datasets.records import to_case
from groundql.bench.hosts import Host
from groundql.bench.running.journal import Journal
from groundql.bench.running.plan import tasks_of
from groundql.bench.running.runner import Runner
from groundql.config import Settings
from groundql.core.answer import Answer, Outcome, Question
from groundql.core.ports import Env
from groundql.solvers.recipes import SOLVERS
from unit.bench.running.doubles import scripted

SOURCE = Path(__file__).parents[2] / "src" / "groundql"
SECRET = "the-gold-answer"
LABEL = "the-label"


def test_the_runner_imports_neither_golds_nor_suites_nor_scoring() -> None:
    banned = {"Gold", "Suite"}
    for path in sorted((SOURCE / "bench" / "running").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom):
                module, names = node.module or "", {a.name for a in node.names}
                assert not names & banned, path.name
                rooms = ("scoring", "datasets", "shape", "verdict", "audit", "worlds", "hosts")
                assert not module.startswith(tuple(f"groundql.bench.{room}" for room in rooms)), path.name
            if isinstance(node, ast.Attribute):
                assert node.attr not in ("golds", "labels"), path.name


def test_a_case_has_no_room_for_a_gold() -> None:
    assert {f.name for f in fields(Case)} == {"id", "question"}


def reachable(root: object) -> Iterator[object]:
    """Walk everything that an object holds: fields, attributes, items, and what closures and methods have bound."""
    seen: set[int] = set()
    left: list[object] = [root]
    while left:
        found = left.pop()
        if id(found) in seen or isinstance(found, (ModuleType, type)):
            continue
        seen.add(id(found))
        yield found
        left += parts(found)


def parts(found: Any) -> list[object]:
    if isinstance(found, FunctionType):
        return [cell.cell_contents for cell in found.__closure__ or ()]
    if isinstance(found, MethodType):
        return [found.__self__, found.__func__]
    if isinstance(found, Mapping):
        return [*found.keys(), *found.values()]
    if isinstance(found, (list, tuple, set, frozenset)):
        return list(found)
    slots = {name for kind in type(found).__mro__ for name in getattr(kind, "__slots__", ())}
    held = [getattr(found, name) for name in slots if hasattr(found, name) and not name.startswith("__")]
    return [*held, *vars(found).values()] if hasattr(found, "__dict__") else held


class Spy:
    """A solver that looks at everything it can lay its hands on."""

    name = "spy"

    def __init__(self) -> None:
        self.seen: list[object] = []

    async def __call__(self, question: Question, env: Env, /) -> Answer:
        self.seen = [*reachable(question), *reachable(env)]
        return Answer(Outcome.FAILED, question)


def test_a_solver_can_reach_the_question_and_the_database_and_no_gold(tmp_path: Path) -> None:
    gold = Gold(CaseId("comics", 1), f"db.heroes.aggregate([]) // {SECRET}", "how many?", "many?", {"level": LABEL})
    (tmp_path / "comics.json").write_text('{"heroes": [{"_id": 1, "name": "Storm"}]}', encoding="utf-8")
    suite = Suite("s", (to_case(gold, "canonical"),), {gold.id: gold}, {"comics": tmp_path / "comics.json"})
    assert any(isinstance(found, str) and SECRET in found for found in reachable(Host(suite, Settings()).use))
    spy = Spy()

    async def work() -> None:
        settings = Settings(cache_dir=tmp_path / "cache")
        with Journal(tmp_path / "run") as journal:
            async with Host(suite, settings) as host:
                runner = Runner(
                    hosts=host, solvers={"spy": spy}, open_model=scripted(["ok"]), journal=journal, task_timeout_s=60
                )
                assert await runner.run(tasks_of(suite.cases, ["spy"], 1)) is None

    anyio.run(work)
    texts = {found for found in spy.seen if isinstance(found, str)}
    assert "how many?" in texts
    assert "Storm" in texts
    assert not [t for t in texts if SECRET in t or LABEL in t or t == "many?"]
    assert not [found for found in spy.seen if isinstance(found, (Gold, Suite, Case, Host))]
    assert all(is_dataclass(solver) for solver in SOLVERS.values())


def test_the_run_verb_asks_the_very_solvers_of_production() -> None:
    text = (SOURCE / "faces" / "bench" / "run.py").read_text("utf-8")
    assert "solvers=SOLVERS" in text
    assert "from groundql.solvers.recipes import SOLVERS" in text
