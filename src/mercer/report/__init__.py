"""A page about a fitted model: how good it is, what to mind, how it decides."""

from .facts import Facts
from .findings.record import Finding
from .making import make_report
from .measure.sentences import Verdict
from .report import Report

__all__ = ["Facts", "Finding", "Report", "Verdict", "make_report"]
