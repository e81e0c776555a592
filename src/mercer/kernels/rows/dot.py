"""Kernels of the dot product x.y on rows of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from math import comb
from typing import Any

import numpy as np
import scipy.sparse

from ... import checks
from ...checks import Array
from ...inputs import ROWS, Input
from ..algebra import HIGHEST, tensor
from ..base import Basis, Kernel
from ..pairs import DOT, Pairs, as_matrix
from ..parameters import one_bandwidth


@dataclass(frozen=True, repr=False)
class Linear(Kernel):
    """The linear kernel: the dot product of two rows.

    k(x, y) = x.y. Its feature map is the identity, so a kernel method with it is the linear method
    [1]_.

    References
    ----------
    .. [1] B. Schölkopf, A. J. Smola, "Learning with Kernels", 2002.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> Linear()([[1.0, 2.0], [3.0, 4.0]])
    array([[ 5., 11.],
           [11., 25.]])
    """

    domain = ROWS

    def profile(self, pairs: Pairs) -> Any:
        return pairs.sum(DOT)

    def _basis(self, points: Input) -> Basis:
        return Basis(as_matrix(points).n_columns)

    def expand(self, points: Input, basis: Basis) -> Any:
        values = as_matrix(points).values
        return scipy.sparse.csr_array(values) if scipy.sparse.issparse(values) else values.copy()


@dataclass(frozen=True, repr=False)
class Polynomial(Kernel):
    """The polynomial kernel, whose features are all products of up to `degree` columns.

    k(x, y) = (gamma x.y + coef0)**degree. Its feature map has a block for each j from 0 to degree:
    the j-fold tensor power of x times sqrt(binomial(degree, j) coef0**(degree - j) gamma**j). For
    degree 2, gamma = 1 and coef0 = 1 these are 1, sqrt(2) x and x (x) x, see [1]_.

    Parameters
    ----------
    degree : int, default=3
        Highest power, from 1 to 1000.
    gamma : float, "scale" or "auto", default=1.0
        Factor of the dot product, above 0. "scale" is 1 / (d var(X)) and "auto" is 1 / d, for d
        columns; both are settled on the training data.
    coef0 : float, default=1.0
        Constant added to it, at least 0; with 0 there are only products of exactly `degree`
        columns.

    References
    ----------
    .. [1] B. Schölkopf, A. J. Smola, "Learning with Kernels", 2002.

    Examples
    --------
    >>> from mercer.kernels import Polynomial
    >>> k = Polynomial(degree=2)
    >>> k([[1.0, 2.0], [3.0, 4.0]])
    array([[ 36., 144.],
           [144., 676.]])
    >>> k.features([[1.0, 2.0]]).round(3)
    array([[1.   , 1.414, 2.828, 1.   , 2.   , 2.   , 4.   ]])
    """

    domain = ROWS

    degree: int = 3
    gamma: float | str = 1.0
    coef0: float = 1.0

    def __post_init__(self) -> None:
        reason = (
            "A negative coef0 breaks the Mercer property: the map would need an imaginary part."
        )
        self._set(
            degree=checks.whole("Polynomial", "degree", self.degree, least=1, most=HIGHEST),
            gamma=one_bandwidth("Polynomial", "gamma", self.gamma),
            coef0=checks.number("Polynomial", "coef0", self.coef0, least=0, advice=reason),
        )

    def profile(self, pairs: Pairs) -> Any:
        return (pairs.sum(DOT, self.gamma) + self.coef0) ** self.degree

    def _basis(self, points: Input) -> Basis:
        width = as_matrix(points).n_columns
        return Basis(sum(width**j for j in range(self.degree + 1) if self._weight(j)))

    def _weight(self, j: int) -> float:
        """Return the weight of (x.y)**j in the binomial expansion."""
        return comb(self.degree, j) * self.coef0 ** (self.degree - j) * float(self.gamma) ** j

    def expand(self, points: Input, basis: Basis) -> Array:
        rows = as_matrix(points).dense()
        blocks = [
            np.sqrt(self._weight(j)) * reduce(tensor, [rows] * j, np.ones((len(rows), 1)))
            for j in range(self.degree + 1)
            if self._weight(j)
        ]
        return np.hstack(blocks)


@dataclass(frozen=True, repr=False)
class ExpDot(Kernel):
    """The exponential of the dot product: the sum of all its powers.

    k(x, y) = exp(gamma x.y) = sum_j (gamma x.y)**j / j!. Normalised it is Gaussian(gamma / 2), see
    [1]_.

    Parameters
    ----------
    gamma : float, "scale" or "auto", default=1.0
        Factor of the dot product, above 0. "scale" is 1 / (d var(X)) and "auto" is 1 / d, for d
        columns; both are settled on the training data.

    References
    ----------
    .. [1] I. Steinwart, A. Christmann, "Support Vector Machines", Springer, 2008.

    Examples
    --------
    >>> from mercer.kernels import ExpDot
    >>> ExpDot()([[0.0, 1.0], [1.0, 1.0]]).round(3)
    array([[2.718, 2.718],
           [2.718, 7.389]])
    """

    domain = ROWS

    gamma: float | str = 1.0

    def __post_init__(self) -> None:
        self._set(gamma=one_bandwidth("ExpDot", "gamma", self.gamma))

    def profile(self, pairs: Pairs) -> Any:
        return np.exp(pairs.sum(DOT, self.gamma))


@dataclass(frozen=True, repr=False)
class Sigmoid(Kernel):
    """The sigmoid function of the dot product, which is not positive definite in general.

    k(x, y) = tanh(gamma x.y + coef0). It is offered because scikit-learn and LIBSVM have it; its
    Gram matrix may have negative eigenvalues, which `mercer.check_kernel` finds. See [1]_.

    Parameters
    ----------
    gamma : float, "scale" or "auto", default=1.0
        Factor of the dot product, above 0. "scale" is 1 / (d var(X)) and "auto" is 1 / d, for d
        columns; both are settled on the training data.
    coef0 : float, default=0.0
        Constant added to it.

    References
    ----------
    .. [1] H.-T. Lin, C.-J. Lin, "A study on sigmoid kernels for SVM and the training of non-PSD
       kernels by SMO-type methods", National Taiwan University, 2003.

    Examples
    --------
    >>> from mercer import check_kernel
    >>> from mercer.kernels import Sigmoid
    >>> found = check_kernel(Sigmoid(gamma=1.0), [[0.5], [1.0], [2.0]])
    >>> bool(found.is_psd), round(float(found.min_eigenvalue), 4)
    (False, -0.2635)
    """

    domain = ROWS

    gamma: float | str = 1.0
    coef0: float = 0.0

    def __post_init__(self) -> None:
        self._set(
            gamma=one_bandwidth("Sigmoid", "gamma", self.gamma),
            coef0=checks.number("Sigmoid", "coef0", self.coef0),
        )

    def profile(self, pairs: Pairs) -> Any:
        return np.tanh(pairs.sum(DOT, self.gamma) + self.coef0)
