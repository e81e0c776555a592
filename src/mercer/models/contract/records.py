"""Records of fits, at `logging.getLogger("mercer")`."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

from ...checks import show
from ...monitor import logger

Model = TypeVar("Model")
Returned = TypeVar("Returned")
Parameters = ParamSpec("Parameters")


def recorded(
    fit: Callable[Concatenate[Model, Parameters], Returned],
) -> Callable[Concatenate[Model, Parameters], Returned]:
    """Make a method that fits leave records of its start (DEBUG), its end and its failure (INFO).

    What it cost and how it was computed is read from `certificate_`, which every fit makes.
    """

    @functools.wraps(fit)
    def run(self: Model, /, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Returned:
        who, start = type(self).__name__, time.monotonic()
        X = args[0] if args else kwargs.get("X")
        kernel = getattr(self, "kernel", None)
        logger.debug("%s: fit starts: X %s, kernel %s", who, _Shape(X), _Short(kernel))
        try:
            returned = fit(self, *args, **kwargs)
        except BaseException as error:
            seconds, kind = time.monotonic() - start, type(error).__name__
            logger.info("%s: fit failed after %.3g s: %s: %s", who, seconds, kind, error)
            raise
        certificate: Any = vars(self)["certificate_"]
        logger.info(
            "%s: fit ends: %s, %.3g s, X %s, kernel %s, plan: %s",
            who,
            certificate.status,
            time.monotonic() - start,
            _Shape(X),
            _Short(vars(self)["kernel_"]),
            certificate.plan,
        )
        return returned

    return run


class _Shape:
    """The size of what was handed in, found only where someone reads the record."""

    def __init__(self, X: Any) -> None:
        self.X = X

    def __str__(self) -> str:
        shape = getattr(self.X, "shape", None)
        if isinstance(shape, tuple):
            return " x ".join(map(str, shape))
        return f"{len(self.X)} items" if hasattr(self.X, "__len__") else type(self.X).__name__


class _Short:
    """A kernel as a short text, made only where someone reads the record."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    def __str__(self) -> str:
        return show(self.kernel, 200)
