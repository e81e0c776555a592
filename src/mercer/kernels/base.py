"""The kernel: a frozen value whose fields are its parameters, and what every kernel can do."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .. import checks
from ..checks import Array, KernelError, sentence
from ..inputs import ANY, DOMAINS, Input, Matrix, RowBlocks, as_input
from .expression import Expression
from .operators import Combinable
from .operators import registry as registry
from .pairs import Diagonal, Pairs, broadcast, evaluate_definition, matched_values
from .parameters import data_bandwidth

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

    width: number of features. ids: what each counts, for maps of objects, ascending.
    parts: bases of sub-kernels.
    """

    width: int
    ids: Array | None = None
    parts: tuple[Basis, ...] = ()

    @property
    def is_sparse(self) -> bool:
        return self.ids is not None or any(part.is_sparse for part in self.parts)


class Kernel(Expression, Combinable):
    """A positive definite similarity k(x, y), as a value.

    A new kernel is a frozen dataclass that says what it takes (`domain`) and defines one of
    `profile(pairs)` (rows of numbers, fast everywhere), `formula(X, Y)` (any array code) or
    `pair(x, y)` (two objects). Everything else follows.
    """

    domain: frozenset[str] = ANY
    nonnegative: ClassVar[bool] = False
    in_core: ClassVar[bool] = False  # whether all it makes of objects is computed natively
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
        """Return k for all pairs: statistics of `pairs`, then element-wise NumPy arithmetic."""
        return pairs.pairwise(self)

    def formula(self, X: Any, Y: Any = None) -> Array:
        """Return K(X, Y) by the definition: plain NumPy or Python, float64, slow and obvious."""
        return evaluate_definition(self.require_resolved(), X, Y)

    def pair(self, x: Any, y: Any) -> float:
        """Return k(x, y) of two points."""
        return float(evaluate_definition(self.require_resolved(), [x], [y])[0, 0])

    def matched(self, left: Input, right: Input) -> Array:
        """Return k(x_i, y_i) of points that are matched one by one, from `pair` or `formula`."""
        return matched_values(self, left, right)

    def __call__(self, X: Any, Y: Any = None) -> Array:
        """Return the Gram block K(X, Y), or K(X, X), by the fastest path there is."""
        return self._evaluate(X, Y)

    def _evaluate(self, X: Any, Y: Any, dtype: Any = None) -> Array:
        if _fast_path is None:  # named, not imported: that room lies above this one
            importlib.import_module("mercer.grams")
            return self._evaluate(X, Y, dtype)
        return _fast_path(self.require_resolved(), X, Y, dtype)

    def diag(self, X: Any) -> Array:
        """Return k(x, x) for every x in X."""
        points = self.admit(X)
        if isinstance(points, RowBlocks):
            return np.concatenate([self.diag(block) for block in points.blocks()])
        with np.errstate(invalid="ignore", over="ignore", under="ignore"):
            values = self.require_resolved().profile(Diagonal(points))
        return broadcast(values, (len(points),))

    def distance(self, X: Any, Y: Any = None, *, squared: bool = False) -> Array:
        """Return ||phi(x) - phi(y)|| = sqrt(k(x,x) - 2 k(x,y) + k(y,y)), or its square."""
        right = self.diag(X if Y is None else Y)
        left = right if Y is None else self.diag(X)
        # In double precision: the difference of nearly equal numbers needs all digits.
        result = left[:, None] - 2.0 * self._evaluate(X, Y, np.float64) + right[None, :]
        result[result < 0] = 0.0  # rounding; NaN stays
        if Y is None:
            np.fill_diagonal(result, np.where(np.isnan(right), np.nan, 0.0))
        return result if squared else np.sqrt(result)

    # --- explicit features ------------------------------------------------------------------

    def basis(self, X: Any) -> Basis | None:
        """Return what `features` needs to agree between X and new points; None: no finite map."""
        return self.require_resolved()._basis(as_input(X, self.domain, self.name))

    def _basis(self, points: Input) -> Basis | None:
        return None

    def has_map(self) -> bool:
        """Return whether a finite feature map is known."""
        return self.defines("_basis")

    def expand(self, points: Input, basis: Basis) -> Any:
        """Return phi(x) of every point as rows, dense or CSR."""
        raise KernelError(sentence(self.name, "it must have a finite feature map", "none"))

    def features(self, X: Any, basis: Basis | None = None) -> Any:
        """Return phi(X) with phi(x).phi(y) = k(x, y) exactly, where a finite map exists.

        To map new points into the same columns, hand in `basis=kernel.basis(X_train)`.
        """
        points = self.require_resolved().admit(X)
        basis = self.basis(points) if basis is None else basis
        if basis is None:
            raise KernelError(
                sentence(
                    self.name,
                    "features need a finite feature map",
                    f"{self!r}, whose map is infinite or unknown",
                    "Approximate it: sklearn.kernel_approximation.Nystroem(kernel=k).",
                )
            )
        return self.expand(points, basis)

    # --- structure --------------------------------------------------------------------------

    def admit(self, X: Any) -> Input:
        """Return X as the input this kernel takes, or say what must hold."""
        points = as_input(X, self.domain, self.name)
        if not self.needs_nonnegative():
            return points
        if isinstance(points, RowBlocks):
            return points.mapped(self.admit)
        for node, seen in self.walk(points):
            if node.nonnegative and isinstance(seen, Matrix):
                checks.nonnegative(node.name, seen.values, seen.names)
        return points

    def needs_nonnegative(self) -> bool:
        """Return whether any part of the expression refuses negative entries."""
        return self.nonnegative or any(child.needs_nonnegative() for child in self.children())

    def is_from_outside(self) -> bool:
        """Return whether a function or a matrix of the user's is part of it: nothing is known of
        those, not even that they are symmetric."""
        return any(child.is_from_outside() for child in self.children())

    def walk(self, points: Input) -> list[tuple[Kernel, Input]]:
        """Return every node of the expression with the points it sees."""
        inner = self.child_input(points) if self.children() else points
        below = [item for child in self.children() for item in child.walk(inner)]
        return [(self, points), *below]

    def defines(self, method: str) -> bool:
        """Return whether the class gives a method of its own."""
        return getattr(type(self), method) is not getattr(Kernel, method)

    # --- parameters taken from data ---------------------------------------------------------

    def resolve(self, X: Any, sample_weight: Any = None) -> Kernel:
        """Return the kernel with parameters such as gamma="scale" taken from the data."""
        if not self.unresolved():
            return self
        points = as_input(X, self.domain, self.name)
        weight = checks.sample_weight(self.name, sample_weight, len(points))
        return self._resolve(points, weight)

    def _resolve(self, points: Input, weight: Array | None) -> Kernel:
        if not self.unresolved():
            return self
        if not self.children():
            found = {name: self.from_data(name, points, weight) for name in self._waiting()}
            return self.replace(**found)
        inner = self.child_input(points)
        return self.with_children(tuple(child._resolve(inner, weight) for child in self.children()))

    def from_data(self, name: str, points: Input, weight: Array | None) -> float:
        """Return the value of a parameter given as "scale" or "auto"."""
        return data_bandwidth(getattr(self, name), points, weight)
