"""Centres that are moved to where they carry functions best, by the gradient."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import Bounds, minimize

from ...checks import Array, KernelError
from ...grams import Prepared, limit_in_bytes
from ...grams.sides import Side, View
from ...grams.slopes.points import PointSlopes
from ...inputs import Input, Matrix
from ...linalg.blas import half_square, mirror, product
from ...monitor import Monitor, Stopped
from ...run import Run
from .projection import Functions, gram_of

RIDGE = 1e-10  # of the mean k(z, z): added to K of the centres, which may come together
SHARE = 1e-5  # weight of the distance in H beside that of scores, for k(x, x) of 1
MEMORIES = 10  # former steps from which the curvature is guessed
STILL = 1e-6  # a step that lowers the distance by less than this share of the first ends it
SMALLEST = float(np.finfo(np.float64).tiny)


def movable(prepared: Prepared) -> bool:
    """Return whether the points are dense rows of numbers that the kernel has a gradient by."""
    points = prepared.points
    if not isinstance(points, Matrix) or points.is_sparse:
        return False
    first = points.take(slice(0, 1))
    try:
        slopes = PointSlopes(prepared.kernel, View(Side(first)), np.ones((1, 1)))
        slopes.mixed(first, np.ones((1, 1)), Monitor())
    except KernelError:
        return False
    return True


@dataclass(frozen=True, kw_only=True)
class Scores:
    """Points at which the values of functions are to be met.

    values: f_c(x), a column per function. offset: whether a constant may be added to each g_c.
    """

    points: Input
    values: Array
    offset: bool

    @cached_property
    def view(self) -> View:
        return View(Side(self.points))

    @cached_property
    def centred(self) -> Array:
        """The values, less their means where there is an offset."""
        return self.values - self.values.mean(axis=0) if self.offset else self.values

    def part(self, most: int) -> Scores:
        """Return at most so many of the points, at even distances in their order."""
        if len(self.points) <= most:
            return self
        rows = np.linspace(0, len(self.points) - 1, most).astype(np.intp)
        return Scores(points=self.points.take(rows), values=self.values[rows], offset=self.offset)

    def normal_equations(self, centres: Prepared, run: Run) -> tuple[Array, Array, Any]:
        """Return K' K / n, K' f / n and K = K(x, z), centred where there is an offset."""
        K = centres.gram(self.points, use="many", memory_limit=run.memory_limit)
        m, n = len(centres), len(self.points)
        total, right = np.zeros((m, m)), np.zeros((m, self.values.shape[1]))
        sums = np.zeros(m)
        for rows, band in K.bands():
            total += half_square(np.ascontiguousarray(band.T))
            right += product(band.T, self.centred[rows].astype(band.dtype))
            sums += band.sum(axis=0, dtype=np.float64)
            run.monitor.poll()
        whole = mirror(total) / n
        if self.offset:
            whole -= np.outer(sums / n, sums / n)
        return whole, right / n, K

    def residuals(self, K: Any, b: Array) -> tuple[Array, Array]:
        """Return f_c(x) - g_c(x) at the points, less its mean where there is an offset; and that.

        K: of the points and the centres.
        """
        found = self.values - K @ b
        shift = found.mean(axis=0) if self.offset else np.zeros(b.shape[1])
        return found - shift, shift


@dataclass(frozen=True, kw_only=True)
class Distance:
    """How far the best functions of centres are from those that are wanted, and its gradient.

    Without scores it is sum_c ||f_c - g_c||**2, with b = K_zz**-1 f(z). With scores it is sum_c of
    the mean of (f_c(x) - g_c(x))**2 and `share` times that. In both cases b is the best one for
    the centres, so that its own derivative drops out (variable projection):
    d/dz_j = -2 sum_c b_jc (share (f_c - g_c)'(z_j) + mean_x e_c(x) dk(z_j, x)/dz_j), e = f - g.
    """

    functions: Functions
    scores: Scores | None
    run: Run

    @cached_property
    def share(self) -> float:
        """The weight of the distance in H."""
        return 1.0 if self.scores is None else SHARE * self.functions.prepared.largest()

    @property
    def dtype(self) -> Any:
        return self.functions.prepared.view.dtype

    def prepared(self, Z: Array) -> Prepared:
        """Return centres at rows of numbers, in the precision of the points."""
        before = self.functions.prepared
        names = before.points.names if isinstance(before.points, Matrix) else None
        rows = Matrix(Z.astype(self.dtype), names)
        return Prepared(before.kernel, View(Side(rows)))

    def solved(self, centres: Prepared) -> tuple[float, Array, Any]:
        """Return the distance in H, the best coefficients b and K of scores and centres."""
        run, share, functions = self.run, self.share, self.functions
        cross = functions.prepared.gram(
            centres.points, use="once", dtype=self.dtype, memory_limit=run.memory_limit
        )
        values, K, known = cross @ functions.coefficients, gram_of(centres), None
        K[np.diag_indices(len(K))] += RIDGE * float(np.diagonal(K).mean())
        system, right = share * K, share * values
        if self.scores is not None:
            normal, more, known = self.scores.normal_equations(centres, run)
            system, right = system + normal, right + more
        b = cho_solve(cho_factor(system, lower=True, check_finite=False), right)
        apart = functions.squares.sum() + np.einsum("jc,jc->", b, product(K, b) - 2 * values)
        return float(apart), b, known

    def at(self, Z: Array) -> tuple[float, Array]:
        """Return the distance with centres Z and its gradient, an array like Z."""
        centres, run, kernel = self.prepared(Z), self.run, self.functions.prepared.kernel
        apart, b, known = self.solved(centres)
        rows: Any = centres.points
        wanted = PointSlopes(
            kernel, self.functions.prepared.view, self.functions.coefficients, self.dtype
        )
        own = PointSlopes(kernel, centres.view, b, self.dtype)
        slope = wanted.mixed(rows, b, run.monitor) - own.mixed(rows, b, run.monitor)
        if self.scores is None:
            return apart, -2 * slope
        n = len(self.scores.points)
        errors = self.scores.residuals(known, b)[0]
        seen = PointSlopes(kernel, self.scores.view, errors / n, self.dtype)
        value = self.share * apart + float((errors**2).sum()) / n
        return value, -2 * (self.share * slope + seen.mixed(rows, b, run.monitor))


def polish(distance: Distance, centres: Prepared, max_iter: int) -> tuple[Prepared, int]:
    """Return centres moved downhill by a limited-memory quasi-Newton method, and its steps.

    It ends after max_iter steps, at a minimum, or when the monitor of the run says so; what it
    returns is the best that was seen.
    """
    rows: Any = centres.points
    start = rows.dense().astype(np.float64)
    best: list[Any] = [np.inf, start]
    steps, unit = 0, 0.0  # the distance at the start is the unit of the search

    def look(z: Array) -> tuple[float, Array]:
        nonlocal unit
        Z = z.reshape(start.shape)
        value, slope = distance.at(Z)
        unit = unit or max(value, SMALLEST)
        if value < best[0]:
            best[:] = value, Z.copy()
        return value / unit, slope.ravel() / unit

    def count(_: Array) -> None:
        nonlocal steps
        steps += 1
        record = {"stage": "polish", "iteration": steps, "distance": float(best[0])}
        distance.run.monitor.iteration(record | {"fraction": steps / max_iter})

    within = Bounds(0.0, np.inf) if centres.kernel.needs_nonnegative() else None
    room = limit_in_bytes(distance.run.who, distance.run.memory_limit) // (4 * start.nbytes)
    memories = int(min(MEMORIES, max(room, 2)))  # each is two arrays, which take half the room
    options = {"maxiter": max_iter, "maxcor": memories, "gtol": 0.0, "ftol": STILL}
    with contextlib.suppress(Stopped):
        minimize(
            look,
            start.ravel(),
            jac=True,
            method="L-BFGS-B",
            bounds=within,
            callback=count,
            options=options,
        )
    return distance.prepared(best[1]), steps
