"""The embedded document server: SecantusDB 0.7.0b3 with its known wrong answers corrected.

Runs as a process of its own and is spoken to by wire only.
"""

from __future__ import annotations

__version__ = "0.1.0"

ENGINE_VERSION = "0.7.0b3"
"""The one engine version that the patches were written for."""
