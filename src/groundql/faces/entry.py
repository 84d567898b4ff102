"""Where the command starts: Ctrl-C is an orderly end even while the product is still being imported."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line."""
    try:
        from groundql.faces.cli import main as run
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(130)
    run()
