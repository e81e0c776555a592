"""Conformance checks: what must hold for every kernel and every loss, ours and yours.

from mercer.testing import check_kernel_conformance, check_loss_conformance
check_kernel_conformance(MyKernel(3), ["some", "typical", "objects", "of", "your", "own"])
check_loss_conformance(MyLoss(), [-1.0, 1.0])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse

from .checks import InputError, MercerError
from .grams import gram
from .inputs import Input, Matrix, as_input
from .kernels import Kernel, from_spec, parse
from .kernels.transforms import Of, Rescaled
from .kernels.user import FunctionKernel
from .losses import check_loss
from .typing import PointsLike

__all__ = ["check_kernel_conformance", "check_loss_conformance"]

Check = Callable[[Kernel, Input], None]

FLOAT64 = 1e-12
FLOAT32 = 5e-6


def check_kernel_conformance(kernel: Kernel, X: PointsLike, *, positive: bool = True) -> list[str]:
    """Run every check of a kernel on typical points, and raise AssertionError at the first failure.

    The checks compare symmetry, diagonal, positive semi-definiteness, feature map, distances, both
    precisions, sparse rows, expressions and the round trip through text with the kernel's formula.

    Parameters
    ----------
    kernel : Kernel
        The kernel, ours or yours.
    X : array-like, sequence or data frame of n points
        Typical points, at least 4.
    positive : bool, default=True
        Whether to check positive semi-definiteness; leave it out for a kernel known to be
        indefinite.

    Returns
    -------
    list of str
        The names of the checks that were run.

    Examples
    --------
    >>> from mercer.kernels import Spectrum
    >>> from mercer.testing import check_kernel_conformance
    >>> len(check_kernel_conformance(Spectrum(2), ["abab", "abc", "cab", ""]))
    11
    """
    points = as_input(X, kernel.domain, kernel.name)
    if len(points) < 4:
        raise AssertionError(f"{kernel!r}: conformance needs at least 4 points, got {len(points)}")
    if isinstance(points, Matrix):  # single precision has a check of its own
        points = Matrix(points.values.astype(np.float64), points.names)
    resolved = kernel.resolve(points)
    run = []
    for check in KERNEL_CHECKS:
        if positive or check is not check_positive:
            check(resolved, points)
            run.append(check.__name__)
    return run


def _close(found: Any, wanted: Any, what: str, kernel: Kernel, tolerance: float = FLOAT64) -> None:
    found = found.toarray() if scipy.sparse.issparse(found) else np.asarray(found)
    size = max(1.0, float(np.abs(wanted).max(initial=0.0)))
    gap = float(np.abs(found - wanted).max(initial=0.0))
    if not gap <= tolerance * size:
        raise AssertionError(
            f"{kernel!r}: {what}; they differ by {gap:.3g} (values up to {size:.3g})"
        )


def definition(kernel: Kernel, left: Input, right: Input | None = None) -> Any:
    """Return K by the kernel's formula, from what a user would hand in."""
    return kernel.formula(left.raw, left.raw if right is None else right.raw)


def check_symmetry(kernel: Kernel, points: Input) -> None:
    """Check that k(x, y) = k(y, x)."""
    K = definition(kernel, points)
    _close(K, K.T, "k(x, y) and k(y, x) must be equal", kernel)


def check_diagonal(kernel: Kernel, points: Input) -> None:
    """Check that diag(X) is the diagonal of K(X, X)."""
    wanted = np.diag(definition(kernel, points))
    _close(kernel.diag(points), wanted, "diag(X) must be the diagonal of K(X, X)", kernel)


def check_fast_path(kernel: Kernel, points: Input) -> None:
    """Check that kernel(X) and the Gram agree with the formula, in both precisions."""
    wanted = definition(kernel, points)
    _close(kernel(points), wanted, "kernel(X) must equal its formula", kernel)
    weights = np.linspace(-1, 1, len(points))
    product = gram(kernel, points) @ weights
    _close(product, wanted @ weights, "gram(kernel, X) @ v must equal its formula", kernel)
    if isinstance(points, Matrix):
        single = Matrix(points.values.astype(np.float32), points.names)
        wanted = definition(kernel, Matrix(single.values.astype(np.float64), points.names))
        found = kernel(single)
        if found.dtype != np.float32:
            raise AssertionError(f"{kernel!r}: float32 rows must give float32, got {found.dtype}")
        _close(found, wanted, "kernel(X) must equal its formula in float32", kernel, FLOAT32)


