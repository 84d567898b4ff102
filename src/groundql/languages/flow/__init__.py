"""Follow document types through a pipeline, stage by stage and expression by expression.

`analyse` says of a program what it reads, compares, joins and returns, each read resolved against the catalog at the
stage where it stands. Nothing is executed, and a part that cannot be read is taken for "anything", never for a fault.
"""

from __future__ import annotations

from collections.abc import Mapping

from groundql.core.catalog import Catalog
from groundql.core.kind import Kind
from groundql.core.program import Claims, MqlProgram
from groundql.languages.flow import arrays, choices, comparing, objects
from groundql.languages.flow.context import Pipeline
from groundql.languages.flow.ledger import Ledger
from groundql.languages.flow.order import is_ordered
from groundql.languages.flow.stages import follow_root
from groundql.languages.flow.types import Type, container_type

__all__ = ["analyse"]

_OPERATORS = (arrays, choices, comparing, objects)
"""The modules whose handlers the evaluation of expressions relies on; importing them registers these."""


def analyse(program: MqlProgram, catalog: Catalog) -> Claims:
    """Say what a program claims about the data.

    Never raises on a malformed program: what cannot be understood resolves to unknown.
    """
    ledger = Ledger(containers={program.container} - {""})
    current = container_type(catalog, program.container)
    pipeline = Pipeline(catalog, ledger, program.container, history=(current,))
    try:
        outputs = _columns(follow_root(pipeline, current, program.stages))
    except RecursionError:
        # Types can nest deeper than Python's stack where stage upon stage wraps its documents.
        outputs = None
    return Claims(
        frozenset(ledger.containers),
        tuple(ledger.reads),
        tuple(ledger.comparisons),
        tuple(ledger.joins),
        tuple(ledger.limits),
        tuple(outputs) if outputs is not None else None,
        outputs,
        tuple(ledger.numbers),
        tuple(ledger.texts),
        frozenset(ledger.operators),
        frozenset(ledger.unknown_operators),
        tuple(ledger.multiplies),
        is_ordered(program.stages),
    )


def _columns(last: Type) -> Mapping[str, frozenset[Kind]] | None:
    """Return the final columns with their kinds, or None where the last documents hold what is not known."""
    if last.is_open or last.entries is not None or Kind.OBJECT not in last.kinds:
        return None
    return {name: type_.kinds for name, type_ in last.fields.items()}
