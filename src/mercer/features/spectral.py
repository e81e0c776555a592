"""Spectral laws: a kernel of x - y is the mean of h cos(v . (x - y)) over a law of frequencies v.

Bochner's theorem says that every continuous positive definite function of x - y is such a mean. A
law is given by how a frequency is made from independent standard normal and uniform numbers, so
that these may be drawn with less than the usual randomness.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from scipy.special import gammaincinv

from ..checks import Array, KernelError, sentence
from ..kernels import (
    Constant,
    Exponential,
    Gaussian,
    Kernel,
    Laplacian,
    Matern,
    Normalized,
    On,
    Power,
    Product,
    RationalQuadratic,
    Scaled,
    Sum,
)
from ..kernels.pairs import column_weights
from ..kernels.parameters import Bandwidth

WHO = "RandomFourier"
INSTEAD = "Use Nystrom(kernel), which takes every kernel."
MOST_TERMS = 64  # of a sum, after products of sums are multiplied out


class Law(ABC):
    """A law of frequencies in d dimensions.

    normals, uniforms: how many numbers of each kind make a frequency. Frequencies that are made of
    normal numbers keep their law when these are turned.
    """

    @property
    def normals(self) -> int:
        return 0

    @property
    def uniforms(self) -> int:
        return 0

    @abstractmethod
    def frequencies(self, Z: Array, U: Array) -> Array:
        """Return one frequency per row from as many rows of normal and of uniform numbers."""


@dataclass(frozen=True)
class Spherical(Law):
    """v = s(u) z * scale with a normal vector z, and s(u) = 1 for the Gaussian."""

    scale: Array
    stretch: Callable[[Array], Array] | None = None

    @property
    def normals(self) -> int:
        return len(self.scale)

    @property
    def uniforms(self) -> int:
        return 0 if self.stretch is None else 1

    def frequencies(self, Z: Array, U: Array) -> Array:
        return np.asarray(Z * self.scale * self.lengths(U)[:, None])

    def lengths(self, U: Array) -> Array:
        """Return s(u) of every row."""
        return np.ones(len(U)) if self.stretch is None else self.stretch(U[:, 0])


@dataclass(frozen=True)
class Cauchy(Law):
    """Columns that are independent and have Cauchy's law, each with its rate."""

    rates: Array

    @property
    def uniforms(self) -> int:
        return len(self.rates)

    def frequencies(self, Z: Array, U: Array) -> Array:
        return np.asarray(np.tan(np.pi * (U - 0.5)) * self.rates)


@dataclass(frozen=True)
class Still(Law):
    """The frequency 0, of a constant."""

    columns: int

    def frequencies(self, Z: Array, U: Array) -> Array:
        return np.zeros((len(U), self.columns))


@dataclass(frozen=True)
class Together(Law):
    """The sum of independent frequencies: the law of a product of kernels."""

    parts: tuple[Law, ...]

    @property
    def normals(self) -> int:
        return sum(part.normals for part in self.parts)

    @property
    def uniforms(self) -> int:
        return sum(part.uniforms for part in self.parts)

    def frequencies(self, Z: Array, U: Array) -> Array:
        drawn = [
            part.frequencies(Z[:, z : z + part.normals], U[:, u : u + part.uniforms])
            for part, z, u in zip(self.parts, *self._starts(), strict=True)
        ]
        return np.asarray(np.sum(drawn, axis=0))

    def _starts(self) -> tuple[list[int], list[int]]:
        normals = np.cumsum([0, *(part.normals for part in self.parts)])[:-1]
        uniforms = np.cumsum([0, *(part.uniforms for part in self.parts)])[:-1]
        return normals.tolist(), uniforms.tolist()


@dataclass(frozen=True)
class Placed(Law):
    """Frequencies in some columns, 0 in the others."""

    inner: Law
    chosen: tuple[int, ...]
    columns: int

    @property
    def normals(self) -> int:
        return self.inner.normals

    @property
    def uniforms(self) -> int:
        return self.inner.uniforms

    def frequencies(self, Z: Array, U: Array) -> Array:
        found = np.zeros((len(U), self.columns))
        np.add.at(found.T, np.array(self.chosen), self.inner.frequencies(Z, U).T)
        return found


@dataclass(frozen=True, kw_only=True)
class Term:
    """A kernel that is height times the mean of cos(v . (x - y)) over a law."""

    kernel: Kernel
    height: float
    law: Law


