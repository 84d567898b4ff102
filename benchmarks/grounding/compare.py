"""Compare the grounding's profiler with npm `mongodb-schema`, on the same files and in one run.

    python benchmarks/grounding/compare.py [--rounds 5] [--no-write]

Two collections are written as BSON files: the largest sample world's largest collection, and one whose four variants
are stored one after another, the rarest with three documents. Each tool reads each file in a process of its own, turn
by turn, one document at a time; the figures are medians over the rounds. A path counts as found when the result names
it; the paths that exist are counted by a full scan of its own. Needs node and npm; the package is installed into the
user's cache folder at a pinned version. The result goes to benchmarks/grounding/README.md.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime as dt
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

import bson
from platformdirs import user_cache_path
from profile_bson import Name, named
from pymongo import MongoClient

from groundql.bench.worlds import list_worlds
from groundql.databases.embedded import EmbeddedServer
from groundql.databases.mongodb import MongoDatabase
from groundql.grounding.sample import SamplePolicy, profile_database

HERE = Path(__file__).parent
PINNED = {"mongodb-schema": "12.7.0", "bson": "7.3.4"}
TOOLS = ("groundql", "mongodb-schema")
BLOCKS = {"reading": 25_000, "alarm": 12_000, "service": 6_000, "recall": 3}

SAMPLE = 1000
BUDGET = 10_000
DRAWS = 5


@dataclass(frozen=True)
class Collection:
    """Documents in a BSON file, and the paths that exist in them: field names in order, arrays left out."""

    title: str
    path: Path
    documents: int
    existing: frozenset[Name]


@dataclass(frozen=True)
class Result:
    """What one tool needed for one file, and what it found. Units: seconds, megabytes of peak resident memory."""

    total_s: float
    cpu_s: float
    decode_s: float
    peak_mb: float
    found: int
    entries: int


def devices() -> Iterator[dict[str, Any]]:
    """Write what a fleet of devices sends: four kinds of message with fields of their own, one kind after another."""
    own: dict[str, Callable[[int], dict[str, Any]]] = {
        "reading": lambda i: {"sensors": {f"{2015 + i % 9}": {"mean": i / 7, "unit": "C"}}, "quality": [i % 5, i % 3]},
        "alarm": lambda i: {"severity": i % 4, "cause": {"code": f"E{i % 90}", "text": f"cause {i % 300}"}},
        "service": lambda i: {
            "parts": [{"sku": f"P-{i % 700}", "count": i % 6, "price": i / 3}],
            "engineer": f"n{i % 80}",
        },
        "recall": lambda i: {
            "campaign": {"id": i, "legal": {"country": "CH", "article": i}},
            "deadline": dt.datetime(2026, 1, 1),
        },
    }
    at = 0
    for kind, size in BLOCKS.items():
        for i in range(size):
            at += 1
            yield {"_id": at, "kind": kind, "device": f"D{at % 4000}", "sent": dt.datetime(2025, 1, 1), **own[kind](i)}


def names(value: Any, at: Name = ()) -> Iterator[Name]:
    """Yield every path of a value by a walk that knows nothing of the tools."""
    if isinstance(value, dict):
        for key, below in value.items():
            yield (*at, key)
            yield from names(below, (*at, key))
    elif isinstance(value, list):
        for below in value:
            yield from names(below, at)


def written(title: str, path: Path, documents: Iterable[Mapping[str, Any]]) -> Collection:
    """Write documents to a file and scan them."""
    count, existing = 0, set[Name]()
    with path.open("wb") as file:
        for document in documents:
            data = bson.encode(document)
            file.write(data)
            existing.update(names(bson.decode(data)))
            count += 1
    return Collection(title, path, count, frozenset(existing))


def collections(folder: Path) -> list[Collection]:
    """Write the two files."""
    worlds = {world.name: world.documents() for world in list_worlds()}
    world, name, documents = max(
        ((w, c, d) for w, found in worlds.items() for c, d in found.items()), key=lambda found: len(found[2])
    )
    return [
        written(f"`{world}.{name}`, the largest shipped", folder / "world.bson", documents),
        written("variants one after another", folder / "variants.bson", devices()),
    ]


def covered(existing: Iterable[Name], found: Iterable[Name]) -> int:
    """Count the existing paths that are named in a result; `<*>` there stands for any one name."""
    tree: dict[str, Any] = {}
    for path in found:
        node = tree
        for step in path:
            node = node.setdefault(step, {})

    def is_found(path: Name) -> bool:
        nodes = [tree]
        for step in path:
            nodes = [node[option] for node in nodes for option in (step, "<*>") if option in node]
        return bool(nodes)

    return sum(map(is_found, existing))


def measured(tool: str, collection: Collection, folder: Path) -> Result:
    """Run one tool on one file in a process of its own."""
    if tool == "groundql":
        command = [sys.executable, str(HERE / "profile_bson.py"), str(collection.path)]
    else:
        command = ["node", str(HERE / "schema.mjs"), str(collection.path)]
    environment = {**os.environ, "GROUNDQL_BENCH_MODULES": str(folder / "node_modules")}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    said = json.loads(done.stdout)
    found = {tuple(path) for path in said["paths"] if path}
    times = (said["total_s"], said["cpu_s"], said["decode_s"])
    return Result(*times, said["peak_mb"], covered(collection.existing, found), len(found))


def install(folder: Path) -> None:
    """Install the pinned packages into a folder, unless they are there."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        raise SystemExit("this comparison needs node and npm: install Node.js 18 or later")
    wanted = [f"{name}@{version}" for name, version in PINNED.items()]
    mark = folder / "installed.txt"
    if mark.exists() and mark.read_text() == "\n".join(wanted):
        return
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text('{"private": true}')
    subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", *wanted], cwd=folder, check=True)
    mark.write_text("\n".join(wanted))


