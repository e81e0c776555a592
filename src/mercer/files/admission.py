"""Whether points are such as a kernel takes, all the way down its expression.

Points that come from a user are checked when they are converted; those of a file are checked here.
"""

from __future__ import annotations

import numpy as np

from .. import checks
from ..checks import InputError, InputTypeError, sentence
from ..inputs import (
    CATEGORIES,
    FRAME,
    GRAM,
    OBJECT_DOMAINS,
    Frame,
    GramRows,
    Input,
    Matrix,
    Objects,
    RowBlocks,
    as_input,
    domain_text,
)
from ..inputs.items import checked_items
from ..kernels import Kernel
from ..kernels.transforms import Of

_DOMAINS: tuple[tuple[type[Input], frozenset[str]], ...] = (
    (Matrix, CATEGORIES),
    (Objects, OBJECT_DOMAINS),
    (Frame, FRAME),
    (GramRows, GRAM),
)


def check_points(kernel: Kernel, points: Input) -> None:
    """Refuse points that the kernel, or a part of it, does not take."""
    if isinstance(points, RowBlocks):
        for block in points.blocks():
            check_points(kernel, block)
        return
    domain = next(words for kind, words in _DOMAINS if isinstance(points, kind))
    if not kernel.domain & domain:
        must = f"X must be {domain_text(kernel.domain)}"
        raise InputTypeError(sentence(kernel.name, must, points.kind))
    if isinstance(points, Objects):
        checked_items(kernel.name, points.items, kernel.domain)
    if isinstance(points, Matrix):
        _check_rows(kernel, points)
    inner = _seen_by_children(kernel, points)
    if inner is not None:
        for child in kernel.children():
            check_points(child, inner)


def _check_rows(kernel: Kernel, points: Matrix) -> None:
    values = points.values.data if points.is_sparse else points.values
    if not np.isfinite(values).all():
        raise InputError(sentence(kernel.name, "X must have finite numbers only", "others"))
    if kernel.nonnegative:
        checks.nonnegative(kernel.name, points.values, points.names)


def _seen_by_children(kernel: Kernel, points: Input) -> Input | None:
    """Return the points as the parts of the kernel see them; None: what a function makes of them.

    A function of the user is not called while a file is read. A transformer of the file is tried on
    the first point.
    """
    if not kernel.children() or len(points) == 0:
        return None
    if not isinstance(kernel, Of):
        return kernel.child_input(points)
    if not hasattr(kernel.phi, "transform"):
        return None
    first = points.take(slice(0, 1))
    try:
        made = kernel.phi.transform(first.raw)
    except Exception as error:  # whatever a transformer may raise
        must = "its transformer must take the points"
        raise InputError(sentence(kernel.name, must, str(error))) from error
    return as_input(made, kernel.inner.domain, kernel.name)
