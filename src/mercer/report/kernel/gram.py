"""The Gram matrix of some points, ordered so that its blocks show, and its spectrum."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...checks import Array
from ...diagnostics import center
from ...plots.gram import by_clusters
from ..clock import NotShown
from ..measure.splits import thinned
from ..subject import Core, Subject

MOST_ROWS = 300
NEAR_ALL = 0.99  # share of the trace
FLAT = 0.25  # mean value of two points over that of one, from which on a matrix shows little


@dataclass(frozen=True, kw_only=True)
class Block:
    """Points of one class that stand together in a Gram matrix.

    Attributes
    ----------
    label : str
        The class.
    points : int
        How many points it has there.
    within : float
        The mean kernel value of two different points of the class.
    across : float
        The mean kernel value of a point of the class and one of another.
    """

    label: str
    points: int
    within: float | None
    across: float | None


@dataclass(frozen=True, kw_only=True, eq=False)
class GramFacts:
    """The Gram matrix of some points.

    Attributes
    ----------
    order : str
        "class", or "cluster" for numbers.
    rows : tuple of int
        The points, in the order in which they stand.
    blocks : tuple of Block
        The classes.
    eigenvalues : tuple of float
        The eigenvalues, divided by the number of points, falling.
    near_all : int
        How many eigenvalues make up 99 % of their sum.
    dimension : float or None
        The effective dimension sum_j l_j / (l_j + penalty) for the penalty of a ridge model, which
        is scaled to so many points.
    penalty : float or None
        That penalty, on the scale of `eigenvalues`.
    low : float
        The smallest kernel value.
    high : float
        The largest kernel value.
    centred : bool
        Whether the picture shows the centred matrix, whose rows have the sum 0: where all kernel
        values are about as large there is nothing to be seen of the others.
    K : ndarray of shape (n, n)
        The matrix of the picture.
    """

    order: str
    rows: tuple[int, ...]
    blocks: tuple[Block, ...]
    eigenvalues: tuple[float, ...]
    near_all: int
    dimension: float | None
    penalty: float | None
    low: float
    high: float
    centred: bool
    K: Array = field(metadata={"twin": False})


def gram_facts(subject: Subject, core: Core | None, seed: int) -> GramFacts:
    """Return the Gram matrix of some points, by class or by cluster."""
    if core is None:
        raise NotShown("The model has no kernel.")
    rows = thinned(np.arange(len(subject)), MOST_ROWS, subject.codes, seed)
    K = core.gram(rows)
    if not np.isfinite(K).all():
        raise NotShown("The kernel has values that are not finite.")
    order = _by_class(K, subject.truth[rows]) if subject.classes is not None else by_clusters(K)
    rows, K = rows[order], K[np.ix_(order, order)]
    values = np.linalg.eigvalsh((K + K.T) / 2)[::-1] / len(rows)
    values = np.maximum(values, 0.0)
    named = core.penalty
    # K of n points has eigenvalues that grow with n, so that alpha / n is their penalty.
    penalty = named[1] / len(subject) if named is not None and named[0] == "alpha" else None
    total = float(values.sum())
    near_all = int(np.searchsorted(np.cumsum(values), NEAR_ALL * total) + 1) if total > 0 else 0
    centred = _is_flat(K)
    return GramFacts(
        order="class" if subject.classes is not None else "cluster",
        rows=tuple(rows.tolist()),
        blocks=_blocks(subject, rows, K),
        eigenvalues=tuple(values.tolist()),
        near_all=min(near_all, len(rows)),
        dimension=float((values / (values + penalty)).sum()) if penalty else None,
        penalty=penalty,
        low=float(K.min()),
        high=float(K.max()),
        centred=centred,
        K=_centred(K) if centred else K,
    )


def _is_flat(K: Array) -> bool:
    """Return whether values of two points are so large that their differences do not show."""
    n, trace = len(K), float(np.trace(K))
    return n > 1 and (float(K.sum()) - trace) / (n - 1) > FLAT * trace


def _centred(K: Array) -> Array:
    """Return the centred matrix with its diagonal cut to the size of the other values."""
    found = center(K)
    most = float(np.abs(found - np.diag(np.diag(found))).max())
    return np.clip(found, -most, most)


def _by_class(K: Array, codes: Array) -> Array:
    """Return an order of points by class, and within a class by clusters."""
    parts = []
    for code in np.unique(codes):
        members = np.flatnonzero(codes == code)
        parts.append(members[by_clusters(K[np.ix_(members, members)])])
    return np.concatenate(parts)


def _blocks(subject: Subject, rows: Array, K: Array) -> tuple[Block, ...]:
    if subject.classes is None:
        return ()
    codes, found = subject.truth[rows], []
    for code in np.unique(codes):
        own = codes == code
        inner, n = K[np.ix_(own, own)], int(own.sum())
        pairs = n * (n - 1)
        others = K[np.ix_(own, ~own)]
        found.append(
            Block(
                label=subject.labels[code],
                points=n,
                within=float((inner.sum() - np.trace(inner)) / pairs) if pairs else None,
                across=float(others.mean()) if others.size else None,
            )
        )
    return tuple(found)
