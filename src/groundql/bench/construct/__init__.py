"""Build worlds: a specification and published sources in, documents, drafted tasks and a release folder out."""

from groundql.bench.construct.loading import load_spec
from groundql.bench.construct.materialise import materialise
from groundql.bench.construct.spec import WorldSpec

__all__ = ["WorldSpec", "load_spec", "materialise"]
