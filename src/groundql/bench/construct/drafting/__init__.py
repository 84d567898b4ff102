"""Draft candidate tasks over a catalog: by typed templates, or by a model."""

from groundql.bench.construct.drafting.draft import Draft
from groundql.bench.construct.drafting.templates import TEMPLATES, draft_all

__all__ = ["TEMPLATES", "Draft", "draft_all"]
