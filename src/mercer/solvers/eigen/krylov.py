"""The largest eigenvalues of a centred Gram matrix by a few passes over it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import qr, svd

from ...checks import Array
from ...grams import Gram, partial_cholesky
from ...grams.pivots import AT_ONCE
from ...linalg.blas import WORK, product
from ...linalg.eigen import SMALL, eigh, extreme_eigenvalues
from ...monitor import Monitor, Stopped
from ...stages import State
from ...status import Status
from .centred import Centred, Spectrum, largest, measured, nothing_found

EXTRA = 10  # vectors in a block beyond the components that are wanted
TOGETHER = 16  # columns that a product of matrices takes at a time
RANDOM = 2  # random vectors of a block, beside those of the first guess
GUESS = 4  # columns of K for each component, of which the first guess is made
BLOCKS = 10  # blocks that the basis holds where memory allows
LEAST_BLOCKS = 3
LOST = 0.3  # length that must be left of a unit vector without its part in the space
SQUARED = 1e-14  # squared length, of the longest, down to which W'W tells the directions of W


@dataclass(frozen=True, kw_only=True)
class Krylov:
    """Block Lanczos with full orthogonalisation, begun with a guess from a few columns of K.

    The space grows by one block, and one pass over K, at a time. When it is as large as memory
    allows, the best vectors of it begin the next one. The eigenpairs found last are measured by
    one more product, in double precision.
    tol: the residual to reach, relative to the largest eigenvalue. max_iter: passes over K.
    room: columns that the basis may have.

    Golub, Underwood, "The block Lanczos method for computing eigenvalues" (1977); Wu, Simon,
    "Thick-restart Lanczos method for large symmetric eigenvalue problems" (2000).
    """

    tol: float
    max_iter: int
    seed: int
    room: int

    @staticmethod
    def block(n: int, count: int) -> int:
        """Return the vectors of a block, as many as products are quick with."""
        return min(-(-(count + EXTRA) // TOGETHER) * TOGETHER, n)

    @classmethod
    def bytes(cls, n: int, count: int, room: int) -> int:
        """Return what is needed beside K with a basis of `room` columns."""
        guess = 4 * _columns(count, room) + 2 * AT_ONCE  # its factor, and copies on the way
        return 8 * n * max(room + 5 * cls.block(n, count), guess) + 32 * room**2

    @classmethod
    def room_within(cls, n: int, count: int, limit: float) -> int:
        """Return the columns of a basis that fits the limit, or the fewest that will do."""
        block = cls.block(n, count)
        for blocks in range(BLOCKS, LEAST_BLOCKS, -1):
            if cls.bytes(n, count, blocks * block) <= limit:
                return blocks * block
        return LEAST_BLOCKS * block

    def solve(self, K: Gram, roots: Array, count: int, monitor: Monitor) -> Spectrum:
        """Return the `count` largest eigenvalues of K, weighted and centred.

        A block must have fewer vectors than there are points.
        """
        A, n = Centred(K, roots), K.shape[0]
        with monitor.stage("Lanczos") as stage:
            try:
                basis = self._begun(A, count, stage.known)
            except Stopped as stop:
                return nothing_found(n, count, stop.reason)
            while not self._is_over(basis) and basis.passes < self.max_iter:
                try:
                    basis.grow(self.tol)
                    stage.reached(basis.state)
                    monitor.iteration(self._record(basis))
                except Stopped as stop:
                    if basis.passes == 0:
                        return nothing_found(n, count, stop.reason)
                    return basis.unmeasured(count, stop.reason)
        status = Status.CONVERGED if self._is_over(basis) else Status.ITERATION_LIMIT
        return self._finish(basis, count, status)

    def _begun(self, A: Centred, count: int, known: State | None) -> _Basis:
        """Return a basis that begins with the guess, or the one of an earlier process."""
        if known is None:
            return _Basis(A, self.room, self._guess(A, count), count)
        return _Basis.of(known, A, self.room, count)

    def _is_over(self, basis: _Basis) -> bool:
        """Return whether the space holds the eigenvectors."""
        return basis.passes > 0 and (basis.residual <= 0.7 * self.tol or basis.is_complete)

    def _guess(self, A: Centred, count: int) -> Array:
        """Return a first block: eigenvectors of a partial factor of K, and random vectors."""
        n, random = len(A.roots), np.random.default_rng(self.seed)
        block = self.block(n, count)
        factor = partial_cholesky(A.K, min(_columns(count, self.room), n), random, A.roots)
        T = A.project(factor.values.T.astype(np.float64))
        values, E = eigh(product(T.T, T), A.K.monitor)
        kept = values > 1e-12 * max(values.max(initial=0.0), 1e-300)
        kept[: max(len(values) - block + RANDOM, 0)] = False
        known = product(T, E[:, kept] / np.sqrt(values[kept]))
        noise = random.normal(size=(n, block - known.shape[1])) / np.sqrt(n)
        return np.hstack([known, A.project(noise)])

    def _record(self, basis: _Basis) -> dict[str, object]:
        done = np.log(max(basis.residual, 1e-300)) / min(np.log(self.tol), -1e-9)
        return {
            "stage": "eigenvectors",
            "iteration": basis.passes,
            "residual": basis.residual,
            "fraction": float(np.clip(done, 0.0, 1.0)),
        }

    def _finish(self, basis: _Basis, count: int, status: Status) -> Spectrum:
        """Measure what was found; where time is up, return it as the basis knows it."""
        try:
            U = basis.vectors(count)
            found = measured(basis.A, U, basis.lowest(), status, basis.passes + 1, turn=True)
        except Stopped as stop:
            return basis.unmeasured(count, stop.reason)
        if status == Status.CONVERGED and found.residual > self.tol:
            return replace(found, status=Status.STAGNATED)
        return found


def _columns(count: int, room: int) -> int:
    """Return the columns of K that the first guess is made of."""
    return min(GUESS * count + EXTRA, room // 2)


class _Basis:
    """An orthonormal basis Q of a Krylov space, T = Q' A Q and its largest eigenvalues.

    A Q = Q T but for the last block, where what is left over gives the next one; so the residuals
    of all vectors in the space are known without another product. passes: over K so far. settled:
    the columns of Q that are not being added.
    """

    STEP = ("next", "values", "turn", "sizes", "means")  # what a step leaves to the next one
    settled = passes = 0

    def __init__(self, A: Centred, room: int, start: Array, count: int) -> None:
        self.A, self.count, self.kept = A, count, start.shape[1]
        self.Q = np.empty((len(start), min(room, len(start))), order="F")
        self.T = np.zeros((self.Q.shape[1],) * 2)
        self.filled = 0
        self.rounding = A.rounding
        self.means = np.empty(0)
        self.next = _orthonormal(_orthonormal(start, 1e-6)[0], LOST)[0]

    @classmethod
    def of(cls, known: State, A: Centred, room: int, count: int) -> _Basis:
        """Return the basis of an earlier process."""
        basis = cls(A, room, np.asarray(known["next"]), count)
        basis.kept, basis.passes = int(known["kept"]), int(known["passes"])
        for name in _Basis.STEP:
            setattr(basis, name, known[name])
        m = basis.filled = basis.settled = np.asarray(known["Q"]).shape[1]
        basis.Q[:, :m], basis.T[:m, :m] = known["Q"], known["T"]
        return basis

    def state(self) -> State:
        """Return what another process needs to go on."""
        m = self.settled
        parts = {name: getattr(self, name) for name in _Basis.STEP}
        counts = {"kept": self.kept, "passes": self.passes}
        return {**counts, **parts, "Q": self.Q[:, :m].copy(), "T": self.T[:m, :m].copy()}

    @property
    def is_complete(self) -> bool:
        """Whether A maps the space to itself, or to nothing but rounding."""
        return bool(self.next.shape[1] == 0 or np.abs(self.values).max() <= self.rounding)

    @property
    def residual(self) -> float:
        """The largest of the wanted residuals, relative to the largest eigenvalue."""
        top = max(float(self.values[0]), self.rounding, np.finfo(np.float64).tiny)
        return float(self.sizes[: self.count].max(initial=0.0)) / top

    def grow(self, tol: float) -> None:
        """Add the next block."""
        if self.filled + self.next.shape[1] > self.Q.shape[1]:
            self._restart()
        block, old = self.next, self.filled
        W = self._apply(block)
        m = old + block.shape[1]
        self.Q[:, old:m] = block
        self.filled = m
        C = self._without_basis(W)
        self.T[:m, old:m] = C
        self.T[old:m, :m] = C.T
        self.T[old:m, old:m] = (C[old:] + C[old:].T) / 2
        try:
            self._solve()
        except Stopped:
            self.filled = old  # as the vectors found last know it
            raise
        drop = max(0.01 * tol, 1e-14) * max(float(self.values[0]), self.rounding)
        self.next, R = _orthonormal(W, drop)
        self.sizes = np.linalg.norm(product(R, self.turn[old:m]), axis=0)
        self._without_basis(self.next)  # what was nearly nothing lost digits when scaled up,
        self.next, _ = _orthonormal(self.A.project(self.next), LOST)  # or was nothing else
        self.settled = m
        self.passes += 1

    def _apply(self, block: Array) -> Array:
        """Return A times a block; the first pass also brings the means of the rows of K."""
        if len(self.means):
            return self.A.apply(block)
        columns = [self.A.weight, self.A.roots[:, None] * block]
        both = self.A.quick(np.column_stack(columns))
        self.means = both[:, 0]
        return self.A.finish(both[:, 1:])

    def _without_basis(self, W: Array) -> Array:
        """Take off W what lies in the space; return Q' W."""
        Q = self.Q[:, : self.filled]
        C = product(Q.T, W)
        W -= product(Q, C)
        return C

    def _solve(self) -> None:
        """Find the largest eigenvalues of T, as many as a new start keeps."""
        T = self.T[: self.filled, : self.filled]
        self.values, self.turn = largest(T, min(self.kept, self.filled), self.A.K.monitor)

    def _restart(self) -> None:
        """Make the best vectors of the space the whole of it."""
        k = self.turn.shape[1]
        self.Q[:, :k] = self.vectors(k)
        self.T[:] = 0.0
        self.T[np.arange(k), np.arange(k)] = self.values
        self.turn, self.filled, self.settled = np.eye(k), k, k

    def vectors(self, count: int) -> Array:
        """Return the best approximations of eigenvectors."""
        return product(self.Q[:, : self.filled], self.turn[:, :count])

    def lowest(self) -> float:
        """Return the lowest value that u' A u takes in the space."""
        T = self.T[: self.filled, : self.filled]
        return extreme_eigenvalues(T)[0]

    def unmeasured(self, count: int, status: Status) -> Spectrum:
        """Return what was found without another product: with A u = value u, as is nearly so."""
        A, U, values = self.A, self.vectors(count), self.values[:count]
        means, roots, top = self.means, A.roots[:, None], float(self.values[0])
        return Spectrum(
            values=values,
            vectors=U,
            products=U * values / roots + means @ (roots * U),
            means=means,
            trace=A.trace(means),
            residuals=self.sizes[:count] / max(top, np.finfo(np.float64).tiny),
            lowest=self.lowest(),
            zero=A.zero(top),
            status=status,
            iterations=self.passes,
        )


