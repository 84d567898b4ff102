"""Writing and removing dotted paths in ``$addFields``, ``$set``, ``$project`` and ``$unset``."""

from __future__ import annotations

import copy
from collections.abc import Mapping

import secantus.aggregate as A
from bson import Int64
from bson.decimal128 import Decimal128

from groundql_embedded.patches.fields import MISSING, drop, put, read
from groundql_embedded.patches.registry import patch

_project_one_stock = A._project_one
_project_stage_stock = A._STAGES["$project"]


def _flatten(spec, prefix=""):
    """Read ``{a: {b: e}}`` as ``{"a.b": e}``; operator objects and ``{}`` are values."""
    for key, value in spec.items():
        path = prefix + key
        if isinstance(value, Mapping) and value and not _is_operator(value):
            yield from _flatten(value, path + ".")
        else:
            yield path, value


def _is_operator(value):
    return any(k.startswith("$") for k in value)


def _keep_container(old):
    return old if isinstance(old, (dict, list)) else {}


@patch(
    "addfields_nested_object_merges",
    "addfields_into_array_elements",
    "addfields_scalar_elements_become_objects",
    "set_dotted_into_scalar",
)
def add_fields_writes_through_arrays():
    def add_fields_one(doc, spec, vars):
        result = copy.deepcopy(doc)
        for path, expr in _flatten(spec):
            value = A.evaluate_or_missing(expr, doc, vars)
            parts = path.split(".")
            if value is not MISSING:
                put(result, parts, lambda _old, value=value: copy.deepcopy(value))
                continue
            drop(result, parts)
            if len(parts) > 1:  # the parents are created all the same
                put(result, parts[:-1], _keep_container)
        return result

    A._add_fields_one = add_fields_one


@patch("project_computed_into_array")
def project_computes_through_arrays():
    def project_one(doc, spec, vars, *rest, **kw):
        computed = {k: v for k, v in spec.items() if _computes_below_an_array(doc, k, v)}
        shape = {k: v for k, v in spec.items() if k not in computed}
        if not computed:
            return _project_one_stock(doc, spec, vars, *rest, **kw)
        result = _project_one_stock(doc, shape or {"_id": 1}, vars, *rest, **kw)
        for key, expr in computed.items():
            value = A.evaluate_or_missing(expr, doc, vars)
            parts = key.split(".")
            if parts[0] not in result:
                result[parts[0]] = _shell(doc[parts[0]])
            if value is not MISSING:
                put(result, parts, lambda _old, value=value: copy.deepcopy(value))
        return result

    A._project_one = project_one


def _computes_below_an_array(doc, key, value):
    return not _is_flag(value) and "." in key and isinstance(A.get_path(doc, key.split(".")[0]), list)


def _shell(value):
    return [_shell(x) if isinstance(x, list) else {} for x in value] if isinstance(value, list) else {}


@patch("unset_string_list_dotted", "project_exclude_in_array")
def unset_removes_through_arrays():
    A.unset_path = lambda doc, path: drop(doc, path.split("."))


@patch("lookup_dotted_local_array", "lookup_foreign_path_through_array")
def stages_read_through_arrays():
    A.get_path = read  # also the join keys of $lookup and $graphLookup


def _is_flag(value):
    return isinstance(value, (bool, int, float, Int64, Decimal128))


def _is_true(flag):
    return bool(flag.to_decimal()) if isinstance(flag, Decimal128) else bool(flag)


def _has_flag(spec):
    return any(_is_flag(v) or (isinstance(v, Mapping) and not _is_operator(v) and _has_flag(v)) for v in spec.values())


def _flatten_projection(spec, prefix=""):
    """Read ``{a: {b: 1}}`` as ``{"a.b": 1}``."""
    for key, value in spec.items():
        if isinstance(value, Mapping) and value and not _is_operator(value) and _has_flag(value):
            yield from _flatten_projection(value, prefix + key + ".")
        else:
            yield prefix + key, value


def _refuse_mixed_projection(spec):
    first = None
    for key, value in spec.items():
        if key == "_id":
            continue
        keep = _is_true(value) if _is_flag(value) else True
        if first is None:
            first = keep
        elif keep != first:
            what = f"exclusion on field {key} in inclusion" if first else f"inclusion on field {key} in exclusion"
            code = 31254 if first else 31253
            raise A.AggregateError(
                f"Invalid $project :: caused by :: Cannot do {what} projection", code=code, code_name=f"Location{code}"
            )


@patch("project_mixed_error", "project_mixed_error2", "project_nested_inclusion_spec", "project_nested_exclusion_spec")
def nested_and_mixed_projections():
    def stage(spec, docs, ctx):
        if isinstance(spec, Mapping) and spec:
            spec = dict(_flatten_projection(spec))
            _refuse_mixed_projection(spec)
        return _project_stage_stock(spec, docs, ctx)

    A._STAGES["$project"] = stage
