"""Time the scoring of 1,210 synthetic tasks by both protocols, and take its peak memory.

    python benchmarks/scoring.py [--tasks 1210] [--rows 2000] [--json]

Each task has 1 to 2,000 rows of 2 to 6 columns. Half of the predictions equal the gold, under other names; of the
rest some are shuffled, some have surplus columns, some lack rows, some have a wrong column. Six of seven golds decide
their order. Programs are not executed: the rows are given. Seconds of processor time, and megabytes.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from groundql.bench.scoring import strict, tend_v1
from groundql.bench.scoring.strict import Wanted
from groundql.bench.verdict import STRICT, TEND_V1

Records = list[dict[str, Any]]
KINDS = ("equal", "shuffled", "surplus", "lacking", "wrong")
WEIGHTS = (10, 3, 3, 2, 2)


def gold_of(chance: random.Random, rows: int) -> Records:
    """Make rows as results have them: a name, a count, averages, a few repeated labels."""
    makers: list[Any] = [
        lambda i: f"name {i:05d}",
        lambda i: chance.randint(0, 500),
        lambda i: chance.random() * 1e4,
        lambda i: chance.choice(["north", "south", "east", "west", None]),
        lambda i: [chance.randint(0, 9) for _ in range(3)],
        lambda i: {"year": chance.randint(1990, 2025), "total": chance.random()},
    ]
    columns = chance.randint(2, len(makers))
    return [{f"c{j}": makers[j](i) for j in range(columns)} for i in range(rows)]


def prediction_of(kind: str, gold: Records, chance: random.Random) -> Records:
    """Make a prediction's rows of a kind."""
    renamed = [{f"p{name}": value for name, value in row.items()} for row in gold]
    if kind == "shuffled":
        chance.shuffle(renamed)
    elif kind == "surplus":
        renamed = [{"helper": i, **row} for i, row in enumerate(renamed)]
    elif kind == "lacking":
        renamed = renamed[: len(renamed) // 2]
    elif kind == "wrong":
        renamed = [{**row, "pc1": (row["pc1"] or 0) + 1} for row in renamed]
    return renamed


def tasks(count: int, rows: int) -> Iterator[tuple[str, Records, Records, bool]]:
    """Make the tasks one by one, the same each time."""
    chance = random.Random(7)
    for _ in range(count):
        kind = chance.choices(KINDS, WEIGHTS)[0]
        gold = gold_of(chance, chance.randint(1, rows))
        yield kind, gold, prediction_of(kind, gold, chance), chance.random() < 6 / 7


def measure(count: int, rows: int) -> dict[str, Any]:
    """Score all tasks; making them is not counted."""
    spent, worst, buckets = Counter[str](), Counter[str](), Counter[tuple[str, str, str]]()
    total = 0
    for kind, gold, predicted, ordered in tasks(count, rows):
        total += len(gold)
        for protocol in (TEND_V1, STRICT):
            start = time.process_time()
            if protocol == TEND_V1:
                verdict = tend_v1.judge(gold, predicted, ordered=ordered)
            else:
                verdict = strict.judge(Wanted.of(gold, ordered=ordered), predicted)
            seconds = time.process_time() - start
            spent[protocol] += seconds
            worst[protocol] = max(worst[protocol], seconds)
            buckets[protocol, kind, verdict.bucket.value] += 1
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
    return {
        "tasks": count,
        "rows": total,
        **{f"{protocol} s": round(seconds, 1) for protocol, seconds in spent.items()},
        **{f"{protocol} worst ms": round(1000 * seconds) for protocol, seconds in worst.items()},
        "peak MB": round(peak),
        "verdicts": {" ".join(key): n for key, n in sorted(buckets.items())},
    }


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Time the scoring of synthetic tasks.")
    parser.add_argument("--tasks", type=int, default=1210)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--json", action="store_true", help="one JSON object")
    given = parser.parse_args()
    found = measure(given.tasks, given.rows)
    if given.json:
        print(json.dumps(found))
        return
    for name, value in found.items():
        for line in [f"{name:<44}{value}"] if name != "verdicts" else [f"  {k:<42}{n}" for k, n in value.items()]:
            print(line)


if __name__ == "__main__":
    main()
