"""Several precomputed Gram matrices of the same points."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ... import checks
from ...checks import Array, InputError, sentence
from ...typing import MatrixLike


class GramStack:
    """Gram matrices of several kernels between the same points, as `MKLClassifier` takes them.

    It is indexed by points, like one Gram matrix: `stack[rows]` are all its matrices for some
    rows, `stack[np.ix_(rows, columns)]` for some rows and columns, so that scikit-learn's
    cross-validation can split it.

    Parameters
    ----------
    matrices : sequence of array-like of shape (n, m), or array of shape (kernels, n, m)
        K of each kernel: n = m training points to fit; new points by training points to predict.

    Attributes
    ----------
    matrices : tuple of ndarray
        The matrices, which are not copied where they are arrays of float32 or float64.
    shape : tuple of int
        Points of the rows, points of the columns.

    References
    ----------
    .. [1] M. Gönen, E. Alpaydın, "Multiple kernel learning algorithms", Journal of Machine
       Learning Research 12 (2011).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import GramStack
    >>> stack = GramStack([np.eye(3), np.ones((3, 3))])
    >>> len(stack), stack.n_kernels
    (3, 2)
    >>> stack[[0, 2]].shape
    (2, 3)
    """

    def __init__(self, matrices: Iterable[MatrixLike]) -> None:
        given = list(matrices)
        if not given:
            raise InputError(sentence("GramStack", "it must have a matrix or more", "none"))
        found = []
        for place, matrix in enumerate(given):
            what = f"matrices[{place}]"
            single = getattr(matrix, "dtype", None) == np.float32
            values = np.asarray(matrix) if single else checks.floats("GramStack", what, matrix)
            if values.ndim != 2:
                must = f"{what} must be a matrix"
                raise InputError(sentence("GramStack", must, f"shape {values.shape}"))
            if values.shape != np.shape(given[0]):
                must = f"{what} must have the shape of the first, {np.shape(given[0])}"
                raise InputError(sentence("GramStack", must, values.shape))
            checks.finite("GramStack", values, what=what)
            found.append(values)
        self.matrices = tuple(found)

    @property
    def shape(self) -> tuple[int, int]:
        """Points of the rows, points of the columns."""
        return self.matrices[0].shape[0], self.matrices[0].shape[1]

    @property
    def n_kernels(self) -> int:
        """How many matrices there are."""
        return len(self.matrices)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision that all matrices fit into."""
        found: np.dtype[Any] = np.result_type(*self.matrices)
        return found

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, points: Any) -> GramStack:
        found = [matrix[points] for matrix in self.matrices]
        if found[0].ndim != 2:
            must = "points must be a slice, a list of rows, or np.ix_(rows, columns)"
            raise InputError(sentence("GramStack", must, checks.show(points)))
        return GramStack(found)

    def __repr__(self) -> str:
        return f"GramStack({self.n_kernels} matrices of {self.shape[0]} x {self.shape[1]})"

    def weighted(self, weights: Sequence[float] | Array) -> Array:
        """Return sum_m w_m K_m.

        Parameters
        ----------
        weights : array-like of shape (kernels,)
            The numbers w_m.

        Returns
        -------
        ndarray of shape (n, m)
            The sum, in the precision of the matrices.
        """
        values = checks.vector("GramStack", "weights", weights, self.n_kernels)
        total = np.zeros(self.shape, dtype=self.dtype)
        for weight, matrix in zip(values.tolist(), self.matrices, strict=True):
            if weight:
                total += total.dtype.type(weight) * matrix
        return total
