"""Models: the local one, providers, and what wraps them."""
