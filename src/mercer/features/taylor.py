"""The Gaussian kernel as a series of monomials, cut off at a degree."""

from __future__ import annotations

from math import comb

import numpy as np
from scipy.special import gammainc

from .. import checks
from ..checks import Array, MemoryLimitError, bytes_text
from ..grams import Prepared, limit_in_bytes
from ..inputs import Input, RowBlocks
from ..kernels import Gaussian, Kernel
from ..kernels.pairs import as_matrix, column_weights
from ..kernels.parameters import bandwidth
from ..models.base import Certificate
from ..run import Run
from ..status import Status
from ..typing import Gamma, MemoryLimit
from .base import FeatureMap

BAND = 1 << 18  # numbers that are computed at a time
HIGHEST = 100  # degree


class GaussianTaylor(FeatureMap):
    """The Gaussian kernel as a series, up to a total degree.

    Since exp(-gamma ||x - y||**2) = exp(-gamma ||x||**2) exp(-gamma ||y||**2)
    sum_i (2 gamma x.y)**i / i!, with i from 0 on, the kernel has a feature for every monomial
    x**a = x_1**a_1 … x_d**a_d:

    phi_a(x) = exp(-gamma ||x||**2) sqrt((2 gamma)**|a| / (a_1! … a_d!)) x**a.

    This map has those of degree |a| from 0 to `degree`, binomial(d + degree, degree) of them [1]_.
    What is left out is exp(-gamma (||x||**2 + ||y||**2)) sum_{i > degree} (2 gamma x.y)**i / i!. It
    grows with the distance of the points from 0: centre the data before, and use few columns.

    Parameters
    ----------
    degree : int, default=4
        Highest total degree, from 0 to 100.
    gamma : float, array-like of shape (d,), "scale" or "auto", default="scale"
        Inverse squared width, one for all columns or one per column. "scale" is 1 / (d var(X)) and
        "auto" is 1 / d, for d columns; both are settled on the training data.
    memory_limit : int or str, default="auto"
        Bytes that may be allocated, the features that are returned among them, as a number or a
        text such as "2GB"; "auto" takes a share of the free memory.

    Attributes
    ----------
    kernel_ : Gaussian
        The kernel with its gamma settled on the training points.
    truncation_bound_ : float
        The largest |k(x, y) - phi(x).phi(y)| of points as far from 0 as the training points. With
        the radius R = max ||x||, it is the chance that a Poisson variable of mean 2 gamma R**2 is
        above `degree`, and it is reached at x = y with ||x|| = R.
    certificate_ : Certificate
        What the fit cost.

    References
    ----------
    .. [1] A. Cotter, J. Keshet, N. Srebro, "Explicit approximations of the Gaussian kernel",
       arXiv:1109.4603, 2011.

    Examples
    --------
    >>> from mercer.features import GaussianTaylor
    >>> phi = GaussianTaylor(2, gamma=0.5).fit([[0.0], [1.0]])
    >>> phi.transform([[1.0]]).round(4)
    array([[0.6065, 0.6065, 0.4289]])
    >>> round(phi.truncation_bound_, 4)
    0.0803
    """

    truncation_bound_: float
    _degree: int

    def __init__(
        self, degree: int = 4, gamma: Gamma = "scale", *, memory_limit: MemoryLimit = "auto"
    ) -> None:
        self.degree = degree
        self.gamma = gamma
        self.memory_limit = memory_limit

    def _kernel(self) -> Kernel:
        who = type(self).__name__
        checks.whole(who, "degree", self.degree, least=0, most=HIGHEST)
        return Gaussian(bandwidth(who, "gamma", self.gamma))

    def _learn(self, prepared: Prepared, run: Run) -> None:
        points = prepared.points
        blocks = points.blocks() if isinstance(points, RowBlocks) else iter((points,))
        self._degree = int(self.degree)
        self._prepared = prepared.take(np.arange(1))  # which shows the columns
        self._require_few(run.who)
        square = 0.0
        for block in blocks:
            for start in range(0, len(block), 1024):
                rows = self._scaled(block.take(slice(start, start + 1024)))
                with np.errstate(over="ignore"):
                    square = max(square, float(np.einsum("ij,ij->i", rows, rows).max(initial=0.0)))
        self.truncation_bound_ = float(gammainc(self._degree + 1, square))
        self.certificate_ = Certificate(
            status=Status.EXACT,
            plan=f"{self._width()} monomials of degree 0 to {self._degree}",
            kernel_entries=0,
            bytes=0,
            seconds=run.seconds,
        )

    def _require_few(self, who: str) -> None:
        limit, need = limit_in_bytes(who, self.memory_limit), 2 * 8 * self._width()
        if need > limit:
            d = as_matrix(self._prepared.points).n_columns
            raise MemoryLimitError(
                f"{who}: the features of a point must fit memory_limit; degree {self._degree} of "
                f"{d} columns has {self._width()} of them, which need {bytes_text(need)}, the "
                f"limit is {bytes_text(limit)}. Lower the degree, use fewer columns, or "
                "Nystrom(Gaussian()), which has as many features as you ask for."
            )

    def _width(self) -> int:
        return comb(as_matrix(self._prepared.points).n_columns + self._degree, self._degree)

    def _scaled(self, points: Input) -> Array:
        """Return sqrt(2 gamma_c) x_c, in which the kernel is exp(-||x - y||**2 / 2)."""
        rows = as_matrix(points).dense().astype(np.float64)
        gamma = self.kernel_.gamma  # type: ignore[attr-defined]
        weights = column_weights(gamma if isinstance(gamma, tuple) else None, rows.shape[1])
        scale = weights if isinstance(gamma, tuple) else np.float64(gamma)
        with np.errstate(over="ignore"):
            return np.asarray(rows * np.sqrt(2.0 * scale))

    def _features(self, points: Input, out: Array) -> None:
        step = max(1, BAND // self._width())
        for start in range(0, len(points), step):
            rows = slice(start, start + step)
            out[rows] = _monomials(self._scaled(points.take(rows)), self._degree, self._width())


def _monomials(rows: Array, degree: int, width: int) -> Array:
    """Return exp(-||x||**2 / 2) x**a / sqrt(a!) for all a, by degree, as products of columns.

    Those of a degree are ordered by their first column c: x_c times those of the degree before
    whose first column is c or later. `begin` has where these start, `lead` the power of the first.
    """
    d = rows.shape[1]
    out = np.empty((len(rows), width))
    with np.errstate(over="ignore", under="ignore"):
        out[:, 0] = np.exp(-0.5 * np.einsum("ij,ij->i", rows, rows))
    rows = np.where(out[:, :1] > 0, rows, 0.0)  # so far out that all features are 0
    first, size = 0, 1
    begin, lead = np.zeros(d, dtype=np.intp), np.zeros(1)
    for _ in range(degree):
        at, starts, leads = first + size, [], []
        for c in range(d):
            count = size - int(begin[c])
            own = lead[begin[c] :].copy()  # of those whose first column is c as well
            own[int(begin[c + 1] - begin[c]) if c + 1 < d else count :] = 0.0
            starts.append(at - first - size)
            leads.append(own + 1.0)
            before = out[:, first + begin[c] : first + size]
            np.multiply(before, rows[:, c, None], out=out[:, at : at + count])
            out[:, at : at + count] /= np.sqrt(leads[-1])
            at += count
        first, size = first + size, at - first - size
        begin, lead = np.array(starts), np.concatenate(leads)
    return out
