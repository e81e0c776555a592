"""How estimators hold their functions sum_i a_ic k(x_i, .), and how fewer points take over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import is_regressor

from ..checks import Array, InputError, sentence
from ..grams import Prepared
from ..kernels import Kernel
from ..postfit.compress.functions import Compressed
from .base import FunctionEstimator, KernelEstimator
from .kmeans import KernelKMeans
from .pca import KernelPCA
from .perceptron import KernelPerceptron
from .prototype import KernelPrototypeClassifier
from .svm.base import SupportVectorEstimator, SvmCertificate


@dataclass(frozen=True, kw_only=True)
class Holder:
    """How one family of estimators holds its functions.

    coefficients: returns a, a row per point and a column per function. store: gives a copy of the
    estimator the functions that were found. kernel: of the space in which functions are compared.
    has_offset: whether offsets of their own may change. equal_units: whether errors of all
    functions count alike as they are, or relative to the functions.
    """

    coefficients: Callable[[Any], Array]
    store: Callable[[Any, Any, Compressed], None]
    kernel: Callable[[Any], Kernel] = lambda model: model.kernel_
    has_offset: Callable[[Any], bool] = lambda model: False
    equal_units: Callable[[Any], bool] = lambda model: True


def holder_of(model: KernelEstimator) -> Holder | None:
    """Return how a model holds its functions; None: it has none."""
    for kind, holder in HOLDERS:
        if isinstance(model, kind):
            return holder
    return None


def copy_of(model: Any) -> Any:
    """Return an estimator with the same parameters and attributes."""
    copied = object.__new__(type(model))
    vars(copied).update(vars(model))
    return copied


def _keep_centres(new: Any, found: Compressed) -> None:
    new._prepared = Prepared(new.kernel_, found.approximation.centres.view)


# --- f(x) + b by points, or by features ----------------------------------------------------------


def _of_function(model: FunctionEstimator) -> Array:
    if hasattr(model, "coef_"):
        must = "the model must be carried by points"
        got = "one by features of an exact finite map, whose size no points change"
        advice = "There is nothing to compress; or fit it with another solver than 'primal'."
        raise InputError(sentence("compress", must, got, advice))
    found = model.dual_coef_
    return found[:, None] if found.ndim == 1 else found


def _store_function(model: Any, new: Any, found: Compressed) -> None:
    b = found.approximation.coefficients
    flat = model.dual_coef_.ndim == 1
    new.dual_coef_ = b[:, 0] if flat else b
    shift = float(found.shift[0]) if flat else found.shift
    new.intercept_ = model.intercept_ + shift
    new.support_ = model.support_[found.rows]
    vars(new).pop("_posterior", None)  # it is about the training points
    certificate: Any = model.certificate_
    bound = certificate.error_bound + found.record.bound
    new.certificate_ = replace(certificate, error_bound=bound)
    _keep_centres(new, found)


# --- support vector machines ---------------------------------------------------------------------


def _of_machines(model: SupportVectorEstimator) -> Array:
    if len(model.support_) == 0:
        must = "the model must have support vectors"
        raise InputError(sentence("compress", must, "none", "There is nothing to compress."))
    found = model._of_points()
    return found[:, None] if found.ndim == 1 else found


def _store_machines(model: Any, new: Any, found: Compressed) -> None:
    # By columns in memory: answers read the coefficients of one vector together.
    new.dual_coef_ = np.ascontiguousarray(found.approximation.coefficients).T
    new.intercept_ = model.intercept_ + found.shift
    if hasattr(model, "offset_"):
        new.offset_ = -float(new.intercept_[0])
    new.support_ = model.support_[found.rows]
    stops = np.cumsum(model.n_support_)
    owners = np.searchsorted(stops, found.rows, side="right")
    new.n_support_ = np.bincount(owners, minlength=len(stops)).astype(np.int32)
    if isinstance(model.certificate_, SvmCertificate):
        norm = float(np.sqrt(found.approximation.own_squares.max()))
        margin = 1 / norm if norm > 0 else np.inf
        new.certificate_ = replace(model.certificate_, norm=norm, margin=margin)
    _keep_centres(new, found)


# --- components, means and votes -----------------------------------------------------------------


def _store_components(model: KernelPCA, new: Any, found: Compressed) -> None:
    centres = found.approximation.centres
    weights = np.ones(len(model._prepared)) if model._roots is None else model._roots**2
    means = model._prepared.times(centres.points, weights[:, None] / weights.sum())
    new.eigenvectors_ = found.approximation.coefficients * np.sqrt(model.eigenvalues_)
    new._means, new._roots = np.asarray(means[:, 0], dtype=np.float64), None
    # A component is <f, phi(x) - mu>, and no mean mu is longer than the longest phi(x).
    new.compression_ = replace(found.record, bound=2 * found.record.bound)
    _keep_centres(new, found)


def _store_means(model: Any, new: Any, found: Compressed) -> None:
    new.dual_coef_ = found.approximation.coefficients
    new.squared_norms_ = found.approximation.own_squares
    new.support_ = model.support_[found.rows]
    _keep_centres(new, found)


def _of_votes(model: KernelPerceptron) -> Array:
    if len(model.support_) == 0:
        must = "the model must have made a mistake"
        raise InputError(sentence("compress", must, "none", "There is nothing to compress."))
    return np.asarray(model.dual_coef_.T)


def _store_votes(model: KernelPerceptron, new: Any, found: Compressed) -> None:
    """Keep the votes; `partial_fit` goes on from them."""
    b = found.approximation.coefficients
    new.dual_coef_ = np.ascontiguousarray(b.T)
    new.intercept_ = new.dual_coef_.sum(axis=1)
    new._votes = np.hstack([-b, b]) if b.shape[1] == 1 else b
    new._late = np.zeros_like(new._votes)
    new.support_ = model.support_[found.rows]
    _keep_centres(new, found)


HOLDERS: tuple[tuple[type[Any], Holder], ...] = (
    (
        FunctionEstimator,
        Holder(
            coefficients=_of_function,
            store=_store_function,
            has_offset=lambda model: bool(model.fit_intercept),
            equal_units=lambda model: not is_regressor(model),
        ),
    ),
    (
        SupportVectorEstimator,
        Holder(
            coefficients=_of_machines,
            store=_store_machines,
            has_offset=lambda model: bool(getattr(model, "fit_intercept", True)),
        ),
    ),
    (
        KernelPCA,
        Holder(coefficients=lambda model: model._coefficients(), store=_store_components),
    ),
    (KernelKMeans, Holder(coefficients=lambda model: model.dual_coef_, store=_store_means)),
    (
        KernelPrototypeClassifier,
        Holder(coefficients=lambda model: model.dual_coef_, store=_store_means),
    ),
    (
        KernelPerceptron,
        Holder(coefficients=_of_votes, store=_store_votes, kernel=lambda model: model.kernel_ + 1),
    ),
)
