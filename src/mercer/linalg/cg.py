"""Conjugate gradients for several right sides at once, which share their search directions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ..checks import Array
from ..monitor import Monitor, Stopped
from ..stages import State
from ..status import Status
from .blas import SquareSum, mirror, product
from .cholesky import NotPositiveDefinite, TileCholesky, dense_bands

Operator = Callable[[Array], Array]

AT_LEAST = 8  # iterations before their pace is judged
PARTS = ("X", "Q", "rho", "S")  # of a system, which another iteration needs
DEPENDENT = 1e-13  # squared length at which a direction counts as a combination of the others


class TooSlow(ArithmeticError):
    """Conjugate gradients would take longer than another way to the solution."""


@dataclass
class Patience:
    """Tells when iterations should be given up for a way whose cost is known.

    tol: the relative residual at which they end. alternative: the cost of the other way, as a
    number of iterations. The last half of the iterations says how quickly the residual falls; a
    quarter of the alternative is spent before that is believed, so that giving up costs little.
    """

    tol: float
    alternative: float = np.inf
    lowest: list[float] = field(default_factory=list)  # logarithms of the residual, over tol

    def is_over(self, residual: float) -> bool:
        """Return whether to give up, given the relative residual after one more iteration."""
        left = float(np.log(max(residual, np.finfo(float).tiny) / self.tol))
        self.lowest.append(min([left, *self.lowest[-1:]]))
        done = len(self.lowest)
        if done < max(AT_LEAST, self.alternative / 4):
            return False
        middle = (done - 1) // 2
        fall = (self.lowest[middle] - self.lowest[-1]) / (done - 1 - middle)
        return left > self.alternative * fall


@dataclass(kw_only=True)
class System:
    """(A + alpha I) X = B.

    targets: the residual norm at which each column is solved. scale: what residuals are compared
    with, where B is itself what an earlier solution left; None is the norm of B.
    """

    alpha: float
    right: Array
    targets: Array
    precondition: Operator
    scale: Array | None = None
    X: Array = field(init=False)

    def start(self) -> None:
        self.X = np.zeros_like(self.right)
        self._set_residual(self.right, np.eye(self.right.shape[1]), np.zeros((0, 0)))

    def _set_residual(self, R: Array, rho: Array, S: Array) -> None:
        """Write the residual as Q rho with Q' M**-1 Q = I and take the new directions."""
        W = self.precondition(R)
        values, vectors = np.linalg.eigh(_symmetric(R.T @ W))
        kept = values > DEPENDENT * max(values[-1], 0.0) if len(values) else values > 0
        scale = vectors[:, kept] / np.sqrt(values[kept])
        zeta = (vectors[:, kept] * np.sqrt(values[kept])).T
        self.Q, self.rho = R @ scale, zeta @ rho
        self.S = W @ scale
        if len(S):
            self.S += S @ zeta.T

    def norms(self) -> Array:
        """Return the length of each column of the residual."""
        return np.asarray(np.linalg.norm(self.Q @ self.rho, axis=0))

    @property
    def solved(self) -> bool:
        return bool(np.all(self.norms() <= self.targets))

    def step(self, applied: Array) -> None:
        """Move along S; given: applied = A S."""
        Z = applied + self.alpha * self.S
        try:
            curvature = cho_factor(_symmetric(self.S.T @ Z), check_finite=False)
        except np.linalg.LinAlgError:
            raise NotPositiveDefinite from None
        self.X = self.X + self.S @ cho_solve(curvature, self.rho, check_finite=False)
        left = cho_solve(curvature, np.eye(self.S.shape[1]), check_finite=False)
        self._set_residual(self.Q - Z @ left, self.rho, self.S)


def _symmetric(matrix: Array) -> Array:
    return np.asarray((matrix + matrix.T) / 2)


