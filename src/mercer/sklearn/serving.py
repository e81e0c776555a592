"""Who computes: mercer's engine or, for what it does not serve, scikit-learn's own code."""

from __future__ import annotations

from sklearn.base import BaseEstimator

from ..monitor import logger

ALWAYS = False  # whether the engine also serves what is too little to pay; tests set it


def pays(who: BaseEstimator | str, work: float, least: float) -> bool:
    """Return whether there is enough work for the engine to be faster; say in the log if not."""
    if ALWAYS or work >= least:
        return True
    log_fallback(who, "there is little to compute")
    return False


def log_fallback(who: BaseEstimator | str, reason: str) -> None:
    """Note in the log, for those who look, that scikit-learn's own code runs, and why."""
    name = who if isinstance(who, str) else type(who).__name__
    logger.debug("mercer.sklearn.%s: %s; scikit-learn's own code runs.", name, reason)
