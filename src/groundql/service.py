"""What every face calls: ask, describe, check, run, ground. Faces decide nothing; they show what comes from here."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Self

import anyio

from groundql.checking.classify import REPAIRABLE, classify
from groundql.checking.form import form_gate
from groundql.checking.nearest import nearest_names
from groundql.core.answer import Answer, Candidate, Evidence, Grounding, Question
from groundql.core.budget import Budget, Meter
from groundql.core.catalog import Catalog, Container, Field
from groundql.core.finding import Code, Finding
from groundql.core.ports import Check, Database, Env, Model
from groundql.core.program import Admitted, Program
from groundql.core.rows import Limits, Rows
from groundql.core.trace import Trace
from groundql.databases.known_limits import EMBEDDED_ENGINE
from groundql.errors import InputError, ModelUnavailable
from groundql.grounding.card import Card, describe_container, describe_field, write_card
from groundql.grounding.describe import find_path
from groundql.grounding.grounder import CatalogGrounder, open_grounding
from groundql.grounding.sample import Progress, SamplePolicy
from groundql.grounding.store import GroundingStore
from groundql.languages.read import Parsed, claims_of, parse
from groundql.languages.safety import admit
from groundql.solvers.explain import explain
from groundql.solvers.recipes import GATES, PROBES, SOLVERS
from groundql.wiring import open_env

UNREAD = frozenset({Code.FORBIDDEN, Code.MALFORMED, Code.UNKNOWN_OPERATOR})
"""What the safety check refuses is not sent to the engine at all."""
Listen = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Report:
    """What checking, and perhaps running, a pasted program came to. `rows` is None when it did not run.

    `notes` say what of the text was left out of the program.
    """

    program: Program
    candidate: Candidate
    evidence: Evidence = Evidence()
    elapsed_s: float = 0.0
    notes: tuple[str, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, gates before probes."""
        return self.candidate.findings

    @property
    def rows(self) -> Rows | None:
        """The rows, when it ran."""
        return self.candidate.rows

    @property
    def is_blocked(self) -> bool:
        """Whether something proves the program wrong."""
        return bool(self.candidate.blocking)


