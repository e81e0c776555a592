"""Maps of kernels of histograms that are sums over the columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from .. import checks
from ..checks import Array, KernelError, sentence
from ..grams import Prepared
from ..inputs import Input, Matrix, RowBlocks
from ..kernels import Intersection, Kernel, NormalizedIntersection, Scaled
from ..kernels.pairs import as_matrix
from ..models.base import Certificate
from ..run import Run
from ..status import Status
from ..typing import KernelLike, MemoryLimit
from .base import FeatureMap

BAND = 1 << 18  # numbers that are computed at a time


class AdditiveMap(FeatureMap):
    """Maps of the intersection kernels: each column becomes a few steps of a staircase.

    With knots 0 = t_0 < t_1 < … < t_m of a column and h_i = t_(i+1) - t_i, a number x becomes
    sqrt(h_i) clip((x - t_i) / h_i, 0, 1) for i = 0, …, m - 1, see [1]_. The dot product of two such
    rows is min(x, y) exactly if a knot lies between x and y, and otherwise too small by at most
    h_i / 4. For `NormalizedIntersection` features are divided by sqrt(x).

    The knots of a column are spread evenly from 0 to its largest training value; those of
    `NormalizedIntersection` by equal ratios, from its smallest value above 0.

    Parameters
    ----------
    kernel : Kernel, str or callable, default=None
        `Intersection()` or `NormalizedIntersection()`, or one of them times a number. None is
        `Intersection()`.
    n_components : int, default=10
        Number m of features for each column.
    memory_limit : int or str, default="auto"
        Bytes that may be allocated, the features that are returned among them, as a number or a
        text such as "2GB"; "auto" takes a share of the free memory.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel.
    knots_ : ndarray of shape (d, n_components + 1)
        The knots of each column.
    error_bound_ : float
        The largest 0 <= k(x, y) - phi(x).phi(y), for a training point x and any y.
    certificate_ : Certificate
        What the fit cost.

    References
    ----------
    .. [1] S. Maji, A. C. Berg, "Max-margin additive classifiers for detection", ICCV, 2009.

    Examples
    --------
    >>> from mercer.features import AdditiveMap
    >>> from mercer.kernels import Intersection
    >>> phi = AdditiveMap(Intersection(), n_components=2).fit([[0.0], [4.0]])
    >>> phi.transform([[1.0], [3.0]]).round(3)
    array([[0.707, 0.   ],
           [1.414, 0.707]])
    >>> phi.error_bound_
    0.5
    """

    knots_: Array
    error_bound_: float

    def __init__(
        self,
        kernel: KernelLike = None,
        n_components: int = 10,
        *,
        memory_limit: MemoryLimit = "auto",
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.memory_limit = memory_limit

    def _kernel(self) -> Kernel:
        return Intersection() if self.kernel is None else super()._kernel()

    def _learn(self, prepared: Prepared, run: Run) -> None:
        count = checks.whole(run.who, "n_components", self.n_components, least=1)
        by_ratio, scale = required_kind(self.kernel_, run.who)
        points = prepared.points
        blocks = points.blocks() if isinstance(points, RowBlocks) else iter((points,))
        ends = [_range(as_matrix(self.kernel_.admit(block))) for block in blocks]
        least, most = np.min([e[0] for e in ends], axis=0), np.max([e[1] for e in ends], axis=0)
        self._prepared = prepared.take(np.arange(1))  # which shows the columns
        if by_ratio:
            self.knots_, bounds = _by_ratio(least, most, count)
        else:
            self.knots_, bounds = np.linspace(0.0, most, count + 1, axis=1), most / count / 4.0
        self.error_bound_ = float(scale * bounds.sum())
        self._require_room(1, prepared.view.dtype)
        self.certificate_ = Certificate(
            status=Status.EXACT,
            plan=f"{count} features for each of {len(most)} columns",
            kernel_entries=0,
            bytes=self.knots_.nbytes,
            seconds=run.seconds,
        )

    def _width(self) -> int:
        return int(self.knots_.shape[0] * (self.knots_.shape[1] - 1))

    def _is_sparse(self, points: Input) -> bool:
        first = points.first() if isinstance(points, RowBlocks) else points
        return isinstance(first, Matrix) and first.is_sparse

    def _features(self, points: Input, out: Array) -> None:
        rows = as_matrix(self.kernel_.admit(points)).dense()
        step = max(1, BAND // self._width())
        for start in range(0, len(rows), step):
            band = rows[start : start + step]
            columns = np.broadcast_to(np.arange(band.shape[1]), band.shape)
            out[start : start + step] = self._steps(band, columns).reshape(len(band), -1)

    def _sparse_features(self, points: Input) -> Any:
        rows = scipy.sparse.csr_array(as_matrix(self.kernel_.admit(points)).values)
        m = self.knots_.shape[1] - 1
        values = self._steps(rows.data, rows.indices).astype(self._dtype(points), copy=False)
        places = rows.indices.astype(np.int64)[:, None] * m + np.arange(m)
        parts = values.ravel(), places.ravel(), rows.indptr.astype(np.int64) * m
        found = scipy.sparse.csr_array(parts, shape=(rows.shape[0], self._width()))
        found.eliminate_zeros()
        return found

    def _steps(self, values: Array, columns: Array) -> Array:
        """Return the features of single numbers, along a new last axis; columns: where they are."""
        by_ratio, scale = required_kind(self.kernel_, type(self).__name__)
        x = values.astype(np.float64)[..., None]
        low, widths = self.knots_[:, :-1][columns], np.diff(self.knots_, axis=1)[columns]
        inside = np.divide(x - low, widths, out=np.zeros(widths.shape), where=widths > 0)
        found = np.sqrt(scale * widths) * np.clip(inside, 0.0, 1.0)
        if by_ratio:
            found = np.divide(found, np.sqrt(x), out=np.zeros(found.shape), where=x > 0)
        return np.asarray(found)


def required_kind(kernel: Kernel, who: str) -> tuple[bool, float]:
    """Return whether the kernel divides column by column, and its coefficient; or refuse it."""
    inner, scale = (kernel.inner, kernel.coef) if isinstance(kernel, Scaled) else (kernel, 1.0)
    if isinstance(inner, Intersection | NormalizedIntersection):
        return isinstance(inner, NormalizedIntersection), scale
    must = "the kernel must be Intersection() or NormalizedIntersection()"
    advice = "Nystrom(kernel) has a map for every kernel."
    raise KernelError(sentence(who, must, repr(kernel), advice))


def _by_ratio(least: Array, most: Array, count: int) -> tuple[Array, Array]:
    """Return knots whose ratio is the same in a column, and the largest error of each column.

    Of x = y between t and r t with ratio r, it is (sqrt(r) - 1) / (sqrt(r) + 1), at sqrt(r) t.
    """
    filled = most > 0
    low, high = np.where(filled, least, 1.0), np.where(filled, most, 1.0)
    zeros = np.zeros((len(most), 1))
    if count == 1:
        return np.hstack([zeros, (high * filled)[:, None]]), (1.0 - low / high) * filled
    knots = np.maximum.accumulate(np.geomspace(low, high, count, axis=1), axis=1)  # but rounding
    knots *= filled[:, None]
    root = np.sqrt(np.exp(np.log(high / low) / (count - 1)))
    return np.hstack([zeros, knots]), (root - 1.0) / (root + 1.0) * filled


def _range(rows: Matrix) -> tuple[Array, Array]:
    """Return the smallest number above 0 and the largest number of each column."""
    values = scipy.sparse.csc_array(rows.values)
    values.eliminate_zeros()
    least, most = np.full(rows.n_columns, np.inf), np.zeros(rows.n_columns)
    filled = np.flatnonzero(np.diff(values.indptr))
    if len(filled):
        starts = values.indptr[filled]
        least[filled] = np.minimum.reduceat(values.data, starts)
        most[filled] = np.maximum.reduceat(values.data, starts)
    return least, most
