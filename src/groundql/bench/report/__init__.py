"""Reports of scored runs: the paper's tables from them, and one page to look at."""
