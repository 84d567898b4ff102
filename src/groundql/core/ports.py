"""The seams: a database, a model, a solver, and the signatures of the steps of one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, TypeAlias

from groundql.core.answer import Answer, Candidate, Evidence, Grounding, Question
from groundql.core.budget import Meter
from groundql.core.catalog import ContainerInfo
from groundql.core.chat import Message, ModelReply, ModelRequest
from groundql.core.finding import Finding
from groundql.core.program import Admitted, Program
from groundql.core.rows import Limits, Rows
from groundql.core.trace import Trace


class Model(Protocol):
    """Something that completes a dialogue.

    Raises (from `complete`): the `ModelError` family of `groundql.errors`, `BudgetExhausted`.
    """

    @property
    def name(self) -> str:
        """`provider:model`, as the user would write it."""
        ...

    async def complete(self, request: ModelRequest, /) -> ModelReply:
        """Answer one request."""
        ...

    async def close(self) -> None:
        """Let go of connections and child processes."""
        ...


class Draw(StrEnum):
    """Which documents of a container to read."""

    RANDOM = "random"
    HEAD = "head"
    TAIL = "tail"


@dataclass(frozen=True, slots=True)
class Description:
    """What a database says of itself: name, engine and version, containers.

    `is_embedded` marks the embedded document server, whose known limits the product tells its users.
    `is_partial` says that the full list of containers could not be read.
    """

    database: str
    engine: str
    version: str
    containers: tuple[ContainerInfo, ...]
    is_embedded: bool = False
    is_partial: bool = False


class Database(Protocol):
    """A thin driver: four verbs.

    Raises (from every verb): the `DatabaseError` family of `groundql.errors`.
    """

    @property
    def dialect(self) -> str:
        """`mongodb`, or a SQL dialect's name."""
        ...

    async def describe(self) -> Description:
        """List the containers with what the engine knows of them."""
        ...

    def sample(
        self, container: str, size: int, draw: Draw = Draw.RANDOM, where: Mapping[str, Any] | None = None, /
    ) -> AsyncIterator[Mapping[str, Any]]:
        """Stream up to `size` documents; `where` is an equality filter (dotted name -> value)."""
        ...

    async def execute(self, admitted: Admitted, limits: Limits, /) -> Rows:
        """Run a sealed program within limits."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


@dataclass(frozen=True, slots=True)
class Env:
    """All that a solver may touch. `memory` keeps small facts for the span of one question (probe results)."""

    database: Database
    model: Model
    grounder: Grounder
    limits: Limits = Limits()
    meter: Meter = field(default_factory=Meter)
    trace: Trace = field(default_factory=Trace)
    memory: dict[str, Any] = field(default_factory=dict[str, Any])


class Grounder(Protocol):
    """Whatever turns a question into a grounding on this database: the stored catalog and its value index."""

    async def ground(self, question: Question, /) -> Grounding:
        """Return the catalog, with the question's terms looked up in the data."""
        ...


Dialogue: TypeAlias = tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Draft:
    """What a drafting step came to: a program, or None with the findings that say why not.

    `said` is the model's own text, to be quoted back in repair.
    """

    program: Program | None
    said: str = ""
    findings: tuple[Finding, ...] = ()
    form: str = "pipeline"
    query: Mapping[str, Any] | None = None
    assumptions: tuple[str, ...] = ()


Ground: TypeAlias = Callable[[Question, Env], Awaitable[Grounding]]
DraftStep: TypeAlias = Callable[[Dialogue, Grounding, Env, int], Awaitable[Draft]]
"""(dialogue so far, grounding, env, attempt) -> draft."""
Rewrite: TypeAlias = Callable[[Program, Grounding], Program]
Check: TypeAlias = Callable[[Candidate, Grounding, Env], Awaitable[Sequence[Finding]]]
Repair: TypeAlias = Callable[[Dialogue, Candidate, str, Grounding, Env], Awaitable[Dialogue]]
"""(dialogue so far, candidate, what the model said, grounding, env) -> longer dialogue."""
Explain: TypeAlias = Callable[[Candidate, Grounding, Env], Awaitable[Evidence]]


@dataclass(frozen=True, slots=True)
class Choice:
    """What choosing came to: the winner, or None with the reason why nothing can be answered."""

    winner: Candidate | None
    reason: str = ""
    abstains: bool = False


Choose: TypeAlias = Callable[[Sequence[Candidate], Grounding, Env], Awaitable[Choice]]


class Solver(Protocol):
    """A named way to answer questions."""

    @property
    def name(self) -> str:
        """The name it is asked for by."""
        ...

    async def __call__(self, question: Question, env: Env, /) -> Answer:
        """Answer one question."""
        ...
