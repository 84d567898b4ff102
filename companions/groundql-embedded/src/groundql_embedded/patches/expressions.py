"""Expressions: field paths, missing values, single operators."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping

import secantus.expressions as E
import secantus.storage as S

from groundql_embedded.patches.fields import MISSING, read, walk
from groundql_embedded.patches.registry import patch

_eval_stock = E._eval
_eval_field_value_stock = E._eval_field_value
_resolve_var_stock = E._resolve_var
_bson_equal_stock = E._bson_equal
_apply_op_stock = E._apply_op
_OPS_STOCK = dict(E._OPS)


def variable(name, ctx):
    """Resolve ``$$name.path``; may be missing."""
    head, _, rest = name.partition(".")
    value = _resolve_var_stock(head, ctx)
    if not rest or value is MISSING:
        return value
    return walk(value, rest.split("."))


def evaluate(expr, ctx):
    """Evaluate an operand; what is missing is null."""
    value = _eval_stock(expr, ctx)
    return None if value is MISSING else value


def evaluate_field_value(expr, ctx):
    """Evaluate an expression in the place of a field's value, where it may be missing."""
    if isinstance(expr, str) and expr.startswith("$$"):
        if expr == "$$REMOVE":
            return MISSING
        return variable(expr[2:], ctx)
    if isinstance(expr, Mapping) and len(expr) == 1:
        op = next(iter(expr))
        if op.startswith("$") and op not in E._MISSING_PROPAGATING:
            return _eval_stock(expr, ctx)
    return _eval_field_value_stock(expr, ctx)


@patch("project_path_through_array", "project_positional_path_not_index", "arraypath_plain", "arraypath_sum")
def field_paths_walk_through_arrays():
    def resolve(name, ctx):
        value = variable(name, ctx)
        return None if value is MISSING else value

    E.get_path = read
    E._resolve_var = resolve


@patch(
    "map_object_omits_missing_member", "add_arrayelemat_out_of_range", "concat_missing_elem", "let_missing_var_omits"
)
def missing_operands_are_null():
    E._eval = evaluate
    E._eval_field_value = evaluate_field_value


def _end(name, index):
    def op(arg, ctx):
        arr = evaluate(arg, ctx)
        if isinstance(arr, list):
            return arr[index] if arr else MISSING
        return _OPS_STOCK[name](arg, ctx)  # null, or the engine's own type error

    return op


@patch("first_of_empty_omits", "max_by_group_then_lookup", "type_first_of_empty", "f_dynamic_keys_sum_path")
def first_and_last_of_an_empty_array_are_missing():
    E._OPS["$first"], E._OPS["$last"] = _end("$first", 0), _end("$last", -1)


@patch("type_first_of_empty", "filter_ne_null")
def type_of_missing():
    def op(arg, ctx):
        if isinstance(arg, list) and len(arg) == 1:
            arg = arg[0]
        if evaluate_field_value(arg, ctx) is MISSING:
            return "missing"
        return _OPS_STOCK["$type"](arg, ctx)

    E._OPS["$type"] = op


@patch("datetostring/4")
def date_to_string_on_null():
    def op(arg, ctx):
        result = _OPS_STOCK["$dateToString"](arg, ctx)
        if result is None and isinstance(arg, Mapping) and "onNull" in arg and evaluate(arg.get("date"), ctx) is None:
            return evaluate_field_value(arg["onNull"], ctx)
        return result

    E._OPS["$dateToString"] = op


@patch("sortarray/3")
def sort_array_of_mixed_kinds():
    def op(arg, ctx):
        if isinstance(arg, Mapping):
            by = arg.get("sortBy")
            if isinstance(by, (int, float)) and not isinstance(by, bool) and by in (1, -1):
                arr = evaluate(arg.get("input"), ctx)
                if isinstance(arr, list):
                    return sorted(arr, key=S._SortKey, reverse=by == -1)
        return _OPS_STOCK["$sortArray"](arg, ctx)

    E._OPS["$sortArray"] = op


@patch("zip/3")
def zip_with_a_null_input():
    def op(arg, ctx):
        if isinstance(arg, Mapping):
            inputs = evaluate(arg.get("inputs"), ctx)
            if isinstance(inputs, list) and any(x is None for x in inputs):
                return None
        return _OPS_STOCK["$zip"](arg, ctx)

    E._OPS["$zip"] = op


@patch("getfield_setfield/3")
def unset_field():
    def op(arg, ctx):
        if not isinstance(arg, Mapping) or set(arg) != {"field", "input"}:
            raise E.ExpressionError(
                "$unsetField requires 'field' and 'input'", code=4161102, code_name="Location4161102"
            )
        return E._OPS["$setField"]({"field": arg["field"], "input": arg["input"], "value": "$$REMOVE"}, ctx)

    E._OPS["$unsetField"] = op


@patch("cmp_object")
def documents_compare_in_field_order():
    def same(a, b):
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
        if isinstance(a, list) and isinstance(b, list):
            return len(a) == len(b) and all(map(same, a, b))
        return _bson_equal_stock(a, b)

    E._bson_equal = same


@patch("regex_invalid_error", "not_array_literal")
def not_of_an_array_and_broken_regexes():
    def apply_op(op, arg, ctx):
        if op == "$not" and isinstance(arg, list) and len(arg) == 1 and isinstance(arg[0], list):
            return False  # an array is always true
        try:
            return _apply_op_stock(op, arg, ctx)
        except re.error as exc:
            raise E.ExpressionError(f"Invalid Regex in {op}: {exc}", code=51111, code_name="Location51111") from None

    E._apply_op = apply_op


@patch("convert_date_to_string")
def dates_convert_to_iso_strings():
    def op(arg, ctx):
        out = _OPS_STOCK["$convert"](arg, ctx)
        if isinstance(out, str) and isinstance(arg, Mapping):
            value = evaluate(arg.get("input"), ctx)
            if isinstance(value, dt.datetime) and out != arg.get("onError"):
                return value.strftime("%Y-%m-%dT%H:%M:%S.") + f"{value.microsecond // 1000:03d}Z"
        return out

    E._OPS["$convert"] = op
