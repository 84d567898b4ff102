"""Where an expression or condition stands: the documents there, the variables in scope, and the place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from groundql.core.catalog import Catalog
from groundql.core.program import Place, Read
from groundql.languages.flow.ledger import Ledger
from groundql.languages.flow.types import ANY, Type

MAX_DEPTH = 100


@dataclass(slots=True)
class Pipeline:
    """The pipeline that is being followed.

    `history` holds what each stage so far received, `documents` what reaches the current one; `later` tells whether
    the current stage or a later one computes a name. In the pipeline of a join, `outer` is the type of the outer
    documents, `lets` what its variables read there, `pairs` the fields compared with these.
    """

    catalog: Catalog
    ledger: Ledger
    container: str
    stage: int = -1
    operator: str = ""
    history: tuple[Type, ...] = ()
    later: Callable[[str, str, int], str] = lambda _name, _target, _resolved: ""
    documents: Type = ANY
    outer: Type | None = None
    lets: Mapping[str, Read | None] = field(default_factory=dict[str, "Read | None"])
    pairs: list[tuple[Read | None, Read]] = field(default_factory=list[tuple["Read | None", Read]])


@dataclass(frozen=True, slots=True)
class Context:
    """A place in a program.

    `current` is what field paths start from; `is_filter` whether a comparison here decides which rows go on;
    `is_quiet` keeps reads that resolve to nothing to itself, where an unknown operator gives names another meaning;
    `target` names the field that is being computed;
    `prefix` the array whose items `current` is, within an `$elemMatch`.
    """

    pipeline: Pipeline
    current: Type
    variables: Mapping[str, Type] = field(default_factory=dict[str, Type])
    pointer: str = ""
    role: str = "expr"
    is_filter: bool = False
    is_quiet: bool = False
    target: str = ""
    depth: int = 0
    prefix: str = ""

    @property
    def ledger(self) -> Ledger:
        """Where things are noted."""
        return self.pipeline.ledger

    @property
    def place(self) -> Place:
        """This place as findings name it."""
        return Place(max(self.pipeline.stage, 0), self.pipeline.operator, self.pointer)

    def at(self, step: str) -> Context:
        """Go one step down."""
        pointer = f"{self.pointer}.{step}" if self.pointer and not step.startswith("[") else self.pointer + step
        return Context(
            self.pipeline, self.current, self.variables, pointer, self.role, self.is_filter, self.is_quiet,
            self.target, self.depth + 1, self.prefix,
        )  # fmt: skip

    def of_role(self, role: str) -> Context:
        """Return the same place with reads of another role."""
        return self if role == self.role else replace(self, role=role)

    def filtering(self, is_filter: bool = True) -> Context:
        """Return the same place where comparisons decide, or do not."""
        return self if is_filter == self.is_filter else replace(self, is_filter=is_filter)

    def quiet(self) -> Context:
        """Return the same place with unresolved reads kept silent."""
        return self if self.is_quiet else replace(self, is_quiet=True)

    def binding(self, variables: Mapping[str, Type]) -> Context:
        """Return the same place with more variables."""
        return replace(self, variables={**self.variables, **variables})

    def over(self, current: Type, prefix: str = "") -> Context:
        """Return the same place with other documents, or with the items of an array."""
        return replace(self, current=current, prefix=prefix)