def check_sparse(kernel: Kernel, points: Input) -> None:
    """Check that sparse rows give what dense rows give; a user's function may refuse them."""
    if not isinstance(points, Matrix) or points.is_sparse:
        return
    for kind in (scipy.sparse.csr_array, scipy.sparse.csr_matrix):
        try:
            found = kernel(Matrix(kind(points.values), points.names))
        except Exception:
            nodes = [node for node, _ in kernel.walk(points)]
            if any(isinstance(node, Of | Rescaled) or node.defines("formula") for node in nodes):
                return
            raise
        _close(found, definition(kernel, points), "sparse rows must give the same", kernel)


def check_union(kernel: Kernel, points: Input) -> None:
    """Check that K(X, Y) is a block of K of the union: no value depends on the other points."""
    half = len(points) // 2
    first, second = slice(0, half), slice(half, len(points))
    whole = kernel(points)
    found = kernel(points.take(first), points.take(second))
    _close(found, whole[first, second], "K(X, Y) must be a block of K of the union", kernel)
    one = kernel(points.take(slice(0, 1)), points.take(second))
    _close(one, whole[:1, second], "one row must give what the batch gives", kernel)


def check_positive(kernel: Kernel, points: Input) -> None:
    """Check that K(X, X) has no negative eigenvalue beyond rounding."""
    K = definition(kernel, points)
    values = scipy.linalg.eigvalsh((K + K.T) / 2)
    if values[0] < -1e-10 * max(1.0, float(values[-1])):
        raise AssertionError(f"{kernel!r}: K must be positive semi-definite, got {values[0]:.3g}")


def check_features(kernel: Kernel, points: Input) -> None:
    """Check that phi(x).phi(y) = k(x, y) where a finite map exists, also for new points."""
    if not kernel.has_map():
        return
    whole = kernel.features(points)
    _close(whole @ whole.T, definition(kernel, points), "phi(x).phi(y) must be k(x, y)", kernel)
    half = len(points) // 2
    train, test = points.take(slice(0, half)), points.take(slice(half, len(points)))
    basis = kernel.basis(train)
    product = kernel.features(test, basis) @ kernel.features(train, basis).T
    wanted = definition(kernel, test, train)
    _close(product, wanted, "phi of new points in a known basis must keep k(x, y)", kernel)


def check_distance(kernel: Kernel, points: Input) -> None:
    """Check that distance(X)**2 = k(x, x) - 2 k(x, y) + k(y, y)."""
    K = definition(kernel, points)
    d = np.diag(K)
    wanted = np.maximum(d[:, None] - 2 * K + d[None, :], 0)
    found = kernel.distance(points, squared=True)
    scale = max(1.0, float(np.abs(d).max()))  # what is subtracted has this size
    _close(found / scale, wanted / scale, "the squared distance must follow from k", kernel)


def check_nested(kernel: Kernel, points: Input) -> None:
    """Check that the kernel works inside expressions."""
    K = definition(kernel, points)
    expression = 2.0 * kernel + kernel * kernel + 1
    _close(expression(points), 2 * K + K * K + 1, "2k + k*k + 1 must follow from k", kernel)
    if np.diag(K).min() >= 0:
        root = np.sqrt(np.diag(K))
        scale = np.divide(1.0, root, out=np.zeros_like(root), where=root > 0)
        wanted = K * np.outer(scale, scale)
        _close(kernel.normalized()(points), wanted, "normalised k must follow from k", kernel)


def check_text(kernel: Kernel, points: Input) -> None:
    """Check that parse(repr(k)) and from_spec(k.spec()) give k back, with an equal hash."""
    functions = functions_of(kernel)
    for expression in (kernel, 0.5 * kernel + 2, (kernel + 1) ** 2, kernel.normalized().exp()):
        forms: list[tuple[Any, Any]] = [(parse, repr(expression)), (from_spec, expression.spec())]
        for read, written in forms:
            try:
                again = read(written, functions)
            except MercerError as error:
                raise AssertionError(f"{written}: it cannot be read back: {error}") from error
            if again != expression or hash(again) != hash(expression):
                raise AssertionError(f"{expression!r}: reading it back gave {again!r}")


