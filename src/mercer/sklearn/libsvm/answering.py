"""Scores of scikit-learn's support vector machines, from the attributes that a fit leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...checks import Array, MercerError
from ...grams import Prepared, prepare
from ...inputs import Matrix
from ...kernels import Gaussian, Kernel, Linear, Polynomial, Precomputed
from ...models.svm.classes import groups_of, scores_of_pairs

KERNELS: dict[str, Callable[[Any], Kernel]] = {
    "linear": lambda model: Linear(),
    "rbf": lambda model: Gaussian(model._gamma),
    "poly": lambda model: Polynomial(model.degree, model._gamma, model.coef0),
}
FEW_ENTRIES = 2**20  # up to so many, sparse rows are written out


def takes_matrix(model: Any) -> bool:
    """Return whether a machine is given K: a function of the user's is evaluated before."""
    return callable(model.kernel) or model.kernel == "precomputed"


def written_out(X: Any) -> Any:
    """Return sparse rows as an array where there are few: they are then what dense ones are."""
    return X.toarray() if sp.issparse(X) and np.prod(X.shape) <= FEW_ENTRIES else X


def kernel_of(model: Any) -> Kernel | None:
    """Return the kernel of a machine whose gamma is settled, or None where it is not served.

    What is not served is tanh, which is no Mercer kernel: LIBSVM then finds one of several
    solutions.
    """
    if takes_matrix(model):
        return Precomputed()
    if model.kernel not in KERNELS:
        return None
    try:
        return KERNELS[model.kernel](model)
    except MercerError:  # of parameters that make it no Mercer kernel
        return None


@dataclass(frozen=True, kw_only=True)
class Answering:
    """What scores are computed from.

    prepared: the kernel with the support vectors, None where rows of K are handed in. dual_coef,
    vectors: the attributes that it was made from. columns: the support vectors among all points.
    groups: the support vectors of each class; one group where there is one machine.
    """

    kernel: Kernel
    prepared: Prepared | None
    dual_coef: Any
    vectors: Any
    columns: Array
    coefficients: Array
    groups: list[slice]

    @classmethod
    def of(cls, model: Any) -> Answering | None:
        """Return what answers for a fitted model, or None where LIBSVM has to."""
        kernel, vectors = kernel_of(model), model.support_vectors_
        dual_coef = model._dual_coef_  # with LIBSVM's signs
        n = len(model.support_)
        if kernel is None or not n:
            return None
        prepared = None
        if not isinstance(kernel, Precomputed):
            prepared = prepare(kernel, Matrix(written_out(vectors)))
        several = len(getattr(model, "classes_", ())) > 2
        return cls(
            kernel=kernel,
            prepared=prepared,
            dual_coef=dual_coef,
            vectors=vectors,
            columns=model.support_,
            coefficients=dual_coef.toarray() if sp.issparse(dual_coef) else dual_coef,
            groups=groups_of(model._n_support) if several else [slice(0, n)],
        )

    def is_about(self, model: Any) -> bool:
        """Return whether the model still is what this was made from."""
        return (
            model._dual_coef_ is self.dual_coef
            and model.support_vectors_ is self.vectors
            and kernel_of(model) == self.kernel
        )

    def scores(self, X: Any, intercept: Array) -> Array:
        """Return f of every machine, one column each; X: rows of numbers, or of K."""
        products = partial(self._products, written_out(X))
        if len(self.groups) > 1:
            return scores_of_pairs(products, self.groups, self.coefficients, intercept)
        return np.asarray(products(self.groups, [self.coefficients.T])[0] + intercept)

    def _products(self, X: Any, groups: list[slice], coefficients: list[Array]) -> list[Array]:
        if self.prepared is None:
            pairs = zip(groups, coefficients, strict=True)
            return [X[:, self.columns[group]] @ values for group, values in pairs]
        if len(groups) == 1:
            return [self.prepared.times(Matrix(X), coefficients[0])]
        return self.prepared.times_parts(Matrix(X), groups, coefficients)
