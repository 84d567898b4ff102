"""`python -m groundql` is the command `groundql`."""

from __future__ import annotations

from groundql.faces.entry import main

main()
