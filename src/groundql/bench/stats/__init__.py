"""Statistics of paired predictions: exact tests, intervals, corrections. Standard library only."""
