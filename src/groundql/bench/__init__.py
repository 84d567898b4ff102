"""Measure: benchmarks, evaluators and the sample worlds they run on."""
