"""Kernel principal component analysis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from .. import checks
from ..checkpoints import CheckpointLike
from ..checks import Array, InputError, sentence
from ..fitting.eigen import PcaFit, Settings
from ..grams import limited_threads
from ..grams.prepared import with_only
from ..inputs import ROWS, Input, as_input
from ..monitor import warn
from ..postfit.preimage import (
    PreImages,
    backward_kernel,
    check_computable,
    checked_components,
    rows_of,
)
from ..run import Run
from ..solvers import Spectrum
from ..typing import Callback, Gamma, KernelLike, MemoryLimit, PointsLike, Seed, Weights
from .base import Certificate, KernelEstimator
from .contract.anywhere import anywhere
from .contract.atomic import atomic
from .contract.records import recorded
from .contract.resuming import resumable
from .ridge.regressor import KernelRidge

SOLVERS = ("auto", "dense", "krylov", "nystrom")
PASSES = 200
NEGATIVE = 1e-6  # of the largest eigenvalue: what a negative one must be beyond to be told


@dataclass(frozen=True, kw_only=True)
class PcaCertificate(Certificate):
    """How far the components are from eigenvectors, and what they cost.

    Residuals are measured in double precision, on the centred kernel matrix A as it was computed:
    in single precision for rows of float32 and for more than 4,000 rows of numbers.

    Attributes
    ----------
    status : str
        "exact" where the whole matrix was decomposed, "converged", or the reason why neither.
    plan : str
        How the kernel matrix was held, and why.
    kernel_entries : int
        Number of kernel values that were computed.
    bytes : int
        Bytes that the plan allocates beyond the inputs.
    seconds : float
        Time that the fit took.
    solver : str
        "dense", "krylov" or "nystrom".
    residual : float
        The largest of `residuals`; at most `tol` after convergence.
    residuals : tuple of float
        |A u - lambda u| / lambda_1 of each component. Each eigenvalue is within its residual, times
        lambda_1, of one of A.
    tol : float
        The residual that was asked for.
    rank : int
        Number of components with a positive eigenvalue.
    iterations : int
        Number of passes over the matrix.
    """

    solver: str
    residual: float
    residuals: tuple[float, ...]
    tol: float
    rank: int
    iterations: int


class KernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelEstimator):  # type: ignore[misc]
    """Principal component analysis in feature space.

    With mu the mean of phi(x_i), component j of x is v_j . (phi(x) - mu), where v_j is a unit
    eigenvector of the covariance: v_j = sum_i a_ij phi(x_i) with a_j = u_j / sqrt(lambda_j) from
    H K H u_j = lambda_j u_j, H = I - 1 1' / n. With sample weights mu and the covariance are
    weighted.

    Parameters
    ----------
    n_components : int, default=None
        Number of components; None is all whose eigenvalue is not zero.
    kernel : Kernel, str or callable, default=None
        A kernel, a scikit-learn name such as "rbf", "precomputed", or a function of two sets of
        points that returns their Gram matrix. None is `Gaussian()`.
    gamma : {"scale", "auto"} or float, default=None
        Bandwidth of a kernel given by name; None is 1 / columns.
    degree : int, default=3
        Degree of the kernel "poly"; other kernels have their own parameters.
    coef0 : float, default=1
        Constant of the kernels "poly" and "sigmoid".
    alpha : float, default=1.0
        Penalty of the ridge regression from components to rows, with `fit_inverse_transform`.
    fit_inverse_transform : bool, default=False
        Whether `inverse_transform` is learnt, by ridge regression. Otherwise it is computed, which
        Gaussian and linear kernels allow.
    eigen_solver : {"auto", "dense", "krylov", "nystrom"}, default="auto"
        "dense" decomposes the whole matrix. "krylov" makes a few passes over it, so that it need
        not be stored; it is possible with more than n_components + 10 points. "nystrom" finds the
        components of the projections on what `n_centers` points span, in two passes over their
        kernel values. "auto" takes the quicker of the first two, and "nystrom" for points in
        blocks.
    n_centers : int, default=None
        Number of centres of "nystrom"; None is 10 sqrt(n), from 100 to 2,500.
    tol : float, default=1e-6
        Residual to reach, relative to the largest eigenvalue.
    max_iter : int, default=None
        Largest number of passes over the matrix; None is 200.
    remove_zero_eig : bool, default=False
        Whether to leave out components of eigenvalue zero.
    memory_limit : int or str, default="auto"
        Bytes that the fit may allocate, as a number or a text such as "2GB"; "auto" takes a share
        of the free memory.
    time_limit : float, default=None
        Seconds after which the best solution so far is returned, with a warning.
    callback : callable, default=None
        Called with the record of each iteration; returning True stops the fit.
    n_jobs : int, default=None
        Number of threads; None uses all that are allowed, -1 one per processor.
    random_state : int, RandomState or Generator, default=None
        Seed of the first guess; None is a fixed seed.
    verbose : bool or int, default=False
        Whether to show progress on stderr.
    checkpoint : str, path or Checkpoint, default=None
        A file from which the same fit goes on if it is stopped or killed; see `mercer.Checkpoint`.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        The largest eigenvalues lambda of the centred kernel matrix, in falling order.
    eigenvectors_ : ndarray of shape (n, n_components)
        The eigenvectors u, a row per point with a positive weight, of length 1 and with the sign
        that makes the score of largest size positive. With "nystrom" a row per centre: the
        coefficients a of the components, times the roots of the eigenvalues.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Share of the total variance that each component explains.
    kernel_ : Kernel
        The kernel with all parameters settled on the training points.
    n_iter_ : int
        Number of passes over the matrix.
    certificate_ : PcaCertificate
        How far the components are from eigenvectors, and what they cost.

    References
    ----------
    .. [1] B. Schölkopf, A. Smola, K.-R. Müller, "Nonlinear component analysis as a kernel
       eigenvalue problem", Neural Computation 10 (1998).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelPCA
    >>> angle = np.linspace(0.0, 2 * np.pi, 20, endpoint=False)
    >>> circle = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> model = KernelPCA(2, kernel="linear").fit(circle)
    >>> model.explained_variance_ratio_.round(6)
    array([0.5, 0.5])
    >>> model.transform([[1.0, 0.0]]).shape
    (1, 2)
    """

    certificate_: PcaCertificate
    eigenvalues_: Array
    eigenvectors_: Array
    explained_variance_ratio_: Array
    n_iter_: int
    _means: Array
    _roots: Array | None  # of the weights; None: all are 1
    _inverse: KernelRidge | None

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: KernelLike = None,
        gamma: Gamma = None,
        degree: int = 3,
        coef0: float = 1,
        alpha: float = 1.0,
        fit_inverse_transform: bool = False,
        eigen_solver: str = "auto",
        n_centers: int | None = None,
        tol: float = 1e-6,
        max_iter: int | None = None,
        remove_zero_eig: bool = False,
        memory_limit: MemoryLimit = "auto",
        time_limit: float | None = None,
        callback: Callback = None,
        n_jobs: int | None = None,
        random_state: Seed = None,
        verbose: bool | int = False,
        checkpoint: CheckpointLike = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.alpha = alpha
        self.fit_inverse_transform = fit_inverse_transform
        self.eigen_solver = eigen_solver
        self.n_centers = n_centers
        self.tol = tol
        self.max_iter = max_iter
        self.remove_zero_eig = remove_zero_eig
        self.memory_limit = memory_limit
        self.time_limit = time_limit
        self.callback = callback
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.checkpoint = checkpoint

    # --- fit ----------------------------------------------------------------------------------

    @atomic
    def fit(self, X: PointsLike, y: object = None, sample_weight: Weights = None) -> Self:
        """Find the components.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n training points, of a kind that the kernel takes.
        y : object, default=None
            Not used; present by scikit-learn's convention.
        sample_weight : float or array-like of shape (n,), default=None
            Weight of each point; a point of weight 0 is left out. None is 1 for all.

        Returns
        -------
        KernelPCA
            The fitted estimator itself.

        Raises
        ------
        InputError
            If the points, weights or parameters are not what they must be.
        """
        self._fit(X, sample_weight)
        return self

    @atomic
    def fit_transform(
        self, X: PointsLike, y: object = None, sample_weight: Weights = None
    ) -> Array:
        """Find the components, and return those of the training points.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n training points, of a kind that the kernel takes.
        y : object, default=None
            Not used; present by scikit-learn's convention.
        sample_weight : float or array-like of shape (n,), default=None
            Weight of each point; a point of weight 0 is left out. None is 1 for all.

        Returns
        -------
        ndarray of shape (n, n_components)
            The components of the points.
        """
        scores = self._fit(X, sample_weight)
        return self.transform(X) if scores is None else scores

    @recorded
    def _fit(self, X: Any, sample_weight: Any) -> Array | None:
        """Fit, and return the components of the points; None where some have no weight."""
        points = self._check_fit(X)
        weight = checks.sample_weight(type(self).__name__, sample_weight, len(points))
        with resumable(self, points, sample_weight=weight) as run:
            prepared = self._prepare(points, weight)
            if weight is not None and not weight.all():  # a point without weight has no say
                prepared, weight = with_only(prepared, np.flatnonzero(weight)), weight[weight > 0]
            rows = rows_of(run.who, prepared.points) if self.fit_inverse_transform else None
            roots = np.ones(len(prepared)) if weight is None else np.sqrt(weight)
            with limited_threads(run.n_jobs, run.who):
                work = PcaFit(prepared, self._settings(run, len(prepared)))
                found = work.solve(roots)
                _tell(run.who, found, self.n_components is not None and not self.remove_zero_eig)
                spanned = work.way == "nystrom"
                scores = self._store(found, np.ones(work.rank) if spanned else roots)
                self._certify(found, work)
                self._prepared, self._inverse = work.carriers, None
                if spanned:
                    scores = np.zeros((0, 0)) if rows is None else self._score(prepared.points)
                if rows is not None and scores.shape[1]:
                    self._inverse = self._learn(scores, rows, weight, run.seed)
            self._keep(np.arange(len(work.carriers)))
            return self._in_precision(scores, points) if len(scores) == len(points) else None

    def _settings(self, run: Run, n: int) -> Settings:
        who, count, most = run.who, self.n_components, self.max_iter
        advice = "There are no more components than points."
        if count is not None:
            count = checks.whole(who, "n_components", count, least=1, most=n, advice=advice)
        checks.number(who, "alpha", self.alpha, least=0)
        return Settings(
            run=run,
            count=count,
            solver=checks.one_of(who, "eigen_solver", self.eigen_solver, SOLVERS),
            n_centers=None
            if self.n_centers is None
            else checks.whole(who, "n_centers", self.n_centers, least=1),
            tol=checks.number(who, "tol", self.tol, above=0),
            max_iter=PASSES if most is None else checks.whole(who, "max_iter", most, least=1),
        )

    def _store(self, found: Spectrum, roots: Array) -> Array:
        """Keep the components, and return those of the training points."""
        values = np.where(found.values > found.zero, found.values, 0.0)
        everything = self.n_components is not None and not self.remove_zero_eig
        kept = (values > 0) | everything
        self.eigenvalues_, self._means = values[kept], found.means
        self._roots = None if (roots == 1).all() else roots
        self.eigenvectors_ = found.vectors[:, kept]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = self.eigenvalues_ / found.trace
        self.explained_variance_ratio_ = np.where(self.eigenvalues_ > 0, ratios, 0.0)
        self.n_iter_ = max(found.iterations, 1)
        products = found.products[:, kept]
        scale = _inverse_roots(self.eigenvalues_)
        scores = products * scale - self._means @ self._coefficients()
        # The point with the largest score has a positive one, in each component.
        largest = scores[np.abs(scores).argmax(axis=0), np.arange(scores.shape[1])]
        signs = np.where(largest < 0, -1.0, 1.0)
        self.eigenvectors_ = self.eigenvectors_ * signs
        return np.asarray(scores * signs)

    def _coefficients(self) -> Array:
        """Return a: v_j = sum_i a_ij phi(x_i); each column has sum 0, so that mu drops out."""
        roots = 1.0 if self._roots is None else self._roots[:, None]
        return np.asarray(self.eigenvectors_ * roots * _inverse_roots(self.eigenvalues_))

    def _certify(self, found: Spectrum, work: PcaFit) -> None:
        run, tol = work.settings.run, work.settings.tol
        shown = len(self.eigenvalues_) if self.n_components is None else len(found.residuals)
        residuals = tuple(float(size) for size in found.residuals[:shown])
        residual = max(residuals, default=0.0)
        self.certificate_ = PcaCertificate(
            status=found.status,
            plan=work.plan,
            kernel_entries=work.entries,
            bytes=work.bytes,
            seconds=run.seconds,
            solver=work.way,
            residual=residual,
            residuals=residuals,
            tol=tol,
            rank=int((self.eigenvalues_ > 0).sum()),
            iterations=found.iterations,
        )
        if not found.status.is_good:
            must = f"the residual of every component must reach tol = {tol:g}"
            got = f"{residual:.2g} ({found.status}, {found.iterations} passes)"
            text = sentence(run.who, must, got, found.status.advice("components"))
            run.warn(text, ConvergenceWarning)

    # --- new points -----------------------------------------------------------------------------

    @anywhere
    def transform(self, X: PointsLike) -> Array:
        """Compute the components of points.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points, of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n, n_components)
            The components.
        """
        points = self._check_predict(X)
        with limited_threads(self.n_jobs, type(self).__name__):
            return self._in_precision(self._score(points), points)

    def _score(self, points: Input) -> Array:
        a = self._coefficients()
        return np.asarray(self._cross_product(points, a) - self._means @ a)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse &= not self.fit_inverse_transform
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        check_is_fitted(self)
        return len(self.eigenvalues_)

    # --- and back -------------------------------------------------------------------------------

    def inverse_transform(self, X: PointsLike) -> Array:
        """Find rows of numbers whose components are nearest to those given.

        For linear kernels it is exactly the point of the plane. For Gaussian kernels it is the x
        that minimises ||phi(x) - mu - sum_j z_j v_j||, by a fixed-point iteration. For any kernel
        of dense rows with `fit_inverse_transform=True` it is what a ridge regression, with the same
        kernel, has learnt.

        Parameters
        ----------
        X : array-like of shape (n, n_components)
            The components z.

        Returns
        -------
        ndarray of shape (n, n_features)
            The rows.

        Raises
        ------
        InputError
            If the training points are not dense rows of numbers, or the kernel has no such inverse.
        """
        check_is_fitted(self)
        who = type(self).__name__
        given = as_input(X, ROWS, who)
        Z = checked_components(who, given, len(self.eigenvalues_))
        if self._inverse is not None:
            return self._in_precision(self._inverse.predict(Z), given)
        if hasattr(self, "compression_") or self.certificate_.solver == "nystrom":
            must = "inverse_transform needs the training points, or what was learnt from them"
            advice = "Fit with fit_inverse_transform=True."
            got = "a model of a few centres"
            raise InputError(sentence(who, must, got, advice))
        rows = rows_of(who, self._prepared.points)
        check_computable(who, self.kernel_)
        roots = np.ones(len(rows)) if self._roots is None else self._roots
        mean = roots**2 / (roots @ roots)
        scores = self.eigenvectors_ * np.sqrt(self.eigenvalues_) / roots[:, None]
        with limited_threads(self.n_jobs, who):
            known = PreImages(self._prepared, rows, mean, self._coefficients(), scores)
            return self._in_precision(known.of(Z), given)

    def _learn(self, scores: Array, rows: Array, weight: Array | None, seed: int) -> KernelRidge:
        """Return a ridge regression, with an offset, from components to rows.

        Bakir, Weston, Schölkopf, "Learning to find pre-images" (2004).
        """
        ridge = KernelRidge(
            self.alpha,
            kernel=backward_kernel(self.kernel_, scores),
            fit_intercept=True,
            memory_limit=self.memory_limit,
            time_limit=self.time_limit,
            n_jobs=self.n_jobs,
            random_state=seed,
        )
        return ridge.fit(scores, rows, weight)


def _inverse_roots(values: Array) -> Array:
    """Return 1 / sqrt(lambda), 0 for components of eigenvalue zero."""
    return np.divide(1.0, np.sqrt(values), out=np.zeros_like(values), where=values > 0)


def _tell(who: str, found: Spectrum, keeps_zeros: bool) -> None:
    """Warn of too few components, and of eigenvalues that no kernel has."""
    if np.isnan(found.zero):  # nothing was found
        return
    wanted, rank = len(found.values), int((found.values > found.zero).sum())
    if found.lowest < -max(NEGATIVE * float(found.values.max()), found.zero):
        warn(
            f"{who}: the kernel matrix is not positive semi-definite, the centred one has an "
            f"eigenvalue of at most {found.lowest:.3g}: components of positive eigenvalues show "
            "only part of what there is. mercer.repair(K) returns the nearest matrix that is.",
            UserWarning,
        )
    if rank == 0:
        must, got = "points must differ under the kernel", "points with one image for all"
        advice = "There are no components, so all scores are 0."
        warn(sentence(who, must, got, advice), UserWarning)
    elif rank < wanted and keeps_zeros:
        must = f"n_components must be at most the rank of the centred kernel matrix, {rank}"
        advice = "The others are 0; remove_zero_eig=True leaves them out."
        warn(sentence(who, must, wanted, advice), UserWarning)