def terms_of(kernel: Kernel, columns: int) -> list[Term]:
    """Return the terms of a sum of kernels that have a spectral law; refuse all others."""
    found = _terms(kernel, columns)
    if len(found) > MOST_TERMS:
        must = f"a kernel may have {MOST_TERMS} terms when its products are multiplied out"
        raise KernelError(sentence(WHO, must, len(found), INSTEAD))
    return found


def _terms(kernel: Kernel, columns: int) -> list[Term]:
    if isinstance(kernel, Sum):
        return [term for part in kernel.terms for term in _terms(part, columns)]
    if isinstance(kernel, Product):
        return _multiplied([_terms(part, columns) for part in kernel.terms])
    if isinstance(kernel, Power):
        return _multiplied([_terms(kernel.inner, columns)] * kernel.exponent)
    if isinstance(kernel, Scaled):
        return [
            replace(term, kernel=Scaled(term.kernel, kernel.coef), height=term.height * kernel.coef)
            for term in _terms(kernel.inner, columns)
            if kernel.coef > 0
        ]
    if isinstance(kernel, Normalized):
        inner = _terms(kernel.inner, columns)
        return _terms(Scaled(kernel.inner, 1.0 / sum(term.height for term in inner)), columns)
    if isinstance(kernel, On):
        return _on(kernel, columns)
    if isinstance(kernel, Constant):
        return [Term(kernel=kernel, height=kernel.c, law=Still(columns))] if kernel.c > 0 else []
    return [Term(kernel=kernel, height=1.0, law=_law(kernel, columns))]


def _multiplied(factors: list[list[Term]]) -> list[Term]:
    """Return the terms of a product of sums."""
    if np.prod([float(len(terms)) for terms in factors]) > MOST_TERMS:
        must = f"a kernel may have {MOST_TERMS} terms when its products are multiplied out"
        raise KernelError(sentence(WHO, must, "more", INSTEAD))
    return [
        Term(
            kernel=Product(tuple(one.kernel for one in chosen)),
            height=float(np.prod([one.height for one in chosen])),
            law=_together([one.law for one in chosen]),
        )
        for chosen in product(*factors)
    ]


def _together(laws: list[Law]) -> Law:
    moving = tuple(law for law in laws if not isinstance(law, Still))
    if len(moving) > 1:
        return Together(moving)
    return moving[0] if moving else laws[0]


def _on(kernel: On, columns: int) -> list[Term]:
    chosen = kernel.columns if isinstance(kernel.columns, tuple) else (kernel.columns,)
    if not all(isinstance(one, int) and -columns <= one < columns for one in chosen):
        must = f"columns must be positions among the {columns} of X"
        raise KernelError(sentence(WHO, must, repr(kernel)))
    places = tuple(int(one) % columns for one in chosen)
    return [
        replace(term, kernel=On(term.kernel, kernel.columns), law=Placed(term.law, places, columns))
        for term in _terms(kernel.inner, len(places))
    ]


def _law(kernel: Kernel, columns: int) -> Law:
    if isinstance(kernel, Gaussian):
        return Spherical(np.sqrt(2.0 * _per_column(kernel.gamma, columns)))
    if isinstance(kernel, Laplacian):
        return Cauchy(_per_column(kernel.gamma, columns))
    if isinstance(kernel, Matern | Exponential):
        # Student's law with 2 nu degrees of freedom: normal over the root of chi2 / (2 nu).
        nu = kernel.nu if isinstance(kernel, Matern) else 0.5
        scale = 1.0 / _per_column(kernel.length_scale, columns)
        return Spherical(scale, lambda u: np.sqrt(nu / gammaincinv(nu, u)))
    if isinstance(kernel, RationalQuadratic):
        # A mixture of Gaussians whose inverse squared widths follow a gamma law of mean 1.
        alpha = kernel.alpha
        scale = 1.0 / _per_column(kernel.length_scale, columns)
        return Spherical(scale, lambda u: np.sqrt(gammaincinv(alpha, u) / alpha))
    must = (
        "the kernel must have a known spectral law: Gaussian, Laplacian, Exponential, Matern,"
        " RationalQuadratic, and sums and products of these"
    )
    raise KernelError(sentence(WHO, must, repr(kernel), INSTEAD))


def _per_column(value: Bandwidth, columns: int) -> Array:
    if isinstance(value, tuple):
        return column_weights(value, columns)
    return np.full(columns, float(value))
