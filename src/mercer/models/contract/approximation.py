"""Learners with a feature map in the place of their kernel.

A map phi that approaches a kernel is a kernel itself, phi(x) . phi(y), with finitely many features.
A learner with an approximation fits the map on its training points and goes on with that kernel.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from ...checks import Array, InputError, sentence, show
from ...grams import Prepared, prepare
from ...grams.maps.products import map_times
from ...inputs import Input, Matrix, RowBlocks
from ...kernels import Kernel, Linear, Of, to_kernel
from ...typing import Approximation

SHOWN = 200  # training points at which the price of an approximation is measured


def own_kernel(model: Any) -> Any:
    """Return the kernel that a model's approximation brings with it, or None."""
    return getattr(getattr(model, "approximation", None), "kernel", None)


def approximated(model: Any, kernel: Kernel, points: Input, weight: Array | None) -> Kernel:
    """Return the kernel of the map that a model asks for, fitted on the points.

    Without an approximation the kernel stays as it is, and so does one that has been fitted.
    """
    wanted = getattr(model, "approximation", None)
    if wanted is None or (isinstance(kernel, Of) and type(kernel.phi) is type(wanted)):
        return kernel
    _check_once(model, kernel)
    map_ = clone(wanted).set_params(kernel=kernel.resolve(points, weight))
    map_.fit(points.mapped(_nameless) if isinstance(points, RowBlocks) else points.raw)
    return Linear().of(map_)


def reader(model: Any, kernel: Kernel) -> Kernel:
    """Return the kernel that says how points are read: under the map that a model has fitted."""
    return kernel.phi.kernel_ if has_approximation(model) and isinstance(kernel, Of) else kernel


def _nameless(block: Input) -> Input:
    """Return rows of numbers without names, which those that a kernel sees do not have."""
    return Matrix(block.values) if isinstance(block, Matrix) else block


class HasApproximation:
    """A learner with a parameter `approximation`."""

    approximation: Approximation
    approximation_error_: float
    _prepared: Prepared

    @property
    def approximation_(self) -> Any:
        """The map that took the place of the kernel, fitted on the training points."""
        check_is_fitted(self, "_prepared")
        if self.approximation is None:
            must = "approximation_ exists after a fit with an approximation"
            raise AttributeError(sentence(type(self).__name__, must, "none"))
        return self._prepared.kernel.phi  # type: ignore[attr-defined]


def has_approximation(model: Any) -> bool:
    """Return whether a model asks for a map in the place of its kernel."""
    return getattr(model, "approximation", None) is not None


def note_price(model: Any, prepared: Prepared, coefficients: Array, seed: int) -> None:
    """Give a model with an approximation what that costs; prepared: all training points."""
    if has_approximation(model):
        model.approximation_error_ = price(prepared, coefficients, seed)


def _check_once(model: Any, kernel: Kernel) -> None:
    own = own_kernel(model)
    if own is not None and to_kernel(own, who=type(model).__name__) != kernel:
        must = "the kernel must be given to the model or to its approximation, not to both"
        got = f"kernel={show(model.kernel)} and {show(own)}"
        raise InputError(sentence(type(model).__name__, must, got))


def price(prepared: Prepared, coefficients: Array, seed: int) -> float:
    """Return how far an approximation moves a function at training points, as a root mean square.

    prepared: the kernel of the map, with the training points x_i. coefficients: c, one row per
    point. It compares sum_i c_i k(x, x_i) with the exact and with the approximate kernel. Of ridge
    regression, where f and g are the exact and the approximate solution and c the coefficients of
    g, f - g = alpha (K + alpha I)**-1 (K - K_g) c at the training points, which is never longer
    than (K - K_g) c. A random part of the points stands for all.
    """
    phi, points = prepared.kernel.phi, prepared.points  # type: ignore[attr-defined]
    if isinstance(points, RowBlocks) or not np.isfinite(coefficients).all():
        return float("nan")
    random = np.random.default_rng(seed)
    shown = points
    if len(points) > SHOWN:
        shown = points.take(np.sort(random.choice(len(points), SHOWN, replace=False)))
    exact = prepare(phi.kernel_, points).gram(shown, use="once") @ coefficients
    weights = sum_of_features(prepared, coefficients)
    near = [band @ weights.astype(band.dtype) for _, band in prepared.map_bands(shown)]
    gap = np.asarray(exact) - np.concatenate(near)
    return float(np.sqrt(np.mean(np.asarray(gap, dtype=np.float64) ** 2)))


def sum_of_features(prepared: Prepared, coefficients: Array) -> Array:
    """Return sum_i c_i phi(x_i) of the points, for each column c."""
    total: Any = 0.0
    for rows, band in prepared.map_bands():
        total = total + np.asarray(band.T @ coefficients[rows], dtype=np.float64)
    return np.asarray(total)


def products_of_features(
    prepared: Prepared, points: Input, groups: list[slice], coefficients: list[Array]
) -> list[Array]:
    """Return K(x, support vectors of a group) times its coefficients, for each group, by features.

    That is phi(x) times what the support vectors of a group add up to; these sums are made once.
    prepared: the kernel of the map, with the support vectors.
    """

    def add_up() -> Array:
        widths = [c.shape[1] for c in coefficients]
        whole = np.zeros((len(prepared), sum(widths)))
        for group, c, stop in zip(groups, coefficients, np.cumsum(widths), strict=True):
            whole[group, stop - c.shape[1] : stop] = c
        return sum_of_features(prepared, whole)

    weights: Array = prepared.view.side.once("sums of support vectors", add_up)
    found = map_times(prepared, points, weights)
    return np.split(found, np.cumsum([c.shape[1] for c in coefficients])[:-1], axis=1)
