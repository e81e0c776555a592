"""Kernels made of kernels: the rules that keep the Mercer property.

Sum and Product are flat and ordered. Parameters of terms are named k1__gamma, k2__degree, …, their
coefficients k1__coef; a kernel around one other kernel shows the inner parameters as its own.
"""

from __future__ import annotations

import numbers
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod
from typing import Any

import numpy as np
import scipy.sparse

from .. import checks
from ..checks import Array, InputError, KernelError, sentence
from ..inputs import Input, domain_text
from .base import Basis, Kernel
from .pairs import Pairs


@dataclass(frozen=True, repr=False)
class Constant(Kernel):
    """The constant kernel, which is an offset when it is added to another kernel.

    k(x, y) = c for all points. A number in a sum of kernels becomes one: `k + 2` is `k +
    Constant(2)`. That sums of kernels are kernels is shown in [1]_.

    Parameters
    ----------
    c : float, default=1.0
        The value, at least 0.

    References
    ----------
    .. [1] J. Shawe-Taylor, N. Cristianini, "Kernel Methods for Pattern Analysis", 2004.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> (Linear() + 2)([[1.0], [3.0]])
    array([[ 3.,  5.],
           [ 5., 11.]])
    """

    c: float = 1.0

    def __post_init__(self) -> None:
        self._set(c=checks.number("Constant", "c", self.c, least=0, advice=_NEGATIVE))

    def profile(self, pairs: Pairs) -> Any:
        return self.c

    def _basis(self, points: Input) -> Basis:
        return Basis(1)

    def expand(self, points: Input, basis: Basis) -> Array:
        return np.full((len(points), 1), np.sqrt(self.c))


HIGHEST = 1000  # power: beyond it, k is 0, 1 or infinite, and its map has no size
_NEGATIVE = "A negative coefficient breaks the Mercer property: K would have negative eigenvalues."


def as_kernel(value: Any) -> Kernel:
    """Return a kernel; a number stands for Constant."""
    if isinstance(value, Kernel):
        return value
    if isinstance(value, numbers.Real):
        return Constant(value)  # type: ignore[arg-type]
    raise checks.InputTypeError(
        sentence("kernel", "kernels combine with kernels and numbers", checks.show(value))
    )


@dataclass(frozen=True, repr=False)
class _Terms(Kernel):
    """Several kernels of the same points."""

    terms: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        flat: list[Kernel] = []
        for term in self.terms:
            flat += term.terms if isinstance(term, type(self)) else [as_kernel(term)]
        if len(flat) < 2:
            raise KernelError(sentence(self.name, "it must have two terms or more", len(flat)))
        self._set(terms=tuple(flat))
        domain = frozenset.intersection(*(term.domain for term in self.terms))
        if not domain:
            kinds = " and ".join(domain_text(term.domain) for term in self.terms)
            raise KernelError(
                sentence(
                    self.name,
                    "its terms must take the same points",
                    kinds,
                    'Give each term its columns of a data frame: k1.on("text") + k2.on(["a"]).',
                )
            )
        self._set(domain=domain)

    def children(self) -> tuple[Kernel, ...]:
        return self.terms

    def with_children(self, children: tuple[Kernel, ...]) -> Kernel:
        return type(self)(children)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        params: dict[str, Any] = {f"k{index}": term for index, term in enumerate(self.terms, 1)}
        for index, term in enumerate(self.terms, 1) if deep else ():
            coef = term.coef if isinstance(term, Scaled) else 1.0
            inner = term.get_params() | {"coef": coef}
            params |= {f"k{index}__{key}": value for key, value in inner.items()}
        return params

    def replace(self, **changes: Any) -> Kernel:
        terms = {f"k{index}": term for index, term in enumerate(self.terms, 1)}
        nested: dict[str, dict[str, Any]] = {}
        for key, value in changes.items():
            head, _, rest = key.partition("__")
            if head not in terms:
                names = ", ".join(terms)
                raise InputError(
                    sentence(self.name, f"its terms are {names}", repr(key), "Write k1__gamma.")
                )
            if rest:
                nested.setdefault(head, {})[rest] = value
            else:
                terms[head] = as_kernel(value)
        for head, inner in nested.items():
            term = terms[head]
            coef = 1.0 if isinstance(term, Scaled) else inner.pop("coef", 1.0)
            term = term.replace(**inner)
            terms[head] = term if coef == 1.0 else Scaled(term, coef)
        return type(self)(tuple(terms.values()))

    def spec(self) -> dict[str, Any]:
        return {"kernel": self.name, "terms": [term.spec() for term in self.terms]}

    def _basis(self, points: Input) -> Basis | None:
        parts = [term._basis(points) for term in self.terms]
        known = tuple(part for part in parts if part is not None)
        return Basis(self._width(known), parts=known) if len(known) == len(parts) else None

    def has_map(self) -> bool:
        return all(term.has_map() for term in self.terms)

    def expand(self, points: Input, basis: Basis) -> Any:
        pairs = zip(self.terms, basis.parts, strict=True)
        return self._join([term.expand(points, part) for term, part in pairs])

    @abstractmethod
    def _width(self, parts: Sequence[Basis]) -> int:
        """Return the number of features of the whole."""

    @abstractmethod
    def _join(self, maps: list[Any]) -> Any:
        """Return the map of the whole from those of its terms."""


