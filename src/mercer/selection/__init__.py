"""Choosing among models: cross-validation in closed form, and searches on shared matrices."""

from .held_out import (
    Candidate,
    Given,
    HeldOut,
    HeldOutClasses,
    HeldOutNumbers,
    Search,
    Unseen,
    asks_for_weights,
    best,
    check_folds,
    results,
)

__all__ = [
    "Candidate",
    "Given",
    "HeldOut",
    "HeldOutClasses",
    "HeldOutNumbers",
    "Search",
    "Unseen",
    "asks_for_weights",
    "best",
    "check_folds",
    "results",
]
