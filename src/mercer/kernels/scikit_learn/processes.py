"""The kernel objects of scikit-learn's Gaussian processes, written as kernels of mercer.

They are known by the module of their class, so that scikit-learn need not be loaded. Each of their
hyper-parameters becomes a parameter here that is proportional to a power of it; which one and which
power is what derivatives need.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...checks import KernelError, sentence, show
from ..algebra import Constant, Power, Product, Scaled, Sum
from ..base import Kernel
from ..rows.dot import Linear
from ..rows.radial import Gaussian, Matern, Periodic, RationalQuadratic

MODULE = "sklearn.gaussian_process.kernels"


@dataclass(frozen=True)
class Link:
    """Where a hyper-parameter is found in a kernel of mercer.

    path: places among terms, then the name of a parameter, which is proportional to the
    hyper-parameter to a power; empty where nothing depends on it. size: how many numbers it is.
    """

    path: tuple[int | str, ...]
    power: int = 1
    size: int = 1

    @property
    def name(self) -> str:
        """The name of the parameter, as `get_params` has it."""
        return "__".join(f"k{step + 1}" if isinstance(step, int) else step for step in self.path)

    def within(self, place: int, flat: bool) -> Link:
        """Return the same once its kernel is a term; flat: the kernel's own terms begin there."""
        if not self.path:
            return self
        first, *rest = self.path
        if flat and isinstance(first, int):
            return replace(self, path=(place + first, *rest))
        return replace(self, path=(place, *self.path))

    def cut(self) -> Link:
        """Return the same for a part of the kernel that is multiplied by 0."""
        return replace(self, path=())


@dataclass(frozen=True, kw_only=True)
class Translated:
    """A kernel object of scikit-learn in the terms of mercer.

    kernel: its value for two points, None if that is always 0. Noise is not part of it: a
    `WhiteKernel` is 0 but for a point with itself. has_noise: whether there is any. links: of the
    hyper-parameters that are not fixed, in scikit-learn's order.
    """

    kernel: Kernel | None
    links: tuple[Link, ...]
    has_noise: bool = False


def is_process_kernel(value: object) -> bool:
    """Return whether a value is a kernel object of scikit-learn's Gaussian processes."""
    kinds = type(value).__mro__
    return any(kind.__module__ == MODULE and kind.__name__ == "Kernel" for kind in kinds)


def process_kernel(value: Any, who: str) -> Kernel:
    """Return the kernel that an object of scikit-learn stands for; refuse noise."""
    found = translated(value, who)
    if found.has_noise or found.kernel is None:
        must = "kernel must be a function of two points"
        advice = "Leave the noise to the estimator, such as the alpha of KernelRidge."
        raise KernelError(sentence(who, must, f"{show(value)}, with a WhiteKernel", advice))
    return found.kernel


def translated(value: Any, who: str = "kernel") -> Translated:
    """Return a kernel object of scikit-learn in the terms of mercer.

    Classes of the user's, also those derived from scikit-learn's, are refused: nobody knows what
    they compute.
    """
    kind = type(value)
    if kind.__module__ == MODULE and kind.__name__ == "Exponentiation":
        return _power(translated(value.kernel, who), value.exponent)
    if kind.__module__ == MODULE and kind.__name__ in _JOINED:
        return _JOINED[kind.__name__](translated(value.k1, who), translated(value.k2, who))
    if kind.__module__ != MODULE or kind.__name__ not in _LEAVES:
        must = "kernel objects of scikit-learn must be made of " + ", ".join(_LEAVES)
        advice = "A function of X and Y is taken as it is: lambda X, Y: k(X, Y)."
        raise KernelError(sentence(who, must, show(value), advice))
    kernel, links = _LEAVES[kind.__name__](value)
    free = [own for own in sorted(links) if not _is_fixed(getattr(value, f"{own}_bounds"))]
    return Translated(
        kernel=kernel, links=tuple(links[own] for own in free), has_noise=kernel is None
    )


def _is_fixed(bounds: object) -> bool:
    return isinstance(bounds, str) and bounds == "fixed"


# --- the kernels themselves: what each is here, and where its hyper-parameters are -------------

Leaf = tuple[Kernel | None, dict[str, Link]]


def _lengths(value: Any) -> tuple[Any, int]:
    """Return a length scale, or a tuple with one per column, and how many numbers it is."""
    found = np.squeeze(value.length_scale).astype(np.float64)
    return (found.item() if found.ndim == 0 else tuple(found.tolist())), found.size


