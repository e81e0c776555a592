"""Fisher's discriminant in feature space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.linalg import eigh, null_space
from sklearn.base import ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .. import checks
from ..checks import Array, InputError, sentence
from ..fitting.ridge.fit import Fitted
from ..inputs import Input
from ..typing import (
    Callback,
    KernelLike,
    LabelsLike,
    MemoryLimit,
    Numbers,
    PointsLike,
    Seed,
    Weights,
)
from .contract.anywhere import anywhere
from .contract.atomic import atomic
from .contract.records import recorded
from .contract.targets import as_classes, class_totals
from .ridge.regressor import RidgeCertificate, RidgeEstimator

SMALLEST = float(np.finfo(np.float64).tiny)
FLAT = 1e-12  # share of the variance of a direction below which classes do not differ along it


@dataclass(frozen=True, kw_only=True)
class DiscriminantCertificate(RidgeCertificate):
    """How well the directions solve S_b w = mu (S_t + alpha) w, and what they cost.

    All but the last two attributes are those of the ridge regression behind them.

    Attributes
    ----------
    status : str
        "exact", "converged", or the reason why neither.
    plan : str
        How the kernel matrix was held, and why.
    kernel_entries : int
        Number of kernel values that were computed.
    bytes : int
        Bytes that the plan allocates beyond the inputs.
    seconds : float
        Time that the fit took.
    solver : str
        The solver that was used.
    residual : float
        Largest relative residual of an output, in double precision; at most `tol` after
        convergence.
    tol : float
        The residual that was asked for.
    objective_gap : float
        The objective is at most this far above its minimum.
    error_bound : float
        No output of the regression is further than this from that of the exact solution, for points
        whose k(x, x) is at most its largest value in training.
    iterations : int
        Number of iterations of conjugate gradients.
    rank : int
        Rank of the preconditioner or of the features.
    eigen_residual : float
        The norm of the difference of both sides is at most this, relative to either, in the
        coordinates of the points.
    ridge : float
        What the regression adds to the diagonal of K.
    """

    eigen_residual: float
    ridge: float


class KernelFisherDiscriminant(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    ClassifierMixin,  # type: ignore[misc]
    RidgeEstimator,
):
    """Fisher's discriminant in feature space.

    The directions w maximise <w, S_b w> / <w, (S_w + alpha) w>: class means differ most along them
    for the spread within the classes. Here S_w = sum_i p_i (phi(x_i) - mu_c) (phi(x_i) - mu_c)'
    with mu_c the mean of the class of x_i, S_b = sum_c p_c (mu_c - mu) (mu_c - mu)', and p are the
    weights of points and classes over their sum. At most k - 1 directions of k classes count. They
    are found by kernel ridge regression on the classes; a point is assigned to the nearest class
    mean along them.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions; None is one less than the number of classes.
    kernel : Kernel, str or callable, default=None
        A kernel, a scikit-learn name such as "rbf", "precomputed", or a function of two sets of
        points that returns their Gram matrix. None is `Gaussian()`.
    alpha : float, default=1e-3
        What is added to the variance within classes in every direction, in the units of k(x, x).
        The regression adds alpha times the sum of all weights to the diagonal of K, so that
        `KernelRidge` with n alpha is the same regression.
    priors : {"empirical"} or array-like of shape (n_classes,), default=None
        None assigns points to the nearest mean. Probabilities of the classes, given or the shares
        of the training points, shift the borders as they do between normal distributions.
    solver : {"auto", "primal", "cholesky", "cg", "nystrom"}, default="auto"
        "primal" solves in an exact finite feature map, "cholesky" factors the kernel matrix, "cg"
        runs conjugate gradients on all of it, "nystrom" finds the best function of `n_centers`
        points. "auto" chooses by size and memory.
    n_centers : int, default=None
        Number of centres of "nystrom"; None is 10 sqrt(n), from 100 to 10,000. More than 2,500
        centres that are dense rows of numbers are moved to the means of the points nearest to them.
    tol : float, default=1e-6
        Relative residual to reach.
    max_iter : int, default=None
        Largest number of iterations of conjugate gradients; None is 1000.
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
        Seed of the preconditioner and of the centres; None is a fixed seed.
    verbose : bool or int, default=False
        Whether to show progress on stderr.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    dual_coef_ : ndarray of shape (n_support, n_components)
        The directions, w = sum_i dual_coef_[i] phi(x_i) over the points of `support_`, scaled so
        that <w, (S_w + alpha) w> = 1.
    coef_ : ndarray of shape (n_map, n_components)
        The directions in the features, with the solver "primal" only.
    intercept_ : ndarray of shape (n_components,)
        What makes the mean of all points 0 along the directions.
    means_ : ndarray of shape (n_classes, n_components)
        The class means along the directions.
    eigenvalues_ : ndarray of shape (n_components,)
        The maxima of the ratio, in falling order.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        The maxima over the sum of all of them.
    priors_ : ndarray of shape (n_classes,)
        The probabilities of the classes.
    support_ : ndarray of shape (n_support,)
        Indices of the training points that carry the directions.
    kernel_ : Kernel
        The kernel with all parameters settled on the training points.
    n_iter_ : int
        Number of iterations.
    certificate_ : DiscriminantCertificate
        How well the directions solve the eigenvalue problem, and what they cost.

    See Also
    --------
    KernelRidgeClassifier : Classification by the regression alone.
    KernelPCA : Directions of largest variance, without classes.

    References
    ----------
    .. [1] S. Mika, G. Rätsch, J. Weston, B. Schölkopf, K.-R. Müller, "Fisher discriminant analysis
       with kernels", Neural Networks for Signal Processing (1999).
    .. [2] G. Baudat, F. Anouar, "Generalized discriminant analysis using a kernel approach", Neural
       Computation 12 (2000).

    Examples
    --------
    >>> from mercer import KernelFisherDiscriminant
    >>> X = [[0.0], [0.2], [0.4], [1.6], [1.8], [2.0]]
    >>> model = KernelFisherDiscriminant().fit(X, ["low", "low", "low", "high", "high", "high"])
    >>> model.transform([[0.1], [1.9]]).shape
    (2, 1)
    >>> model.predict([[0.1], [1.9]]).tolist()
    ['low', 'high']
    """

    fit_intercept = True
    classes_: Array
    means_: Array
    priors_: Array
    eigenvalues_: Array
    explained_variance_ratio_: Array

    def __init__(
        self,
        n_components: int | None = None,
        kernel: KernelLike = None,
        *,
        alpha: float = 1e-3,
        priors: str | Numbers | None = None,
        solver: str = "auto",
        n_centers: int | None = None,
        tol: float = 1e-6,
        max_iter: int | None = None,
        memory_limit: MemoryLimit = "auto",
        time_limit: float | None = None,
        callback: Callback = None,
        n_jobs: int | None = None,
        random_state: Seed = None,
        verbose: bool | int = False,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.alpha = alpha
        self.priors = priors
        self.solver = solver
        self.n_centers = n_centers
        self.tol = tol
        self.max_iter = max_iter
        self.memory_limit = memory_limit
        self.time_limit = time_limit
        self.callback = callback
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @atomic
    @recorded
    def fit(self, X: PointsLike, y: LabelsLike, sample_weight: Weights = None) -> Self:
        """Find the directions and the class means along them.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n training points, of a kind that the kernel takes.
        y : array-like of shape (n,)
            The class of each point.
        sample_weight : float or array-like of shape (n,), default=None
            Weight of each point; a point of weight 0 is left out. None is 1 for all.

        Returns
        -------
        KernelFisherDiscriminant
            The fitted estimator itself.

        Raises
        ------
        InputError
            If the points, targets, weights or parameters are not what they must be.
        """
        who = type(self).__name__
        points = self._check_fit(X)
        self.classes_, codes = as_classes(who, y, len(points))
        weight = checks.sample_weight(who, sample_weight, len(points))
        shares = self._class_shares(codes, weight)
        self.priors_ = self._checked_priors(shares)
        kept = self._checked_components()
        total = float(len(points) if weight is None else weight.sum())
        ridge = checks.number(who, "alpha", self.alpha, above=0) * total
        # Orthonormal targets: indicators over roots of shares, without what is the same for all.
        contrasts = null_space(np.sqrt(shares)[None])
        of_class = contrasts / np.sqrt(shares)[:, None]
        fitted = self._solve(points, of_class[codes], weight, chosen=(self._kernel(), ridge))
        errors = self._class_errors(
            points=points, codes=codes, weight=weight, of_class=of_class, ridge=ridge, fitted=fitted
        )
        unexplained = contrasts.T @ (np.sqrt(shares)[:, None] * errors)
        residual = self._turn(unexplained, of_class - errors, kept)
        self.certificate_ = DiscriminantCertificate(
            **vars(self.certificate_), eigen_residual=residual, ridge=ridge
        )
        return self

    @atomic
    def fit_transform(self, X: PointsLike, y: LabelsLike, sample_weight: Weights = None) -> Array:
        """Find the directions, and project the training points on them.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n training points, of a kind that the kernel takes.
        y : array-like of shape (n,)
            The class of each point.
        sample_weight : float or array-like of shape (n,), default=None
            Weight of each point; a point of weight 0 is left out. None is 1 for all.

        Returns
        -------
        ndarray of shape (n, n_components)
            The projections.
        """
        return self.fit(X, y, sample_weight).transform(X)

    # --- parameters -------------------------------------------------------------------------

    def _class_shares(self, codes: Array, weight: Array | None) -> Array:
        """Return the weight of each class over that of all."""
        totals = class_totals(type(self).__name__, self.classes_, codes, weight)
        return np.asarray(totals / totals.sum())

    def _checked_priors(self, shares: Array) -> Array:
        who, k = type(self).__name__, len(shares)
        if self.priors is None:
            return np.full(k, 1 / k)
        if isinstance(self.priors, str):
            checks.one_of(who, "priors", self.priors, ("empirical",))
            return shares
        found = checks.vector(who, "priors", self.priors, k)
        if np.any(found <= 0) or abs(float(found.sum()) - 1) > 1e-6:
            must = "priors must be positive and have the sum 1"
            raise InputError(sentence(who, must, checks.show(found.tolist())))
        return found

    def _checked_components(self) -> int:
        most = len(self.classes_) - 1
        if self.n_components is None:
            return most
        advice = f"There are no more directions between {most + 1} classes."
        return checks.whole(
            type(self).__name__,
            "n_components",
            self.n_components,
            least=1,
            most=most,
            advice=advice,
        )

    # --- from the regression to directions --------------------------------------------------

    def _class_errors(
        self,
        points: Input,
        codes: Array,
        weight: Array | None,
        of_class: Array,
        ridge: float,
        fitted: Fitted,
    ) -> Array:
        """Return the mean error of the regression in each class.

        Where all points carry the function, their errors are ridge / w times the coefficients.
        """
        weights = np.ones(len(codes)) if weight is None else weight
        totals = np.bincount(codes, weights)
        if len(self.dual_coef_) == int((weights > 0).sum()) and fitted.way != "nystrom":
            errors = np.zeros((len(codes), of_class.shape[1]))
            errors[self.support_] = ridge * self.dual_coef_
        else:
            errors = weights[:, None] * (of_class[codes] - self._scores(points))
        sums = [np.bincount(codes, column, len(totals)) for column in errors.T]
        return np.column_stack(sums) / totals[:, None]

    def _turn(self, unexplained: Array, means: Array, kept: int) -> float:
        """Turn the outputs of the regression into directions; return the residual of these.

        unexplained: N = 1 - M, where M z = mu z gives w = sum_j z_j f_j with S_b w = mu (S_t +
        alpha) w, for f the functions of the regression. means: of these in each class.
        <w, (S_w + alpha) w> is mu (1 - mu) |z|**2, and mu / (1 - mu) the maximum that is sought.
        """
        rest, Z = eigh((unexplained + unexplained.T) / 2)  # ascending: the best directions first
        rest = np.clip(rest, SMALLEST, 1.0)
        mu = 1 - rest
        flat = mu <= FLAT
        signs = np.where(means[-1] @ Z < 0, -1.0, 1.0)  # positive for the last class
        scale = np.where(flat, 0.0, signs / np.sqrt(np.where(flat, 1.0, mu * rest)))
        turn = (Z * scale)[:, :kept]
        ratios = np.where(flat, 0.0, mu / rest)
        self.eigenvalues_ = ratios[:kept]
        self.explained_variance_ratio_ = self.eigenvalues_ / max(ratios.sum(), SMALLEST)
        self.means_ = means @ turn
        self.dual_coef_, self.intercept_ = self.dual_coef_ @ turn, self.intercept_ @ turn
        if hasattr(self, "coef_"):
            self.coef_ = self.coef_ @ turn
        missed = np.linalg.norm(unexplained @ Z - Z * rest, axis=0)
        missed += (1 + mu) * self.certificate_.residual * np.sqrt(len(Z))
        return float(np.where(flat, 0.0, missed / np.where(flat, 1.0, mu))[:kept].max())

    # --- new points -------------------------------------------------------------------------

    @property
    def _n_features_out(self) -> int:
        check_is_fitted(self)
        return int(self.means_.shape[1])

    @anywhere
    def transform(self, X: PointsLike) -> Array:
        """Project points on the directions: <w, phi(x) - mu>.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points, of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n, n_components)
            The projections.
        """
        points = self._check_predict(X)
        return self._in_precision(self._scores(points), points)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @anywhere
    def decision_function(self, X: PointsLike) -> Array:
        """Compute <z, m_c> - |m_c|**2 / 2 + log prior_c of points, for z along the directions.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points, of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n,) or (n, n_classes)
            One column per class, m_c being its mean along the directions. For two classes the
            difference of the second and the first, positive for `classes_[1]`.
        """
        along = self._scores(X)
        with np.errstate(over="ignore", invalid="ignore"):  # checked below
            squares = (self.means_**2).sum(axis=1) / 2
            scores = along @ self.means_.T - squares + np.log(self.priors_)
            found = scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores
        return self._finite(found)

    @anywhere
    def predict(self, X: PointsLike) -> Array:
        """Predict the class of the nearest mean; unequal priors move the borders.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points, of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n,)
            The classes.
        """
        return self._class_of(self.decision_function(X))
