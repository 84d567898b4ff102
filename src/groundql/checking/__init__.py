"""Checks of a candidate: gates before it runs, probes on what came back.

A gate or probe says *blocking* only where the stored data or the engine proves the program wrong. What merely reads
the question differently is *advisory*: it is shown, and repaired where a better reading is at hand, but it is never
the reason to refuse an answer.
"""
