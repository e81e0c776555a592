"""The gradient of a fitted function, for every model that is one."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...checks import Array, InputError, sentence
from ...grams import limited_threads
from ...monitor import Monitor
from ...postfit.gradient import feature_gradient, gradient
from ...typing import PointsLike


class HasGradient:
    """A model whose functions f are sums of kernels: its gradient by the columns of a point."""

    def gradient(self, X: PointsLike) -> Array:
        """Compute the gradient of f at points: how the prediction changes with each column.

        For f(x) = sum_j c_j k(x, z_j) + b it is sum_j c_j dk(x, z_j)/dx, from the derivatives of
        the formula of the kernel. It exists for kernels of distances and dot products and for
        expressions of these. Where a kernel has a kink, as `Laplacian` at x = z, that term is 0.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            The n points, rows of numbers; sparse rows are made dense a band at a time.

        Returns
        -------
        ndarray of shape (n, d) or (n, d, n_outputs)
            The derivative of f by each column, in double precision; for several outputs, classes or
            machines one for each, in the order of their coefficients. A classifier by pairs of
            classes has one for each pair, as with `decision_function_shape="ovo"`.

        Raises
        ------
        KernelError
            If a part of the kernel has no derivative.
        InputError
            If the points are not rows of numbers, or not of the kind that was fitted.
        """
        model: Any = self
        points = model._check_predict(X)
        who = type(self).__name__
        coefficients, of_features = self._terms()
        flat = coefficients.ndim == 1
        columns = coefficients[:, None] if flat else coefficients
        with limited_threads(getattr(self, "n_jobs", None), who):
            compute = feature_gradient if of_features else gradient
            found = compute(who, model._prepared, points, columns, Monitor())
        if not np.isfinite(found).all():
            must = "the gradient must be finite"
            advice = "Scale X and y, for example with sklearn.preprocessing.StandardScaler."
            raise InputError(sentence(who, must, f"overflow with {model.kernel_!r}", advice))
        return np.asarray(found[:, :, 0] if flat else found)

    def _terms(self) -> tuple[Array, bool]:
        """Return coefficients, a vector or one column a function; and whether of features."""
        raise NotImplementedError
