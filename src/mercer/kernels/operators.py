"""The operators of a kernel: what `k1 + k2`, `2 * k`, `k.normalized()` and the others make."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from .. import checks
from ..checks import KernelError, sentence
from ..inputs import Columns

if TYPE_CHECKING:
    from .base import Kernel

# Every kernel class by its name. What operators make is reached through it, because the classes of
# compound kernels lie above the kernel itself.
registry: dict[str, type[Kernel]] = {}


def combine(kind: str, *arguments: Any) -> Kernel:
    """Return a compound kernel of the named class, simplified."""
    made: Kernel = registry[kind].combine(*arguments)  # type: ignore[attr-defined]
    return made


class Combinable:
    """Operators and methods that make new kernels of a kernel."""

    def __add__(self, other: Kernel | float) -> Kernel:
        return combine("Sum", self, other)

    def __radd__(self, other: Kernel | float) -> Kernel:
        if type(other) is int and other == 0:  # where Python's sum() starts
            return cast("Kernel", self)
        return combine("Sum", other, self)

    def __mul__(self, other: Kernel | float) -> Kernel:
        return combine("Product", self, other)

    def __rmul__(self, other: Kernel | float) -> Kernel:
        return combine("Product", other, self)

    def __truediv__(self, other: Kernel | float) -> Kernel:
        return combine(
            "Product", self, 1.0 / checks.number(type(self).__name__, "divisor", other, above=0)
        )

    def __pow__(self, exponent: int) -> Kernel:
        return combine("Power", self, exponent)

    def __neg__(self) -> Kernel:
        raise KernelError(
            sentence(
                type(self).__name__,
                "a kernel has no negative (-K has negative eigenvalues, so it is not Mercer)",
                f"-({self!r})",
            )
        )

    def __sub__(self, other: Kernel | float) -> Kernel:
        raise KernelError(
            sentence(
                type(self).__name__,
                "kernels can be added, not subtracted (a difference need not be Mercer)",
                f"{self!r} - {other!r}",
                "check_kernel(K) tells whether one particular matrix is.",
            )
        )

    def __rsub__(self, other: Kernel | float) -> Kernel:
        raise KernelError(
            sentence(
                type(self).__name__,
                "kernels can be added, not subtracted (a difference need not be Mercer)",
                f"{other!r} - {self!r}",
            )
        )

    def exp(self) -> Kernel:
        """Return exp(k)."""
        return combine("Exp", self)

    def normalized(self) -> Kernel:
        """Return k(x, y) / sqrt(k(x, x) k(y, y)), the cosine in feature space; 0/0 = 0."""
        return combine("Normalized", self)

    def on(self, columns: Columns | Sequence[str | int]) -> Kernel:
        """Return the kernel on chosen columns: one gives its values, a list gives a matrix."""
        return combine("On", self, columns)

    def of(self, phi: Any) -> Kernel:
        """Return k(phi(x), phi(y)) for a function of X or a fitted transformer."""
        return combine("Of", self, phi)

    def rescaled(self, f: Callable[[Any], Any]) -> Kernel:
        """Return f(x) k(x, y) f(y); f takes X and returns one number a point."""
        return combine("Rescaled", self, f)
