"""``$$NOW`` is a BSON date like every stored one: naive UTC in whole milliseconds."""

from __future__ import annotations

import datetime as dt

import secantus.aggregate as A
import secantus.commands as C

from groundql_embedded.patches.registry import patch

_apply_pipeline_stock = A.apply_pipeline
_resolve_let_vars_stock = C._resolve_let_vars


def _stored_form(moment: dt.datetime) -> dt.datetime:
    return moment.astimezone(dt.UTC).replace(tzinfo=None, microsecond=moment.microsecond // 1000 * 1000)


@patch("now_is_date", "date_lt_now", "subtract_now_date", "dateadd_vs_now")
def now_is_a_stored_date():
    def apply_pipeline(docs, pipeline, ctx=None, **kw):
        ctx = ctx or A.PipelineContext()
        now = ctx.vars.get("NOW")
        if now is None or now.tzinfo is not None:
            ctx.vars["NOW"] = _stored_form(now or dt.datetime.now(dt.UTC))
        return _apply_pipeline_stock(docs, pipeline, ctx, **kw)

    def resolve_let_vars(let):
        out = _resolve_let_vars_stock(let)
        if out["NOW"].tzinfo is not None:
            out["NOW"] = _stored_form(out["NOW"])
        return out

    A.apply_pipeline = apply_pipeline
    C._resolve_let_vars = resolve_let_vars
    if getattr(C, "apply_pipeline", None) is _apply_pipeline_stock:
        C.apply_pipeline = apply_pipeline
