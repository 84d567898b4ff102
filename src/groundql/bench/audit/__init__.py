"""Audit tasks: do their golds run, read what is stored, and follow from the words of their questions?"""

from groundql.bench.audit.audit import Audit, Auditor, audit_suite, audit_task
from groundql.bench.audit.remark import Check, Level, Remark

__all__ = ["Audit", "Auditor", "Check", "Level", "Remark", "audit_suite", "audit_task"]
