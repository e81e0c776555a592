"""The inverse of the system of a ridge problem, from all of K or from Nyström's part of it.

With roots s_i = sqrt(w_i) of the weights, S = diag s and M = S K S + alpha I, that is P = M**-1,
and with an intercept the inverse on the vectors that are orthogonal to s, M**-1 - M**-1 s s' M**-1
/ s' M**-1 s. Since dP = -P dM P in both cases, the derivative of a criterion has the form of
`SlopeForm`; from it follow the derivatives by alpha and by the kernel matrices.

Nyström: K = K_nm K_mm**-1 K_mn with m centres, L L' = K_mm, Z = S K_nm L'**-1. With t = s / |s|,
C = I - t t' (C = I without an intercept), R R' = Z' C Z + alpha I and V = C Z R'**-1,

    P = (C - V V') / alpha,  P Z = V R**-1,  Z' P Z = I - alpha (R R')**-1,

so that nothing is larger than n x m.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import lapack

from ...checks import Array
from ...linalg.blas import add_products, half_square, mirror, product, solve_lower
from ...linalg.cholesky import NotPositiveDefinite, inner_products
from ...monitor import Monitor
from .problem import RidgeProblem

HIDDEN = 1e-13  # of the trace of K: an alpha below is lost in rounding, and so is P
JITTER = 1e-10  # of the mean of its diagonal: is added to that of K_mm, which may be singular
BAND = 1e9  # multiplications between two looks at the clock
LEAST_BAND = 256  # points in a band: enough for the speed of a large product


@dataclass(frozen=True, kw_only=True)
class SlopeForm:
    """G = P diag(squared) P + once P - sym(left right'), with dL = <G, dM>.

    squared: a number per point. left, right: columns in the range of P.
    """

    squared: Array
    once: float = 0.0
    left: Array
    right: Array


@dataclass(frozen=True, kw_only=True)
class Slopes:
    """Derivatives by alpha, as it stands in M, and by the kernel matrices that P was made from."""

    by_alpha: float
    by_kernel: tuple[Array, ...]


class Inverse(Protocol):
    """P of one problem with one alpha for all outputs.

    diagonal: that of P, as a column. log_determinant: of M, and of what an intercept adds to it.
    """

    diagonal: Array
    log_determinant: float

    def times(self, V: Array) -> Array:
        """Return P V."""

    def slopes(self, form: SlopeForm) -> Slopes:
        """Return what a derivative by M says of alpha and the kernel."""


class WholeInverse:
    """P from K of all points; K is overwritten."""

    def __init__(self, K: Array, problem: RidgeProblem, monitor: Monitor) -> None:
        self.problem, self.monitor = problem, monitor
        alpha, roots = float(problem.alpha[0]), problem.roots
        self._scale(K)
        if alpha < HIDDEN * np.trace(K):
            raise NotPositiveDefinite
        K.flat[:: len(K) + 1] += alpha
        factor = _factor(K)
        monitor.poll()
        self.log_determinant = _log_determinant(factor)
        half, failed = lapack.dpotri(factor, lower=1, overwrite_c=1)
        if failed:
            raise NotPositiveDefinite
        monitor.poll()
        self.P = mirror(half)
        if problem.intercept:
            sums = product(self.P, roots)
            total = float(np.vdot(roots, sums))
            self.P -= sums * (sums.T / total)
            self.log_determinant += float(np.log(total))
        self.diagonal = np.diagonal(self.P)[:, None]

    def _scale(self, A: Array) -> None:
        """Turn A into S A S."""
        if self.problem.weight is not None:
            A *= self.problem.roots
            A *= self.problem.roots.T

    def times(self, V: Array) -> Array:
        return product(self.P, V)

    def slopes(self, form: SlopeForm) -> Slopes:
        half = _weighted_square(self.P, form.squared, self.monitor)
        if form.once:
            half += np.tril(form.once * self.P)
        G = mirror(add_products(half, form.left, form.right, -0.5))
        by_alpha = float(np.trace(G))
        self._scale(G)
        return Slopes(by_alpha=by_alpha, by_kernel=(G,))


class NystromInverse:
    """P from K between points and centres, and between centres; both are overwritten.

    V stands here with a column per point.
    """

    def __init__(self, cross: Array, own: Array, problem: RidgeProblem, monitor: Monitor) -> None:
        self.problem, self.monitor = problem, monitor
        self.alpha, self.n = float(problem.alpha[0]), len(cross)
        m, roots = len(own), problem.roots
        own.flat[:: m + 1] += JITTER * np.trace(own) / m
        self.L = _factor(own)
        size = float(np.linalg.norm(roots))
        self.t = roots.T / size if problem.intercept else np.zeros((1, self.n))
        self.V = cross.T
        for columns in self._bands():
            self.V[:, columns] = solve_lower(self.L, self.V[:, columns]) * roots[columns].T
        means = product(self.V, self.t.T)
        for columns in self._bands():
            self.V[:, columns] -= means * self.t[:, columns]
        self.R = self._system()
        lengths = np.empty(self.n)
        for columns in self._bands():
            band = self.V[:, columns] = solve_lower(self.R, self.V[:, columns])
            lengths[columns] = np.einsum("ji,ji->i", band, band)
        self.diagonal = (1.0 - self.t.T**2 - lengths[:, None]) / self.alpha
        if not (self.diagonal > 0).all():
            raise NotPositiveDefinite
        others = self.n - m - int(problem.intercept)
        self.log_determinant = _log_determinant(self.R) + others * float(np.log(self.alpha))
        self.log_determinant += 2.0 * float(np.log(size)) if problem.intercept else 0.0

    def _bands(self) -> Iterator[slice]:
        """Yield points in order, few enough for the clock to be looked at between them."""
        step = max(LEAST_BAND, int(BAND / len(self.L) ** 2))
        for start in range(0, self.n, step):
            self.monitor.poll()
            yield slice(start, min(start + step, self.n))

    def _system(self) -> Array:
        """Return R, while V is still Z' C."""
        H = inner_products(self.V, self.monitor)
        if self.alpha <= HIDDEN * np.trace(H):
            raise NotPositiveDefinite
        H.flat[:: len(H) + 1] += self.alpha
        return _factor(H)

    def times(self, V: Array) -> Array:
        centred = V - product(self.t.T, product(self.t, V))
        return np.asarray((centred - product(self.V.T, product(self.V, centred))) / self.alpha)

    def slopes(self, form: SlopeForm) -> Slopes:
        m = len(self.L)
        left, right = (product(self.R, product(self.V, A)) for A in (form.left, form.right))  # Z' A
        square = mirror(_weighted_square(self.V.T, form.squared, self.monitor))
        inner = _between(self.R, square)  # Z' P diag(squared) P Z
        by_alpha = (form.squared @ self.diagonal[:, 0] - np.trace(inner)) / self.alpha
        by_alpha += form.once * self.diagonal.sum() - np.einsum("ij,ij->", form.left, form.right)
        if form.once:
            inner += form.once * (np.eye(m) - self.alpha * _between(self.R, np.eye(m)))
        inner -= 0.5 * (product(left, right.T) + product(right, left.T))
        by_own = -_between(self.L, inner)
        by_own.flat[:: m + 1] += JITTER * np.trace(by_own) / m
        by_cross = self._by_cross(form, square, left, right)
        return Slopes(by_alpha=float(by_alpha), by_kernel=(by_cross, by_own))

    def _by_cross(self, form: SlopeForm, square: Array, left: Array, right: Array) -> Array:
        """Return 2 S G S K_nm K_mm**-1, given V' diag(squared) V, Z' left and Z' right."""
        mean = product(self.V, (form.squared * self.t).T)
        both = product(self.L, self.R)
        left, right = (solve_lower(self.L, A, transposed=True) for A in (left, right))
        out = np.empty_like(self.V)
        for columns in self._bands():
            V, t = self.V[:, columns], self.t[:, columns]
            E = V * form.squared[columns] - mean * t - product(square, V)
            E = solve_lower(both, E / self.alpha + form.once * V, transposed=True)
            E -= 0.5 * product(right, form.left[columns].T)
            E -= 0.5 * product(left, form.right[columns].T)
            out[:, columns] = E * (2.0 * self.problem.roots[columns].T)
        return out.T


def _factor(A: Array) -> Array:
    """Return the lower Cholesky factor of a symmetric A, which is overwritten."""
    factor, failed = lapack.dpotrf(A.T, lower=1, overwrite_a=1)
    if failed:
        raise NotPositiveDefinite
    return np.asarray(factor)


def _log_determinant(factor: Array) -> float:
    return 2.0 * float(np.log(np.diagonal(factor)).sum())


def _between(L: Array, A: Array) -> Array:
    """Return L'**-1 A L**-1 of a symmetric A."""
    half = solve_lower(L, A, transposed=True)
    found = solve_lower(L, half.T, transposed=True)
    return np.asarray(0.5 * (found + found.T))


def _weighted_square(A: Array, weights: Array, monitor: Monitor) -> Array:
    """Return A' diag(weights) A below the diagonal: a difference of two squares."""
    m = A.shape[1]
    total = np.zeros((m, m), order="F")
    step = max(2 * LEAST_BAND, int(2 * BAND / max(m, 1) ** 2))
    for sign, add in ((1.0, np.add), (-1.0, np.subtract)):
        chosen = np.flatnonzero(sign * weights > 0)
        for start in range(0, len(chosen), step):
            rows = chosen[start : start + step]
            part = A[rows] * np.sqrt(np.abs(weights[rows]))[:, None]
            add(total, half_square(part.T), out=total)
            monitor.poll()
    return total
