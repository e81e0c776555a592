"""Covariances of scikit-learn's kernel objects by mercer's engine, with their derivatives.

Off the diagonal a kernel object is a kernel of mercer. On it stands what the object itself says,
which includes the noise of a `WhiteKernel`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import (
    ConstantKernel,
    DotProduct,
    Exponentiation,
    Product,
    Sum,
    WhiteKernel,
)

from ..checks import Array, KernelError, sentence
from ..grams import gram
from ..grams.sides import Side, View
from ..grams.slopes.parameters import ParameterSlopes
from ..inputs import Matrix
from ..kernels import Kernel
from ..kernels.scikit_learn.processes import Link, translated
from ..monitor import Monitor

BANDS = 8  # in which the half of a symmetric matrix is gone through: a sixteenth more than half
FEWEST = 256  # rows of a band


@dataclass(frozen=True)
class Covariance:
    """The covariance of a Gaussian process by a kernel object of scikit-learn.

    own: that object. kernel: what it is off the diagonal. links: where its hyper-parameters are.
    """

    own: Any
    kernel: Kernel
    links: tuple[Link, ...]

    @classmethod
    def of(cls, own: Any) -> Covariance:
        """Return the covariance of a kernel object; an error says why mercer has none."""
        found = translated(own)
        if found.kernel is None:
            raise KernelError(sentence("kernel", "it must be more than noise", repr(own)))
        return cls(own, found.kernel, found.links)

    def between(self, X: Array, Y: Array) -> Array:
        """Return K(X, Y), in which no noise is shared."""
        return gram(self.kernel, Matrix(X), Matrix(Y), use="once", dtype=np.float64).dense()

    def within(self, X: Array) -> Array:
        """Return K(X, X)."""
        K = gram(self.kernel, Matrix(X), use="once", dtype=np.float64).dense()
        K.flat[:: len(K) + 1] = self.own.diag(X)
        return K

    def times(self, X: Array, Y: Array, V: Array) -> Array:
        """Return K(X, Y) V without keeping K."""
        return gram(self.kernel, Matrix(X), Matrix(Y), use="once", dtype=np.float64) @ V

    def slopes(self, X: Array, upper: Array) -> Array:
        """Return <G, dK(X, X) / dt> for every t of theta, which are logarithms.

        upper: the part above the diagonal of G, which is symmetric, and the diagonal; 0 below. It
        is overwritten.
        """
        diagonal = np.diagonal(upper).copy()
        found = diagonal @ diagonal_slopes(self.own, X)[1]
        names = sorted({link.name for link in self.links if link.path})
        if not names:
            return found
        np.fill_diagonal(upper, 0.0)
        by_name = self._off_diagonal(names, X, upper)
        values = self.kernel.get_params()
        steps = [
            link.power * np.array(values[link.name]) * by_name[link.name]
            if link.path
            else np.zeros(link.size)
            for link in self.links
        ]
        return np.asarray(found + 2.0 * np.hstack(steps))

    def _off_diagonal(self, names: list[str], X: Array, upper: Array) -> dict[str, Any]:
        """Return the derivatives of the sum over pairs of different points, each taken once."""
        points = Matrix(X)
        slopes = ParameterSlopes(self.kernel, names, points)
        view, total = View(Side(points)), dict.fromkeys(names, 0.0)
        for rows in _bands(len(X)):
            right = slice(rows.start, len(X))
            part = slopes.products(view.take(rows), view.take(right), upper[rows, right], Monitor())
            total = {name: total[name] + part[name] for name in names}
        return total


def _bands(n: int) -> Iterator[slice]:
    step = max(FEWEST, -(-n // BANDS))
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))


def diagonal_slopes(own: Any, X: Array) -> tuple[Array, Array]:
    """Return k(x, x) of a kernel object, and its derivatives: a column for each t of theta."""
    if isinstance(own, Exponentiation):
        values, slopes = diagonal_slopes(own.kernel, X)
        return values**own.exponent, own.exponent * values[:, None] ** (own.exponent - 1) * slopes
    if isinstance(own, Sum | Product):
        (a, A), (b, B) = diagonal_slopes(own.k1, X), diagonal_slopes(own.k2, X)
        if isinstance(own, Sum):
            return a + b, np.hstack([A, B])
        return a * b, np.hstack([A * b[:, None], B * a[:, None]])
    values = own.diag(X)
    slopes = np.zeros((len(X), sum(link.size for link in translated(own).links)))
    if isinstance(own, ConstantKernel | WhiteKernel):
        slopes += values[:, None]
    elif isinstance(own, DotProduct):
        slopes += 2.0 * own.sigma_0**2
    return values, slopes
