"""Named ways to answer a question; every baseline and ablation is a value in `recipes`."""