def middle(results: list[Result]) -> Result:
    """Take the median of each figure."""
    return Result(
        median(r.total_s for r in results),
        median(r.cpu_s for r in results),
        median(r.decode_s for r in results),
        median(r.peak_mb for r in results),
        results[0].found,
        results[0].entries,
    )


def table(collection: Collection, rounds: Mapping[str, list[Result]]) -> list[str]:
    """Write one collection's table."""
    ours, theirs = (middle(rounds[tool]) for tool in TOOLS)
    spread = {t: (min(r.total_s for r in rounds[t]), max(r.total_s for r in rounds[t])) for t in TOOLS}
    size_mb = collection.path.stat().st_size / 1e6
    there = len(collection.existing)
    rows = [
        ("time, decoding included", f"{ours.total_s:.2f} s", f"{theirs.total_s:.2f} s", ours.total_s / theirs.total_s),
        ("least to most", *(f"{low:.2f} to {high:.2f} s" for low, high in (spread[t] for t in TOOLS)), None),
        ("processor time", f"{ours.cpu_s:.2f} s", f"{theirs.cpu_s:.2f} s", ours.cpu_s / theirs.cpu_s),
        ("decoding alone", f"{ours.decode_s:.2f} s", f"{theirs.decode_s:.2f} s", ours.decode_s / theirs.decode_s),
        ("peak memory", f"{ours.peak_mb:.0f} MB", f"{theirs.peak_mb:.0f} MB", ours.peak_mb / theirs.peak_mb),
        ("paths found", f"{ours.found:,} of {there:,}", f"{theirs.found:,} of {there:,}", None),
        ("entries in the result", f"{ours.entries:,}", f"{theirs.entries:,}", ours.entries / theirs.entries),
    ]
    return [
        f"## {collection.title}",
        "",
        f"{collection.documents:,} documents, {size_mb:.1f} MB of BSON, {there:,} paths exist.",
        "",
        "| | groundql | mongodb-schema | ratio |",
        "|---|---|---|---|",
        *(f"| {what} | {a} | {b} | {'' if ratio is None else f'{ratio:.2f}'} |" for what, a, b, ratio in rows),
        "",
    ]


