from __future__ import annotations

import re
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "groundql"


def test_no_module_but_safety_builds_a_sealed_program_under_any_spelling() -> None:
    pattern = re.compile(r"\bAdmitted\s*\(|\bAdmitted\.__new__|\bimport\s+Admitted\s+as\b|replace\(\s*admitted\b")
    found = {p.relative_to(SOURCE).as_posix() for p in SOURCE.rglob("*.py") if pattern.search(p.read_text("utf-8"))}
    assert found == {"languages/safety.py"}


def test_every_execute_of_a_database_takes_the_sealed_form() -> None:
    texts = {p: p.read_text("utf-8") for p in SOURCE.rglob("*.py")}
    signatures = [s for text in texts.values() for s in re.findall(r"async def execute\(([^)]*)\)", text)]
    assert signatures
    assert all("Admitted" in signature for signature in signatures)
