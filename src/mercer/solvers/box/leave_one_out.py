"""Scores that a support vector machine would give its points had it not seen them."""

from __future__ import annotations

import numpy as np

from ...checks import Array
from ...linalg.blas import product
from ...linalg.cholesky import NotPositiveDefinite, TileCholesky, dense_bands
from ...monitor import Monitor
from .machines import Machine
from .problem import BoxProblem
from .rows import KernelRows

MOST = 2000  # points on the margin whose equations are solved; of more, some are drawn
BLOCK = 1024


def leave_one_out(
    rows: KernelRows, problem: BoxProblem, machine: Machine, random: np.random.Generator
) -> Array:
    """Return approximate scores f(x_i) of the machines without point i.

    A point that carries nothing keeps its score; others lose b_i S_i**2, where S_i is the distance
    from the image of the point to the span of the others on the margin. Exact where without the
    point the same others would be on the margin.

    Chapelle, Vapnik, "Bounds on error expectation for support vector machines" (2000).
    """
    found = machine.scores.copy()
    margin = np.flatnonzero(machine.free)
    if len(margin) > MOST:
        margin = np.sort(random.choice(margin, MOST, replace=False))
    carries = machine.b != 0
    carries[margin] = False
    inside = _block(rows, margin, margin)
    inverse, sums = _inverse(inside)
    total = float(sums.sum())
    bordered = problem.offset and total > 0
    widest = 4 * float(np.abs(np.diagonal(inside)).max(initial=0.0))  # between any two images
    own = np.diagonal(inverse) - (sums**2 / total if bordered else 0.0)
    span = np.divide(1.0, own, out=np.full(len(own), widest), where=own * widest > 1)
    found[margin] -= machine.b[margin] * span
    others = np.flatnonzero(carries)
    for start in range(0, len(others), BLOCK):
        some = others[start : start + BLOCK]
        cross = _block(rows, some, margin)
        diagonal = _diagonal(rows, some)
        explained = np.einsum("ij,ij->i", product(cross, inverse), cross)
        if bordered:
            explained -= (cross @ sums - 1) ** 2 / total
        span = np.maximum(diagonal - explained, 0.0)
        found[some] -= machine.b[some] * span
    return found


def _block(rows: KernelRows, chosen: Array, columns: Array) -> Array:
    parts = [np.zeros((0, len(columns)))]
    step = max(1, min(rows.room, BLOCK))
    for start in range(0, len(chosen), step):
        places = rows.fetch(chosen[start : start + step])
        parts.append(rows.values[np.ix_(places, rows.columns(columns))].astype(np.float64))
    return np.vstack(parts)


def _diagonal(rows: KernelRows, chosen: Array) -> Array:
    parts = [np.zeros(0)]
    step = max(1, min(rows.room, BLOCK))
    for start in range(0, len(chosen), step):
        some = chosen[start : start + step]
        parts.append(rows.values[rows.fetch(some), rows.columns(some)].astype(np.float64))
    return np.concatenate(parts)


def _inverse(K: Array) -> tuple[Array, Array]:
    """Return K**-1 and its row sums; what rounding makes singular is made regular, 0 stays 0."""
    n = len(K)
    jitter = 1e-12 * float(np.trace(K))
    for _ in range(12 if jitter > 0 else 0):
        try:
            inverse = TileCholesky(dense_bands(K), np.float64, Monitor(), jitter).solve(np.eye(n))
            return inverse, inverse.sum(axis=1)
        except NotPositiveDefinite:
            jitter *= 100
    return np.zeros((n, n)), np.zeros(n)