HEAD = """# Grounding against mongodb-schema

`python benchmarks/grounding/compare.py` measures both tools in one run, on the same BSON files: each reads each file
in a process of its own, turn by turn, one document at a time. Figures are medians over {rounds} rounds; a ratio below
1 is in our favour. Memory is the peak resident size of the whole process. A path is found when the result names it; the
paths that exist come from a full scan of its own. `<*>` covers a map's keys, so our results have fewer entries. Both
keep example values, kinds and counts; groundql also ranges, key spaces and variants.

Wall time swings with what else the machine does; both tools share the same minutes, and processor time is steadier.

Measured {date} on {machine}, {cores} cores; Python {python}, node {node}; {packages}.
"""


def sampled(collection: Collection, folder: Path) -> list[str]:
    """Compare what either finds when it may not read everything: from the embedded server, by sampling."""
    ours: list[tuple[int, int]] = []
    theirs: list[int] = []
    with EmbeddedServer() as server, MongoClient[dict[str, Any]](server.uri) as client:
        stored = client["bench"]["things"]
        with collection.path.open("rb") as file:
            stored.insert_many(bson.decode_file_iter(file))
        for _ in range(DRAWS):
            drawn = list(stored.aggregate([{"$sample": {"size": SAMPLE}}]))
            part = replace(written("", folder / "sample.bson", drawn), existing=collection.existing)
            theirs.append(measured("mongodb-schema", part, folder).found)
            found, documents = asyncio.run(grounded(server.uri))
            ours.append((covered(collection.existing, found), documents))
    there = len(collection.existing)
    return [
        f"## {collection.title}, sampled",
        "",
        f"The same documents in the embedded server, {DRAWS} times. mongodb-schema gets {SAMPLE:,} random documents,",
        "as many as Compass reads by default; groundql samples until nothing new turns up.",
        "",
        "| | groundql | mongodb-schema |",
        "|---|---|---|",
        f"| documents read | {ranged(n for _, n in ours)} | {SAMPLE:,} |",
        f"| paths found, of {there:,} | {ranged(n for n, _ in ours)} | {ranged(theirs)} |",
        "",
    ]


def ranged(numbers: Iterable[int]) -> str:
    """Write the least and the greatest of some numbers."""
    low, *_, high = sorted([*numbers] * 2)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


async def grounded(uri: str) -> tuple[set[Name], int]:
    """Sample the stored collection with our own tool."""
    database = MongoDatabase(uri, "bench")
    try:
        _, (profile,) = await profile_database(database, SamplePolicy(documents=BUDGET))
    finally:
        await database.close()
    return named(profile.container.fields), profile.container.sampling.documents


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=5, help="how often each tool reads each file (5)")
    options.add_argument("--no-write", action="store_true", help="print the result, leave README.md as it is")
    chosen = options.parse_args()
    folder = user_cache_path("groundql") / "benchmarks" / "grounding"
    install(folder)
    node = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    lines = HEAD.format(
        rounds=chosen.rounds,
        date=f"{dt.datetime.now(dt.UTC):%Y-%m-%d}",
        machine=f"{platform.system()} {platform.machine()}",
        cores=os.cpu_count(),
        python=platform.python_version(),
        node=node,
        packages=", ".join(f"{name} {version}" for name, version in PINNED.items()),
    ).splitlines()
    measurable = collections(folder)
    for collection in measurable:
        rounds: dict[str, list[Result]] = {tool: [] for tool in TOOLS}
        for _ in range(chosen.rounds):
            for tool in TOOLS:
                print(f"{tool}: {collection.title}", file=sys.stderr)
                rounds[tool].append(measured(tool, collection, folder))
        lines += ["", *table(collection, rounds)]
    print("sampling from the embedded server", file=sys.stderr)
    lines += ["", *sampled(measurable[-1], folder)]
    text = "\n".join(lines).replace("\n\n\n", "\n\n").rstrip() + "\n"
    print(text)
    if not chosen.no_write:
        (HERE / "README.md").write_text(text)


if __name__ == "__main__":
    main()
