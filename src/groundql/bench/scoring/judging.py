"""Hold one case's predictions against its gold: each program is run once, whoever hands it in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from groundql.bench.case import Gold
from groundql.bench.prediction import Prediction
from groundql.bench.scoring import parsing, strict, tend_v1
from groundql.bench.scoring.canonical import Record
from groundql.bench.scoring.execute import LIMITS, Ran, run
from groundql.bench.scoring.forbidden import operator_in, token_in
from groundql.bench.scoring.order import decided_order, is_order_sensitive
from groundql.bench.scoring.sets import unordered_arrays
from groundql.bench.scoring.tend_v1 import Rules
from groundql.bench.scoring.ties import read_ties, tie_probe, untied
from groundql.bench.verdict import PROTOCOLS, STRICT, TEND_V1, Bucket, Verdict
from groundql.core.ports import Database
from groundql.core.program import MqlProgram
from groundql.core.rows import Limits
from groundql.errors import InputError, ProgramSyntaxError
from groundql.languages.read import parse


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of one prediction: a verdict per protocol, and its rows where it ran."""

    verdicts: dict[str, Verdict]
    ran: Ran | None = None


@dataclass(slots=True)
class Bench:
    """One case at its database: the gold's result, and every program that has run so far.

    `ran` keeps results by program, so that a program that several solvers hand in runs once.
    """

    database: Database
    gold: Gold
    rules: Rules = Rules()
    protocols: Sequence[str] = PROTOCOLS
    limits: Limits = LIMITS
    ran: dict[str, Ran] = field(default_factory=dict[str, Ran])
    program: MqlProgram | None = None
    wanted: strict.Wanted | None = None
    is_tied_known: bool = False

    async def run_gold(self) -> Ran:
        """Run the gold, once. Its error says why nothing can be judged by it."""
        try:
            self.program = read_gold(self.gold.mql)
        except InputError as error:
            return Ran(error=f"the gold cannot be read: {error}")
        ran = await self._run(self.program)
        if ran.is_cut:
            return Ran(error=f"the gold gives more than {len(ran.records):,} rows")
        return Ran(error=f"the gold failed: {ran.error}") if ran.error else ran

    async def judge(self, prediction: Prediction) -> Judged:
        """Judge one prediction by every protocol."""
        if not prediction.mql.strip():
            reason = " ".join(f"{prediction.failure or 'missing'}: {prediction.detail}".split()).rstrip(":")
            return self._same(Verdict(Bucket.NO_SUBMISSION, 0.0, reason))
        gold = await self.run_gold()
        if gold.error:
            return self._same(Verdict(Bucket.NO_SUBMISSION, 0.0, gold.error))
        judged = {protocol: await _JUDGES[protocol](self, gold.records, prediction.mql) for protocol in self.protocols}
        ran = next((ran for _, ran in reversed(judged.values()) if ran is not None), None)
        return Judged({protocol: verdict for protocol, (verdict, _) in judged.items()}, ran)

    async def judge_tend_v1(self, gold: Sequence[Record], text: str) -> tuple[Verdict, Ran | None]:
        """Judge by the published protocol."""
        assert self.program is not None
        try:
            program = parsing.read(text)
        except ProgramSyntaxError as error:
            return Verdict(Bucket.INVALID, 0.0, str(error)), None
        token = token_in(text, program)
        if token:
            return Verdict(Bucket.INVALID, 0.0, f"{token} is forbidden"), None
        ran = await self._run(program)
        if ran.error:
            return Verdict(Bucket.EXEC_ERROR, 0.0, ran.error), None
        ordered = is_order_sensitive(self.program.stages)
        return tend_v1.judge(gold, ran.records, ordered=ordered, rules=self.rules), ran

    async def judge_strict(self, gold: Sequence[Record], text: str) -> tuple[Verdict, Ran | None]:
        """Judge by the strict protocol; ties are looked into only where they can change the verdict."""
        program = _read_strictly(text)
        if isinstance(program, Verdict):
            return program, None
        ran = await self._run(program)
        if ran.error:
            bucket = Bucket.INVALID if ran.is_forbidden else Bucket.EXEC_ERROR
            return Verdict(bucket, 0.0, ran.error), None
        verdict = strict.judge(self._wanted(gold), ran.records)
        if verdict.bucket in (Bucket.ORDER_ONLY, Bucket.VALUE_MISMATCH) and len(ran.records) == len(gold):
            await self._look_into_ties(gold)
            verdict = strict.judge(self._wanted(gold), ran.records)
        return verdict, ran

    def _wanted(self, gold: Sequence[Record]) -> strict.Wanted:
        if self.wanted is None:
            stages = self.program.stages if self.program else ()
            sets, ordered = unordered_arrays(stages), decided_order(stages).is_ordered
            self.wanted = strict.Wanted(gold, untied(len(gold), ordered=ordered), sets)
        return self.wanted

    async def _look_into_ties(self, gold: Sequence[Record]) -> None:
        probe = tie_probe(self.program) if self.program and not self.is_tied_known else None
        self.is_tied_known = True
        if probe is None or self.program is None:
            return
        found = await self._run(probe)
        ordered = decided_order(self.program.stages).is_ordered
        ties = None if found.error else read_ties(gold, found.records, ordered=ordered)
        if ties is not None:
            self.wanted = strict.Wanted(gold, ties, self._wanted(gold).sets)

    async def _run(self, program: MqlProgram) -> Ran:
        key = repr((program.container, program.stages))
        if key in self.ran:
            return self.ran[key]
        ran = await run(self.database, program, self.limits)
        if not ran.is_cut:  # what is that large is not kept beside others
            self.ran[key] = ran
        return ran

    def _same(self, verdict: Verdict) -> Judged:
        return Judged(dict.fromkeys(self.protocols, verdict))


_JUDGES = {TEND_V1: Bench.judge_tend_v1, STRICT: Bench.judge_strict}


def read_gold(text: str) -> MqlProgram:
    """Read a gold: whole, as people write it, or else as the published reader reads it.

    Raises: InputError when neither can.
    """
    try:
        return _read_whole(text)
    except InputError:
        return parsing.read(text)


def _read_strictly(text: str) -> MqlProgram | Verdict:
    try:
        program = _read_whole(text)
    except InputError as error:
        return Verdict(Bucket.INVALID, 0.0, " ".join(str(error).split())[:300])
    operator = operator_in(program)
    return Verdict(Bucket.INVALID, 0.0, f"{operator} is forbidden") if operator else program


def _read_whole(text: str) -> MqlProgram:
    program = parse(text, "mongodb").program
    if not isinstance(program, MqlProgram):
        raise ProgramSyntaxError("only MongoDB aggregations are judged")
    return program
