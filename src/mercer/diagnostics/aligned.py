"""Weights of kernels by alignment with a target, in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from ..checks import Array, InputError, KernelError, sentence
from ..grams.stacks.matrices import ComputedStack
from ..kernels import Kernel, Sum, to_kernel
from ..kernels.algebra import Scaled
from ..monitor import Monitor
from ..typing import KernelLike, LabelsLike, PointsLike, TargetsLike
from .validity import _target, center


@dataclass(frozen=True, kw_only=True)
class Aligned:
    """Weights of kernels by alignment with a target.

    Attributes
    ----------
    kernel : Kernel
        The weighted sum of the kernels that have a weight.
    weights : ndarray of shape (n_kernels,)
        The weights, of sum 1, of the kernels divided by the norms of their centred matrices.
    alignment : float
        The alignment of the weighted sum, at most 1.
    alignments : ndarray of shape (n_kernels,)
        The alignment of each kernel alone.
    """

    kernel: Kernel
    weights: Array
    alignment: float
    alignments: Array


def align(kernels: Sequence[KernelLike], X: PointsLike, y: TargetsLike | LabelsLike) -> Aligned:
    """Weigh kernels so that their sum is aligned with a target as well as can be.

    The weights maximise <K, L> / (|K| |L|) over K = sum_m w_m K_m, w >= 0, all matrices centred; L
    is y y' for numbers or two classes, and the matrix of pairs of the same class for several
    classes. They are the solution of a small non-negative least squares problem [1]_.

    Parameters
    ----------
    kernels : sequence of Kernel, str or callable
        The kernels, at least one.
    X : array-like, sparse matrix, data frame or sequence of objects
        The points.
    y : array-like of shape (n,) or (n, n)
        Numbers or classes, or the matrix L itself.

    Returns
    -------
    Aligned
        The kernel, its weights and its alignment.

    Raises
    ------
    InputError
        If there is no kernel, or the target is constant.
    KernelError
        If all kernels are constant on the points, or none is aligned with the target.

    See Also
    --------
    alignment : The alignment of one kernel.
    MKLClassifier : Weights that minimise the loss of a classifier.

    References
    ----------
    .. [1] C. Cortes, M. Mohri, A. Rostamizadeh, "Algorithms for learning kernels based on centered
       alignment", Journal of Machine Learning Research 13 (2012).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import align
    >>> from mercer.kernels import Gaussian
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> found = align([Gaussian(1.0).on([0]), Gaussian(1.0).on([1])], X, X[:, 1] > 0)
    >>> found.weights.round(1)
    array([0., 1.])
    """
    if isinstance(kernels, str | Kernel) or not len(kernels):
        must = "kernels must be a list of one kernel or more"
        raise InputError(sentence("align", must, repr(kernels)))
    values = [to_kernel(kernel, who="align") for kernel in kernels]
    whole = values[0] if len(values) == 1 else Sum(tuple(values))  # says what does not go together
    points = whole.admit(X)
    resolved = [kernel.resolve(kernel.admit(points)) for kernel in values]
    stack = ComputedStack(resolved, points, np.float64, Monitor())
    L = center(_target(y, len(points)))
    size = float(np.linalg.norm(L))
    if size == 0:
        raise InputError(sentence("align", "the target must not be constant", "one value"))
    moments, products = centred_products(stack, L / size)
    norms = np.sqrt(np.maximum(np.diagonal(moments), 0.0))
    scale = max(float(norms.max()), 1e-300)
    used = np.flatnonzero(norms > 1e-12 * scale)
    if len(used) == 0:
        raise KernelError(sentence("align", "a kernel must tell the points apart", "constants"))
    alignments = np.zeros(len(values))
    alignments[used] = products[used] / norms[used]
    weights = np.zeros(len(values))
    correlations = moments[np.ix_(used, used)] / np.outer(norms[used], norms[used])
    weights[used] = _best(correlations, alignments[used])
    if not weights.any():
        got = f"alignments up to {alignments.max():.2g}"
        raise KernelError(sentence("align", "a kernel must be aligned with the target", got))
    reached = float(weights @ alignments) / float(
        np.sqrt(weights[used] @ correlations @ weights[used])
    )
    weights /= weights.sum()
    terms = tuple(
        Scaled(kernel, float(w / norm))
        for kernel, w, norm in zip(resolved, weights, norms, strict=True)
        if w > 0
    )
    kernel = terms[0] if len(terms) == 1 else Sum(terms)
    return Aligned(kernel=kernel, weights=weights, alignment=reached, alignments=alignments)


def _best(correlations: Array, alignments: Array) -> Array:
    """Return w >= 0 with the least w' C w - 2 w' a."""
    lambdas, V = np.linalg.eigh(correlations)
    kept = lambdas > 1e-10 * lambdas[-1]
    roots = np.sqrt(lambdas[kept])
    root = roots[:, None] * V[:, kept].T
    return np.asarray(nnls(root, (V[:, kept].T @ alignments) / roots)[0])


def centred_products(stack: ComputedStack, L: Array) -> tuple[Array, Array]:
    """Return <K_l, K_m> of all pairs of centred matrices, and <K_m, L>; L: centred.

    For H = I - 1 1' / n, <H K H, H L H> = <K, L> - 2 r . s / n + (1 . r) (1 . s) / n**2, where r
    and s are the sums of the rows of K and L.
    """
    n, count = stack.size, stack.count
    moments, products, sums = np.zeros((count, count)), np.zeros(count), np.zeros((count, n))
    step = max(16, 2**23 // max(count * n, 1))
    for start in range(0, n, step):
        rows = np.arange(start, min(start + step, n))
        band = stack.rows(rows).reshape(count, -1)
        moments += band @ band.T
        products += band @ L[rows].ravel()
        sums[:, rows] = band.reshape(count, len(rows), n).sum(axis=2)
    totals = sums.sum(axis=1)
    return moments - 2 * sums @ sums.T / n + np.outer(totals, totals) / n**2, products
