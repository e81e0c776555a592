"""Choosing among models: cross-validation in closed form, and searches on shared matrices."""

from .held_out import (
    Candidate,
    HeldOut,
    HeldOutClasses,
    HeldOutNumbers,
    Search,
    best,
    check_folds,
    results,
)

__all__ = [
    "Candidate",
    "HeldOut",
    "HeldOutClasses",
    "HeldOutNumbers",
    "Search",
    "best",
    "check_folds",
    "results",
]