@dataclass(frozen=True, slots=True)
class Profile:
    """What `describe` shows: the catalog, the container or path that was asked for, and the same as text.

    `notes` say where a path is stored otherwise than it was written.
    """

    catalog: Catalog
    text: str
    container: Container | None = None
    fields: tuple[Field, ...] = ()
    card: Card | None = None
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class Service:
    """One database, one way to get a model, one store of groundings.

    `open_model` is called once a question, so that everything but `ask` works without a model.
    """

    database: Database
    store: GroundingStore
    open_model: Callable[[Meter, Trace], Model]
    policy: SamplePolicy = SamplePolicy()
    limits: Limits = Limits()
    budget: Budget = Budget()
    solver: str = "sag"
    listen: Listen | None = None
    on_close: Sequence[Callable[[], Awaitable[None]]] = ()
    _grounder: CatalogGrounder | None = None
    _lock: anyio.Lock = field(default_factory=anyio.Lock)

    async def ask(
        self,
        question: Question | str,
        *,
        solver: str = "",
        trace: Trace | None = None,
        limits: Limits | None = None,
        budget: Budget | None = None,
    ) -> Answer:
        """Answer a question in plain English.

        Raises: InputError for an unknown solver or an empty question, and what cannot be repaired at the database or
        the model (`DatabaseUnreachable`, `ModelUnavailable`, ...).
        """
        asked = Question(question) if isinstance(question, str) else question
        if not asked.text.strip():
            raise InputError("the question is empty")
        named = SOLVERS.get(solver or self.solver)
        if named is None:
            raise InputError(
                f"there is no solver {solver or self.solver!r}", hint=f"choose one of: {', '.join(sorted(SOLVERS))}"
            )
        env = await open_env(
            self.database,
            self.open_model,
            self.grounder,
            limits=limits or self.limits,
            budget=budget or self.budget,
            trace=trace or Trace(),
        )
        return _dated(await named(asked, env), (await self.grounder()).catalog)

    async def describe(self, container: str = "", path: str = "", *, question: str = "", tokens: int = 6000) -> Profile:
        """Show the catalog and the path card: of the database, of one container, or of one path.

        A path may be written as a query names it, without `[]` or with one key of a map, when one stored path fits.
        Raises: InputError naming the nearest containers or paths when there is none of that name.
        """
        catalog = (await self.grounder()).catalog
        if not container:
            grounding = (
                await (await self.grounder()).ground(Question(question))
                if question
                else Grounding(Question(""), catalog)
            )
            card = write_card(grounding, tokens)
            return Profile(catalog, "\n\n".join(part for part in (card.stable, card.focus) if part), card=card)
        found = _container(catalog, container)
        if not path:
            return Profile(catalog, describe_container(found), found, found.fields)
        stored, note = find_path(found, path)
        fields = tuple(f for f in found.fields if f.path.starts_with(stored))
        return Profile(catalog, describe_field(found, stored), found, fields, notes=(note,) if note else ())

    async def check(self, program: Program | str, *, container: str | None = None) -> Report:
        """Lint a pasted program against the data, without running it.

        Raises: ProgramSyntaxError when it cannot be read.
        """
        started_s = time.monotonic()
        read = await self._read(program, container)
        candidate, grounding, env = await self._checked(read.program)
        if not any(f.code in UNREAD for f in candidate.findings):
            candidate = await _with(candidate, (form_gate,), grounding, env)
        return Report(read.program, candidate, elapsed_s=time.monotonic() - started_s, notes=read.notes)

    async def run(
        self,
        program: Program | str,
        *,
        container: str | None = None,
        anyway: bool = False,
        limits: Limits | None = None,
    ) -> Report:
        """Check a pasted program, then run it within limits.

        `anyway` runs it in spite of blocking findings; the safety check stands whatever it says.
        Raises: ProgramSyntaxError when it cannot be read.
        """
        started_s = time.monotonic()
        read = await self._read(program, container)
        candidate, grounding, env = await self._checked(read.program)
        report = Report(read.program, candidate, notes=read.notes)
        admitted = admit(read.program)
        if not isinstance(admitted, Finding) and (anyway or not candidate.blocking):
            report = await self._executed(report, admitted, limits or self.limits, grounding, env)
        return replace(report, elapsed_s=time.monotonic() - started_s)

    async def ground(self, *, refresh: bool = True, listen: Listen | None = None) -> Catalog:
        """Build the stored grounding anew, or open it when it fits the data."""
        async with self._lock:
            self._grounder = await open_grounding(
                self.database, self.store, self.policy, refresh=refresh, listen=listen or self.listen
            )
            _require_data(self._grounder.catalog)
        return self._grounder.catalog

    async def grounder(self) -> CatalogGrounder:
        """Open the grounding once and keep it.

        Raises: InputError when the database holds no collections; the `DatabaseError` family.
        """
        async with self._lock:
            if self._grounder is None:
                opened = await open_grounding(self.database, self.store, self.policy, listen=self.listen)
                _require_data(opened.catalog)
                self._grounder = opened
            return self._grounder

    async def close(self) -> None:
        """Let go of the database and of what was started for it."""
        with anyio.CancelScope(shield=True):
            await self.database.close()
            for let_go in self.on_close:
                await let_go()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _read(self, program: Program | str, container: str | None) -> Parsed:
        if not isinstance(program, str):
            return Parsed(program)
        catalog = (await self.grounder()).catalog
        # files have no database name that anybody could have pasted
        own = None if catalog.server.startswith(EMBEDDED_ENGINE) else catalog.database
        return parse(program, self.database.dialect, container, own)

    async def _executed(
        self, report: Report, admitted: Admitted, limits: Limits, grounding: Grounding, env: Env
    ) -> Report:
        candidate = report.candidate
        try:
            candidate = replace(candidate, rows=await self.database.execute(admitted, limits))
        except REPAIRABLE as error:
            return replace(report, candidate=replace(candidate, findings=(*candidate.findings, classify(error))))
        candidate = await _with(candidate, PROBES, grounding, env)
        evidence = replace(await explain(candidate, grounding, env), grounded=grounding.catalog.created)
        return replace(report, candidate=candidate, evidence=evidence)

    async def _checked(self, program: Program) -> tuple[Candidate, Grounding, Env]:
        grounder = await self.grounder()
        claims = claims_of(program, grounder.catalog)
        grounding = await self._literals_grounded(claims.texts, grounder)
        env = Env(self.database, _NO_MODEL, grounder, self.limits)
        candidate = Candidate(program, claims)
        admitted = admit(program)
        if isinstance(admitted, Finding):
            candidate = replace(candidate, findings=(admitted,))
        return await _with(candidate, GATES, grounding, env), grounding, env

    async def _literals_grounded(self, texts: Sequence[str], grounder: CatalogGrounder) -> Grounding:
        """Look the program's own literals up, so that the value gate can say where they are stored."""
        short = [t for t in dict.fromkeys(texts) if 1 < len(t) <= 60 and '"' not in t][:20]
        quoted = " ".join(f'"{t}"' for t in short)
        grounding = await grounder.ground(Question(quoted)) if quoted else Grounding(Question(""), grounder.catalog)
        # the literals are looked up for their stored forms only; no question insists on them
        return replace(
            grounding,
            question=Question(""),
            witnesses=tuple(replace(w, hard=False) for w in grounding.witnesses),
            missing_terms=(),
        )


class _NoModel:
    """Stand in where no model is called."""

    name = "none"

    async def complete(self, request: object, /) -> object:
        raise ModelUnavailable("no model is configured")

    async def close(self) -> None:
        return None


_NO_MODEL: Model = _NoModel()  # pyright: ignore[reportAssignmentType]


async def _with(candidate: Candidate, checks: Sequence[Check], grounding: Grounding, env: Env) -> Candidate:
    found = [f for check in checks for f in await check(candidate, grounding, env)]
    return replace(candidate, findings=(*candidate.findings, *found))


def _dated(answer: Answer, catalog: Catalog) -> Answer:
    return replace(answer, evidence=replace(answer.evidence, grounded=catalog.created))


def _require_data(catalog: Catalog) -> None:
    """Raise InputError when the database holds nothing: a misspelt name is an empty database to a server."""
    if not catalog.containers:
        raise InputError(
            f"the database {catalog.database!r} holds no collections", hint="check its name, or load data into it"
        )


def _container(catalog: Catalog, name: str) -> Container:
    found = catalog.get(name)
    if found is None:
        near = nearest_names(name, catalog.by_name)
        listed = ", ".join(near or sorted(catalog.by_name)[:8])
        raise InputError(f"there is no collection {name!r}", hint=f"did you mean: {listed}" if listed else "")
    return found