def _rbf(value: Any) -> Leaf:
    lengths, size = _lengths(value)
    return Gaussian(sigma=lengths), {"length_scale": Link(("gamma",), -2, size)}


def _matern(value: Any) -> Leaf:
    if value.nu == np.inf:
        return _rbf(value)
    lengths, size = _lengths(value)
    kernel = Matern(nu=float(value.nu), length_scale=lengths)
    return kernel, {"length_scale": Link(("length_scale",), size=size)}


def _rational_quadratic(value: Any) -> Leaf:
    kernel = RationalQuadratic(float(value.alpha), float(value.length_scale))
    return kernel, {"alpha": Link(("alpha",)), "length_scale": Link(("length_scale",))}


def _exp_sine_squared(value: Any) -> Leaf:
    # One period per column, so that more columns are refused: scikit-learn takes the sine of the
    # distance in all of them, which is no Mercer kernel.
    kernel = Periodic((float(value.periodicity),), float(value.length_scale))
    return kernel, {"length_scale": Link(("length_scale",)), "periodicity": Link(("period",))}


def _dot_product(value: Any) -> Leaf:
    return Linear() + Constant(float(value.sigma_0) ** 2), {"sigma_0": Link((1, "c"), 2)}


def _constant(value: Any) -> Leaf:
    return Constant(float(value.constant_value)), {"constant_value": Link(("c",))}


def _white(value: Any) -> Leaf:
    return None, {"noise_level": Link(())}


_LEAVES: dict[str, Callable[[Any], Leaf]] = {
    "RBF": _rbf,
    "Matern": _matern,
    "RationalQuadratic": _rational_quadratic,
    "ExpSineSquared": _exp_sine_squared,
    "DotProduct": _dot_product,
    "ConstantKernel": _constant,
    "WhiteKernel": _white,
}


# --- what is made of them -------------------------------------------------------------------


def _sum(left: Translated, right: Translated) -> Translated:
    if left.kernel is None or right.kernel is None:
        kernel = right.kernel if left.kernel is None else left.kernel
        return _whole(kernel, (*left.links, *right.links), left, right)
    return _joined(Sum, left, right)


def _product(left: Translated, right: Translated) -> Translated:
    if left.kernel is None or right.kernel is None:
        return _whole(None, tuple(link.cut() for link in left.links + right.links), left, right)
    if isinstance(left.kernel, Constant):
        links = (*_coefficient(left, right.kernel), *right.links)
        return _whole(_scaled(right.kernel, left.kernel.c), links, left, right)
    if isinstance(right.kernel, Constant):
        links = (*left.links, *_coefficient(right, left.kernel))
        return _whole(_scaled(left.kernel, right.kernel.c), links, left, right)
    return _joined(Product, left, right)


def _scaled(kernel: Kernel, coefficient: float) -> Kernel:
    if isinstance(kernel, Constant):
        return Constant(coefficient * kernel.c)
    return Scaled(kernel, coefficient)


def _coefficient(constant: Translated, other: Kernel) -> tuple[Link, ...]:
    """Return the links of a constant that has become the coefficient of another kernel."""
    name = "c" if isinstance(other, Constant) else "coef"
    return tuple(replace(link, path=(name,)) if link.path else link for link in constant.links)


def _joined(kind: type[Sum] | type[Product], *parts: Translated) -> Translated:
    """Return a sum or a product, which is flat: terms of the same kind become its own."""
    terms: list[Any] = []
    links: list[Link] = []
    for part in parts:
        flat, place = isinstance(part.kernel, kind), len(terms)
        links += [link.within(place, flat) for link in part.links]
        terms += part.kernel.terms if isinstance(part.kernel, kind) else [part.kernel]
    return _whole(kind(tuple(terms)), tuple(links), *parts)


def _power(inner: Translated, exponent: Any) -> Translated:
    if inner.kernel is None:
        return inner
    return replace(inner, kernel=Power(inner.kernel, exponent))


def _whole(kernel: Kernel | None, links: tuple[Link, ...], *parts: Translated) -> Translated:
    noisy = any(part.has_noise for part in parts)
    return Translated(kernel=kernel, links=links, has_noise=noisy)


_JOINED = {"Sum": _sum, "Product": _product}
