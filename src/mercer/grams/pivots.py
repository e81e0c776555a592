"""Partial Cholesky factors from randomly chosen columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..checks import Array
from ..linalg.blas import product, solve_lower
from .matrix import Gram

AT_ONCE = 256  # pivots that are proposed together


HUGE = 1e30  # trace from which a factor is kept in double precision


@dataclass(frozen=True)
class PartialFactor:
    """S K S ~ T' T from `rank` of its columns.

    values: T, (rank, n). pivots: the columns that were used. remaining: the diagonal of the rest.
    """

    values: Array
    pivots: Array
    remaining: Array


def partial_cholesky(
    K: Gram | Array,
    rank: int,
    random: np.random.Generator,
    roots: Array | None = None,
    dtype: Any = None,
    enough: float = 0.0,
) -> PartialFactor:
    """Return a factor of K from randomly pivoted columns.

    Pivots are drawn from the diagonal that remains; blocks of them are proposed at once and
    accepted one by one, which gives the same law as drawing them singly.
    roots: the factor is that of S K S with S = diag(roots). It ends early where no more than
    `enough` of the trace remains; where all `rank` columns will not get there, ends as soon as that
    is clear.

    Epperly, Tropp, Webber, "Embrace rejection: kernel matrix approximation by accelerated randomly
    pivoted Cholesky" (2024).
    """
    n = K.shape[0]
    kind = K.dtype if dtype is None else np.dtype(dtype)
    whole, rows = (K.diag(), K.rows) if isinstance(K, Gram) else (np.diagonal(K), K.__getitem__)
    remaining = np.maximum(whole if roots is None else whole * roots**2, 0.0)
    trace = float(remaining.sum())
    if trace > HUGE:  # single precision could not hold it
        kind = np.dtype(np.float64)
    smallest = np.finfo(kind).eps * remaining.max(initial=0.0) * 10
    T = np.empty((min(rank, n), n), dtype=kind)
    pivots: list[int] = []
    while len(pivots) < len(T) and (remaining > smallest).any() and remaining.sum() > enough:
        if isinstance(K, Gram):
            K.monitor.poll()  # rows that NumPy computes do not poll the monitor
        filled = len(pivots)
        proposed = _propose(remaining, min(AT_ONCE, 2 * (len(T) - filled)), smallest, random)
        found = np.array(rows(proposed), dtype=kind)
        if roots is not None:
            found *= (roots[proposed, None] * roots).astype(kind)
        _subtract(found, T[:filled], proposed)
        accepted, lower = _accept(found[:, proposed], remaining[proposed], random)
        accepted = accepted[: len(T) - filled]
        if len(accepted) == 0:  # rounding has left less of the diagonal than was thought
            own = np.maximum(np.diagonal(found[:, proposed]), 0.0)
            remaining[proposed] = np.minimum(remaining[proposed], own)
        lower = lower[: len(accepted), : len(accepted)]
        new = T[filled : filled + len(accepted)]
        new[:] = solve_lower(lower.astype(kind), found[accepted])
        remaining -= np.einsum("ij,ij->j", new, new, dtype=np.float64)
        np.maximum(remaining, 0.0, out=remaining)
        remaining[proposed[accepted]] = 0.0
        pivots += proposed[accepted].tolist()
        if enough and _hopeless(trace, remaining.sum(), enough, len(pivots) / len(T)):
            break
    return PartialFactor(T[: len(pivots)], np.array(pivots, dtype=np.intp), remaining)


def _hopeless(trace: float, left: float, enough: float, done: float) -> bool:
    """Return whether `enough` stays out of reach; done: the share of the columns that are used.

    Each column leaves a larger share of the rest than the one before, so that going on as until
    now is the best that can happen; twice that is left for chance.
    """
    if done < 0.2 or left <= enough:
        return False
    return float(np.log(trace / left)) * 2 < done * float(np.log(trace / enough))


def _subtract(found: Array, T: Array, proposed: Array) -> None:
    """Take off what the factor explains already, in parts short enough to be interrupted."""
    left = T[:, proposed].T
    step = max(1024, int(2e9 / max(left.size, 1)))
    for start in range(0, found.shape[1], step):
        columns = slice(start, start + step)
        found[:, columns] -= product(left, T[:, columns])


def _propose(remaining: Array, count: int, smallest: float, random: np.random.Generator) -> Array:
    """Draw points by what remains of their diagonal, each kept once, in the order of drawing."""
    weights = np.where(remaining > smallest, remaining, 0.0)
    drawn = random.choice(len(weights), size=count, p=weights / weights.sum())
    _, first = np.unique(drawn, return_index=True)
    return np.asarray(drawn[np.sort(first)])


def _accept(H: Array, before: Array, random: np.random.Generator) -> tuple[Array, Array]:
    """Accept each proposed pivot with the chance that is left of it; return them and their factor.

    H: what remains of K between the proposed points.
    """
    H = H.astype(np.float64)
    lower = np.zeros_like(H)
    chances = random.random(len(H)) * before
    accepted: list[int] = []
    for i in range(len(H)):
        k = len(accepted)
        row = lower[i, :k]
        left = H[i, i] - row @ row
        if left <= chances[i] or left <= 0:
            continue
        rest = lower[i + 1 :, :k]
        lower[i, k] = root = np.sqrt(left)
        lower[i + 1 :, k] = (H[i + 1 :, i] - rest @ row) / root
        accepted.append(i)
    found = np.array(accepted, dtype=np.intp)
    return found, lower[found][:, : len(found)]
