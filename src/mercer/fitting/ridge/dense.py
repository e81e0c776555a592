"""Ridge regression of some thousand rows of numbers, for searches that fit it again and again."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from ...checks import Array
from ...grams import Prepared
from ...grams.sides import Side, View
from ...inputs import Matrix
from ...kernels import Kernel
from ...monitor import Monitor
from ...solvers import RidgeProblem
from ...solvers.ridge.refits import factored


def ridge_problem(
    targets: Array, weight: Array | None, alpha: float, copies: Array | None = None
) -> RidgeProblem:
    """Return the problem with one alpha for all outputs, and an offset."""
    return RidgeProblem(
        targets=targets,
        alpha=np.full(targets.shape[1], alpha),
        weight=weight,
        intercept=True,
        copies=copies,
    )


def dense_gram(
    kernel: Kernel,
    points: Matrix,
    monitor: Monitor,
    others: Matrix | None = None,
    dtype: DTypeLike = np.float32,
) -> Array:
    """Return K of all points, or K(others, points)."""
    prepared = Prepared(kernel, View(Side(points)))
    return prepared.gram(others, dtype=dtype, monitor=monitor).dense()


def dense_solution(
    K: Array, problem: RidgeProblem, monitor: Monitor, shift: float = 0.0
) -> tuple[Array, Array]:
    """Return the coefficients of the rows and the offsets, one column per output.

    K is left as it is; see `factored` for the precision. shift: what is added to alpha where K
    alone has no factor. NotPositiveDefinite where there is none.
    """
    A = K
    if problem.weight is not None:
        roots = problem.roots.astype(K.dtype)
        A = K * roots * roots[:, 0]
    _, solved = factored(A, float(problem.alpha[0]) + shift, problem.right_sides(), monitor)
    c, b, _ = problem.join([solved])
    return problem.roots * c, b
