"""Benchmark suites: sample worlds, folders in the lean form, and the TEND release that a user brings."""

from groundql.bench.datasets.suites import open_folder, open_suite

__all__ = ["open_folder", "open_suite"]
