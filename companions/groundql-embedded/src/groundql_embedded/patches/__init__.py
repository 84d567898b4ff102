"""What the engine answers wrongly, and how it is put right: one function a fault."""

from __future__ import annotations

# Importing a module registers its patches; the originals are captured before the first one is applied.
from groundql_embedded.patches import clock, documents, expressions, filters, indexes, pipelines, reads, stages
from groundql_embedded.patches.registry import PATCHES, Patch, apply_patches

__all__ = ["PATCHES", "Patch", "apply_patches"]

_MODULES = (expressions, clock, documents, stages, pipelines, filters, indexes, reads)