def _orthonormal(W: Array, drop: float) -> tuple[Array, Array]:
    """Return an orthonormal basis of what is longer than `drop` in W, and R: W'W = R'R."""
    values, E = eigh(product(W.T, W))
    if drop**2 >= SQUARED * max(float(values.max(initial=0.0)), 0.0):
        kept = values > drop**2
        basis = product(W, E[:, kept] / np.sqrt(values[kept]))
        return basis, np.sqrt(np.maximum(values, 0.0))[:, None] * E.T
    Q, R = _triangular(W)  # slower, but exact to much shorter vectors
    left, sizes = _left_singular(R)
    return product(Q, left[:, sizes > drop]), R


def _triangular(W: Array) -> tuple[Array, Array]:
    """Return W = Q R with orthonormal Q and upper triangular R, some columns of W at a time.

    What these have along the columns before them is taken off twice, which is enough.
    """
    n, k = W.shape
    step = max(16, int((WORK / 2 / n) ** 0.5))
    Q, R = np.empty((n, k), order="F"), np.zeros((k, k))
    for start in range(0, k, step):
        own, before = slice(start, start + step), Q[:, :start]
        part, inner = W[:, own], np.eye(min(step, k - start))
        for _ in range(2 if start else 1):
            along = product(before.T, part)
            part, turned = qr(part - product(before, along), mode="economic", check_finite=False)
            R[:start, own] += product(along, inner)
            inner = product(turned, inner)
        Q[:, own], R[own, own] = part, inner
    return Q, R


def _left_singular(R: Array) -> tuple[Array, Array]:
    """Return the left singular vectors of a square matrix, and its singular values, falling.

    Vectors of values that are nothing but rounding need not be orthogonal.
    """
    k = len(R)
    if k <= SMALL:
        left, sizes, _ = svd(R, check_finite=False)
        return left, sizes
    both = np.zeros((2 * k, 2 * k))  # its largest eigenvalues are the singular values
    both[:k, k:], both[k:, :k] = R, R.T
    values, vectors = eigh(both, count=k, overwrite=True)
    return vectors[:k, ::-1] * np.sqrt(2.0), values[::-1]
