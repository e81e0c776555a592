"""Kernels around one other kernel: a multiple of it, a power of it, its exponential.

They show the parameters of the inner kernel as their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import scipy.sparse

from .. import checks
from ..checks import sentence
from ..inputs import Input
from .base import Basis, Kernel
from .pairs import Pairs

HIGHEST = 1000  # power: beyond it, k is 0, 1 or infinite, and its map has no size
NEGATIVE = "A negative coefficient breaks the Mercer property: K would have negative eigenvalues."


def tensor(left: Any, right: Any) -> Any:
    """Return the row-wise tensor product: row i is left_i (x) right_i."""
    if not (scipy.sparse.issparse(left) or scipy.sparse.issparse(right)):
        width = left.shape[1] * right.shape[1]
        return (left[:, :, None] * right[:, None, :]).reshape(len(left), width)
    left, right = scipy.sparse.csr_array(left), scipy.sparse.csr_array(right)
    width = right.shape[1]
    rows = [scipy.sparse.kron(left[[i]], right[[i]], format="csr") for i in range(left.shape[0])]
    if not rows:
        return scipy.sparse.csr_array((0, left.shape[1] * width))
    return scipy.sparse.vstack(rows, format="csr")


@dataclass(frozen=True, repr=False)
class Around(Kernel, abstract=True):
    """A kernel around one other kernel, whose parameters show through."""

    inner: Kernel

    def __post_init__(self) -> None:
        if not isinstance(self.inner, Kernel):
            raise checks.InputTypeError(
                sentence(self.name, "inner must be a kernel", checks.show(self.inner))
            )
        self._set(domain=self.inner.domain)

    @classmethod
    def combine(cls, inner: Kernel, *arguments: Any) -> Kernel:
        """Build the expression that an operator or a method asks for.

        Parameters
        ----------
        inner : Kernel
            The kernel inside.
        *arguments : object
            Further parameters of the expression.

        Returns
        -------
        Kernel
            The expression.
        """
        return cls(inner, *arguments)

    def children(self) -> tuple[Kernel, ...]:
        return (self.inner,)

    def with_children(self, children: tuple[Kernel, ...]) -> Kernel:
        return self.replace(inner=children[0])

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        own = super().get_params()
        return (self.inner.get_params() | own) if deep else own

    def replace(self, **changes: Any) -> Kernel:
        own = {key: changes.pop(key) for key in super().get_params() if key in changes}
        inner = own.pop("inner", self.inner)
        changes = {key.removeprefix("inner__"): value for key, value in changes.items()}
        rest = {key: own.get(key, value) for key, value in super().get_params().items()}
        rest["inner"] = inner.replace(**changes) if changes else inner
        return type(self)(**rest)

    def _basis(self, points: Input) -> Basis | None:
        inner = self.inner._basis(self.child_input(points))
        return None if inner is None else Basis(inner.width, parts=(inner,))

    def has_map(self) -> bool:
        return self.inner.has_map()

    def expand(self, points: Input, basis: Basis) -> Any:
        return self.inner.expand(self.child_input(points), basis.parts[0])


@dataclass(frozen=True, repr=False)
class Scaled(Around):
    """A kernel times a non-negative number, written `2 * k`.

    k(x, y) = coef inner(x, y). A negative coefficient is refused, because the Gram matrix would
    have negative eigenvalues [1]_.

    Parameters
    ----------
    inner : Kernel
        The kernel that is scaled.
    coef : float, default=1.0
        The factor, at least 0.

    References
    ----------
    .. [1] J. Shawe-Taylor, N. Cristianini, "Kernel Methods for Pattern Analysis", 2004.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> 2 * Linear()
    2.0*Linear()
    >>> (2 * Linear()).get_params(deep=False)
    {'inner': Linear(), 'coef': 2.0}
    """

    coef: float = 1.0
    precedence = 2

    def __post_init__(self) -> None:
        coef = checks.number("kernel", "a coefficient", self.coef, least=0, advice=NEGATIVE)
        inner = self.inner
        if isinstance(inner, Scaled):
            coef, inner = coef * inner.coef, inner.inner
        self._set(coef=coef, inner=inner)
        super().__post_init__()

    def profile(self, pairs: Pairs) -> Any:
        return self.coef * pairs.value(self.inner)

    def expand(self, points: Input, basis: Basis) -> Any:
        return super().expand(points, basis) * np.sqrt(self.coef)

    def __repr__(self) -> str:
        return f"{self.coef!r}*{self.inner.text(3)}"


@dataclass(frozen=True, repr=False)
class Power(Around):
    """A kernel to a whole power, written `k ** 2`.

    k(x, y) = inner(x, y)**exponent, the product of the kernel with itself. Other powers are
    refused: they need not be positive definite [1]_.

    Parameters
    ----------
    inner : Kernel
        The kernel that is multiplied with itself.
    exponent : int, default=2
        How often, from 1 to 1000.

    References
    ----------
    .. [1] J. Shawe-Taylor, N. Cristianini, "Kernel Methods for Pattern Analysis", 2004.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> ((Linear() + 1) ** 2)([[0.0], [2.0]])
    array([[ 1.,  1.],
           [ 1., 25.]])
    """

    exponent: int = 2
    precedence = 3

    def __post_init__(self) -> None:
        reason = "Other powers break the Mercer property (K**0.5 can have negative eigenvalues)."
        value: Any = self.exponent
        inner = self.inner
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        value = checks.whole("kernel", "an exponent", value, least=1, advice=reason)
        if isinstance(inner, Power):
            value, inner = value * inner.exponent, inner.inner
        checks.whole("kernel", "an exponent", value, least=1, most=HIGHEST)
        self._set(exponent=value, inner=inner)
        super().__post_init__()

    def profile(self, pairs: Pairs) -> Any:
        return pairs.value(self.inner) ** self.exponent

    def _basis(self, points: Input) -> Basis | None:
        inner = self.inner._basis(points)
        return None if inner is None else Basis(inner.width**self.exponent, parts=(inner,))

    def expand(self, points: Input, basis: Basis) -> Any:
        return reduce(tensor, [super().expand(points, basis)] * self.exponent)

    def __repr__(self) -> str:
        return f"{self.inner.text(4)}**{self.exponent}"


@dataclass(frozen=True, repr=False)
class Exp(Around):
    """The exponential of a kernel, written `k.exp()`.

    k(x, y) = exp(inner(x, y)), the limit of sums of powers with positive coefficients, therefore
    positive definite [1]_.

    Parameters
    ----------
    inner : Kernel
        The kernel in the exponent.

    References
    ----------
    .. [1] J. Shawe-Taylor, N. Cristianini, "Kernel Methods for Pattern Analysis", 2004.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> Linear().exp()([[0.0], [1.0]]).round(3)
    array([[1.   , 1.   ],
           [1.   , 2.718]])
    """

    def profile(self, pairs: Pairs) -> Any:
        return np.exp(pairs.value(self.inner))

    def _basis(self, points: Input) -> None:
        return None

    def has_map(self) -> bool:
        return False

    def __repr__(self) -> str:
        return f"{self.inner.text(4)}.exp()"