def check_replace(kernel: Kernel, points: Input) -> None:
    """Check that replace without changes gives the kernel back, and that the kernel is frozen."""
    if kernel.replace() != kernel or kernel.resolve(points) != kernel:
        raise AssertionError(f"{kernel!r}: replace() and resolve() must give it back")
    try:
        kernel.anything = 1  # type: ignore[attr-defined]
    except AttributeError:
        return
    raise AssertionError(f"{kernel!r}: a kernel must be frozen: make it a frozen dataclass")


KERNEL_CHECKS: tuple[Check, ...] = (
    check_replace,
    check_symmetry,
    check_diagonal,
    check_fast_path,
    check_sparse,
    check_union,
    check_positive,
    check_features,
    check_distance,
    check_nested,
    check_text,
)


def functions_of(kernel: Kernel) -> dict[str, Any]:
    """Return the functions inside an expression by the names under which it is written."""
    found: dict[str, Any] = {}
    for node in (kernel, *kernel.children()):
        own = {Of: "phi", Rescaled: "f", FunctionKernel: "fn"}.get(type(node))
        if own is not None:
            found[node.spec()[own]] = getattr(node, own)
        if node is not kernel:
            found |= functions_of(node)
    return found


# --- losses ---------------------------------------------------------------------------------------


def check_loss_conformance(loss: Any, targets: Any) -> list[str]:
    """Run every check of a loss on typical targets, and raise AssertionError at the first failure.

    The checks compare the gradient with the value and the curvature with the gradient, by
    differences.

    Parameters
    ----------
    loss : Loss
        The loss, ours or yours.
    targets : array-like of shape (n,) or (n, m)
        Typical targets.

    Returns
    -------
    list of str
        The names of the checks that were run.

    Examples
    --------
    >>> from mercer.losses import Huber
    >>> from mercer.testing import check_loss_conformance
    >>> check_loss_conformance(Huber(), [-1.0, 0.0, 2.0])
    ['check_derivatives', 'check_curvature', 'check_functions_of_arrays']
    """
    y = np.asarray(targets, dtype=np.float64)
    y = y.reshape(len(y), -1)
    for check in LOSS_CHECKS:
        check(loss, y)
    return [check.__name__ for check in LOSS_CHECKS]


def check_derivatives(loss: Any, y: Any) -> None:
    """Check the gradient against the value; it must never fall, and the curvature be finite."""
    try:
        check_loss("check_loss_conformance", loss, y)
    except InputError as error:
        raise AssertionError(str(error)) from error


def check_curvature(loss: Any, y: Any) -> None:
    """Check that the curvature is below the slope of the gradient only where a kink explains it."""
    step = 1e-4
    for shift in np.linspace(-2.9, 3.1, 11):
        for column in range(y.shape[1]):
            f = np.full_like(y, shift)
            move = np.zeros_like(f)
            move[:, column] = step
            slopes = [loss.gradient(f + side * move, y)[:, column] for side in (-1, 0, 1)]
            left, right = (slopes[1] - slopes[0]) / step, (slopes[2] - slopes[1]) / step
            given = loss.curvature(f, y)[:, column]
            if (given < np.minimum(left, right) * (1 - 1e-2) - 1e-3).any():
                raise AssertionError(
                    f"{loss!r}: the curvature must not be below the second derivative: "
                    f"{given.min():.3g} at f = {shift:.3g}, where slopes rise by {right.max():.3g}"
                )


def check_functions_of_arrays(loss: Any, y: Any) -> None:
    """Check that one row gives what the batch gives, and that arrays handed in are not changed."""
    f = np.linspace(-2, 2, y.size).reshape(y.shape)
    before = f.copy(), y.copy()
    for name in ("value", "gradient", "curvature"):
        whole = getattr(loss, name)(f, y)
        if not (np.array_equal(f, before[0]) and np.array_equal(y, before[1])):
            raise AssertionError(f"{loss!r}: f and y must not be written to")
        single = np.vstack([getattr(loss, name)(f[i : i + 1], y[i : i + 1]) for i in range(len(y))])
        if not np.allclose(single, whole, rtol=1e-12, atol=1e-12):
            raise AssertionError(f"{loss!r}: {name} of one row must be what the batch gives")


LOSS_CHECKS: tuple[Callable[[Any, Any], None], ...] = (
    check_derivatives,
    check_curvature,
    check_functions_of_arrays,
)
