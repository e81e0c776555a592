"""The largest eigenvalues of a centred Gram matrix, and how exact they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...checks import Array
from ...grams import Gram, Multiply
from ...linalg.blas import product
from ...linalg.cholesky import TILE, negative_eigenvalue
from ...linalg.eigen import eigh
from ...monitor import Monitor, Stopped
from ...status import Status


@dataclass(frozen=True)
class Centred:
    """A = P S K S P, the Gram matrix of weighted, centred points, as an operator.

    S has the roots of the weights, all positive, on its diagonal and P takes off what lies along
    them; without weights A = H K H with H = I - 1 1' / n. K is neither changed nor copied.
    """

    K: Gram
    roots: Array

    @property
    def weight(self) -> Array:
        """The weights, of sum 1."""
        squares = self.roots**2
        return np.asarray(squares / squares.sum())

    def project(self, V: Array) -> Array:
        """Return P V."""
        along = np.einsum("i,ij->j", self.roots, V) / np.einsum("i,i->", self.roots, self.roots)
        return np.asarray(V - self.roots[:, None] * along)

    def apply(self, V: Array) -> Array:
        """Return A V for V = P V, in the precision of K."""
        return self.finish(self.quick(self.roots[:, None] * V))

    def quick(self, V: Array) -> Array:
        """Return K V in the precision of K."""
        if self.K.plan.kind == "stored" and self.K.dtype == np.float32:
            V = V.astype(np.float32)
        return np.asarray(self.K @ V, dtype=np.float64)

    def finish(self, products: Array) -> Array:
        """Return A V, given K S V."""
        return self.project(self.roots[:, None] * products)

    @property
    def rounding(self) -> float:
        """The eigenvalues that rounding of the entries of K alone may bring about."""
        largest = float(np.abs(self.K.diag() * self.roots**2).max(initial=0.0))
        return float(10 * np.finfo(self.K.dtype).eps * np.sqrt(len(self.roots)) * largest)

    def trace(self, means: Array) -> float:
        """Return the trace of A, given the weighted mean of each row of K."""
        return float(self.roots**2 @ (self.K.diag() - means))

    def zero(self, largest: float) -> float:
        """Return what an eigenvalue must be above to count, given the largest."""
        share = 1e-12 if self.K.dtype == np.float64 else 2e-7
        return max(self.rounding, share * largest)

    def products(self, V: Array) -> Array:
        """Return K V, summed in double precision."""
        K = self.K
        features = K.plan.kind in ("low rank", "sparse features")
        if features or K.dtype == np.float64:
            return np.asarray(K @ V)
        return np.asarray(Gram.reduce(K, Multiply(V)))

    def dense(self) -> Array:
        """Return A as an array of its own."""
        A, unit = (
            self.K.dense().astype(np.float64, copy=False),
            self.roots / np.sqrt(self.roots @ self.roots),
        )
        sums = np.zeros(len(A))
        for rows in _bands(A):
            A[rows] *= self.roots[rows, None]
            A[rows] *= self.roots
            A[rows] -= np.outer(A[rows] @ unit, unit)
            sums += unit[rows] @ A[rows]
        for rows in _bands(A):
            A[rows] -= np.outer(unit[rows], sums)
        return A


@dataclass(frozen=True, kw_only=True)
class Spectrum:
    """The largest eigenvalues of A, largest first, with vectors of length 1.

    products: K S u of each vector. means: K w, the weighted mean of each row of K. trace: of A.
    residuals: |A u - value u| / largest value, by products in double precision. lowest: a value of
    u' A u that no other seen was below. zero: eigenvalues up to this may be rounding. status:
    "exact", "converged" or why not.
    """

    values: Array
    vectors: Array
    products: Array
    means: Array
    trace: float
    residuals: Array
    lowest: float
    zero: float
    status: Status
    iterations: int

    @property
    def residual(self) -> float:
        """The largest of the residuals."""
        return float(self.residuals.max(initial=0.0))


def nothing_found(n: int, count: int, status: Status) -> Spectrum:
    """Return zeros: all there is when a solver was stopped too early."""
    zeros, nan = np.zeros((n, count)), float("nan")
    residuals = np.full(count, nan)
    values, means = np.zeros(count), np.zeros(n)
    return Spectrum(
        values=values,
        vectors=zeros,
        products=zeros,
        means=means,
        trace=nan,
        residuals=residuals,
        lowest=nan,
        zero=nan,
        status=status,
        iterations=0,
    )


def measured(
    A: Centred, U: Array, lowest: float, status: Status, iterations: int, turn: bool
) -> Spectrum:
    """Return the eigenpairs in the span of U, and their residuals, by one product with K.

    turn: find them anew in that span; otherwise the columns of U are what they should be, and are
    put in order.
    """
    inside = A.project(U)
    U = np.where(np.linalg.norm(inside, axis=0) > 0.5, inside, U)  # but for the roots themselves
    both = A.products(np.column_stack([A.weight, A.roots[:, None] * inside]))
    means, products = both[:, 0], both[:, 1:]
    applied = A.finish(products)
    values = np.einsum("ij,ij->j", U, applied)
    if turn:
        small = product(U.T, applied)
        values, E = eigh((small + small.T) / 2, A.K.monitor)
        values, E = values[::-1], E[:, ::-1]
        U, applied, products = product(U, E), product(applied, E), product(products, E)
    else:
        order = np.argsort(-values, kind="stable")
        values, U = values[order], U[:, order]
        applied, products = applied[:, order], products[:, order]
    sizes = np.linalg.norm(applied - U * values, axis=0)
    top = float(values.max(initial=0.0))
    residuals = sizes / top if top > A.rounding else np.zeros_like(sizes)
    return Spectrum(
        values=values,
        vectors=U,
        products=products,
        means=means,
        trace=A.trace(means),
        residuals=residuals,
        lowest=lowest,
        zero=A.zero(top),
        status=status,
        iterations=iterations,
    )


@dataclass(frozen=True)
class DenseEigen:
    """All of A in double precision, and the eigenvectors of it."""

    @staticmethod
    def bytes(n: int, count: int) -> int:
        """Return what is needed beside K."""
        return 8 * n * (2 * n + 10 * count + 30)

    def solve(self, K: Gram, roots: Array, count: int, monitor: Monitor) -> Spectrum:
        """Return the `count` largest eigenvalues of K, weighted and centred."""
        operator, n = Centred(K, roots), K.shape[0]
        try:
            A = operator.dense()
            monitor.poll()
            lowest = negative_eigenvalue(A, 1e-7 * float(np.abs(np.diagonal(A)).sum()), monitor)
            # The roots are an eigenvector of value 0, not to be mixed with others of that value.
            shift = np.abs(np.diagonal(A)).mean() / (roots @ roots)
            for rows in _bands(A):
                A[rows] -= np.outer(roots[rows], roots * shift)
            U = largest(A, count, monitor, overwrite=True)[1]
            return measured(operator, U, lowest, Status.EXACT, 0, turn=False)
        except Stopped as stop:
            return nothing_found(n, count, stop.reason)


def largest(A: Array, count: int, monitor: Monitor, overwrite: bool = False) -> tuple[Array, Array]:
    """Return the largest eigenvalues of a matrix, largest first, and their vectors."""
    values, U = eigh(A, monitor, count, overwrite)
    return values[::-1], U[:, ::-1]


def _bands(A: Array) -> Iterator[slice]:
    """Yield slices of rows that are worked on at once, without a second array as large as A."""
    return (slice(start, start + TILE) for start in range(0, len(A), TILE))
