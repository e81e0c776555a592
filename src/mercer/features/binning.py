"""Random grids: the map of the Laplacian kernel that counts shared cells."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from .. import checks
from ..checks import Array, MemoryLimitError, bytes_text
from ..grams import Prepared, limit_in_bytes
from ..inputs import Input, RowBlocks
from ..kernels import Kernel, Laplacian
from ..kernels.pairs import as_matrix, column_weights
from ..kernels.parameters import bandwidth
from ..models.base import Certificate
from ..run import Run
from ..status import Status
from ..typing import Gamma, MemoryLimit, Seed
from .base import FeatureMap

BAND = 1 << 18  # numbers that are computed at a time


class RandomBinning(FeatureMap):
    """Random grids: two points share a cell with the chance k(x, y) of the Laplacian kernel.

    A grid has in column c the pitch delta_c / gamma_c, where delta_c has the density
    delta exp(-delta), and a random shift. Two points lie in the same cell of it with the chance
    exp(-sum_c gamma_c |x_c - y_c|). With P = n_components grids, x has the feature 1 / sqrt(P) for
    its cell in each of them [1]_, so that phi(x).phi(y) is the share of grids in which both are
    together: right on average, with the standard deviation sqrt(k (1 - k) / P).

    There is a column for each cell that holds a training point, and a new point in none of them has
    fewer features: products are those above where one of both is a training point.

    Parameters
    ----------
    gamma : float, array-like of shape (d,), "scale" or "auto", default="scale"
        Inverse width, one for all columns or one per column. "scale" is 1 / (d std(X)) and "auto"
        is 1 / d, for d columns; both are settled on the training data.
    n_components : int, default=100
        Number P of grids.
    random_state : int, Generator or RandomState, default=None
        Seed or source of the random numbers; None is a fixed seed.
    memory_limit : int or str, default="auto"
        Bytes that may be allocated, as a number or a text such as "2GB"; "auto" takes a share of
        the free memory.

    Attributes
    ----------
    kernel_ : Laplacian
        The kernel with its gamma settled on the training points.
    pitches_ : ndarray of shape (n_components, d)
        The pitches of the grids, in units of 1 / gamma.
    shifts_ : ndarray of shape (n_components, d)
        Their shifts, in the same units.
    cells_ : ndarray of shape (n_features,)
        Numbers that stand for the cells of training points, in ascending order.
    certificate_ : Certificate
        What the fit cost.

    References
    ----------
    .. [1] A. Rahimi, B. Recht, "Random features for large-scale kernel machines", NIPS, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.features import RandomBinning
    >>> X = [[0.0], [0.5], [1.0]]
    >>> phi = RandomBinning(gamma=1.0, n_components=4000).fit(X)
    >>> F = phi.transform(X)
    >>> F.nnz
    12000
    >>> bool(np.abs((F @ F.T).toarray() - phi.kernel_(X)).max() < 0.03)
    True
    """

    pitches_: Array
    shifts_: Array
    cells_: Array
    _multipliers: Array

    def __init__(
        self,
        gamma: Gamma = "scale",
        n_components: int = 100,
        *,
        random_state: Seed = None,
        memory_limit: MemoryLimit = "auto",
    ) -> None:
        self.gamma = gamma
        self.n_components = n_components
        self.random_state = random_state
        self.memory_limit = memory_limit

    def _kernel(self) -> Kernel:
        return Laplacian(bandwidth(type(self).__name__, "gamma", self.gamma))

    def _learn(self, prepared: Prepared, run: Run) -> None:
        count = checks.whole(run.who, "n_components", self.n_components, least=1)
        points = prepared.points
        self._prepared = prepared.take(np.arange(1))  # which shows the columns
        d = as_matrix(self._prepared.points).n_columns
        self._require_few(len(prepared) + d, count, run.who)
        random = np.random.default_rng(run.seed)
        self.pitches_ = random.gamma(2.0, size=(count, d))
        self.shifts_ = random.random(size=(count, d)) * self.pitches_
        self._multipliers = random.integers(2**63, size=d + 1, dtype=np.uint64) * np.uint64(2)
        self._multipliers += np.uint64(1)
        blocks = points.blocks() if isinstance(points, RowBlocks) else iter((points,))
        self.cells_ = np.unique(np.concatenate([self._cells(block).ravel() for block in blocks]))
        self.certificate_ = Certificate(
            status=Status.EXACT,
            plan=f"{count} grids, {len(self.cells_)} cells with training points",
            kernel_entries=0,
            bytes=2 * self.pitches_.nbytes + self.cells_.nbytes,
            seconds=run.seconds,
        )

    def _require_few(self, rows: int, count: int, who: str) -> None:
        limit, need = limit_in_bytes(who, self.memory_limit), 24 * rows * count
        if need > limit:
            raise MemoryLimitError(
                f"{who}: the cells of all points must fit memory_limit; n_components = {count} "
                f"grids need {bytes_text(need)}, the limit is {bytes_text(limit)}. Lower "
                "n_components, or raise memory_limit."
            )

    def _width(self) -> int:
        return len(self.cells_)

    def _is_sparse(self, points: Input) -> bool:
        return True

    def _sparse_features(self, points: Input) -> Any:
        cells = self._cells(points)
        places = np.minimum(np.searchsorted(self.cells_, cells), len(self.cells_) - 1)
        known = self.cells_[places] == cells
        indptr = np.r_[0, np.cumsum(known.sum(axis=1))]
        dtype = self._dtype(points)
        values = np.full(int(indptr[-1]), 1.0 / np.sqrt(len(self.pitches_)), dtype=dtype)
        parts = values, places[known], indptr
        found = scipy.sparse.csr_array(parts, shape=(len(points), self._width()))
        found.sort_indices()
        return found

    def _cells(self, points: Input) -> Array:
        """Return the numbers of the cells of points, one column per grid.

        A cell is a row of whole numbers; its number is a random hash of their bits.
        """
        matrix, grids = as_matrix(points), len(self.pitches_)
        gamma: Any = self.kernel_.gamma  # type: ignore[attr-defined]
        weights = column_weights(gamma if isinstance(gamma, tuple) else None, matrix.n_columns)
        weights = weights if isinstance(gamma, tuple) else np.full(matrix.n_columns, gamma)
        cells = np.empty((len(matrix), grids), dtype=np.uint64)
        step = max(1, BAND // matrix.n_columns)
        for start in range(0, len(matrix), step):
            some = slice(start, start + step)
            rows = matrix.take(some).dense().astype(np.float64) * weights
            for p in range(grids):
                places = np.floor((rows - self.shifts_[p]) / self.pitches_[p]) + 0.0  # no -0
                bits = places.view(np.uint64)
                cells[some, p] = _mixed(bits ^ (bits >> np.uint64(32))) @ self._multipliers[:-1]
            cells[some] += np.arange(grids, dtype=np.uint64) * self._multipliers[-1]
        return cells


def _mixed(bits: Array) -> Array:
    """Return numbers whose bits all depend on all bits of the given ones, one to one."""
    bits = bits * np.uint64(0xBF58476D1CE4E5B9)
    bits ^= bits >> np.uint64(27)
    bits *= np.uint64(0x94D049BB133111EB)
    return np.asarray(bits ^ (bits >> np.uint64(31)))
