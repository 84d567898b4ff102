"""Serve a model file over HTTP on loopback, in this process: `python -m groundql.llm.serve MODEL`.

Started by `groundql.llm.local`, which holds this process's standard input open: when that closes, the parent is gone
and so is this server. The API key comes through the environment, not the command line, where others could read it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

KEY_VARIABLE = "GROUNDQL_LOCAL_API_KEY"
PROMPT_CACHE_MIB = 512
PARENT_POLL_S = 2.0


def main(argv: Sequence[str] | None = None) -> None:
    """Load the model, print one JSON line when ready, and serve until the parent is gone."""
    parser = argparse.ArgumentParser(prog="groundql.llm.serve")
    parser.add_argument("model")
    parser.add_argument("--context-tokens", type=int, default=8192)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args(argv)
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    threading.Thread(target=_end_at_end_of_input, daemon=True).start()
    started = time.monotonic()
    server = _start(arguments.model, arguments.context_tokens, arguments.threads)
    ready = {"listening": server.listening_address, "load_s": round(time.monotonic() - started, 2)}
    print(json.dumps(ready), flush=True)
    threading.Event().wait()


def _start(model: str, context_tokens: int, threads: int) -> Any:
    try:
        import xllamacpp  # pyright: ignore[reportMissingImports, reportMissingTypeStubs]
    except ImportError:
        sys.exit("xllamacpp is not installed. Run: pip install 'groundql[local]'")
    library: Any = xllamacpp
    params = library.CommonParams()
    params.model.path = model
    params.port = 0
    params.api_keys = [os.environ[KEY_VARIABLE]]
    params.n_ctx = context_tokens
    params.n_parallel = 1
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    params.use_jinja = True
    params.verbosity = 1
    for name, value in (("cache_ram_mib", PROMPT_CACHE_MIB), ("ui", False), ("endpoint_slots", False)):
        if hasattr(params, name):  # these come and go between releases, and none is needed
            setattr(params, name, value)
    return library.Server(params)


def _end_at_end_of_input() -> None:
    while os.read(sys.stdin.fileno(), 4096):
        pass
    os._exit(0)


def _end_with_parent(parent: int) -> None:
    """End when another process has become the parent: the pipe alone is not enough if it was inherited elsewhere."""
    while os.getppid() == parent:
        time.sleep(PARENT_POLL_S)
    os._exit(0)


if __name__ == "__main__":
    main()
