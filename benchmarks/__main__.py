"""Run the benchmarks that need neither a network nor a model: `python -m benchmarks`, or `make bench`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main() -> int:
    codes = []
    for script in ("flow.py", "ask_overhead.py", "scoring.py"):
        print(f"== benchmarks/{script}", flush=True)
        codes.append(subprocess.run([sys.executable, str(HERE / script)], check=False).returncode)
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
