"""Nearest prototype in feature space: class means, or several means a class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin

from .. import checks
from ..checks import Array
from ..fitting.clusters import ClusterSearch
from ..grams import Prepared, Sums
from ..run import Run
from ..solvers import KernelMeans
from ..status import Status, first_bad
from ..typing import KernelLike, LabelsLike, MemoryLimit, PointsLike, Seed, Weights
from .base import Certificate, KernelEstimator
from .contract.anywhere import anywhere
from .contract.atomic import atomic
from .contract.parameters import run_of
from .contract.records import recorded
from .contract.targets import as_classes, class_totals

STARTS = 4  # of k-means within a class


@dataclass(frozen=True, kw_only=True)
class PrototypeCertificate(Certificate):
    """How far apart the prototypes are, and what they cost.

    Attributes
    ----------
    status : str
        "exact" for class means; with several prototypes per class that of k-means, "converged" or
        the reason why not.
    plan : str
        How the kernel matrix was held, and why.
    kernel_entries : int
        Number of kernel values that were computed.
    bytes : int
        Bytes that the plan allocates beyond the inputs.
    seconds : float
        Time that the fit took.
    separation : float
        Smallest distance in feature space between prototypes of two classes.
    """

    separation: float


class KernelPrototypeClassifier(ClassifierMixin, KernelEstimator):  # type: ignore[misc]
    """Classification by the nearest class mean in feature space.

    ||phi(x) - mu_c||**2 = k(x, x) - 2/n_c sum_i k(x, x_i) + 1/n_c**2 sum_ij k(x_i, x_j) over the
    members i, j of class c; the third term is computed once, in `fit`. With several prototypes per
    class the mu_c are the means of clusters within the classes, and the class of the nearest one is
    assigned.

    Parameters
    ----------
    kernel : Kernel, str or callable, default=None
        A kernel, a scikit-learn name such as "rbf", "precomputed", or a function of two sets of
        points that returns their Gram matrix. None is `Gaussian()`.
    n_prototypes : int, default=1
        Number of prototypes per class, found by k-means in feature space. A class with fewer
        members has as many as members.
    shrinkage : float, default=0.0
        Number in [0, 1] that moves every prototype towards the mean mu of all points, to
        (1 - shrinkage) mu_c + shrinkage mu.
    memory_limit : int or str, default="auto"
        Bytes that the fit may allocate, as a number or a text such as "2GB"; "auto" takes a share
        of the free memory.
    random_state : int, RandomState or Generator, default=None
        Seed of k-means; None is a fixed seed.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    dual_coef_ : ndarray of shape (n, n_prototypes)
        Coefficients of the prototypes: mu_c = sum_i dual_coef_[i, c] phi(x_i).
    squared_norms_ : ndarray of shape (n_prototypes,)
        ||mu_c||**2 of each prototype.
    prototype_classes_ : ndarray of shape (n_prototypes,)
        The class of each prototype.
    support_ : ndarray of shape (n,)
        Indices of the training points, all of which carry the means.
    kernel_ : Kernel
        The kernel with all parameters settled on the training points.
    certificate_ : PrototypeCertificate
        How far apart the prototypes are, and what they cost.

    See Also
    --------
    KernelKMeans : Clusters without classes.

    References
    ----------
    .. [1] J. Shawe-Taylor, N. Cristianini, "Kernel methods for pattern analysis", Cambridge
       University Press (2004), section 5.1.

    Examples
    --------
    >>> from mercer import KernelPrototypeClassifier
    >>> from mercer.kernels import Spectrum
    >>> words = ["banana", "bananas", "ananas", "cherry", "cherries", "sherry"]
    >>> model = KernelPrototypeClassifier(Spectrum(2)).fit(words, [0, 0, 0, 1, 1, 1])
    >>> model.predict(["bandana", "cheery"]).tolist()
    [0, 1]
    """

    classes_: Array
    dual_coef_: Array
    squared_norms_: Array
    prototype_classes_: Array
    support_: Array

    def __init__(
        self,
        kernel: KernelLike = None,
        *,
        n_prototypes: int = 1,
        shrinkage: float = 0.0,
        memory_limit: MemoryLimit = "auto",
        random_state: Seed = None,
    ) -> None:
        self.kernel = kernel
        self.n_prototypes = n_prototypes
        self.shrinkage = shrinkage
        self.memory_limit = memory_limit
        self.random_state = random_state

    @atomic
    @recorded
    def fit(self, X: PointsLike, y: LabelsLike, sample_weight: Weights = None) -> Self:
        """Find the prototypes of each class.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n training points, of a kind that the kernel takes.
        y : array-like of shape (n,)
            The class of each point.
        sample_weight : float or array-like of shape (n,), default=None
            Weight of each point in the means. None is 1 for all.

        Returns
        -------
        KernelPrototypeClassifier
            The fitted estimator itself.

        Raises
        ------
        InputError
            If the points, targets, weights or parameters are not what they must be.
        """
        who = type(self).__name__
        most = checks.whole(who, "n_prototypes", self.n_prototypes, least=1)
        shrinkage = checks.number(who, "shrinkage", self.shrinkage, least=0, most=1)
        points = self._check_fit(X)
        run = run_of(self)
        self.classes_, codes = as_classes(who, y, len(points))
        weight = checks.sample_weight(who, sample_weight, len(points))
        class_totals(who, self.classes_, codes, weight)
        shares = _shares(codes, weight)
        prepared = self._prepare(points, weight)
        groups, owners, status = codes, np.arange(len(self.classes_)), Status.EXACT
        if most > 1:
            groups, owners, status = self._clusters(prepared, codes, weight, most, run)
            shares = _shares(groups, weight)
        K = prepared.gram(memory_limit=self.memory_limit)
        if K.plan.kind == "half stored":  # one pass is all there is: nothing needs to be kept
            K = prepared.gram(memory_limit=self.memory_limit, store=False)
        products = K.reduce(Sums(groups, len(owners), shares))
        coefficients = np.zeros((len(points), len(owners)))
        coefficients[np.arange(len(points)), groups] = shares
        if shrinkage:
            mix = _mix(np.bincount(groups, weight, len(owners)), shrinkage)
            coefficients, products = coefficients @ mix, products @ mix
        between = coefficients.T @ products
        self.dual_coef_, self.squared_norms_ = coefficients, np.diag(between).copy()
        self.prototype_classes_, self.support_ = self.classes_[owners], np.arange(len(points))
        self._keep(self.support_)
        self.certificate_ = PrototypeCertificate(
            status=status,
            plan=f"{K.plan.kind}: {K.plan.reason}",
            kernel_entries=K.shape[0] * K.shape[1],
            bytes=K.plan.bytes,
            seconds=run.seconds,
            separation=_separation(between, owners),
        )
        return self

    def _clusters(
        self, prepared: Prepared, codes: Array, weight: Array | None, most: int, run: Run
    ) -> tuple[Array, Array, Status]:
        """Return the prototype of every sample, the class of every prototype, and the status.

        Prototypes of one class follow one another.
        """
        groups, states = np.empty_like(codes), []
        owners: list[int] = []
        for number in range(len(self.classes_)):
            members = np.flatnonzero(codes == number)
            own = None if weight is None else weight[members]
            count = min(most, len(members) if own is None else int((own > 0).sum()))
            search = ClusterSearch(prepared.take(members), own, run)
            found = search.find(KernelMeans(n_clusters=count, n_init=STARTS)).clusters
            groups[members] = found.labels + len(owners)
            owners += [number] * count
            states.append(found.status)
        return groups, np.array(owners), first_bad(states)

    def _products(self, X: Any) -> Array:
        """Return phi(x).mu_c for every x and prototype c."""
        points = self._check_predict(X)
        return self._cross_product(points, self.dual_coef_)

    def _of_classes(self, values: Array) -> Array:
        """Return the largest value of the prototypes of each class."""
        if values.shape[1] == len(self.classes_):
            return values
        firsts = np.searchsorted(self.prototype_classes_, self.classes_)
        return np.asarray(np.maximum.reduceat(values, firsts, axis=1))

    @anywhere
    def decision_function(self, X: PointsLike) -> Array:
        """Compute phi(x) . mu_c - ||mu_c||**2 / 2 for the best prototype of each class.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points, of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n,) or (n, n_classes)
            One column per class, largest for the nearest. For two classes the difference of the
            second and the first, positive for `classes_[1]`.
        """
        scores = self._of_classes(self._products(X) - self.squared_norms_ / 2)
        return np.asarray(scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores)

    @anywhere
    def predict(self, X: PointsLike) -> Array:
        """Predict the class of the nearest prototype.

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

    def distances(self, X: PointsLike) -> Array:
        """Compute ||phi(x) - mu_c|| for the nearest prototype of each class.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points, of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n, n_classes)
            The distances.
        """
        points = self._check_predict(X)
        squares = self._prepared.diag(points)[:, None] - 2 * self._products(X) + self.squared_norms_
        return np.asarray(np.sqrt(np.maximum(-self._of_classes(-squares), 0.0)))


def _shares(codes: Array, weight: Array | None) -> Array:
    """Return the part of each sample in the mean of its group."""
    weights = np.ones(len(codes)) if weight is None else weight
    return np.asarray(weights / np.bincount(codes, weights)[codes])


def _mix(totals: Array, shrinkage: float) -> Array:
    """Return what turns coefficients of means into those of means moved towards their mean."""
    mean = shrinkage * totals / totals.sum()
    return np.asarray((1 - shrinkage) * np.eye(len(totals)) + mean[:, None])


def _separation(between: Array, owners: Array) -> float:
    norms = np.diag(between)
    squares = norms[:, None] - 2 * between + norms[None, :]
    squares[owners[:, None] == owners] = np.inf
    return float(np.sqrt(max(squares.min(), 0.0)))
