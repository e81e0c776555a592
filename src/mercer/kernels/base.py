"""The kernel: a frozen value whose fields are its parameters, and what every kernel can do."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike

from .. import checks
from ..checks import Array, KernelError, sentence
from ..inputs import DOMAINS, Input, Matrix, RowBlocks, as_input
from ..inputs.blocks import nothing as no_part
from ..typing import PointsLike
from .expression import Expression
from .operators import Combinable
from .operators import registry as registry
from .pairs import Diagonal, Pairs, broadcast, evaluate_definition, matched_values

_fast_path: Callable[..., Array] | None = None


def register_fast_path(evaluate: Callable[..., Array]) -> None:
    """Make `kernel(X, Y)` use this function of (kernel, X, Y, dtype).

    `mercer.grams` calls it when it is loaded.
    """
    global _fast_path
    _fast_path = evaluate


@dataclass(frozen=True)
class Basis:
    """What an exact feature map needs to know before it meets new points.

    It says which columns there are, so that features of training points and of new points agree.

    Parameters
    ----------
    width : int
        Number of features.
    ids : ndarray of uint64, default=None
        What each feature counts, for maps of objects, ascending.
    parts : tuple of Basis, default=()
        The bases of the kernels inside.

    Examples
    --------
    >>> from mercer.kernels import Spectrum
    >>> Spectrum(2).basis(["abab", "abc"]).width
    3
    """

    width: int
    ids: Array | None = None
    parts: tuple[Basis, ...] = ()

    @property
    def is_sparse(self) -> bool:
        """Whether features are sparse rows."""
        return self.ids is not None or any(part.is_sparse for part in self.parts)


class Kernel(Expression, Combinable):
    """A positive definite similarity k(x, y), as a frozen value.

    k(x, y) = phi(x).phi(y) for some map phi into a space with a dot product [1]_. A kernel holds
    its parameters and nothing else. Kernels are added, multiplied, raised to whole powers, and
    printed as text that `mercer.parse` reads.

    A new kernel is a frozen dataclass. It says what it takes (`domain`) and defines one of
    `profile(pairs)`, for rows of numbers, fast everywhere; `formula(X, Y)`, any array code; or
    `pair(x, y)`, for two objects. Everything else follows.

    References
    ----------
    .. [1] B. Schölkopf, A. J. Smola, "Learning with Kernels", 2002.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from mercer.kernels import ROWS, SQUARED, Kernel
    >>> @dataclass(frozen=True, repr=False)
    ... class InverseMultiquadric(Kernel):
    ...     domain = ROWS
    ...     c: float = 1.0
    ...
    ...     def profile(self, pairs):
    ...         return (pairs.sum(SQUARED) + self.c**2) ** -0.5
    >>> InverseMultiquadric(c=2.0)([[0.0], [1.0]]).round(3)
    array([[0.5  , 0.447],
           [0.447, 0.5  ]])
    """

    is_native: ClassVar[bool] = False  # whether all it makes of objects is computed natively
    __array_ufunc__ = None  # so that NumPy numbers leave `2.0 * kernel` to the kernel

    def __init_subclass__(cls, *, abstract: bool = False, **options: Any) -> None:
        super().__init_subclass__(**options)
        known = registry.get(cls.__name__)
        ours = known is not None and known.__module__.startswith("mercer.")
        if ours and known.__module__ != cls.__module__:
            raise KernelError(
                sentence(
                    cls.__name__, "a kernel's name must be its own", "the name of a mercer kernel"
                )
            )
        if isinstance(cls.domain, str):
            cls.domain = frozenset({cls.domain})
        unknown = set(cls.domain) - set(DOMAINS)
        if unknown:
            must = f"domain must be of {', '.join(DOMAINS)}"
            raise KernelError(sentence(cls.__name__, must, ", ".join(sorted(map(str, unknown)))))
        if not (abstract or cls.__name__.startswith("_")):
            registry[cls.__name__] = cls

    # --- what it computes -------------------------------------------------------------------

    def profile(self, pairs: Pairs) -> Any:
        """Return k for all pairs: statistics of `pairs`, then element-wise NumPy arithmetic.

        Parameters
        ----------
        pairs : Pairs
            All pairs of two collections of points.

        Returns
        -------
        array-like
            One value per pair.
        """
        return pairs.pairwise(self)

    def formula(self, X: PointsLike, Y: PointsLike | None = None) -> Array:
        """Return K(X, Y) by the definition: plain NumPy or Python, in float64, slow and obvious.

        Parameters
        ----------
        X : array-like, sequence or data frame of n points
            The points of the rows.
        Y : array-like, sequence or data frame of m points, default=None
            The points of the columns; None means X.

        Returns
        -------
        ndarray of shape (n, m)
            One value per pair.

        Examples
        --------
        >>> from mercer.kernels import Laplacian
        >>> Laplacian(gamma=1.0).formula([[0.0], [2.0]]).round(3)
        array([[1.   , 0.135],
               [0.135, 1.   ]])
        """
        return evaluate_definition(self.require_resolved(), X, Y)

    def pair(self, x: Any, y: Any) -> float:
        """Return k(x, y) of two points.

        Parameters
        ----------
        x : object
            One point: a row of numbers, a string, a graph, ….
        y : object
            Another point.

        Returns
        -------
        float
            The value of the kernel.

        Examples
        --------
        >>> from mercer.kernels import Spectrum
        >>> Spectrum(1).pair("abc", "abd")
        2.0
        """
        return float(evaluate_definition(self.require_resolved(), [x], [y])[0, 0])

    def matched(self, left: Input, right: Input) -> Array:
        """Return k(x_i, y_i) of points that are matched one by one, from `pair` or `formula`.

        Parameters
        ----------
        left : Input
            The points x_i.
        right : Input
            The points y_i, as many.

        Returns
        -------
        ndarray of shape (n,)
            One value per matched pair.
        """
        return matched_values(self, left, right)

    def __call__(self, X: PointsLike, Y: PointsLike | None = None) -> Array:
        """Return the Gram block K(X, Y), or K(X, X), by the fastest method there is.

        Parameters
        ----------
        X : array-like, sequence or data frame of n points
            The points of the rows.
        Y : array-like, sequence or data frame of m points, default=None
            The points of the columns; None means X.

        Returns
        -------
        ndarray of shape (n, m)
            One value per pair, in float32 if both are float32.

        Examples
        --------
        >>> from mercer.kernels import Linear
        >>> Linear()([[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]])
        array([[11., 17.]])
        """
        return self._evaluate(X, Y)

    def _evaluate(
        self, X: PointsLike, Y: PointsLike | None, dtype: DTypeLike | None = None
    ) -> Array:
        if _fast_path is None:  # named, not imported: that room lies above this one
            importlib.import_module("mercer.grams")
            return self._evaluate(X, Y, dtype)
        return _fast_path(self.require_resolved(), X, Y, dtype)

    def diag(self, X: PointsLike) -> Array:
        """Return k(x, x) for every x in X, without the rest of the matrix.

        Parameters
        ----------
        X : array-like, sequence or data frame of n points
            The points.

        Returns
        -------
        ndarray of shape (n,)
            One value per point.

        Examples
        --------
        >>> from mercer.kernels import Linear
        >>> Linear().diag([[1.0, 2.0], [3.0, 4.0]])
        array([ 5., 25.])
        """
        points = self.admit(X)
        if isinstance(points, RowBlocks):
            return np.concatenate(
                [found for _, found in points.each(partial(_diag_of, self), no_part)]
            )
        with np.errstate(invalid="ignore", over="ignore", under="ignore"):
            values = self.require_resolved().profile(Diagonal(points))
        return broadcast(values, (len(points),))

    def distance(
        self, X: PointsLike, Y: PointsLike | None = None, *, squared: bool = False
    ) -> Array:
        """Return distances in feature space.

        ||phi(x) - phi(y)|| = sqrt(k(x, x) - 2 k(x, y) + k(y, y)).

        Parameters
        ----------
        X : array-like, sequence or data frame of n points
            The points of the rows.
        Y : array-like, sequence or data frame of m points, default=None
            The points of the columns; None means X.
        squared : bool, default=False
            Whether to return squared distances.

        Returns
        -------
        ndarray of shape (n, m)
            One distance per pair.

        Examples
        --------
        >>> from mercer.kernels import Linear
        >>> Linear().distance([[0.0, 0.0]], [[3.0, 4.0]])
        array([[5.]])
        """
        right = self.diag(X if Y is None else Y)
        left = right if Y is None else self.diag(X)
        # In double precision: the difference of nearly equal numbers needs all digits.
        result = left[:, None] - 2.0 * self._evaluate(X, Y, np.float64) + right[None, :]
        result[result < 0] = 0.0  # rounding; NaN stays
        if Y is None:
            np.fill_diagonal(result, np.where(np.isnan(right), np.nan, 0.0))
        return result if squared else np.sqrt(result)

    # --- explicit features ------------------------------------------------------------------

    def basis(self, X: PointsLike) -> Basis | None:
        """Return what `features` needs so that columns agree between X and new points.

        Parameters
        ----------
        X : array-like, sequence or data frame of n points
            The training points.

        Returns
        -------
        Basis or None
            The columns of the feature map; None if there is no finite map.
        """
        return self.require_resolved()._basis(as_input(X, self.domain, self.name))

    def _basis(self, points: Input) -> Basis | None:
        return None

    def has_map(self) -> bool:
        """Return whether a finite feature map is known.

        Returns
        -------
        bool
            True if `features` works.

        Examples
        --------
        >>> from mercer.kernels import Gaussian, Polynomial
        >>> Polynomial(2).has_map(), Gaussian(1.0).has_map()
        (True, False)
        """
        return self.defines("_basis")

    def expand(self, points: Input, basis: Basis) -> Any:
        """Return phi(x) of every point as rows.

        Parameters
        ----------
        points : Input
            The points.
        basis : Basis
            The columns, from `basis`.

        Returns
        -------
        ndarray or csr_array of shape (n, basis.width)
            One row per point.
        """
        raise KernelError(sentence(self.name, "it must have a finite feature map", "none"))

    def features(self, X: PointsLike, basis: Basis | None = None) -> Any:
        """Return phi(X), the exact feature map, where a finite one exists.

        phi(x).phi(y) = k(x, y).

        Parameters
        ----------
        X : array-like, sequence or data frame of n points
            The points.
        basis : Basis, default=None
            The columns. For new points hand in `basis=kernel.basis(X_train)`; None takes those of
            X.

        Returns
        -------
        ndarray or csr_array of shape (n, basis.width)
            One row per point.

        Examples
        --------
        >>> from mercer.kernels import Spectrum
        >>> k, train = Spectrum(2), ["abab", "abc"]
        >>> k.features(train).toarray()
        array([[2., 1., 0.],
               [1., 0., 1.]])
        >>> k.features(["bcd"], k.basis(train)).toarray()
        array([[0., 0., 1.]])
        """
        points = self.require_resolved().admit(X)
        basis = self.basis(points) if basis is None else basis
        if basis is None:
            raise KernelError(
                sentence(
                    self.name,
                    "features need a finite feature map",
                    f"{self!r}, whose map is infinite or unknown",
                    "Approximate it: mercer.features.Nystrom(kernel).",
                )
            )
        return self.expand(points, basis)

    # --- structure --------------------------------------------------------------------------

    def admit(self, X: PointsLike) -> Input:
        """Return X as the input this kernel takes, or say what must hold.

        Parameters
        ----------
        X : array-like, sequence or data frame of n points
            The points as a user has them.

        Returns
        -------
        Input
            The points, checked.
        """
        points = as_input(X, self.domain, self.name)
        if not self.needs_nonnegative():
            return points
        if isinstance(points, RowBlocks):
            return points.mapped(self.admit)
        for node, seen in self.walk(points):
            if node.nonnegative and isinstance(seen, Matrix):
                checks.nonnegative(node.name, seen.values, seen.names)
        return points

    def defines(self, method: str) -> bool:
        """Return whether the class has a method of its own, not the one it inherits from `Kernel`.

        Parameters
        ----------
        method : str
            Name of the method.

        Returns
        -------
        bool
            True if it is overridden.
        """
        return getattr(type(self), method) is not getattr(Kernel, method)


def _diag_of(kernel: Kernel, block: Input, nothing: None) -> Array:
    """Return k(x, x) of a block, wherever it is."""
    return kernel.diag(block)
