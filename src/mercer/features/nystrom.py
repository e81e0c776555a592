"""Nyström's map: features of any kernel from a few centres."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.linalg import blas
from sklearn.utils.validation import check_is_fitted

from .. import checks
from ..checks import Array, InputError, MemoryLimitError, bytes_text, sentence
from ..grams import Prepared, limit_in_bytes, limited_threads
from ..grams.finite import constant_diagonal
from ..inputs import Input
from ..linalg.blas import solve_lower
from ..models.base import Certificate
from ..monitor import Monitor
from ..postfit.gradient import gradient
from ..run import Run
from ..solvers.ridge.nystrom import independent
from ..status import Status
from ..typing import KernelLike, MemoryLimit, Numbers, PointsLike, Seed
from .base import FeatureMap, coefficients_of
from .centers import Centers, given, means, random_pivots, uniform

USUAL = 100  # centres, where none are asked for
BAND = 1 << 22  # numbers of a band of K: it stays in the cache between product and solve
SAMPLE = 2000  # points that the trace is taken over where there are more

WAYS = {"rpcholesky": random_pivots, "uniform": uniform, "kmeans": means}


@dataclass(frozen=True, kw_only=True)
class NystromCertificate(Certificate):
    """What a fit of `Nystrom` cost, and how good its map is.

    Attributes
    ----------
    status : str
        "exact": the map is what its formula says.
    plan : str
        How many centres there are, and how they were chosen.
    kernel_entries : int
        Number of kernel values that were computed, but for those of pivots that were rejected.
    bytes : int
        Bytes that the fit allocates beyond the inputs.
    seconds : float
        Time that the fit took.
    rank : int
        Number of features: centres that the others do not span.
    dropped : int
        Centres that the others span up to rounding, which give no feature.
    trace_error : float
        trace(K - K_hat) / trace(K) over `trace_points` of the training points.
    trace_points : int
        How many points that was taken over: all of them, or a random part.
    """

    rank: int
    dropped: int
    trace_error: float
    trace_points: int


class Nystrom(FeatureMap):
    """Nyström's map: features from the kernel values with a few centres.

    With centres z_1, …, z_m, k_Z(x) = (k(x, z_1), …, k(x, z_m)) and the Cholesky factor
    L L' = K_ZZ of the matrix between the centres,

    phi(x) = L**-1 k_Z(x), so that phi(x).phi(y) = k_Z(x)' K_ZZ**-1 k_Z(y):

    the projection of the kernel's own map onto what the centres span [1]_. It is exact at the
    centres and never too large: K - K_hat has no negative eigenvalue. Any kernel will do, of
    strings, trees and graphs as well. Centres that the others span up to rounding are dropped.

    Parameters
    ----------
    kernel : Kernel, str or callable, default=None
        A kernel, a scikit-learn name such as "rbf", "precomputed", or a function of two sets of
        points that returns their Gram matrix. None is `Gaussian()`.
    n_components : int, default=None
        Number of centres, at most the number of training points. None is 100, or as many as there
        are points; or the number of `centers` that are given.
    centers : {"rpcholesky", "uniform", "kmeans"} or points, default="rpcholesky"
        Where the centres come from. "rpcholesky" draws points one after another by what the ones
        before leave of their k(x, x) [2]_: among all points, or among a random part of at least 5
        per centre where all would take long (more than 50,000 always do). "uniform" draws them
        with equal chances. "kmeans" takes means of rows of numbers [3]_. Or points of your own, of
        the kind of X.
    random_state : int, Generator or RandomState, default=None
        Seed or source of the random numbers; None is a fixed seed.
    memory_limit : int or str, default="auto"
        Bytes that may be allocated, the features that are returned among them, as a number or a
        text such as "2GB"; "auto" takes a share of the free memory.
    n_jobs : int, default=None
        Number of threads; None is all that are allowed, -1 one for each processor.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with all parameters settled on the training points.
    centers_ : array, list or data frame of n_features points
        The centres, as the kernel sees them.
    center_indices_ : ndarray of shape (n_features,) or None
        Which training points the centres are; None where they are none.
    norm_bound_ : float
        What |phi(x)|**2 is at most, where k(x, x) is the same for every x; else None.
    trace_error_ : float
        trace(K - K_hat) / trace(K) of the training points, between 0 and 1: the mean squared
        distance between a point and its features, relative to its mean squared length. Exact
        for up to 2,000 points and where the centres were chosen among all; otherwise from 2,000
        points drawn at random. `certificate_.trace_points` says how many.
    certificate_ : NystromCertificate
        What the fit cost, the rank and the trace error.

    References
    ----------
    .. [1] C. K. I. Williams, M. Seeger, "Using the Nyström method to speed up kernel machines",
       NIPS, 2000.
    .. [2] Y. Chen, E. N. Epperly, J. A. Tropp, R. J. Webber, "Randomly pivoted Cholesky: practical
       approximation of a kernel matrix with few entry evaluations", Communications on Pure and
       Applied Mathematics, 2025.
    .. [3] K. Zhang, I. W. Tsang, J. T. Kwok, "Improved Nyström low-rank approximation and error
       analysis", ICML, 2008.

    Examples
    --------
    >>> from mercer.features import Nystrom
    >>> from mercer.kernels import Spectrum
    >>> words = ["abab", "abba", "baab", "cccc"]
    >>> phi = Nystrom(Spectrum(2), n_components=3).fit(words)
    >>> F = phi.transform(words)
    >>> F.shape
    (4, 3)
    >>> (F @ F.T).round(6)
    array([[3.6, 3. , 3. , 0. ],
           [3. , 3. , 2. , 0. ],
           [3. , 2. , 3. , 0. ],
           [0. , 0. , 0. , 9. ]])
    >>> Spectrum(2)(words)
    array([[5., 3., 3., 0.],
           [3., 3., 2., 0.],
           [3., 2., 3., 0.],
           [0., 0., 0., 9.]])
    >>> round(phi.trace_error_, 6)
    0.07
    """

    center_indices_: Array | None
    trace_error_: float
    _lower: Array

    def __init__(
        self,
        kernel: KernelLike = None,
        n_components: int | None = None,
        *,
        centers: Literal["rpcholesky", "uniform", "kmeans"] | PointsLike = "rpcholesky",
        random_state: Seed = None,
        memory_limit: MemoryLimit = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.centers = centers
        self.random_state = random_state
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs

    @property
    def centers_(self) -> Any:
        """The centres, as the kernel sees them."""
        check_is_fitted(self)
        return self._prepared.points.raw

    @property
    def norm_bound_(self) -> float | None:
        """What |phi(x)|**2 is at most, where k(x, x) is the same for every x; else None."""
        check_is_fitted(self)
        return constant_diagonal(self.kernel_)

    def product(self, X: PointsLike, coefficients: Numbers) -> Array:
        """Compute phi(X) coefficients, without storing phi(X).

        It is K(X, Z) (L'^-1 coefficients): the function of a linear model on these features.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points, of the kind that was fitted.
        coefficients : array-like of shape (n_features,) or (n_features, n_functions)
            One number per feature, or a column of them per function.

        Returns
        -------
        ndarray of shape (n,) or (n, n_functions)
            One number per point and function, in double precision.
        """
        points = self._check_predict(X)
        with limited_threads(self.n_jobs, type(self).__name__):
            return self._prepared.times(points, self._remembered(coefficients), self.memory_limit)

    def gradient(self, X: PointsLike, coefficients: Numbers) -> Array:
        """Compute the gradient of phi(x) . coefficients by the columns of every point.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            The n points, rows of numbers.
        coefficients : array-like of shape (n_features,) or (n_features, n_functions)
            One number per feature, or a column of them per function.

        Returns
        -------
        ndarray of shape (n, d) or (n, d, n_functions)
            The derivative by each column, in double precision.

        Raises
        ------
        KernelError
            If a part of the kernel has no derivative.
        """
        points, who = self._check_predict(X), type(self).__name__
        dual = self._dual(coefficients)
        with limited_threads(self.n_jobs, who):
            columns = dual if dual.ndim == 2 else dual[:, None]
            found = gradient(who, self._prepared, points, columns, Monitor())
        return found if dual.ndim == 2 else found[:, :, 0]

    def _remembered(self, coefficients: Numbers) -> Array:
        """Return those of the centres, which models ask for with the same coefficients each time.

        To find them takes much longer than an answer for one point does.
        """
        known: dict[str, tuple[Array, Array]] = self._prepared.view.side.once("answered", dict)
        last = known.get("last")
        if last is None or not np.array_equal(last[0], coefficients):
            dual = np.ascontiguousarray(self._dual(coefficients))
            known["last"] = last = (np.array(coefficients), dual)
        return last[1]

    def _dual(self, coefficients: Numbers) -> Array:
        """Return L'**-1 coefficients: those of the centres."""
        return solve_lower(self._lower, coefficients_of(self, coefficients), transposed=True)

    def _learn(self, prepared: Prepared, run: Run) -> Array | None:
        chosen = self._chosen(prepared, run)
        monitor, found = run.monitor, chosen.prepared
        K = found.gram(use="once", dtype=np.float64, monitor=monitor).dense()
        eps = float(np.finfo(prepared.view.dtype).eps)
        kept, lower = independent(K, eps, monitor)
        if len(kept) == 0:  # k(z, z) = 0 of all: so is every feature
            kept, lower = np.zeros(1, dtype=np.intp), np.ones((1, 1))
        self._prepared, self._lower = found.take(kept), lower
        self.center_indices_ = None if chosen.indices is None else chosen.indices[kept]
        known = (chosen.left, len(prepared)) if chosen.left is not None else None
        self.trace_error_, points = known or self._trace_error(prepared, run)
        m = len(found)
        self.certificate_ = NystromCertificate(
            status=Status.EXACT,
            plan=f"{m} centres: {chosen.told}",
            kernel_entries=chosen.entries + m * m + (points * m if chosen.left is None else 0),
            bytes=chosen.bytes + 3 * 8 * m * m,
            seconds=run.seconds,
            rank=len(kept),
            dropped=m - len(kept),
            trace_error=self.trace_error_,
            trace_points=points,
        )
        features, room = chosen.features, limit_in_bytes(run.who, run.memory_limit)
        if features is None or not np.array_equal(kept, np.arange(features.shape[1])):
            return None
        return np.ascontiguousarray(features) if 2 * features.nbytes <= room else None

    def _chosen(self, prepared: Prepared, run: Run) -> Centers:
        """Return the centres that the parameters ask for."""
        count, n = self.n_components, len(prepared)
        if count is not None:
            count = checks.whole(run.who, "n_components", count, least=1)
        if not isinstance(self.centers, str):
            return given(self.centers, prepared, count, run)
        way = WAYS[checks.one_of(run.who, "centers", self.centers, tuple(WAYS))]
        if count is not None and count > n:
            must = f"n_components must be at most the number of points, {n}"
            raise InputError(sentence(run.who, must, count, "None takes as many as there are."))
        wanted = min(USUAL, n) if count is None else count
        limit, need = limit_in_bytes(run.who, run.memory_limit), 3 * 8 * wanted**2
        if need > limit:
            raise MemoryLimitError(
                f"{run.who}: the factor of {wanted} centres must fit memory_limit; it needs "
                f"{bytes_text(need)}, the limit is {bytes_text(limit)}. Lower n_components."
            )
        return way(prepared, wanted, run)

    def _trace_error(self, prepared: Prepared, run: Run) -> tuple[float, int]:
        """Return trace(K - K_hat) / trace(K) of all points or of some, and of how many."""
        n = len(prepared)
        if n > SAMPLE:
            random = np.random.default_rng([run.seed, 1])
            prepared = prepared.take(np.sort(random.choice(n, SAMPLE, replace=False)))
        points, diagonal = prepared.points, prepared.diag()
        features = np.empty((len(points), self._width()), dtype=self._dtype(points))
        self._features(points, features)
        squares = np.einsum("ij,ij->i", features, features, dtype=np.float64)
        total, left = float(diagonal.sum()), float(np.maximum(diagonal - squares, 0.0).sum())
        return (left / total if total > 0 else 0.0), len(points)

    def _width(self) -> int:
        return len(self._prepared)

    def _features(self, points: Input, out: Array) -> None:
        """Write K(x, Z) L'**-1 band by band: each is solved in place while it is in the cache."""
        K = self._prepared.gram(points, use="once", memory_limit=self.memory_limit)
        lower = np.asfortranarray(self._lower, dtype=K.dtype)
        solve = blas.strsm if K.dtype == np.float32 else blas.dtrsm
        step = max(64, BAND // max(self._width(), 1))
        for start in range(0, len(points), step):
            band = out[start : start + step]
            rows = slice(start, start + len(band))
            if band.dtype == K.dtype and band.flags.c_contiguous:
                K.fill_rows(rows, band)
                found = solve(1.0, lower, band.T, lower=1, overwrite_b=1).T
                if not np.shares_memory(found, band):
                    band[:] = found
            else:
                band[:] = solve(1.0, lower, np.asfortranarray(K.rows(rows).T), lower=1).T
