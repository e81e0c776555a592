"""All rules, and the findings of a report."""

from __future__ import annotations

from collections.abc import Callable

from ..facts import Facts
from . import data, fit, quality
from .record import SEVERITIES, Finding

Rule = Callable[[Facts], Finding | None]
RULES: tuple[Rule, ...] = (*quality.RULES, *data.RULES, *fit.RULES)
CODES = tuple(sorted((rule.__doc__ or "").partition(":")[0] for rule in RULES))


def findings_of(facts: Facts) -> tuple[Finding, ...]:
    """Return what a reader should mind, the gravest first."""
    found = [one for one in (rule(facts) for rule in RULES) if one is not None]
    return tuple(sorted(found, key=lambda one: (SEVERITIES.index(one.severity), one.code)))
