"""Gaussian process regression of scikit-learn, with its evidence and posterior by mercer.

scikit-learn's class checks parameters and data, searches the hyper-parameters and keeps the
attributes. The evidence that it maximises and the posterior are replaced.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import sklearn.gaussian_process
from scipy.linalg import blas, lapack
from sklearn.utils.validation import validate_data

from ..checks import Array, MercerError
from ..linalg.blas import half_square, mirror, product, solve_lower
from ..monitor import warn
from .pairwise import is_table
from .serving import log_fallback, pays
from .translation import Covariance

# Below these numbers of pairs of points scikit-learn's own code takes no longer.
FEWEST_OF_EVIDENCE = 120_000  # times the derivatives that are asked for, as far as these count
FEWEST_OF_POSTERIOR = 150_000
MOST_SLOPES = 5
BAND = 1024  # new points whose covariances are kept at a time


class GaussianProcessRegressor(sklearn.gaussian_process.GaussianProcessRegressor):  # type: ignore[misc]
    __doc__ = sklearn.gaussian_process.GaussianProcessRegressor.__doc__

    log_marginal_likelihood_value_: np.float64
    _is_in_fit = False

    def fit(self, X: Any, y: Any) -> Self:
        self._is_in_fit = True
        try:
            super().fit(X, y)
        finally:
            del self._is_in_fit
        if np.isnan(self.log_marginal_likelihood_value_):
            self.log_marginal_likelihood_value_ = _log_likelihood(
                self.L_, _columns(self.y_train_), _columns(self.alpha_)
            )
        return self

    def log_marginal_likelihood(
        self, theta: Any = None, eval_gradient: bool = False, clone_kernel: bool = True
    ) -> Any:
        if self._is_in_fit and (self.optimizer is None or not len(theta)):
            return np.nan  # nothing is searched: `fit` reads it from the factor that it ends with
        found = None
        if theta is not None and self._has_evidence(theta, eval_gradient):
            found = self._evidence(theta, eval_gradient, clone_kernel)
        if found is None:
            return super().log_marginal_likelihood(theta, eval_gradient, clone_kernel)
        return found if eval_gradient else found[0]

    def _has_evidence(self, theta: Any, eval_gradient: bool) -> bool:
        """Return whether the engine serves the evidence, and is faster."""
        slopes = min(len(theta), MOST_SLOPES) if eval_gradient else 1
        return self._is_served(len(self.X_train_) ** 2 * slopes, FEWEST_OF_EVIDENCE)

    def _evidence(
        self, theta: Any, eval_gradient: bool, clone_kernel: bool
    ) -> tuple[np.float64, Array] | None:
        """Return the evidence and its derivatives; None of numbers that the engine refuses."""
        kernel = self.kernel_
        if clone_kernel:
            kernel = kernel.clone_with_theta(theta)
        else:
            kernel.theta = theta
        try:
            covariance = Covariance.of(kernel)
            return evidence(covariance, self.X_train_, self.y_train_, self.alpha, eval_gradient)
        except MercerError as error:
            log_fallback(self, str(error))
            return None

    def predict(self, X: Any, return_std: bool = False, return_cov: bool = False) -> Any:
        is_prior = not hasattr(self, "X_train_")
        if is_prior or (return_std and return_cov) or not self._is_served_at(X):
            return super().predict(X, return_std, return_cov)
        points = validate_data(self, X, dtype="numeric", reset=False)
        try:
            mean, spread = posterior(self, points, return_std, return_cov)
        except MercerError as error:
            log_fallback(self, str(error))
            return super().predict(X, return_std, return_cov)
        mean = _squeezed(self._y_train_std * mean + self._y_train_mean)
        if spread is None:
            return mean
        spread = _squeezed(spread[..., None] * np.square(self._y_train_std))
        return mean, np.sqrt(spread) if return_std else spread

    def _is_served_at(self, X: Any) -> bool:
        """Return whether the engine gives the posterior at new points, and is faster."""
        if not is_table(X):
            log_fallback(self, "the points are neither arrays nor frames")
            return False
        return self._is_served(len(X) * len(self.X_train_), FEWEST_OF_POSTERIOR)

    def _is_served(self, work: int, least: int) -> bool:
        """Return whether the engine has the kernel, and pays; say in the log why not."""
        if not pays(self, work, least):
            return False
        try:
            if self.kernel_.requires_vector_input:
                Covariance.of(self.kernel_)
                return True
            log_fallback(self, "the kernel takes other things than rows of numbers")
        except MercerError as error:
            log_fallback(self, str(error))
        return False


def evidence(
    covariance: Covariance, X: Array, y: Array, noise: Any, with_slopes: bool
) -> tuple[np.float64, Array]:
    """Return the logarithm of the likelihood of y, and its derivatives by theta.

    noise: what is added to the diagonal, a number or one per point. Where K has no factor, minus
    infinity and zeros.
    """
    X, Y = _real(X), _columns(y)
    K = covariance.within(X)
    K.flat[:: len(K) + 1] += noise
    L, failed = lapack.dpotrf(K.T, lower=1, overwrite_a=1)
    if failed:
        return np.float64(-np.inf), np.zeros(len(covariance.own.theta))
    alpha, _ = lapack.dpotrs(L, Y, lower=1)
    value = _log_likelihood(L, Y, alpha)
    if not with_slopes:
        return value, np.empty(0)
    inverse, _ = lapack.dpotri(L, lower=1, overwrite_c=1)
    G = blas.dsyrk(0.5, alpha, -0.5 * Y.shape[1], inverse, lower=1, overwrite_c=1)
    return value, covariance.slopes(X, G.T)


def _log_likelihood(L: Array, Y: Array, alpha: Array) -> np.float64:
    """Return the sum over outputs, given the factor L of K, and alpha = K**-1 Y."""
    n, outputs = Y.shape
    logarithms = np.log(np.diagonal(L)).sum() + 0.5 * n * np.log(2.0 * np.pi)
    return np.float64(-0.5 * np.einsum("ij,ij->", Y, alpha) - outputs * logarithms)


def posterior(
    model: Any, X: Array, with_deviations: bool, with_covariances: bool
) -> tuple[Array, Array | None]:
    """Return means, a column an output, and variances or covariances if one is asked for.

    model: fitted. The units are those of the targets that it was fitted to.
    """
    covariance = Covariance.of(model.kernel_)
    X, Z, alpha = _real(X), _real(model.X_train_), _columns(model.alpha_)
    if with_covariances:
        K = covariance.between(X, Z)
        half = half_square(solve_lower(model.L_, K.T).T)
        return product(K, alpha), covariance.within(X) - mirror(half)
    if not with_deviations:
        return covariance.times(X, Z, alpha), None
    means = np.empty((len(X), alpha.shape[1]))
    variances = np.array(model.kernel_.diag(X), dtype=np.float64)
    for start in range(0, len(X), BAND):
        rows = slice(start, start + BAND)
        K = covariance.between(X[rows], Z)
        means[rows] = product(K, alpha)
        V = solve_lower(model.L_, K.T)
        variances[rows] -= np.einsum("ij,ij->j", V, V)
    if (variances < 0).any():
        warn("Predicted variances smaller than 0. Setting those variances to 0.")
        variances = np.maximum(variances, 0.0)
    return means, variances


def _real(X: Any) -> Array:
    return np.ascontiguousarray(X, dtype=np.float64)


def _columns(values: Array) -> Array:
    """Return numbers with a column for each output."""
    return _real(values).reshape(len(values), -1)


def _squeezed(values: Array) -> Array:
    return values[..., 0] if values.shape[-1] == 1 else values
