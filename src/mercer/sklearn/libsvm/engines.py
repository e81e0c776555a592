"""The machines of mercer that stand behind scikit-learn's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...checks import Array, MercerError
from ...models import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from ...models.svm.base import SupportVectorEstimator, SvmCertificate
from ...monitor import Monitor
from ...status import Status
from ..serving import log_fallback
from .answering import kernel_of, takes_matrix

UNREACHED = 1e10  # the bound of coefficients where C is infinite


class NotServed(MercerError):
    """A model that is left to LIBSVM."""


class Quiet(SupportVectorEstimator):
    """A machine that leaves warnings to scikit-learn, which has its own."""

    def _tell(self, certificate: SvmCertificate) -> None:
        pass

    def _check_mercer(self, K: Array, monitor: Monitor) -> None:
        pass


class QuietSVC(Quiet, SVC):
    """`SVC` without warnings."""


class QuietNuSVC(Quiet, NuSVC):
    """`NuSVC` without warnings."""


class QuietSVR(Quiet, SVR):
    """`SVR` without warnings."""


class QuietNuSVR(Quiet, NuSVR):
    """`NuSVR` without warnings."""


class QuietOneClassSVM(Quiet, OneClassSVM):
    """`OneClassSVM` without warnings."""


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """Machines that were found.

    rows: the points that they were found from, None for all. n_classes: 0 of numbers.
    """

    machines: Any
    rows: Array | None
    n_classes: int


def work_of_fit(model: Any, X: Any) -> float:
    """Return pairs of points times columns, as far as LIBSVM's time grows with them."""
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    if model._effective_probability:  # by machines for two classes, each with its overhead
        n = 2 * n / len(model.classes_)
    pairs = n * n
    if takes_matrix(model):  # nothing to compute: we look at all of K, LIBSVM at what it needs
        return float(pairs / 20)
    columns = X.shape[1]
    return float(pairs * columns / 2 if model.kernel == "linear" else pairs * columns)


def is_served(model: Any, n: int) -> bool:
    """Return whether there are machines for a model of n points; say in the log why not.

    Few steps end before any solver has converged, so that what is found depends on the steps:
    LIBSVM takes its own.
    """
    if kernel_of(model) is None:
        log_fallback(model, f"the kernel {model.kernel!r} is not served with these parameters")
    elif 0 <= model.max_iter < n:
        log_fallback(model, f"max_iter={model.max_iter} is below the number of points")
    else:
        return True
    return False


def fitted(model: Any, X: Any, y: Array, weight: Array) -> Fitted:
    """Return the machines of a model of scikit-learn.

    weight: of samples, empty where there are none; as in LIBSVM points whose weight is not above 0
    are left out.
    """
    rows, classes = None, len(getattr(model, "classes_", ()))
    if len(weight):
        used = weight > 0
        if not np.isfinite(weight).all() or len(np.unique(y[used])) < max(1, classes):
            raise NotServed("a class, or all, would have no weight")
        if not used.all():
            rows = np.flatnonzero(used)
            X, y, weight = X[rows], y[rows], weight[rows]
            if takes_matrix(model):
                X = X[:, rows]
    machines = engine_of(model).fit(X, y, **weights_of(model, y, weight))
    if machines.certificate_.status == Status.NO_MARGIN:
        raise NotServed("no margin was found")
    if np.isinf(model.C) and np.abs(machines.dual_coef_).max(initial=0.0) >= UNREACHED:
        raise NotServed("C is infinite and so are coefficients")
    return Fitted(machines=machines, rows=rows, n_classes=classes)


def weights_of(model: Any, y: Array, weight: Array) -> dict[str, Array]:
    """Return the weights of points, those of their classes included, as an argument of a fit."""
    of_class = getattr(model, "class_weight_", None)
    if model._impl == "c_svc" and of_class is not None and (of_class != 1).any():
        own = of_class[y.astype(np.intp)]
        return {"sample_weight": own * weight if len(weight) else own}
    return {"sample_weight": weight} if len(weight) else {}


def engine_of(model: Any) -> Any:
    """Return the machine of mercer with the parameters of a model."""
    C = UNREACHED if np.isinf(model.C) else model.C
    common = {
        "kernel": kernel_of(model),
        "tol": model.tol,
        "max_iter": None if model.max_iter < 0 else model.max_iter,
    }
    if model._impl == "c_svc":
        return QuietSVC(C=C, **common)
    if model._impl == "nu_svc":
        return QuietNuSVC(nu=model.nu, **common)
    if model._impl == "epsilon_svr":
        return QuietSVR(C=C, epsilon=model.epsilon, **common)
    if model._impl == "nu_svr":
        return QuietNuSVR(nu=model.nu, C=C, **common)
    return QuietOneClassSVM(nu=model.nu, **common)
