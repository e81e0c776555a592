"""Better centres for Nyström's method than points chosen at random."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array

from ..checks import Array
from ..grams import Prepared, TopK, prepare
from ..inputs import ROWS, Matrix
from ..kernels.pairs import as_matrix
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
    if not isinstance(points, Matrix) or points.is_sparse:
        return same
    if kernel.domain != ROWS or len(few) == len(points):
        return same
    count = min(len(points), NEAREST * len(few))
    some = points.take(np.sort(random.choice(len(points), count, replace=False)))
    moved, counts = step_to_means(few, some, monitor=monitor)
    return moved, np.maximum(counts, 0.5)


def step_to_means(few: Prepared, points: Matrix, **options: Any) -> tuple[Prepared, Array]:
    """Return each centre moved to the mean of the points nearest to it, and how many these are.

    One step of k-means in feature space, of dense or sparse rows. options: of the Gram matrix.
    """
    cross = few.gram(points, use="rows", **options)
    nearest = cross.reduce(TopK(1, few.diag()))[0][:, 0]
    counts = np.bincount(nearest, minlength=len(few))
    ones = np.ones(len(points), dtype=points.dtype)
    member = csr_array((ones, (nearest, np.arange(len(points)))), shape=(len(few), len(points)))
    with np.errstate(over="ignore", invalid="ignore"):  # the new rows are looked at
        scale = (1.0 / np.maximum(counts, 1)).astype(points.dtype)
        found: Any = diags_array(scale) @ (member @ points.values)
    alone, old = counts == 0, as_matrix(few.points).values  # none is nearest to it: it stays
    if points.is_sparse:
        found = csr_array(found + diags_array(alone.astype(points.dtype)) @ old)
    else:
        found[alone] = old[alone]
    return prepare(few.kernel, Matrix(found, points.names).check("centres")), counts
