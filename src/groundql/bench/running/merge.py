"""Put the folders of one run that went on in several places together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from groundql.bench.case import CaseId
from groundql.bench.prediction import Prediction
from groundql.bench.running.files import hold, release
from groundql.bench.running.journal import read_predictions, write_predictions
from groundql.bench.running.manifest import MANIFEST, Manifest, read_manifest, write_manifest
from groundql.bench.running.plan import Key, differences
from groundql.errors import InputError


@dataclass(frozen=True, slots=True)
class Merged:
    """What merging came to. `twice` counts tasks that several folders hold; the first one's is kept."""

    predictions: int
    twice: int
    open_tasks: int


def merge(out: Path, folders: Sequence[Path]) -> Merged:
    """Merge runs of one manifest into a new folder, where the run can go on.

    Raises: InputError when one is no run, when they were made differently, or when the folder holds a run already.
    """
    if (out / MANIFEST).exists():
        raise InputError(f"{out} holds a run already", hint="name a folder that does not exist yet")
    manifests = [_manifest(folder) for folder in folders]
    for folder, manifest in zip(folders[1:], manifests[1:], strict=True):
        _require_same(folders[0], manifests[0], folder, manifest)
    found, twice = _united([read_predictions(folder) for folder in folders])
    merged = _merged(manifests)
    lock = hold(out)
    try:
        write_predictions(out, found.values())
        write_manifest(out, merged)
    finally:
        release(lock)
    wanted = len(merged.cases) * len(merged.plan.solvers) * merged.plan.repeats
    return Merged(len(found), twice, max(0, wanted - len(found)))


def _manifest(folder: Path) -> Manifest:
    found = read_manifest(folder)
    if found is None:
        raise InputError(f"{folder} holds no run", hint="a run's folder has a manifest.json")
    return found


def _require_same(first: Path, begun: Manifest, folder: Path, other: Manifest) -> None:
    mine, theirs = begun.made_with, other.made_with
    names = dict.fromkeys([*mine, *theirs])
    changed = differences(mine, {name: theirs.get(name) for name in names})
    if changed:
        told = "; ".join(
            line.replace(" when it began, ", " in the first, ").replace(" now", " here") for line in changed[:5]
        )
        raise InputError(f"{folder} was not made as {first} was: {told}", hint="only parts of one run can be merged")


def _united(parts: Sequence[Mapping[Key, Prediction]]) -> tuple[dict[Key, Prediction], int]:
    found: dict[Key, Prediction] = {}
    for part in parts:
        for key, prediction in part.items():
            found.setdefault(key, prediction)
    return found, sum(len(part) for part in parts) - len(found)


def _merged(manifests: Sequence[Manifest]) -> Manifest:
    first = manifests[0]
    cases = tuple(dict.fromkeys(case for m in manifests for case in m.cases))
    return replace(
        first,
        plan=replace(first.plan, shard=""),
        cases=tuple(CaseId(*case) for case in cases),
        shards=tuple(dict.fromkeys(shard for m in manifests for shard in m.shards)),
        stints=tuple(sorted((s for m in manifests for s in m.stints), key=lambda s: s.began)),
        databases=_databases(manifests),
    )


def _databases(manifests: Sequence[Manifest]) -> dict[str, Mapping[str, Any]]:
    found: dict[str, Mapping[str, Any]] = {}
    for manifest in manifests:
        for name, record in manifest.databases.items():
            met = [*found.get(name, {}).get("groundings", ()), *record["groundings"]]
            found[name] = {"server": record["server"], "groundings": list(dict.fromkeys(met))}
    return found
