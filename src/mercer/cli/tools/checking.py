"""Whether a kernel is one on the points of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...checks import sentence
from ...data import read
from ...diagnostics import KernelCertificate, check_kernel
from ...kernels import Kernel
from ..errors import Exit, usage
from ..learn.learning import encoded_points
from ..learn.training import Reading
from ..learn.wishes import Wish
from ..show.parts import heading, pairs

if TYPE_CHECKING:
    from ...data import Dataset
    from ..screen import Screen

WHO = "mercer check"


def run_check(
    screen: Screen,
    reading: Reading,
    *,
    kernel: Kernel,
    data: str,
    drop: tuple[str, ...],
    rows: int | None,
    alpha: float,
    raw: bool,
) -> None:
    """Check a kernel and show the verdict."""
    options = reading.options()
    if drop:
        options["types"] = dict.fromkeys(drop, "drop")
    found = read(data, **options)
    if drop and found.kind != "table":
        raise usage(WHO, "--drop is for tables", found.kind)
    points = _some(_points(kernel, found, raw), rows)
    with screen.bar("Computing eigenvalues"):
        certificate = check_kernel(kernel, points, alpha=alpha)
    _show(screen, kernel, data, certificate)
    if not certificate.is_psd:
        screen.code = Exit.FAILURE
        must = "the kernel must be symmetric and positive semi-definite on these points"
        got = f"a smallest eigenvalue of {certificate.min_eigenvalue:.4g}"
        screen.problem(sentence(WHO, must, got, "See mercer.repair, or take another kernel."))


def _points(kernel: Kernel, found: Dataset, raw: bool) -> Any:
    wish = Wish(model="ridge", kind="", points=found.kind, kernel=kernel, is_raw=raw)
    return encoded_points(wish, found.X)[1]


def _some(points: Any, most: int | None) -> Any:
    """Return at most so many random points, in their order."""
    count = len(points) if isinstance(points, list) else points.shape[0]
    if most is None or count <= most:
        return points
    chosen = np.sort(np.random.default_rng(0).choice(count, most, replace=False))
    return [points[row] for row in chosen] if isinstance(points, list) else points[chosen]


def _show(screen: Screen, kernel: Kernel, data: str, found: KernelCertificate) -> None:
    about = "" if found.method == "exact" else "about "
    screen.show(
        heading(repr(kernel), f"on {found.n:,} points of {data}"),
        found.verdict,
        pairs(
            [
                ("eigenvalues", f"{found.min_eigenvalue:.4g} to {found.max_eigenvalue:.4g}"),
                ("numerical rank", f"{about}{found.rank:,} of {found.n:,}"),
                ("condition", f"{found.condition:.3g}"),
                (
                    "effective dim.",
                    f"{about}{found.effective_dimension:.4g} (alpha {found.alpha:g})",
                ),
                ("computed", found.method),
            ]
        ),
    )
    screen.result |= {
        "kernel": repr(kernel),
        "n": found.n,
        "is_psd": found.is_psd,
        "is_symmetric": found.is_symmetric,
        "min_eigenvalue": found.min_eigenvalue,
        "max_eigenvalue": found.max_eigenvalue,
        "tolerance": found.tolerance,
        "rank": found.rank,
        "condition": found.condition,
        "effective_dimension": found.effective_dimension,
        "alpha": found.alpha,
        "method": found.method,
        "verdict": found.verdict,
    }
