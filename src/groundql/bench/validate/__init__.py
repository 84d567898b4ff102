"""Hold a release folder against the published rules of releases."""

from groundql.bench.validate.records import READ_CHECKS
from groundql.bench.validate.release import Rules, validate
from groundql.bench.validate.violation import Rule, Severity, Violation

__all__ = ["READ_CHECKS", "Rule", "Rules", "Severity", "Violation", "validate"]
