"""Accumulators of `$group` and its kin, and the functions of windows."""

from __future__ import annotations

from typing import Any, Final

from groundql.core.kind import NOTHING, Kind
from groundql.languages.flow.arrays import read_keys, sum_result
from groundql.languages.flow.context import Context
from groundql.languages.flow.evaluation import evaluate, named_arguments
from groundql.languages.flow.literals import as_list, as_number, as_object, operator_of
from groundql.languages.flow.results import fraction_result
from groundql.languages.flow.types import ANY, NULL, Type, array_of, computed, merge, of_kinds, optional, unite

_NULL: Final = frozenset({Kind.NULL})
_NONE: Final = frozenset[Kind]()


def accumulate(ctx: Context, spec: Any) -> Type:
    """Return the type of an accumulator; comparisons in it decide which rows count."""
    name = operator_of(spec)
    if not name:
        return ANY
    ctx.ledger.operators.add(name)
    return _accumulate(ctx.at(name).filtering(), name, (as_object(spec) or {})[name])


def _accumulate(ctx: Context, name: str, spec: Any) -> Type:
    if name in _COUNTING:
        return computed({_COUNTING[name], Kind.LONG})
    if name in _OF_ONE:
        return _of_one(name, Type() if name == "$sum" and as_number(spec) is not None else evaluate(ctx, spec), spec)
    if name in _RANKED:
        return _ranked(ctx, name, spec)
    if name in _NAMED:
        return _named(name, named_arguments(ctx, spec))
    if name == "$accumulator":
        for index, arg in enumerate(as_list((as_object(spec) or {}).get("accumulateArgs")) or []):
            evaluate(ctx.at(f"accumulateArgs[{index}]"), arg)
        return ANY
    ctx.ledger.unknown_operators.add(name)
    evaluate(ctx.quiet(), spec)
    return ANY


_COUNTING: Final = {"$count": Kind.INT, "$documentNumber": Kind.INT, "$rank": Kind.INT, "$denseRank": Kind.INT}
_OF_ONE: Final = frozenset(
    [
        "$sum",
        "$avg",
        "$min",
        "$max",
        "$first",
        "$last",
        "$push",
        "$addToSet",
        "$stdDevPop",
        "$stdDevSamp",
        "$mergeObjects",
        "$locf",
        "$linearFill",
        "$concatArrays",
        "$setUnion",
        "$covariancePop",
        "$covarianceSamp",
    ]
)
_RANKED: Final = frozenset(["$top", "$bottom", "$topN", "$bottomN"])
_NAMED: Final = frozenset(
    [
        "$firstN",
        "$lastN",
        "$minN",
        "$maxN",
        "$median",
        "$percentile",
        "$shift",
        "$expMovingAvg",
        "$derivative",
        "$integral",
        "$minMaxScaler",
    ]
)


def _of_one(name: str, arg: Type, spec: Any) -> Type:
    if name == "$sum" and as_number(spec) is not None:
        return computed({Kind.INT, Kind.LONG} if isinstance(spec, int) else {Kind.DOUBLE})
    if name in ("$sum", "$avg"):
        return sum_result(name, [arg])
    if name in ("$push", "$addToSet"):
        return array_of(arg)
    if name in ("$min", "$max"):
        return _or_null(arg)
    if name in ("$concatArrays", "$setUnion"):
        return array_of(arg.item)
    if name == "$mergeObjects":
        return merge([optional(arg)])
    if name in ("$first", "$last"):
        return unite(arg, NULL) if Kind.MISSING in arg.kinds else arg
    return unite(arg, NULL) if name in ("$locf", "$linearFill") else fraction_result([arg])


def _or_null(arg: Type) -> Type:
    """Return the type of the least or greatest value: nulls are passed over unless there is nothing else."""
    if arg.is_unknown:
        return ANY
    return of_kinds(arg, arg.kinds - {Kind.MISSING} | (_NULL if arg.kinds & NOTHING else _NONE))


def _ranked(ctx: Context, name: str, spec: Any) -> Type:
    parts = as_object(spec) or {}
    if "n" in parts:
        evaluate(ctx.at("n"), parts["n"])
    keys = as_object(parts.get("sortBy"))
    if keys is not None:
        read_keys(ctx.at("sortBy"), keys, ctx.current)
    output = evaluate(ctx.at("output"), parts.get("output"))
    return array_of(output) if name.endswith("N") else unite(output, NULL) if Kind.MISSING in output.kinds else output


def _named(name: str, args: dict[str, Type]) -> Type:
    given = args.get("input", ANY)
    if name in ("$firstN", "$lastN", "$minN", "$maxN"):
        return array_of(given)
    if name == "$percentile":
        return array_of(computed({Kind.DOUBLE, Kind.NULL}))
    if name == "$shift":
        return unite(args.get("output", ANY), args.get("default", NULL))
    return computed({Kind.DOUBLE, Kind.DECIMAL, Kind.NULL})
