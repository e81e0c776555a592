"""Probabilities from scores, by the scores that models give points they have not seen."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, softmax
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from ..checks import Array, sentence

STEEPEST = 1e12  # slope, in units of the scores, at which probabilities are 0 and 1


def fit_slope(scores: Array, codes: Array, weight: Array | None) -> float:
    """Return the slope t > 0 that makes the classes most likely.

    Binary scores, a vector: P(second class) = 1 / (1 + exp(-t s)). Otherwise one column per class:
    P(c) ~ exp(t s_c). There is no offset, so that the likeliest class is the one predicted. A small
    chance is left to the other classes, so that the slope is finite where all are right.

    Guo, Pleiss, Sun, Weinberger, "On calibration of modern neural networks" (2017).
    """
    weights = np.ones(len(codes)) if weight is None else weight
    columns = np.column_stack([-scores / 2, scores / 2]) if scores.ndim == 1 else scores
    largest = float(np.abs(columns).max(initial=0.0))
    if not (largest > 0 and np.isfinite(largest)):
        return 1.0
    squares = ((columns / largest) ** 2).mean(axis=1)  # of numbers whose squares do not overflow
    scale = largest * float(np.sqrt(np.average(squares, weights=weights)))
    columns = columns / scale
    others = 1.0 / (weights.sum() + 2.0)
    wanted = np.full(columns.shape, others / (columns.shape[1] - 1))
    wanted[np.arange(len(codes)), codes] = 1 - others

    def derivative(slope: float) -> float:
        excess = softmax(slope * columns, axis=1) - wanted
        return float(weights @ (excess * columns).sum(axis=1))

    low, high = 0.0, 1.0
    while derivative(high) < 0 and high < STEEPEST:
        low, high = high, 2 * high
    if derivative(low) >= 0 or derivative(high) <= 0:  # scores that say nothing, or everything
        return (1e-3 if derivative(low) >= 0 else high) / scale
    return float(brentq(derivative, low, high, xtol=1e-12)) / scale


def slopes_of(model: Any) -> Array:
    """Return the slopes that a classifier was fitted with; refuse one that was fitted without."""
    check_is_fitted(model)
    if not hasattr(model, "slopes_"):
        must = "probability must be True when the model is fitted"
        got = "a model fitted with probability=False"
        raise NotFittedError(sentence(type(model).__name__, must, got, "Fit it again."))
    return np.asarray(model.slopes_)


def probabilities(scores: Array, slope: float) -> Array:
    """Return one column per class; see `fit_slope`."""
    if scores.ndim == 1:
        return np.column_stack([expit(-slope * scores), expit(slope * scores)])
    return np.asarray(softmax(slope * scores, axis=1))
