"""Stages that hold pipelines or read other collections."""

from __future__ import annotations

from collections.abc import Mapping

import secantus.aggregate as A
from bson import Int64

from groundql_embedded.patches.registry import patch

_STAGES_STOCK = dict(A._STAGES)
_shape_problem_stock = A._expression_shape_problem

_NOT_IN_FACET = frozenset(
    {"$out", "$merge", "$facet", "$collStats", "$geoNear", "$indexStats", "$documents", "$changeStream"}
)


class _Restricted:
    """A pipeline context whose storage filters one collection."""

    def __init__(self, ctx, coll, extra):
        self._ctx, self.storage = ctx, self
        self._coll, self._extra, self._real = coll, extra, ctx.storage

    def __getattr__(self, name):
        return getattr(self._ctx, name)

    def find_matching(self, db, coll, flt, **kw):
        return self._real.find_matching(db, coll, {"$and": [flt, self._extra]} if flt else self._extra, **kw)


@patch("graphlookup_basic", "graphlookup_all_reports")
def graph_lookup_restriction_and_depth():
    def stage(spec, docs, ctx):
        options = spec if isinstance(spec, Mapping) else {}
        extra = options.get("restrictSearchWithMatch")
        if extra and ctx.storage is not None:
            inner = {k: v for k, v in spec.items() if k != "restrictSearchWithMatch"}
            out = _STAGES_STOCK["$graphLookup"](inner, docs, _Restricted(ctx, spec["from"], extra))
        else:
            out = _STAGES_STOCK["$graphLookup"](spec, docs, ctx)
        if options.get("depthField"):
            _widen_depths(out, options.get("as"), options["depthField"])
        return out

    A._STAGES["$graphLookup"] = stage


def _widen_depths(docs, as_field, depth_field):
    for d in docs:
        for hit in A.get_path(d, as_field) or []:
            hit[depth_field] = Int64(hit[depth_field])


@patch(
    "lookup_pipeline_count_stage",
    "lookup_pipeline_group_count_acc",
    "lookup_pipeline_topn",
    "unionwith_pipeline_count_stage",
)
def sub_pipelines_hold_stages():
    def shape_problem(spec, stage, *rest):  # $count and $topN in a sub-pipeline are stages, not expressions
        if stage in ("$lookup", "$unionWith") and isinstance(spec, Mapping):
            spec = {k: v for k, v in spec.items() if k != "pipeline"}
        return _shape_problem_stock(spec, stage, *rest)

    A._expression_shape_problem = shape_problem


@patch("unionwith_documents_subpipeline")
def union_with_documents():
    def stage(spec, docs, ctx):
        if isinstance(spec, Mapping) and "coll" not in spec:
            pipe = spec.get("pipeline")
            if isinstance(pipe, list) and pipe and isinstance(pipe[0], Mapping) and "$documents" in pipe[0]:
                inner = A.PipelineContext(storage=ctx.storage, db_name=ctx.db_name, coll_name="", vars=ctx.vars)
                source = A._STAGES["$documents"](pipe[0]["$documents"], [], inner)
                return docs + A.apply_pipeline(source, pipe[1:], ctx)
        return _STAGES_STOCK["$unionWith"](spec, docs, ctx)

    A._STAGES["$unionWith"] = stage


@patch("out_in_facet_error")
def facet_refuses_forbidden_stages():
    def stage(spec, docs, ctx):
        if isinstance(spec, Mapping):
            for sub in spec.values():
                _refuse_in_facet(sub)
        return _STAGES_STOCK["$facet"](spec, docs, ctx)

    A._STAGES["$facet"] = stage


def _refuse_in_facet(pipeline):
    for stage in pipeline if isinstance(pipeline, list) else ():
        bad = _NOT_IN_FACET & set(stage) if isinstance(stage, Mapping) else None
        if bad:
            raise A.AggregateError(
                f"{min(bad)} is not allowed to be used within a $facet stage", code=40600, code_name="Location40600"
            )
