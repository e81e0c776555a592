"""Better centres for Nyström's method than points chosen at random."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from ..checks import Array
from ..grams import Prepared, TopK, prepare
from ..inputs import ROWS, Matrix
from ..monitor import Monitor

NEAREST = 12  # points for each centre that is moved


def moved_to_means(
    prepared: Prepared, few: Prepared, random: np.random.Generator, monitor: Monitor
) -> tuple[Prepared, Array]:
    """Return the means of the points nearest to each centre, and how many those are.

    One step of k-means on a part of the points. Where a mean is not a point, as of strings or
    categories, the centres stay, each standing for as many.
    """
    points, kernel = prepared.points, prepared.kernel
    same = few, np.ones(len(few))
    if not (isinstance(points, Matrix) and isinstance(few.points, Matrix)):
        return same
    if points.is_sparse or kernel.domain != ROWS or len(few) == len(points):
        return same
    count = min(len(points), NEAREST * len(few))
    some = points.take(np.sort(random.choice(len(points), count, replace=False)))
    cross = few.gram(some, store=False, monitor=monitor)
    nearest = cross.reduce(TopK(1, kernel.diag(few.points)))[0][:, 0]
    rows, old = some.values, few.points.values
    counts = np.bincount(nearest, minlength=len(old))
    ones = np.ones(count, dtype=rows.dtype)
    member = csr_array((ones, (nearest, np.arange(count))), shape=(len(old), count))
    means = (member @ rows) / np.maximum(counts, 1)[:, None].astype(rows.dtype)
    moved = Matrix(np.where(counts[:, None] > 0, means, old), points.names)
    return prepare(kernel, moved), np.maximum(counts, 0.5)
