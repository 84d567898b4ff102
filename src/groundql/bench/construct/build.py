"""Build a release: documents, tasks given and drafted, audits, and the folder that holds them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from bson import json_util

from groundql.bench.audit import Audit, Auditor, audit_task
from groundql.bench.audit.across import across_remarks
from groundql.bench.case import CaseId, Gold, Suite
from groundql.bench.construct.drafting.asking import ask_for_drafts
from groundql.bench.construct.drafting.draft import Draft
from groundql.bench.construct.drafting.templates import draft_all
from groundql.bench.construct.release import Documents, write_catalog, write_documents, write_tasks
from groundql.bench.construct.spec import WorldSpec
from groundql.bench.datasets.records import read_golds, to_case
from groundql.bench.hosts import Host
from groundql.bench.scoring.judging import read_gold
from groundql.config import Settings
from groundql.core.catalog import Catalog
from groundql.core.ports import Model
from groundql.databases.memory import MemoryDatabase
from groundql.errors import InputError, ModelMalformed
from groundql.grounding.drawing import SamplePolicy
from groundql.grounding.grounder import CatalogGrounder, open_grounding

MOST_ROWS: Final = 50
"""Rows that a drafted task may give: what a person can check by reading."""
_WHOLE: Final = SamplePolicy(documents=10_000_000, read_bytes=10**10, elapsed_s=3600.0, unseen_share=0.0)
"""Read everything, so that the same documents give the same catalog and the same drafts."""
_MOST_FRUITLESS: Final = 5
"""Calls in a row without a task that stands, after which a model is not asked again."""


@dataclass(slots=True)
class Build:
    """What is being built. `say` hears of progress."""

    spec: WorldSpec
    documents: Documents
    out: Path
    settings: Settings
    say: Callable[[str], None] = lambda _text: None
    golds: list[Gold] = field(default_factory=list[Gold])
    audits: list[Audit] = field(default_factory=list[Audit])
    refused: dict[str, int] = field(default_factory=dict[str, int])

    async def run(self, tasks: Path | None, wanted: int, model: Model | None = None) -> None:
        """Write the documents, audit the given tasks, draft until `wanted` more stand, and write the release.

        Raises: LoadError for tasks of the wrong form, the `DatabaseError` and `ModelError` families.
        """
        source = write_documents(self.out, self.spec.world, self.documents)
        grounder = await _ground(self.spec.world, self.documents)
        write_catalog(self.out, grounder.catalog)
        given = read_golds(tasks) if tasks else ()
        suite = Suite(self.spec.world, (), {}, {self.spec.world: source})
        async with Host(suite, self.settings) as host:
            await self._take(given, suite, host)
            if wanted:
                await self._draft(wanted, grounder, host, model)
        write_tasks(self.out, self.spec, self.golds, self.audits, self.documents)

    async def _take(self, given: Sequence[Gold], suite: Suite, host: Host) -> None:
        whole = replace(suite, cases=tuple(to_case(g, "canonical") for g in given), golds={g.id: g for g in given})
        auditor = Auditor(whole, host)
        for number, case in enumerate(whole.cases, 1):
            self.say(f"auditing {case.id}, {number} of {len(whole.cases)}")
            self.golds.append(whole.golds[case.id])
            self.audits.append(await auditor.audit(case))

    async def _draft(self, wanted: int, grounder: CatalogGrounder, host: Host, model: Model | None) -> None:
        target = len(self.golds) + wanted
        drafts = self._asked(model, grounder.catalog) if model else _drawn(grounder.catalog)
        async for draft in drafts:
            if len(self.golds) >= target:
                return
            await self._try(draft, grounder, host)

    async def _asked(self, model: Model, catalog: Catalog) -> AsyncIterator[Draft]:
        fruitless = seed = 0
        while fruitless < _MOST_FRUITLESS:
            before, seed = len(self.golds), seed + 1
            try:
                drafts = await ask_for_drafts(model, catalog, [g.nlq for g in self.golds], seed)
            except ModelMalformed as error:
                self.say(str(error))
                drafts = ()
            for draft in drafts:
                yield draft
            fruitless = 0 if len(self.golds) > before else fruitless + 1

    async def _try(self, draft: Draft, grounder: CatalogGrounder, host: Host) -> None:
        """Keep a draft if it runs, is sound, is decided by its words, and is unlike the tasks that stand."""
        number = 1 + max((g.id.record_id for g in self.golds), default=0)
        gold = _to_gold(draft, CaseId(self.spec.world, number))
        self.say(f"{len(self.golds)} tasks stand; trying {draft.template} on {draft.container}")
        reason = self._repeats(gold)
        if not reason:
            grounding = await grounder.ground(to_case(gold, "canonical").question)
            async with host.use(self.spec.world) as database:
                audit = await audit_task(gold, grounding, database)
            reason = _reason(audit)
            if not reason:
                self.golds.append(gold)
                self.audits.append(audit)
                return
        self.refused[reason] = self.refused.get(reason, 0) + 1

    def _repeats(self, gold: Gold) -> str:
        try:
            program = read_gold(gold.mql)
        except InputError:
            return "runs"
        known = {g.id: (g, read_gold(g.mql)) for g in self.golds}
        remarks = across_remarks({**known, gold.id: (gold, program)}).get(gold.id)
        return remarks[0].check.value if remarks else ""


def _reason(audit: Audit) -> str:
    """Name the check that speaks against a drafted task, or nothing."""
    if audit.rows is not None and audit.rows > MOST_ROWS:
        return "rows"
    against = next((r for r in audit.remarks if r.level.value != "note"), None)
    return against.check.value if against else ""


def _to_gold(draft: Draft, case: CaseId) -> Gold:
    labels: dict[str, Any] = {
        "schema_flex": draft.schema_flex, "stressors": list(draft.stressors), "template": draft.template,
    }  # fmt: skip
    return Gold(case, draft.mql, draft.nlq, draft.colloquial, labels)


async def _drawn(catalog: Catalog) -> AsyncIterator[Draft]:
    for draft in draft_all(catalog):
        yield draft


async def _ground(name: str, documents: Documents) -> CatalogGrounder:
    """Read all documents into a catalog, without a server."""
    stored = {collection: list(_revived(found)) for collection, found in documents.items()}
    return await open_grounding(MemoryDatabase(stored, name=name), None, _WHOLE)


def _revived(documents: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    options = json_util.JSONOptions(json_mode=json_util.JSONMode.RELAXED, tz_aware=True)
    for document in documents:
        yield json_util.loads(json.dumps(document), json_options=options)
