"""Running solvers over a suite: durable, concurrent, within a budget; never with a gold answer in sight."""
