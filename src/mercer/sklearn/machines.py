"""Support vector machines of scikit-learn, solved and evaluated by mercer.

scikit-learn's classes check parameters and data, and then call LIBSVM in methods for dense and for
sparse rows. These methods are replaced; all else stays theirs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
import sklearn
import sklearn.svm

from ..checks import Array, MercerError
from ..status import Status
from .libsvm.answering import Answering, takes_matrix, written_out
from .libsvm.engines import Fitted, fitted, is_served, work_of_fit
from .libsvm.platt import sigmoids_of_pairs
from .serving import log_fallback, pays

# Below so much work LIBSVM is as fast.
LEAST_OF_FIT = 1.5e7  # pairs of points times columns
LEAST_OF_ANSWERS = 6e5  # pairs of a point and a support vector, times columns and VALUE
VALUE = 10  # a value of a kernel takes LIBSVM as long as so many columns


def as_configured(rows: Any) -> Any:
    """Return sparse rows of the kind that scikit-learn is set to return, others as they are."""
    if not sp.issparse(rows):
        return rows
    arrays = sklearn.get_config().get("sparse_interface") == "sparray"
    return sp.csr_array(rows) if arrays else sp.csr_matrix(rows)


def with_zeros(values: Array) -> Any:
    """Return values as sparse rows that keep zeros, as LIBSVM does."""
    rows, columns = values.shape
    indices, starts = np.tile(np.arange(columns), rows), np.arange(rows + 1) * columns
    return as_configured(sp.csr_array((values.ravel(), indices, starts), shape=values.shape))


class LibsvmMachine:
    """The hooks in which scikit-learn's machines call LIBSVM.

    Inside them the two classes of one machine have opposite signs, as LIBSVM has them: scikit-learn
    turns them before anyone sees them.
    """

    _answering: Answering | None = None

    # --- fit --------------------------------------------------------------------------------

    def _dense_fit(self, X: Array, y: Array, weight: Array, *rest: Any, random_seed: int) -> None:
        if not self._serve(X, y, weight, random_seed):
            super()._dense_fit(X, y, weight, *rest, random_seed=random_seed)  # type: ignore[misc]

    def _sparse_fit(self, X: Any, y: Array, weight: Array, *rest: Any, random_seed: int) -> None:
        X.sort_indices()
        if not self._serve(X, y, weight, random_seed):
            super()._sparse_fit(X, y, weight, *rest, random_seed=random_seed)  # type: ignore[misc]

    def _serve(self, X: Any, y: Array, weight: Array, seed: int) -> bool:
        """Fit the machines, if they can be; say why not in the log."""
        self._answering = None
        if not (pays(self, work_of_fit(self, X), LEAST_OF_FIT) and is_served(self, len(y))):
            return False
        if callable(self.kernel):  # type: ignore[attr-defined]
            self._BaseLibSVM__Xfit = X  # where scikit-learn looks for the points of a function
            X = self._compute_kernel(X)  # type: ignore[attr-defined]
        points = written_out(X)
        try:
            found = fitted(self, points, y, weight)
            self._adopt(found, X)
            self._find_sigmoids(points, y, weight, seed)
        except MercerError as error:
            log_fallback(self, str(error))
            return False
        self._warn_from_fit_status()  # type: ignore[attr-defined]
        return True

    def _adopt(self, found: Fitted, X: Any) -> None:
        """Take what was found as the attributes that LIBSVM leaves."""
        model: Any = self
        machines, rows = found.machines, found.rows
        sign = -1.0 if found.n_classes == 2 else 1.0
        support = machines.support_ if rows is None else rows[machines.support_]
        model.support_ = support.astype(np.int32)
        vectors = np.empty((0, 0)) if takes_matrix(model) else X[support]
        model.support_vectors_ = as_configured(vectors)
        sizes = machines.n_support_
        model._n_support = sizes if found.n_classes else np.repeat(sizes, 2)
        dual = sign * machines.dual_coef_
        model.dual_coef_ = with_zeros(dual) if model._sparse else np.ascontiguousarray(dual)
        model.intercept_ = sign * machines.intercept_
        model._num_iter = machines.n_iter_.astype(np.int32)
        model.fit_status_ = int(machines.certificate_.status == Status.ITERATION_LIMIT)

    def _find_sigmoids(self, X: Any, y: Array, weight: Array, seed: int) -> None:
        """Turn scores to probabilities, where that is asked for."""
        model: Any = self
        model._probA, model._probB = np.empty(0), np.empty(0)
        if model._effective_probability:
            model._probA, model._probB = sigmoids_of_pairs(model, X, y, weight, seed)

    # --- answers ----------------------------------------------------------------------------

    def _machine_scores(self, X: Any) -> Array | None:
        """Return what LIBSVM calls decision values, or None where it has to be asked."""
        model: Any = self
        pairs = X.shape[0] * len(model.support_)
        if takes_matrix(model):
            if X.shape[1] != model.shape_fit_[0]:
                return None  # LIBSVM says what is wrong
        elif not pays(model, pairs * (X.shape[1] + VALUE), LEAST_OF_ANSWERS):
            return None
        answering = self._answering
        if answering is None or not answering.is_about(model):
            answering = self._answering = Answering.of(model)
        return None if answering is None else answering.scores(X, model._intercept_)

    def _dense_decision_function(self, X: Array) -> Array:
        found = self._machine_scores(X)
        if found is None:
            found = super()._dense_decision_function(X)  # type: ignore[misc]
        return np.asarray(found)

    def _sparse_decision_function(self, X: Any) -> Array:
        found = self._machine_scores(X)
        if found is None:
            found = super()._sparse_decision_function(X)  # type: ignore[misc]
        return np.asarray(found)

    def _dense_predict(self, X: Array) -> Array:
        found = self._machine_scores(self._compute_kernel(X))  # type: ignore[attr-defined]
        if found is None:
            return np.asarray(super()._dense_predict(X))  # type: ignore[misc]
        return self._read(found)

    def _sparse_predict(self, X: Any) -> Array:
        found = self._machine_scores(X)
        if found is None:
            return np.asarray(super()._sparse_predict(X))  # type: ignore[misc]
        return self._read(found)

    def _read(self, scores: Array) -> Array:
        """Return the predictions that scores stand for."""
        return np.asarray(scores[:, 0])

    # --- copies -----------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        parent: Any = super()
        state: dict[str, Any] = dict(parent.__getstate__())
        state.pop("_answering", None)  # made anew, since it repeats the support vectors
        return state


class LibsvmClassifier(LibsvmMachine):
    """Classes by the votes of machines for two of them; of equal votes the first class wins."""

    def _read(self, scores: Array) -> Array:
        k = len(self.classes_)  # type: ignore[attr-defined]
        first, second = np.triu_indices(k, 1)
        rows = np.arange(len(scores))
        votes = np.zeros((len(scores), k), dtype=np.intp)
        for column, (one, other) in enumerate(zip(first, second, strict=True)):
            votes[rows, np.where(scores[:, column] > 0, one, other)] += 1
        return np.asarray(votes.argmax(axis=1).astype(np.float64))


class SVC(LibsvmClassifier, sklearn.svm.SVC):  # type: ignore[misc]
    __doc__ = sklearn.svm.SVC.__doc__


class NuSVC(LibsvmClassifier, sklearn.svm.NuSVC):  # type: ignore[misc]
    __doc__ = sklearn.svm.NuSVC.__doc__


class SVR(LibsvmMachine, sklearn.svm.SVR):  # type: ignore[misc]
    __doc__ = sklearn.svm.SVR.__doc__


class NuSVR(LibsvmMachine, sklearn.svm.NuSVR):  # type: ignore[misc]
    __doc__ = sklearn.svm.NuSVR.__doc__


class OneClassSVM(LibsvmMachine, sklearn.svm.OneClassSVM):  # type: ignore[misc]
    __doc__ = sklearn.svm.OneClassSVM.__doc__

    def _read(self, scores: Array) -> Array:
        return np.where(scores[:, 0] > 0, 1.0, -1.0)
