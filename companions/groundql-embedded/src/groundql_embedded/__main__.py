"""Run the server with ``python -m groundql_embedded``."""

from __future__ import annotations

import sys

from groundql_embedded.launcher import main

if __name__ == "__main__":
    sys.exit(main())
