"""The operators of a kernel: what `k1 + k2`, `2 * k`, `k.normalized()` and the others make."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from .. import checks
from ..checks import KernelError, sentence
from ..inputs import Columns

if TYPE_CHECKING:
    from .base import Kernel
    from .metric import MetricLike

# Every kernel class by its name. What operators make is reached through it, because the classes of
# compound kernels lie above the kernel itself.
registry: dict[str, type[Kernel]] = {}


def combine(kind: str, *arguments: Any) -> Kernel:
    """Return a compound kernel of the named class, simplified."""
    made: Kernel = registry[kind]._combine(*arguments)  # type: ignore[attr-defined]
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
        """Return the exponential of the kernel.

        k'(x, y) = exp(k(x, y)).

        Returns
        -------
        Exp
            The new kernel.

        Examples
        --------
        >>> from mercer.kernels import Linear
        >>> Linear().exp()([[1.0]]).round(3)
        array([[2.718]])
        """
        return combine("Exp", self)

    def normalized(self) -> Kernel:
        """Return the cosine in feature space.

        k'(x, y) = k(x, y) / sqrt(k(x, x) k(y, y)), with 0 / 0 = 0.

        Returns
        -------
        Kernel
            The new kernel, with k'(x, x) = 1 or 0.

        Examples
        --------
        >>> from mercer.kernels import Spectrum
        >>> Spectrum(1).normalized()(["ab", "abc"]).round(3)
        array([[1.   , 0.816],
               [0.816, 1.   ]])
        """
        return combine("Normalized", self)

    def on(self, columns: Columns | Sequence[str | int]) -> Kernel:
        """Return the kernel on chosen columns of a matrix or a data frame.

        Parameters
        ----------
        columns : str, int or sequence of them
            Names or positions. One column gives its values, a list gives a matrix.

        Returns
        -------
        On
            The new kernel.

        Examples
        --------
        >>> from mercer.kernels import Linear
        >>> Linear().on([1])([[5.0, 1.0], [5.0, 2.0]])
        array([[1., 2.],
               [2., 4.]])
        """
        return combine("On", self, columns)

    def of(self, phi: Any) -> Kernel:
        """Return the kernel of transformed points.

        k'(x, y) = k(phi(x), phi(y)).

        Parameters
        ----------
        phi : callable or fitted transformer
            Takes all points at once and returns as many; of a transformer, `transform` is called.

        Returns
        -------
        Of
            The new kernel.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer.kernels import Linear
        >>> Linear().of(np.log2)([[2.0], [8.0]])
        array([[1., 3.],
               [3., 9.]])
        """
        return combine("Of", self, phi)

    def rescaled(self, f: Callable[[Any], Any]) -> Kernel:
        """Return the kernel times a function of each of its two points.

        k'(x, y) = f(x) k(x, y) f(y).

        Parameters
        ----------
        f : callable
            Takes all points at once and returns one number per point.

        Returns
        -------
        Rescaled
            The new kernel.

        Examples
        --------
        >>> from mercer.kernels import Linear
        >>> Linear().rescaled(lambda X: X[:, 0])([[1.0], [2.0]])
        array([[ 1.,  4.],
               [ 4., 16.]])
        """
        return combine("Rescaled", self, f)

    def metric(self, M: MetricLike) -> Kernel:
        """Return the kernel in a metric of its own.

        k'(x, y) = k(M**(1/2) x, M**(1/2) y).

        Parameters
        ----------
        M : array-like of shape (d,) or (d, d)
            Weights at least 0 of the columns, or a symmetric positive semi-definite matrix.

        Returns
        -------
        Metric
            The new kernel.

        Examples
        --------
        >>> from mercer.kernels import Linear
        >>> Linear().metric([[2.0, 1.0], [1.0, 2.0]])([[1.0, 0.0], [0.0, 1.0]]).round(3)
        array([[2., 1.],
               [1., 2.]])
        """
        return combine("Metric", self, M)
