"""Partial Cholesky factors from randomly chosen columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..checks import Array
from ..linalg.blas import divide_lower, subtract_product
from .matrix import Gram

AT_ONCE = 256  # pivots that are proposed together
SAMPLE = 20_000  # points up to which pivots are chosen among all
BAND_WORK = 2e10  # multiplications of a band, twice: a fraction of a second


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
    goes_on: Callable[[int, float], bool] | None = None,
) -> PartialFactor:
    """Return a factor of K from randomly pivoted columns.

    Pivots are drawn from the diagonal that remains; blocks of them are proposed at once and
    accepted one by one, which gives the same law as drawing them singly.
    roots: the factor is that of S K S with S = diag(roots). It ends early where no more than
    `enough` of the trace remains; where all `rank` columns will not get there, ends as soon as that
    is clear. goes_on: told how many columns there are and what remains of the trace, after each
    block of them; it ends where that says so.

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
        proposed = _propose(remaining, min(AT_ONCE, 2 * (len(T) - len(pivots))), smallest, random)
        found = np.array(rows(proposed), dtype=kind)
        if roots is not None:
            found *= (roots[proposed, None] * roots).astype(kind)
        pivots += _extend(T, len(pivots), found, proposed, remaining, random)
        left = float(remaining.sum())
        if enough and _hopeless(trace, left, enough, len(pivots) / len(T)):
            break
        if goes_on is not None and not goes_on(len(pivots), left):
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


def _extend(
    T: Array,
    filled: int,
    found: Array,
    proposed: Array,
    remaining: Array,
    random: np.random.Generator,
) -> list[int]:
    """Write the rows that are accepted of those found into T; return which points they are."""
    subtract_product(found, np.ascontiguousarray(T[:filled, proposed].T), T[:filled])
    accepted, lower = _accept(found[:, proposed], remaining[proposed], random)
    accepted = accepted[: len(T) - filled]
    if len(accepted) == 0:  # rounding has left less of the diagonal than was thought
        own = np.maximum(np.diagonal(found[:, proposed]), 0.0)
        remaining[proposed] = np.minimum(remaining[proposed], own)
    new = T[filled : filled + len(accepted)]
    new[:] = found[accepted]
    divide_lower(lower[: len(accepted), : len(accepted)], new)
    remaining -= np.einsum("ij,ij->j", new, new, dtype=np.float64)
    np.maximum(remaining, 0.0, out=remaining)
    remaining[proposed[accepted]] = 0.0
    return list(proposed[accepted].tolist())


def partial_factor(
    K: Gram,
    rank: int,
    random: np.random.Generator,
    roots: Array | None = None,
    goes_on: Callable[[int, float], bool] | None = None,
) -> tuple[Array, Array]:
    """Return pivots and the triangular factor of S K S between them.

    Of many points, they are chosen among some: what these tell of the others costs little then.
    goes_on: as above, about all points.
    """
    n = K.shape[0]
    chosen = np.arange(n)
    if n > SAMPLE:
        chosen = np.sort(random.choice(n, max(SAMPLE, min(4 * rank, n)), replace=False))
    found = partial_cholesky(
        K if n <= SAMPLE else K.restrict(chosen, chosen),
        rank,
        random,
        None if roots is None else roots[chosen],
        np.float32,
        goes_on=None if goes_on is None else lambda r, left: goes_on(r, left * n / len(chosen)),
    )
    return chosen[found.pivots], np.tril(found.values[:, found.pivots].T)


def spanned_columns(
    K: Gram, pivots: Array, lower: Array, roots: Array | None = None
) -> Iterator[tuple[slice, Array]]:
    """Yield rows of T' = S K[:, pivots] S L'**-1 in bands: then S K S ~ T' T.

    lower: L, the factor of S K S between the pivots.
    """
    cross, lower = K.restrict(slice(None), pivots), np.asfortranarray(lower)
    at_once = max(64, int(BAND_WORK / max(len(pivots), 1) ** 2))
    cross.plan = replace(cross.plan, band_rows=min(at_once, max(K.shape[0], 1)))
    for rows, band in cross.bands():
        part = np.array(band, dtype=lower.dtype, order="C")
        if roots is not None:
            part *= (roots[rows, None] * roots[pivots]).astype(part.dtype)
        divide_lower(lower, part.T)
        yield rows, part


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