def conjugate_gradients(
    apply: Operator,
    systems: Sequence[System],
    max_iter: int,
    monitor: Monitor,
    done: int = 0,
    patience: Patience | None = None,
) -> tuple[int, Status]:
    """Solve systems that share A, with one product of A and all directions in each iteration.

    Returns the iterations made and "converged", "iteration limit", or why it was stopped; the
    solutions are in the systems. done: iterations that were made before. patience: says when to
    raise `TooSlow`; None is never.

    Dubrulle, "Retooling the method of block conjugate gradients" (2001).
    """
    with monitor.stage("conjugate gradients") as stage:
        for iteration in range(_begin(systems, stage.known, done), max_iter):
            active = [system for system in systems if not system.solved]
            if not active:
                return iteration, Status.CONVERGED
            try:
                applied = apply(np.hstack([system.S for system in active]))
            except Stopped as stop:
                return iteration, stop.reason
            cuts = np.cumsum([system.S.shape[1] for system in active])[:-1]
            for system, part in zip(active, np.split(applied, cuts, axis=1), strict=True):
                system.step(part)
            stage.reached(_state(systems, iteration + 1))
            record = _record(iteration + 1, active)
            try:
                monitor.iteration(record)
            except Stopped as stop:
                return iteration + 1, stop.reason
            if patience is not None and patience.is_over(record["residual"]):
                raise TooSlow
    solved = all(system.solved for system in systems)
    return max_iter, Status.CONVERGED if solved else Status.ITERATION_LIMIT


def _begin(systems: Sequence[System], known: State | None, done: int) -> int:
    """Start the systems, or go on with what is known of them; return the iterations made."""
    for index, system in enumerate(systems):
        if known is None:
            system.start()
        else:
            for part in PARTS:
                setattr(system, part, known[f"{part}{index}"])
    return done if known is None else int(known["iteration"])


def _state(systems: Sequence[System], iteration: int) -> State:
    """Return what it takes to go on with the systems."""
    parts = {f"{part}{i}": getattr(s, part) for i, s in enumerate(systems) for part in PARTS}
    return {"iteration": iteration, **parts}


def _record(iteration: int, systems: Sequence[System]) -> dict[str, Any]:
    """Return what there is to tell about an iteration; fraction: of the digits that are wanted."""
    tiny = np.finfo(float).tiny
    sizes = [np.linalg.norm(s.right, axis=0) if s.scale is None else s.scale for s in systems]
    scale = np.maximum(np.concatenate(sizes), tiny)
    now = np.maximum(np.concatenate([s.norms() for s in systems]) / scale, tiny)
    wanted = np.maximum(np.concatenate([s.targets for s in systems]) / scale, tiny)
    done = np.log(now) / np.minimum(np.log(wanted), -1e-9)
    return {
        "stage": "conjugate gradients",
        "iteration": iteration,
        "residual": float(now.max()),
        "fraction": float(np.clip(done, 0.0, 1.0).min()),
    }


class LowRankPreconditioner:
    """M**-1 = (T' T + alpha I)**-1, by Woodbury's identity.

    bands: slices of the points, one after another, and the rows of T' that belong to them, from a
    partial Cholesky factor of A with `rank` columns. All of one precision.
    """

    def __init__(
        self, bands: Iterable[tuple[slice, Array]], rank: int, dtype: Any, monitor: Monitor
    ) -> None:
        self.bands: list[tuple[slice, Array]] = []
        self.dtype, self.monitor = np.dtype(dtype), monitor
        total = SquareSum(rank, dtype)
        for rows, band in bands:
            total.add(band.T)
            self.bands.append((rows, band))
            monitor.poll()
        self.inner = mirror(total.result())

    def at(self, alpha: float) -> Operator:
        """Return r -> M**-1 r."""
        rank, dtype = len(self.inner), self.dtype
        if alpha == 0:  # T' T alone has no inverse
            return lambda R: R
        if rank == 0:
            return lambda R: R / alpha
        shifted = self.inner.copy()
        # Rounding in T must not make the inner matrix indefinite.
        floor = 10 * float(np.finfo(dtype).eps) * float(np.trace(self.inner))
        shifted[np.diag_indices(rank)] += max(alpha, floor)
        factor = TileCholesky(dense_bands(shifted), np.float64, self.monitor)

        def apply(R: Array) -> Array:
            single = R.astype(dtype)
            total = np.zeros((rank, R.shape[1]))
            for rows, band in self.bands:
                total += product(band.T, single[rows])
            inside = factor.solve(total).astype(dtype)
            out = np.array(R, dtype=np.float64)
            for rows, band in self.bands:
                out[rows] -= product(band, inside)
            out /= alpha
            return out

        return apply
