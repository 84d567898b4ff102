"""The console script: apply the patches, watch the parent, serve."""

from __future__ import annotations

import importlib.metadata
import json
import os
import sys
from collections.abc import Sequence

from groundql_embedded import ENGINE_VERSION
from groundql_embedded.parent import end_with_parent

END_WITH_PARENT = "--end-with-parent"
WITHOUT = "--without"
LIST_PATCHES = "--list-patches"

USAGE = f"""\
usage: groundql-embedded [--host HOST] [--port PORT] [--storage-path DIR|:memory:] [--sync-on-commit]
                         [--standalone] [{END_WITH_PARENT}] [{WITHOUT} PATCH[,PATCH]] [engine options]
       groundql-embedded {LIST_PATCHES}

  {END_WITH_PARENT}  stop when standard input ends or the parent process changes
  {WITHOUT} PATCH    leave a patch out, to see whether the engine still needs it; 'all' for the stock engine
  {LIST_PATCHES}     print each patch with the conformance cases that it mends, as JSON lines

Every other option goes to the engine; the address is in the line 'secantus listening on HOST:PORT' on stderr.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until a signal; returns the exit code."""
    rest = list(sys.argv[1:] if arguments is None else arguments)
    if "-h" in rest or "--help" in rest:
        print(USAGE, end="")
        return 0
    if END_WITH_PARENT in rest:
        rest.remove(END_WITH_PARENT)
        end_with_parent()
    left_out = _take_option(rest, WITHOUT)
    problem = _engine_problem()
    if problem:
        print(f"groundql-embedded: {problem}", file=sys.stderr)
        return 2

    from groundql_embedded.patches import PATCHES, apply_patches

    if LIST_PATCHES in rest:
        for patch in PATCHES:
            print(json.dumps({"name": patch.name, "mends": patch.mends}))
        return 0
    try:
        apply_patches(left_out)
    except KeyError as error:
        print(f"groundql-embedded: no patch named {error.args[0]!r}", file=sys.stderr)
        return 2
    return _serve(rest)


def _take_option(arguments: list[str], name: str) -> frozenset[str]:
    if name not in arguments:
        return frozenset()
    at = arguments.index(name)
    values = arguments[at + 1 : at + 2]
    del arguments[at : at + 2]
    return frozenset(",".join(values).split(","))


def _engine_problem() -> str | None:
    try:
        found = importlib.metadata.version("secantusdb")
    except importlib.metadata.PackageNotFoundError:
        return f"the engine is not installed; pip install 'secantusdb=={ENGINE_VERSION}'"
    if found != ENGINE_VERSION:
        return f"the engine must be secantusdb {ENGINE_VERSION}, found {found}; reinstall groundql-embedded"
    return None


def _serve(arguments: list[str]) -> int:
    from secantus.cli import main as serve

    # A secantusd.toml lying about must not change how this server runs.
    if not any(a.split("=")[0] == "--config" for a in arguments):
        arguments = ["--config", _empty_config(), *arguments]
    return serve(arguments)


def _empty_config() -> str:
    return os.path.join(os.path.dirname(__file__), "secantusd.toml")
