"""The bounded loop: ground once, then draft, rewrite, gate, execute, probe and repair; attempts vote by result."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import anyio

from groundql.checking.classify import REPAIRABLE, classify
from groundql.core.answer import Answer, Candidate, Evidence, Grounding, Outcome, Question
from groundql.core.budget import Usage
from groundql.core.finding import Code, Finding
from groundql.core.ports import Check, Choice, Choose, Dialogue, Draft, DraftStep, Env, Explain, Ground, Repair, Rewrite
from groundql.errors import BudgetExhausted, DatabaseError, DatabaseUnreachable, GroundQLError
from groundql.languages.read import claims_of, write
from groundql.languages.safety import admit
from groundql.solvers.choose import agree, fewest_findings, rank
from groundql.solvers.explain import explain
from groundql.solvers.repair import directives, needs_repair


@dataclass(frozen=True, slots=True)
class Attempt:
    """What one attempt came to: every candidate it tried, in order."""

    index: int
    tried: tuple[Candidate, ...]

    @property
    def best(self) -> Candidate | None:
        """The candidate this attempt stands by."""
        return rank(self.tried)[0] if self.tried else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """A solver made of steps.

    `eager` attempts start side by side; the others only when those do not agree on a clean result.
    Within an attempt, advisory findings alone are worth at most `advisory_rounds` repairs.
    """

    name: str
    ground: Ground
    draft: DraftStep
    rewrites: tuple[Rewrite, ...] = ()
    gates: tuple[Check, ...] = ()
    probes: tuple[Check, ...] = ()
    repair: Repair = directives
    choose: Choose = fewest_findings
    explain: Explain = explain
    attempts: int = 1
    eager: int = 2
    rounds: int = 1
    advisory_rounds: int = 2

    async def __call__(self, question: Question, env: Env, /) -> Answer:
        """Answer one question.

        Raises: `DatabaseError` and `ModelUnavailable` that no repair can mend, when no attempt came to a candidate.
        """
        run = _Run(self, question, env)
        return await run.answer()


@dataclass(slots=True)
class _Run:
    """One question on its way through a loop."""

    loop: Loop
    question: Question
    env: Env
    started_s: float = field(default_factory=time.monotonic)
    failures: list[GroundQLError] = field(default_factory=list[GroundQLError])

    async def answer(self) -> Answer:
        grounding = await self.loop.ground(self.question, self.env)
        self.env.trace.add(
            "grounded",
            containers=len(grounding.catalog.containers),
            witnesses=[f"{w.term} -> {w.stored!r} at {w.container}.{w.path}" for w in grounding.witnesses],
            missing=list(grounding.missing_terms),
        )
        attempts = await self._attempts(grounding)
        candidates = tuple(c for a in attempts for c in a.tried)
        finished = [a.best for a in attempts if a.best is not None]
        if self.failures and not any(c.is_clean for c in finished):
            self._raise_unmendable(finished)
        choice = await self._choose(finished, grounding)
        return await self._answer(choice, candidates, grounding)

    def _raise_unmendable(self, finished: Sequence[Candidate]) -> None:
        """Hand to the caller what no repair can mend; a spent budget with candidates at hand is told as a diagnosis."""
        for error in self.failures:
            if isinstance(error, DatabaseError) or not finished:
                raise error

    async def _choose(self, finished: Sequence[Candidate], grounding: Grounding) -> Choice:
        try:
            return await self.loop.choose(finished, grounding, self.env)
        except BudgetExhausted as error:
            # choosing costs a call only where results differ: without it nothing decides between them
            self.env.trace.add("choose_failed", error=str(error))
            first = await fewest_findings(finished, grounding, self.env)
            return Choice(first.winner, f"the results differ, and {error}", abstains=first.winner is not None)

    async def _attempts(self, grounding: Grounding) -> list[Attempt]:
        eager = min(self.loop.eager, self.loop.attempts)
        done = await self._side_by_side(range(eager), grounding)
        found = [a.best for a in done if a.best]
        # where none came to anything (no key, no server), another attempt would only meet the same
        if eager < self.loop.attempts and found and not agree(found):
            done += await self._side_by_side(range(eager, self.loop.attempts), grounding)
        return done

    async def _side_by_side(self, indices: Sequence[int], grounding: Grounding) -> list[Attempt]:
        by_index: dict[int, Attempt] = {}

        async def one(index: int) -> None:
            by_index[index] = await self._attempt(index, grounding)
            if any(isinstance(error, DatabaseUnreachable) for error in self.failures):
                group.cancel_scope.cancel()  # the others would wait for a model, only to find nobody to run its program

        async with anyio.create_task_group() as group:
            for index in indices:
                group.start_soon(one, index)
        return [by_index[index] for index in indices if index in by_index]

    async def _attempt(self, index: int, grounding: Grounding) -> Attempt:
        dialogue: Dialogue = ()
        tried: list[Candidate] = []
        advisory_left = self.loop.advisory_rounds
        for number in range(self.loop.rounds):
            try:
                draft = await self._draft(dialogue, grounding, index)
                candidate = await self._candidate(draft, grounding, index, number)
            except GroundQLError as error:
                # attempts run side by side: one that fails must not take the others' results with it
                self.failures.append(error)
                self.env.trace.add("attempt_failed", attempt=index, round=number, error=str(error))
                return Attempt(index, tuple(tried))
            repeats = any(c.program == candidate.program and c.program is not None for c in tried)
            # a refusal, a cut-off or an unreadable reply was told to the model already: asking anew seldom mends it
            is_done = candidate.program is None or repeats or not needs_repair(candidate, tried)
            tried.append(candidate)
            self._record(candidate)
            if is_done:
                break
            if not candidate.blocking:
                advisory_left -= 1
                if advisory_left < 0:
                    break
            if number + 1 < self.loop.rounds:
                dialogue = await self.loop.repair(dialogue, candidate, draft.said, grounding, self.env)
        return Attempt(index, tuple(tried))

    async def _draft(self, dialogue: Dialogue, grounding: Grounding, index: int) -> Draft:
        try:
            return await self.loop.draft(dialogue, grounding, self.env, index)
        except REPAIRABLE as error:
            return Draft(None, findings=(classify(error),))

    async def _candidate(self, draft: Draft, grounding: Grounding, index: int, number: int) -> Candidate:
        candidate = Candidate(
            draft.program,
            attempt=index,
            round=number,
            form=draft.form,
            query=draft.query,
            assumptions=draft.assumptions,
        )
        if draft.program is None:
            return replace(candidate, findings=draft.findings)
        program = draft.program
        for rewrite in self.loop.rewrites:
            program = rewrite(program, grounding)
        candidate = replace(candidate, program=program, claims=claims_of(program, grounding.catalog))
        candidate = await self._checked(candidate, self.loop.gates, grounding)
        if candidate.blocking:
            return candidate
        candidate = await self._executed(candidate)
        return candidate if candidate.rows is None else await self._checked(candidate, self.loop.probes, grounding)

    async def _checked(self, candidate: Candidate, checks: Sequence[Check], grounding: Grounding) -> Candidate:
        found = [f for check in checks for f in await check(candidate, grounding, self.env)]
        return replace(candidate, findings=(*candidate.findings, *found))

    async def _executed(self, candidate: Candidate) -> Candidate:
        assert candidate.program is not None
        admitted = admit(candidate.program)
        if isinstance(admitted, Finding):
            return replace(candidate, findings=(*candidate.findings, admitted))
        try:
            rows = await self.env.database.execute(admitted, self.env.limits)
            self.env.meter.add(Usage(database_s=rows.elapsed_s))
        except REPAIRABLE as error:
            return replace(candidate, findings=(*candidate.findings, classify(error)))
        return replace(candidate, rows=rows)

    def _record(self, candidate: Candidate) -> None:
        self.env.trace.add(
            "candidate",
            attempt=candidate.attempt,
            round=candidate.round,
            form=candidate.form,
            program=write(candidate.program, "shell") if candidate.program else "",
            findings=[{"code": f.code.value, "blocking": f.blocking, "text": str(f)} for f in candidate.findings],
            rows=None if candidate.rows is None else len(candidate.rows.records),
        )

    async def _answer(self, choice: Choice, candidates: tuple[Candidate, ...], grounding: Grounding) -> Answer:
        winner = choice.winner
        evidence = Evidence(witnesses=grounding.witnesses, dates=grounding.dates)
        if winner is not None and not choice.abstains:
            evidence = replace(await self.loop.explain(winner, grounding, self.env), agreement=choice.reason)
        answered = winner is not None and not choice.abstains
        outcome = Outcome.ANSWERED if answered else Outcome.ABSTAINED if choice.abstains else Outcome.FAILED
        return Answer(
            outcome,
            self.question,
            program=winner.program if answered and winner else None,
            rows=winner.rows if answered and winner else None,
            candidates=candidates,
            evidence=evidence,
            usage=self.env.meter.spent,
            elapsed_s=time.monotonic() - self.started_s,
            diagnosis="" if answered else self._diagnosis(choice, candidates, grounding),
            solver=self.loop.name,
            model=self.env.model.name,
            trace_id=self.env.trace.id,
        )

    def _diagnosis(self, choice: Choice, candidates: Sequence[Candidate], grounding: Grounding) -> str:
        """Say in a few lines why nothing is answered: ungrounded terms first, then what the last candidates met."""
        lines = [choice.reason] if choice.reason else []
        lines += [f"I could not ground {term!r} in the stored data." for term in grounding.missing_terms]
        last = {c.attempt: c for c in candidates}
        found = dict.fromkeys(str(f) for c in last.values() for f in c.findings if f.blocking or f.code is Code.EMPTY)
        lines += list(found)[:5]
        lines += list(dict.fromkeys(str(error) for error in self.failures))[:2]
        return "\n".join(lines)
