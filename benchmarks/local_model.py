"""Ask the local model simple questions over the sample worlds: answered, right, abstained, seconds.

    python benchmarks/local_model.py [--half dev|held] [--questions FILE] [--cache FILE] [--only ID ...]

A row is right when its values are the gold row's, whatever the columns are called; the order of rows counts where the
question asks for one. `--half` takes every other question, so that one half can be looked at and the other measured.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from bson import json_util
from pymongo import MongoClient

from groundql.bench.worlds import list_worlds
from groundql.core.answer import Answer, Candidate, Outcome, Question
from groundql.core.budget import Meter
from groundql.core.ports import Env, Model
from groundql.core.rows import Rows
from groundql.core.trace import Trace
from groundql.databases.embedded import EmbeddedServer
from groundql.databases.mongodb import MongoDatabase
from groundql.grounding.grounder import CatalogGrounder, open_grounding
from groundql.grounding.sample import SamplePolicy
from groundql.languages.read import write
from groundql.llm.models import LocalModel, open_model
from groundql.llm.replies import ReplyStore
from groundql.llm.wrap import metered, steady
from groundql.solvers.choose import asks_for_order, row_key
from groundql.solvers.local import LOCAL
from groundql.solvers.local_draft import stable_messages

QUESTIONS = Path(__file__).parent / "data" / "simple_questions.jsonl"


@dataclass(frozen=True)
class Asked:
    question: dict[str, Any]
    answer: Answer
    seconds: float

    @property
    def is_answered(self) -> bool:
        return self.answer.outcome is Outcome.ANSWERED

    @property
    def is_right(self) -> bool:
        return is_gold(self.answer.rows, self.question)


def is_gold(rows: Rows | None, question: dict[str, Any]) -> bool:
    if rows is None:
        return False
    got, gold = [row_key(r) for r in rows.records], [row_key(r) for r in question["rows"]]
    return got == gold if asks_for_order(Question(question["question"])) else sorted(got) == sorted(gold)


def read_questions(path: Path, half: str, only: Sequence[str]) -> list[dict[str, Any]]:
    lines = [json_util.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    if only:
        return [q for q in lines if q["id"] in only]
    return {"all": lines, "dev": lines[::2], "held": lines[1::2]}[half]


def load_world(uri: str, name: str) -> None:
    world = next(w for w in list_worlds() if w.name == name)
    with MongoClient[dict[str, Any]](uri) as client:
        for collection, documents in world.documents().items():
            client[name][collection].insert_many(documents)


async def ask(question: dict[str, Any], grounder: CatalogGrounder, model: Model) -> Asked:
    assert grounder.database is not None
    meter, trace = Meter(), Trace()
    env = Env(grounder.database, metered(model, meter, trace), grounder, meter=meter, trace=trace)
    started = time.monotonic()
    answer = await LOCAL(Question(question["question"]), env)
    return Asked(question, answer, time.monotonic() - started)


def show(asked: Asked) -> None:
    verdict = ("RIGHT" if asked.is_right else "WRONG") if asked.is_answered else asked.answer.outcome.value
    forms = " ".join(f"{c.form}:{_mark(c, asked.question)}" for c in asked.answer.candidates)
    print(
        f"{verdict:9} {asked.seconds:5.1f} s  {asked.question['id']:10} {asked.question['question']}  [{forms}]",
        flush=True,
    )
    if verdict == "RIGHT":
        return
    for c in asked.answer.candidates:
        print(f"      {c.form}: {json.dumps(c.query) if c.query else ''}")
        print(f"        {' '.join(write(c.program).split()) if c.program else '-'}")
        print(f"        rows {[] if c.rows is None else list(c.rows.records[:2])} of {len(c.rows) if c.rows else 0}")
        for finding in c.findings:
            print(f"        {'!' if finding.blocking else '-'} {finding}")
    print(
        f"      {asked.answer.diagnosis}\n      gold {asked.question['mql']} -> {asked.question['rows'][:2]}",
        flush=True,
    )


def _mark(candidate: Candidate, question: dict[str, Any]) -> str:
    right = "right" if is_gold(candidate.rows, question) else "wrong"
    return right if candidate.is_clean else f"{right}(blocked)"


def summary(done: Sequence[Asked]) -> str:
    answered = [a for a in done if a.is_answered]
    right = [a for a in answered if a.is_right]
    forms = Counter(c.form for a in done for c in a.answer.candidates if c.round == 0 and is_gold(c.rows, a.question))
    share = len(right) / len(answered) if answered else 0.0
    seconds = sorted(a.seconds for a in done)
    return (
        f"{len(done)} questions: answered {len(answered)} ({len(answered) / len(done):.0%}), "
        f"right {len(right)} ({share:.0%} of the answered), "
        f"abstained {sum(a.answer.outcome is Outcome.ABSTAINED for a in done)}, "
        f"failed {sum(a.answer.outcome is Outcome.FAILED for a in done)}; "
        f"median {seconds[len(seconds) // 2]:.1f} s, most {seconds[-1]:.1f} s; alone: {dict(forms)}"
    )


async def run(arguments: argparse.Namespace) -> None:
    questions = read_questions(arguments.questions, arguments.half, arguments.only)
    store = ReplyStore(arguments.cache) if arguments.cache else None
    inner = open_model(arguments.model)
    model = steady(inner, timeout_s=arguments.timeout_s, tries=1, store=store)
    done: list[Asked] = []
    async with EmbeddedServer() as server:
        for name in dict.fromkeys(q["world"] for q in questions):
            await anyio.to_thread.run_sync(load_world, server.uri, name)
            database = MongoDatabase(server.uri, name)
            grounder = await open_grounding(database, None, SamplePolicy())
            if isinstance(inner, LocalModel) and store is None:
                started = time.monotonic()
                tokens = await inner.warm(stable_messages(grounder.catalog))
                print(f"{name}: {tokens} prompt tokens held after {time.monotonic() - started:.1f} s", flush=True)
            for question in (q for q in questions if q["world"] == name):
                done.append(await ask(question, grounder, model))
                show(done[-1])
            await database.close()
    await model.close()
    print(summary(done))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=["all", "dev", "held"], default="all")
    parser.add_argument("--questions", type=Path, default=QUESTIONS)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--model", default="local")
    parser.add_argument("--cache", type=Path, help="keep replies in this file; times are then not comparable")
    parser.add_argument("--timeout-s", type=float, default=600.0)
    anyio.run(run, parser.parse_args())


if __name__ == "__main__":
    main()
