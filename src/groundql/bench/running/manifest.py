"""What a run was made with: enough to go on with it, to merge it, and to say what its figures rest on."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import metadata, resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Final, cast

from groundql.bench.case import CaseId
from groundql.bench.running.files import replace_file
from groundql.bench.running.plan import Plan, Terms
from groundql.databases.uri import redact
from groundql.errors import LoadError
from groundql.grounding.grounder import CatalogGrounder
from groundql.solvers.disclosure import disclosure_of

MANIFEST: Final = "manifest.json"
FORM: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Stint:
    """One time that a run was worked on.

    Shape: times are ISO 8601 in UTC; `ended` is empty when the process was killed; `stopped` says why it ended early.
    `server` has its password hidden.
    """

    began: str
    ended: str = ""
    finished: int = 0
    stopped: str = ""
    python: str = ""
    platform: str = ""
    concurrency: int = 1
    budget_usd: float | None = None
    budget_tokens: int | None = None
    server: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a run was made with.

    Shape: `cases` are the ids it set out to answer, `fingerprint` that of the suite's records; `prompts` maps each
    prompt file to its SHA-256, `solvers` each solver to its disclosure; `databases` maps a name to its `server` and the
    `groundings` that were met, more than one when the data changed between stints.
    """

    plan: Plan
    fingerprint: str
    cases: tuple[CaseId, ...]
    product: str
    prompts: Mapping[str, str]
    solvers: Mapping[str, Mapping[str, Any]]
    databases: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    stints: tuple[Stint, ...] = ()
    shards: tuple[str, ...] = ()

    @property
    def made_with(self) -> dict[str, Any]:
        """What must agree for two runs' figures to be one run's: everything but the cases' shard."""
        plan = {name: value for name, value in self.plan.to_record().items() if name != "shard"}
        return {**plan, "suite's records": self.fingerprint, "product": self.product, **_prompt_names(self.prompts)}

    def with_database(self, name: str, grounder: CatalogGrounder) -> Manifest:
        """Note which data a database held."""
        known = self.databases.get(name, {})
        met: list[str] = list(known.get("groundings", ()))
        fingerprint = grounder.catalog.fingerprint
        met += [] if fingerprint in met else [fingerprint]
        return replace(self, databases={**self.databases, name: {"server": grounder.catalog.server, "groundings": met}})

    def with_stint(self, stint: Stint, *, last: bool = False) -> Manifest:
        """Add a stint, or put it in place of the last."""
        return replace(self, stints=(*(self.stints[:-1] if last else self.stints), stint))

    def to_record(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {
            "form": FORM,
            "product": self.product,
            "suite": {"name": self.plan.suite, "fingerprint": self.fingerprint, "phrasing": self.plan.phrasing},
            "model": self.plan.model,
            "plan": self.plan.to_record(),
            "shards": list(self.shards),
            "solvers": dict(self.solvers),
            "prompts": dict(self.prompts),
            "databases": dict(self.databases),
            "stints": [_stint_record(s) for s in self.stints],
            "cases": [list(case) for case in self.cases],
        }


def new_manifest(plan: Plan, fingerprint: str, cases: Sequence[CaseId]) -> Manifest:
    """Describe a run that begins now."""
    return Manifest(
        plan=plan,
        fingerprint=fingerprint,
        cases=tuple(cases),
        product=f"groundql {metadata.version('groundql')}",
        prompts=prompt_hashes(),
        solvers={name: disclosure_of(name).to_record() for name in plan.solvers},
        shards=(plan.shard,) if plan.shard else (),
    )


def read_manifest(folder: Path) -> Manifest | None:
    """Read a run's manifest; None where no run was begun.

    Raises: LoadError for a file of another form.
    """
    path = folder / MANIFEST
    try:
        record: Any = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise LoadError(f"{path}: cannot be read ({error})") from None
    try:
        return _from_record(cast("Mapping[str, Any]", record))
    except (KeyError, TypeError, ValueError, AttributeError):
        raise LoadError(f"{path}: is not the manifest of a run") from None


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write a run's manifest in one step."""
    text = json.dumps(manifest.to_record(), ensure_ascii=False, indent=1)
    replace_file(folder / MANIFEST, (text + "\n").encode())


def new_stint(terms: Terms) -> Stint:
    """Describe a stint that begins now."""
    return Stint(
        began=now_text(),
        python=platform.python_version(),
        platform=platform.platform(),
        concurrency=terms.concurrency,
        budget_usd=terms.budget_usd,
        budget_tokens=terms.budget_tokens,
        server=redact(terms.server),
    )


def prompt_hashes() -> dict[str, str]:
    """Hash every prompt file. Shape: path below the prompts -> SHA-256 in hex."""
    found = _files(resources.files("groundql.prompts"), "")
    return {name: hashlib.sha256(file.read_bytes()).hexdigest() for name, file in sorted(found, key=lambda f: f[0])}


def now_text() -> str:
    """The time now, in UTC, to the second."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")


def _files(folder: Traversable, prefix: str) -> Iterator[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _files(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(".md"):
            yield f"{prefix}{entry.name}", entry


def _prompt_names(prompts: Mapping[str, str]) -> dict[str, str]:
    return {f"prompt {name}": digest[:12] for name, digest in prompts.items()}


def _stint_record(stint: Stint) -> dict[str, Any]:
    return {name: getattr(stint, name) for name in Stint.__slots__}


def _from_record(record: Mapping[str, Any]) -> Manifest:
    stints = ({k: v for k, v in s.items() if k in Stint.__slots__} for s in record["stints"])
    return Manifest(
        plan=Plan.from_record(record["plan"]),
        fingerprint=record["suite"]["fingerprint"],
        cases=tuple(CaseId(str(database), int(number)) for database, number in record["cases"]),
        product=record["product"],
        prompts=record["prompts"],
        solvers=record["solvers"],
        databases=record["databases"],
        stints=tuple(Stint(**s) for s in stints),
        shards=tuple(record["shards"]),
    )
