"""Probabilities from scores of two classes, as LIBSVM finds them: by five folds and a sigmoid."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from ...checks import Array
from ...models.svm.classes import class_pairs
from .answering import takes_matrix
from .engines import engine_of, weights_of

FOLDS = 5


def sigmoids_of_pairs(
    model: Any, X: Any, y: Array, weight: Array, seed: int
) -> tuple[Array, Array]:
    """Return A and B of P(first class) = 1 / (1 + exp(A f + B)) for every two classes.

    weight: of samples, empty where there are none.
    """
    random = np.random.default_rng(seed)
    found = []
    for first, second in class_pairs(len(model.classes_)):
        among = (y == first) | (y == second)
        rows = np.flatnonzero(among & (weight > 0) if len(weight) else among)
        scores = held_out_scores(model, X, y, weight, random.permutation(rows))
        found.append(sigmoid(scores[rows], y[rows] == first))
    A, B = np.array(found).T
    return np.ascontiguousarray(A), np.ascontiguousarray(B)


def held_out_scores(model: Any, X: Any, y: Array, weight: Array, rows: Array) -> Array:
    """Return scores of points of two classes by machines that have not seen them.

    They are positive for the first class. Where a fold leaves one class only, they are 1 or -1, and
    where it leaves none, 0.
    """
    scores = np.zeros(len(y))
    precomputed = takes_matrix(model)
    for held in np.array_split(rows, FOLDS):
        train = np.setdiff1d(rows, held)
        left = np.unique(y[train])
        if len(left) == 1:
            scores[held] = 1.0 if left[0] == y[rows].min() else -1.0
        if len(left) < 2 or not len(held):
            continue
        own = weight[train] if len(weight) else weight
        points = X[train][:, train] if precomputed else X[train]
        machine = engine_of(model).fit(points, y[train], **weights_of(model, y[train], own))
        asked = X[held][:, train] if precomputed else X[held]
        scores[held] = -machine.decision_function(asked)
    return scores


def sigmoid(scores: Array, is_first: Array) -> tuple[float, float]:
    """Return the A and B that make targets most likely, which are a little inside 0 and 1.

    Platt, "Probabilistic outputs for support vector machines", 1999.
    """
    positive, negative = int(is_first.sum()), int((~is_first).sum())
    high, low = (positive + 1) / (positive + 2), 1 / (negative + 2)
    targets = np.where(is_first, high, low)

    def loss(parameters: Array) -> tuple[float, Array]:
        exponents = parameters[0] * scores + parameters[1]
        value = np.logaddexp(0.0, exponents) - (1 - targets) * exponents
        slopes = targets - expit(-exponents)
        return float(value.sum()), np.array([slopes @ scores, slopes.sum()])

    start = np.array([0.0, np.log((negative + 1) / (positive + 1))])
    A, B = minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-6}).x
    return float(A), float(B)
