"""The list of patches, each named, each with the conformance cases that it mends."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Patch:
    """One correction of the engine.

    ``mends`` names some of the conformance cases that fail without it; when the engine passes them by itself, the
    patch goes. Empty for a command that the suite, all aggregations, does not reach.
    """

    name: str
    mends: tuple[str, ...]
    apply: Callable[[], None]


PATCHES: list[Patch] = []


def patch(*mends: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Register the function below as a patch; its name, with dashes, is the patch's name."""

    def register(apply: Callable[[], None]) -> Callable[[], None]:
        PATCHES.append(Patch(apply.__name__.replace("_", "-"), mends, apply))
        return apply

    return register


def apply_patches(left_out: Collection[str] = ()) -> None:
    """Apply every patch in the order of registration.

    Raises: KeyError when ``left_out`` names no patch; ``all`` leaves out every one.
    """
    for name in left_out:
        if name != "all" and name not in {known.name for known in PATCHES}:
            raise KeyError(name)
    for known in PATCHES:
        if "all" not in left_out and known.name not in left_out:
            known.apply()
