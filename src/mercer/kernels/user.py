"""Kernels that come from outside: a matrix already computed, a function of the user."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from .. import checks
from ..checks import Array, sentence
from ..inputs import FRAME, GRAM, OBJECT_DOMAINS, ROWS
from .base import Kernel
from .pairs import Pairs
from .transforms import function_name


@dataclass(frozen=True, repr=False)
class Precomputed(Kernel):
    """The kernel whose Gram matrix you have computed yourself.

    k(x_i, x_j) = K[i, j]. X is the square matrix K(train, train) when fitting, and K(test, train),
    one row per new point and one column per training point, when predicting. The matrix should be
    positive semi-definite [1]_; `mercer.check_kernel` looks, `mercer.repair` mends.

    References
    ----------
    .. [1] B. Schölkopf, A. J. Smola, "Learning with Kernels", 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVC
    >>> from mercer.kernels import Precomputed
    >>> x = np.array([0.0, 1.0, 5.0, 6.0])
    >>> K = np.minimum.outer(x, x)
    >>> model = SVC(kernel=Precomputed()).fit(K, [0, 0, 1, 1])
    >>> model.predict(np.minimum.outer([0.5, 5.5], x))
    array([0, 1])
    """

    domain = GRAM

    def profile(self, pairs: Pairs) -> Any:
        return pairs.given()

    def is_user_defined(self) -> bool:
        return True


@dataclass(frozen=True, repr=False)
class FunctionKernel(Kernel):
    """The kernel given by a function of yours.

    k(x, y) = fn(x, y). mercer cannot know that the function is symmetric and positive
    semi-definite, as a kernel must be [1]_; `mercer.check_kernel` helps to find out.

    Parameters
    ----------
    fn : callable
        Takes X and Y and returns a matrix with one row per point of X and one column per point of
        Y; with pairwise=True it takes two points and returns a number.
    pairwise : bool, default=False
        Whether fn takes two points instead of two collections.

    References
    ----------
    .. [1] B. Schölkopf, A. J. Smola, "Learning with Kernels", 2002.

    Examples
    --------
    >>> from mercer.kernels import FunctionKernel
    >>> def shared(x, y):
    ...     return len(set(x) & set(y))
    >>> FunctionKernel(shared, pairwise=True)(["cat", "car", "dog"])
    array([[3., 2., 0.],
           [2., 3., 0.],
           [0., 0., 3.]])
    """

    domain = ROWS | OBJECT_DOMAINS | FRAME

    fn: Callable[[Any, Any], Any]
    pairwise: bool = False

    def __post_init__(self) -> None:
        if not callable(self.fn):
            raise checks.InputTypeError(
                sentence("FunctionKernel", "fn must be a function of X and Y", checks.show(self.fn))
            )

    def formula(self, X: Any, Y: Any = None) -> Array:
        other = X if Y is None else Y
        if self.pairwise:
            X, other = _dense(X), _dense(other)
            values = [_number(self.fn(x, y)) for x in X for y in other]
            return np.array(values).reshape(len(X), len(other))
        return _matrix(_dense(self.fn(X, other)))

    def is_user_defined(self) -> bool:
        return True

    def spec(self) -> dict[str, Any]:
        return super().spec() | {"fn": function_name(self.fn)}

    def __repr__(self) -> str:
        pairwise = ", pairwise=True" if self.pairwise else ""
        return f"FunctionKernel({function_name(self.fn)}{pairwise})"


def _number(value: Any) -> float:
    """Return the value that a function gave a pair."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise _not_real("a real number", value) from None


def _matrix(values: Any) -> Array:
    """Return the matrix that a function returned, in double precision."""
    try:
        found = np.asarray(values)
        if found.dtype.kind not in "cUS":
            return found.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError):
        pass
    raise _not_real("a matrix of real numbers", values)


def _not_real(expected: str, value: Any) -> checks.InputTypeError:
    got = f"{checks.show(value)} ({type(value).__name__})"
    return checks.InputTypeError(sentence("FunctionKernel", f"fn must return {expected}", got))


def _dense(values: Any) -> Any:
    return values.toarray() if scipy.sparse.issparse(values) else values
