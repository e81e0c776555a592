"""Nearest class mean in feature space."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin

from .. import checks
from ..checks import Array, InputError, sentence
from ..grams import Sums
from .base import Certificate, KernelEstimator


@dataclass(frozen=True)
class PrototypeCertificate(Certificate):
    """separation: the smallest distance in feature space between two class means."""

    separation: float


class KernelPrototypeClassifier(ClassifierMixin, KernelEstimator):  # type: ignore[misc]
    """Assign the class whose mean in feature space is nearest.

    ||phi(x) - mu_c||**2 = k(x, x) - 2/n_c sum_i k(x, x_i) + 1/n_c**2 sum_ij k(x_i, x_j) over the
    members i, j of class c; the third term is computed once, in `fit`.

    Parameters
    ----------
    kernel : None (Gaussian), a kernel, a scikit-learn kernel name, "precomputed" or fn(X, Y)
    memory_limit : "auto", bytes or a text such as "2GB"

    Attributes
    ----------
    classes_, kernel_ (resolved), dual_coef_ (n, n_classes): mu_c = sum_i dual_coef_[i, c] phi(x_i),
    squared_norms_: ||mu_c||**2, support_, certificate_

    References
    ----------
    Shawe-Taylor, Cristianini, "Kernel Methods for Pattern Analysis" (2004), section 5.1.
    """

    def __init__(self, kernel: Any = None, *, memory_limit: Any = "auto") -> None:
        self.kernel = kernel
        self.memory_limit = memory_limit

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the mean of every class."""
        start = time.perf_counter()
        points = self._check_fit(X)
        self.classes_, codes = self._check_labels(y, len(points))
        weight = checks.sample_weight(type(self).__name__, sample_weight, len(points))
        shares = self._shares(codes, weight)
        prepared = self._prepare(points, weight)
        K = prepared.gram(memory_limit=self.memory_limit)
        if K.plan.kind == "half stored":  # one pass is all there is: nothing needs to be kept
            K = prepared.gram(memory_limit=self.memory_limit, store=False)
        products = K.reduce(Sums(codes, len(self.classes_), shares))
        self.dual_coef_ = np.zeros((len(points), len(self.classes_)))
        self.dual_coef_[np.arange(len(points)), codes] = shares
        self.support_ = np.arange(len(points))
        between = self.dual_coef_.T @ products
        self.squared_norms_ = np.diag(between).copy()
        entries, seconds = K.shape[0] * K.shape[1], time.perf_counter() - start
        plan = f"{K.plan.kind}: {K.plan.reason}"
        separation = _separation(between)
        self.certificate_ = PrototypeCertificate(
            "exact", plan, entries, K.plan.bytes, seconds, separation
        )
        self._keep(self.support_)
        return self

    def _shares(self, codes: Array, weight: Array | None) -> Array:
        """Return the part of each sample in the mean of its class."""
        weights = np.ones(len(codes)) if weight is None else weight
        totals = np.bincount(codes, weights=weights)
        if np.any(totals == 0):
            empty = self.classes_[int(np.argmin(totals))]
            raise InputError(
                sentence(
                    type(self).__name__,
                    "every class must have a sample with a positive weight",
                    f"class {checks.show(empty)} with weights that are all zero",
                    "Drop the class, or give one of its samples a weight.",
                )
            )
        return np.asarray(weights / totals[codes])

    def _products(self, X: Any) -> Array:
        """Return phi(x).mu_c for every x and class c."""
        K = self._cross_gram(X)
        codes = self.dual_coef_.argmax(axis=1)
        shares = self.dual_coef_.sum(axis=1)
        return np.asarray(K.reduce(Sums(codes, len(self.classes_), shares)))

    def decision_function(self, X: Any) -> Array:
        """Return phi(x).mu_c - ||mu_c||**2 / 2, largest for the nearest mean.

        Two classes: the difference of the second and the first, positive for `classes_[1]`.
        """
        scores = self._products(X) - self.squared_norms_ / 2
        return np.asarray(scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores)

    def predict(self, X: Any) -> Array:
        """Return the class of the nearest mean."""
        scores = self.decision_function(X)
        chosen = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[chosen])

    def distances(self, X: Any) -> Array:
        """Return ||phi(x) - mu_c|| for every x and class c."""
        points = self._check_predict(X)
        squares = self.kernel_.diag(points)[:, None] - 2 * self._products(X) + self.squared_norms_
        return np.asarray(np.sqrt(np.maximum(squares, 0.0)))


def _separation(between: Array) -> float:
    norms = np.diag(between)
    squares = norms[:, None] - 2 * between + norms[None, :]
    np.fill_diagonal(squares, np.inf)
    return float(np.sqrt(max(squares.min(), 0.0)))
