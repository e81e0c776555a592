"""The centres of Nyström's map: chosen among the training points, their means, or given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..checks import Array, InputError, MemoryLimitError, bytes_text, sentence
from ..fitting.centres import step_to_means
from ..grams import Prepared, limit_in_bytes, partial_cholesky
from ..grams.pivots import AT_ONCE
from ..grams.sides import Side, View
from ..inputs import CATEGORIES, GramRows, Input, Matrix, RowBlocks, as_input
from ..run import Run

MANY = 50_000  # points beyond which the centres are chosen among a part
LEAST = 5  # points for each centre among which they are chosen at least: more hardly help
WORK = 1e10  # multiplications that choosing among more than that may cost
STEPS, NEAREST = 5, 12  # of k-means, and points for each centre that take part in it


@dataclass(frozen=True, kw_only=True)
class Centers:
    """Centres, and how they came about.

    prepared: the kernel with the centres. indices: which training points they are; None: none.
    left: trace(K - K_hat) / trace(K) of all training points, and features: theirs, where these are
    known already.
    entries: kernel values that were computed. bytes: what choosing took. told: how it was done.
    """

    prepared: Prepared
    indices: Array | None
    left: float | None = None
    features: Array | None = None
    entries: int = 0
    bytes: int = 0
    told: str


def random_pivots(prepared: Prepared, count: int, run: Run) -> Centers:
    """Choose by randomly pivoted Cholesky among all points, or among a random part of many.

    The order is that of the pivots: the first r of them are a choice of r centres.
    """
    random, n = np.random.default_rng(run.seed), len(prepared)
    size = _candidates(prepared, count, run)
    chosen = np.arange(n) if size == n else np.sort(random.choice(n, size, replace=False))
    whole = size == n and not isinstance(prepared.points, RowBlocks)
    among = prepared if whole else prepared.take(chosen)
    K = among.gram(use="once", memory_limit=run.memory_limit, monitor=run.monitor)
    factor = partial_cholesky(K, count, random)
    pivots = factor.pivots if len(factor.pivots) else np.zeros(1, dtype=np.intp)
    trace = float(K.diag().sum())
    left = float(factor.remaining.sum()) / trace if trace > 0 else 0.0
    return Centers(
        prepared=among.take(pivots),
        indices=chosen[pivots],
        left=left if size == n else None,
        features=factor.values.T if size == n and factor.values.dtype == np.float64 else None,
        entries=size * len(pivots),
        bytes=factor.values.nbytes,
        told=f"random pivots among {'all' if size == n else size} of {n} points",
    )


def _candidates(prepared: Prepared, count: int, run: Run) -> int:
    """Return among how many points the centres are chosen; refuse where too few fit the limit."""
    limit, n = limit_in_bytes(run.who, run.memory_limit), len(prepared)
    points, size = prepared.points, prepared.view.dtype.itemsize
    copied = points.n_columns * size if isinstance(points, Matrix) else 0
    each = (count + 3 * AT_ONCE) * size + copied  # the factor, rows on their way, the point
    room = max(limit - 3 * 8 * count**2, 0) // each
    if room < min(count + 1, n):
        need = each * (count + 1) + 3 * 8 * count**2
        raise MemoryLimitError(
            f"{run.who}: choosing {count} centres must fit memory_limit; it needs "
            f"{bytes_text(need)}, the limit is {bytes_text(limit)}. Lower n_components, raise "
            "memory_limit, or take centers='uniform'."
        )
    return int(min(n, room, max(LEAST * count, min(MANY, WORK / count**2))))


def uniform(prepared: Prepared, count: int, run: Run) -> Centers:
    """Choose points at random, each with the same chance."""
    random = np.random.default_rng(run.seed)
    chosen = random.choice(len(prepared), count, replace=False)
    told = f"drawn from {len(prepared)} points"
    return Centers(prepared=prepared.take(chosen), indices=chosen, told=told)


def means(prepared: Prepared, count: int, run: Run) -> Centers:
    """Take the means of k-means in feature space, of a part of the points.

    Zhang, Tsang, Kwok, "Improved Nyström low-rank approximation and error analysis" (2008).
    """
    kernel, random = prepared.kernel, np.random.default_rng(run.seed)
    n = len(prepared)
    size = min(n, NEAREST * count)
    some = prepared.take(np.sort(random.choice(n, size, replace=False)))
    if kernel.domain == CATEGORIES or not isinstance(some.points, Matrix):
        must = "centers='kmeans' takes rows of numbers, which have means"
        advice = "Use centers='rpcholesky'."
        raise InputError(sentence(run.who, must, f"{some.points.kind} for {kernel!r}", advice))
    few = some.take(random.choice(size, count, replace=False))
    for _ in range(STEPS if count < size else 0):
        few, _ = step_to_means(few, some.points, memory_limit=run.memory_limit, monitor=run.monitor)
    told = f"means of {size} of {n} points"
    return Centers(prepared=few, indices=None, entries=STEPS * size * count, told=told)


def given(centers: Any, prepared: Prepared, count: int | None, run: Run) -> Centers:
    """Take the centres of the user, which must be points such as those of the fit."""
    kernel, points = prepared.kernel, prepared.points
    if isinstance(points, GramRows):
        must = "centers must be 'rpcholesky' or 'uniform' for a precomputed Gram"
        raise InputError(sentence(run.who, must, type(centers).__name__))
    own = kernel.admit(as_input(centers, kernel.domain, f"{run.who} centers"))
    own = own.take(slice(None)) if isinstance(own, RowBlocks) else own
    _require_alike(own, points, run.who)
    if len(own) == 0:
        raise InputError(sentence(run.who, "centers must be at least one point", "none"))
    if count is not None and count != len(own):
        must = f"n_components must be None or {len(own)}, the number of the centers"
        raise InputError(sentence(run.who, must, count))
    copies = Prepared(kernel, View(Side(own))).checked().take(np.arange(len(own)))
    return Centers(prepared=copies, indices=None, told="given by the user")


def _require_alike(own: Input, points: Input, who: str) -> None:
    """Refuse centres of another kind than the points, or with other columns."""
    like = points.first() if isinstance(points, RowBlocks) else points
    if type(own) is not type(like):
        raise InputError(sentence(who, f"centers must be {like.kind}, as X is", own.kind))
    if not (isinstance(own, Matrix) and isinstance(like, Matrix)):
        return
    if own.n_columns != like.n_columns:
        must = f"centers must have the {like.n_columns} columns of X"
        raise InputError(sentence(who, must, f"{own.n_columns} columns"))
    if own.names is not None and like.names is not None and own.names != like.names:
        must = f"centers must have the columns of X, {', '.join(like.names)}"
        raise InputError(sentence(who, must, ", ".join(own.names)))
