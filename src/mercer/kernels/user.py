"""Kernels that come from outside: a matrix already computed, a function of the user's."""

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
    """The Gram matrix itself is the input: square to fit, test rows by training columns after."""

    domain = GRAM

    def profile(self, pairs: Pairs) -> Any:
        return pairs.given()

    def is_from_outside(self) -> bool:
        return True


@dataclass(frozen=True, repr=False)
class FunctionKernel(Kernel):
    """A kernel given by a function: fn(X, Y) -> matrix, or with pairwise=True fn(x, y) -> number.

    It is for the user to know that it is symmetric and positive definite; `check_kernel` helps.
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

    def is_from_outside(self) -> bool:
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
