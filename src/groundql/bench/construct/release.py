"""Write a release folder in the layout of TEND: records, documents, catalog, figures, audits and checksums.

Nothing in it knows the time or the machine: the same specification and sources give the same bytes.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from groundql.bench.audit import Audit
from groundql.bench.case import Gold
from groundql.bench.construct.archive import to_text
from groundql.bench.construct.spec import WorldSpec
from groundql.bench.scoring.judging import read_gold
from groundql.bench.shape.signature import signature, skeleton
from groundql.bench.shape.slices import slices_of
from groundql.bench.shape.statistics import statistics_of
from groundql.core.catalog import Catalog
from groundql.errors import InputError

DATA = "mongodb_data"
Documents = Mapping[str, Sequence[Mapping[str, Any]]]


def write_documents(out: Path, name: str, documents: Documents) -> Path:
    """Write one database's documents, as plain JSON, and the manifest that vouches for them."""
    path = out / DATA / f"{name}.json"
    _write(path, to_text(documents))
    entry = {
        "database": name,
        "file": f"{DATA}/{name}.json",
        **_checksum(path),
        "collections": {collection: len(found) for collection, found in documents.items()},
    }
    _write_json(out / "data" / "mongodb_data_manifest.json", {"files": [entry]})
    return path


def write_tasks(
    out: Path, spec: WorldSpec, golds: Sequence[Gold], audits: Sequence[Audit], documents: Documents
) -> None:
    """Write the records in their full and lean forms, with figures, audits and, last, all checksums."""
    lean = [lean_record(gold) for gold in golds]
    _write_json(out / "data" / "TEND.json", [full_record(gold) for gold in golds])
    _write_json(out / "data" / "TEND_lean.json", lean)
    _write(out / "data" / "TEND_lean.jsonl", _lines(lean))
    _write_json(out / "metadata" / "world.json", {
        "world": spec.world, "title": spec.title, "licence": spec.licence, "packages": list(spec.packages),
    })  # fmt: skip
    _write(out / "metadata" / "labels.jsonl", _lines(_labels(gold) for gold in golds))
    sizes = {spec.world: {name: len(found) for name, found in documents.items()}}
    _write_json(out / "statistics" / "statistics.json", dataclasses.asdict(statistics_of(golds, sizes)))
    _write(out / "audits" / "audits.jsonl", _lines(audit.to_record() for audit in audits))
    files = sorted(p for p in out.rglob("*") if p.is_file() and p.name != "SHA256SUMS.txt")
    sums = (f"{_checksum(p)['sha256']}  {p.relative_to(out).as_posix()}\n" for p in files)
    _write(out / "SHA256SUMS.txt", "".join(sums))


def write_catalog(out: Path, catalog: Catalog) -> None:
    """Write what the documents hold: paths with their kinds, counts and keys."""
    _write_json(out / "schema" / f"{catalog.database}.json", {
        container.name: {
            "documents": container.sampling.documents,
            "paths": {
                str(field.path): {
                    "kinds": {kind.value: count for kind, count in field.kinds},
                    "present_share": round(field.present_share, 6),
                    **({"map_keys": field.keys.distinct} if field.keys else {}),
                }
                for field in container.fields
            },
        }
        for container in catalog.containers
    })  # fmt: skip


def lean_record(gold: Gold) -> dict[str, Any]:
    """Write a task in the lean form. Source: record form of the TEND release"""
    return {
        "record_id": gold.id.record_id,
        "db_id": gold.id.database,
        "NLQ": gold.nlq,
        "NLQ_colloquial": gold.colloquial,
        "MQL": gold.mql,
    }


def full_record(gold: Gold) -> dict[str, Any]:
    """Write a task with its labels and what is computed from its program."""
    try:
        program = read_gold(gold.mql)
        computed = {"mql_signature": signature(program), "skeleton": skeleton(program)}
    except InputError:
        computed = {}
    return {**lean_record(gold), **dict(gold.labels), **computed, "slices": slices_of(gold)}


def _labels(gold: Gold) -> dict[str, Any]:
    return {"record_id": gold.id.record_id, "db_id": gold.id.database, **dict(gold.labels)}


def _checksum(path: Path) -> dict[str, Any]:
    data = path.read_bytes()
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def _lines(records: Iterable[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def _write_json(path: Path, data: Any) -> None:
    _write(path, json.dumps(data, ensure_ascii=False, indent=2, default=str) + "\n")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8"))
