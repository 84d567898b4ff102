"""Questions about data without the query language: a compact JSON query, compiled to a program."""
