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
from ..fitting.ridge import Fitted
from ..inputs import Input
from .atomic import atomic
from .records import recorded
from .ridge.regressor import RidgeCertificate, RidgeEstimator

SMALLEST = float(np.finfo(np.float64).tiny)
FLAT = 1e-12  # share of the variance of a direction below which classes do not differ along it


@dataclass(frozen=True, kw_only=True)
class DiscriminantCertificate(RidgeCertificate):
    """How well the directions solve S_b w = mu (S_t + alpha) w; else that of the regression.

    eigen_residual: the norm of the difference of both sides is at most this, relative to either, in
    the coordinates of the points. ridge: what the regression adds to the diagonal of K.
    """

    eigen_residual: float
    ridge: float


class KernelFisherDiscriminant(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    ClassifierMixin,  # type: ignore[misc]
    RidgeEstimator,
):
    """Directions along which class means differ most for the spread within the classes.

    max over w of <w, S_b w> / <w, (S_w + alpha) w>, with S_w = sum_i p_i (phi(x_i) - mu_c)
    (phi(x_i) - mu_c)' about the mean mu_c of the class of x_i, S_b = sum_c p_c (mu_c - mu)
    (mu_c - mu)', and p the weights of points and classes over their sum. At most k - 1 directions
    of k classes count. They are found by kernel ridge regression on the classes; a point is
    assigned to the nearest class mean along them.

    Parameters
    ----------
    n_components : directions to keep; None is one less than there are classes
    kernel : None (Gaussian), a kernel, a scikit-learn kernel name, "precomputed" or fn(X, Y)
    alpha : what is added to the variance within classes in every direction, in the units of
        k(x, x); the regression adds alpha times the sum of all weights to the diagonal of K, so
        that `KernelRidge` with n alpha is the same regression
    priors : None for the nearest mean; "empirical", or a probability for each class, which shift
        the borders as they do between normal distributions
    solver, n_centers, tol, max_iter, memory_limit, time_limit, callback, n_jobs, random_state,
    verbose : as in `KernelRidge`

    Attributes
    ----------
    classes_, kernel_ (resolved), dual_coef_ (points of `support_`, directions): w = sum_i
    dual_coef_[i] phi(x_i), scaled so that <w, (S_w + alpha) w> = 1, intercept_, means_ (of the
    classes along the directions), eigenvalues_ (the maxima), explained_variance_ratio_, priors_,
    support_, n_iter_, certificate_; coef_ with a primal solution

    References
    ----------
    Mika, Rätsch, Weston, Schölkopf, Müller, "Fisher discriminant analysis with kernels" (1999);
    Baudat, Anouar, "Generalized discriminant analysis using a kernel approach" (2000).
    """

    fit_intercept = True
    classes_: Array
    means_: Array
    priors_: Array
    eigenvalues_: Array
    explained_variance_ratio_: Array

    def __init__(
        self,
        n_components: Any = None,
        kernel: Any = None,
        *,
        alpha: float = 1e-3,
        priors: Any = None,
        solver: str = "auto",
        n_centers: Any = None,
        tol: float = 1e-6,
        max_iter: Any = None,
        memory_limit: Any = "auto",
        time_limit: Any = None,
        callback: Any = None,
        n_jobs: Any = None,
        random_state: Any = None,
        verbose: Any = False,
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
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the directions and the class means along them."""
        who = type(self).__name__
        points = self._check_fit(X)
        self.classes_, codes = self._check_labels(y, len(points))
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
    def fit_transform(self, X: Any, y: Any, sample_weight: Any = None) -> Array:
        """Find the directions; return the points along them."""
        return self.fit(X, y, sample_weight).transform(X)

    # --- parameters -------------------------------------------------------------------------

    def _class_shares(self, codes: Array, weight: Array | None) -> Array:
        """Return the weight of each class over that of all."""
        totals = self._class_totals(codes, weight)
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

    def transform(self, X: Any) -> Array:
        """Return <w, phi(x) - mu> for every x and direction w."""
        points = self._check_predict(X)
        return self._in_precision(self._scores(points), points)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def decision_function(self, X: Any) -> Array:
        """Return <z, m_c> - |m_c|**2 / 2 + log prior_c, for z along the directions, m_c the mean.

        Two classes: the difference of the second and the first, positive for `classes_[1]`.
        """
        along = self._scores(X)
        with np.errstate(over="ignore", invalid="ignore"):  # checked below
            squares = (self.means_**2).sum(axis=1) / 2
            scores = along @ self.means_.T - squares + np.log(self.priors_)
            found = scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores
        return self._finite(found)

    def predict(self, X: Any) -> Array:
        """Return the class of the nearest mean; priors other than equal ones move the borders."""
        return self._class_of(self.decision_function(X))
