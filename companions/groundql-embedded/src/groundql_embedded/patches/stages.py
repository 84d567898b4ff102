"""Stages over the documents of one pipeline."""

from __future__ import annotations

from collections.abc import Mapping

import secantus.aggregate as A
from bson import Int64

from groundql_embedded.patches.fields import put
from groundql_embedded.patches.registry import patch

_STAGES_STOCK = dict(A._STAGES)
_apply_locf_stock = A._apply_locf
_hashable_stock = A._hashable


@patch("count_empty_no_document", "facet_empty_input", "nonexistent_collection_count_empty")
def count_of_nothing_is_no_document():
    def stage(spec, docs, ctx):
        out = _STAGES_STOCK["$count"](spec, docs, ctx)
        return out if docs else []

    A._STAGES["$count"] = stage


@patch("arraypath_unwind_intermediate_array_noop", "unwind_index", "unwind_index_preserve", "unwind_index_dotted")
def unwind_of_nested_paths_and_its_index():
    def stage(spec, docs, ctx):
        options = spec if isinstance(spec, Mapping) else {"path": spec}
        path, index = options.get("path"), options.get("includeArrayIndex")
        if isinstance(path, str) and "." in path and any(_crosses_array(d, path[1:]) for d in docs):
            out = _unwind_one_by_one(spec, options, docs, ctx)
        else:
            out = _STAGES_STOCK["$unwind"](spec, docs, ctx)
        if isinstance(index, str):
            for d in out:
                _write_index(d, index)
        return out

    A._STAGES["$unwind"] = stage


def _crosses_array(doc, path):
    """Tell whether a path runs through an array: $unwind does not look through one, only the end may be one."""
    current = doc
    for part in path.split(".")[:-1]:
        current = current.get(part)
        if not isinstance(current, dict):
            return isinstance(current, list)
    return False


def _unwind_one_by_one(spec, options, docs, ctx):
    path, index = options["path"], options.get("includeArrayIndex")
    out = []
    for d in docs:
        if not _crosses_array(d, path[1:]):
            out += _STAGES_STOCK["$unwind"](spec, [d], ctx)
        elif options.get("preserveNullAndEmptyArrays"):
            out.append({**d, index: None} if index else d)
    return out


def _write_index(doc, index):
    value = doc.get(index)
    if isinstance(value, int):
        value = Int64(value)
    if "." in index:
        doc.pop(index, None)
        put(doc, index.split("."), lambda _old: value)
    else:
        doc[index] = value


@patch("fill_locf_partition")
def locf_writes_null_before_the_first_value():
    def apply_locf(part, field):
        _apply_locf_stock(part, field)
        for d in part:
            if A.get_path(d, field) is None:
                put(d, field.split("."), lambda _old: None)

    A._apply_locf = apply_locf


@patch("group_two_accumulators_error", "group_dotted_output_error", "group_count_with_arg_error")
def group_refuses_bad_accumulators():
    def stage(spec, docs, ctx):
        if isinstance(spec, Mapping):
            for field, accumulator in spec.items():
                if field != "_id" and isinstance(accumulator, Mapping):
                    _refuse_bad_accumulator(field, accumulator)
        return _STAGES_STOCK["$group"](spec, docs, ctx)

    A._STAGES["$group"] = stage


def _refuse_bad_accumulator(field, accumulator):
    if "." in field:
        raise A.AggregateError(f"The field name '{field}' cannot contain '.'", code=40235, code_name="Location40235")
    if len(accumulator) != 1:
        raise A.AggregateError(
            f"The field '{field}' must specify one accumulator", code=40238, code_name="Location40238"
        )
    op, argument = next(iter(accumulator.items()))
    if op == "$count" and argument != {}:
        raise A.AggregateError("$count takes no arguments, i.e. $count:{}", code=9, code_name="FailedToParse")


@patch("group_by_object_key_order_distinct")
def group_keys_keep_field_order():
    def hashable(value):
        if isinstance(value, Mapping):
            return ("\0doc", *((k, hashable(v)) for k, v in value.items()))
        if isinstance(value, list):
            return ("\0arr", *map(hashable, value))
        return _hashable_stock(value)

    A._hashable = hashable