@dataclass(frozen=True, repr=False)
class Sum(_Terms):
    """The sum of kernels, written `k1 + k2`.

    k(x, y) = k1(x, y) + k2(x, y) + …. Its feature map is the maps of the terms side by side [1]_.
    Sums are flat, and parameters of terms are named k1__gamma, k2__degree and so on; k1__coef is
    the coefficient of the first term.

    Parameters
    ----------
    terms : tuple of Kernel
        Two kernels or more that take the same points.

    References
    ----------
    .. [1] J. Shawe-Taylor, N. Cristianini, "Kernel Methods for Pattern Analysis", 2004.

    Examples
    --------
    >>> from mercer.kernels import Gaussian, Linear
    >>> k = Gaussian(gamma=0.1) + 2 * Linear()
    >>> k
    Gaussian(gamma=0.1) + 2.0*Linear()
    >>> k.replace(k2__coef=3.0)
    Gaussian(gamma=0.1) + 3.0*Linear()
    """

    precedence = 1

    @classmethod
    def _combine(cls, left: Any, right: Any) -> Kernel:
        return cls((left, right))

    def profile(self, pairs: Pairs) -> Any:
        return reduce(lambda total, term: total + pairs.value(term), self.terms, 0.0)

    def __repr__(self) -> str:
        first, *rest = self.terms
        texts = [repr(term.c) if isinstance(term, Constant) else term.text(2) for term in rest]
        return " + ".join([first.text(2), *texts])

    def _width(self, parts: Sequence[Basis]) -> int:
        return sum(part.width for part in parts)

    def _join(self, maps: list[Any]) -> Any:
        if any(scipy.sparse.issparse(one) for one in maps):
            return scipy.sparse.hstack([scipy.sparse.csr_array(one) for one in maps], format="csr")
        return np.hstack(maps)


@dataclass(frozen=True, repr=False)
class Product(_Terms):
    """The product of kernels, written `k1 * k2`.

    k(x, y) = k1(x, y) k2(x, y) …. Its feature map is the tensor product of the maps of the factors
    [1]_. Products are flat, and parameters of factors are named k1__gamma, k2__degree and so on.

    Parameters
    ----------
    terms : tuple of Kernel
        Two kernels or more that take the same points.

    References
    ----------
    .. [1] J. Shawe-Taylor, N. Cristianini, "Kernel Methods for Pattern Analysis", 2004.

    Examples
    --------
    >>> from mercer.kernels import Gaussian, Linear
    >>> k = Gaussian(gamma=0.1).on([0]) * Linear().on([1])
    >>> k([[0.0, 2.0], [1.0, 3.0]]).round(3)
    array([[4.   , 5.429],
           [5.429, 9.   ]])
    """

    precedence = 2

    @classmethod
    def _combine(cls, left: Any, right: Any) -> Kernel:
        for number, kernel in ((left, right), (right, left)):
            if not isinstance(number, Kernel):
                return Scaled(kernel, number)
        return cls((left, right))

    def profile(self, pairs: Pairs) -> Any:
        return reduce(lambda total, term: total * pairs.value(term), self.terms, 1.0)

    def __repr__(self) -> str:
        first, *rest = self.terms
        return "*".join([first.text(2), *(term.text(3) for term in rest)])

    def _width(self, parts: Sequence[Basis]) -> int:
        return prod(part.width for part in parts)

    def _join(self, maps: list[Any]) -> Any:
        return reduce(tensor, maps)


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
    def _combine(cls, inner: Kernel, *arguments: Any) -> Kernel:
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
        coef = checks.number("kernel", "a coefficient", self.coef, least=0, advice=_NEGATIVE)
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
