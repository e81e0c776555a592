"""Making a saved model small, and saying what that costs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.pipeline import Pipeline

from ...checks import bytes_text
from ...data import read
from ...models import compress
from ..errors import usage
from ..learn.learning import members_of
from ..learn.training import Reading
from ..outputs import STANDARD, check_outputs, save_model
from ..show.parts import heading, table
from .inspecting import points_of
from .models import Stored, read_model
from .predicting import Asked, Predictor

if TYPE_CHECKING:
    from ..screen import Screen

WHO = "mercer compress"
ROUGH = 0.3  # of the size of a function: it has moved too far


def run_compress(
    screen: Screen,
    reading: Reading,
    *,
    model: str,
    centers: int | None,
    tol: float | None,
    data: str | None,
    time_limit: float | None,
    memory_limit: str,
    out: str,
    force: bool,
) -> None:
    """Compress a model, save it, show sizes and errors."""
    if (centers is None) == (tol is None):
        given = "neither" if centers is None else "both"
        raise usage(WHO, "either --centers or --tol must be given", given)
    inputs = [model] + ([] if data is None else [data])
    check_outputs(WHO, {"--out": out}, force, inputs)
    screen.results_to_stderr = out == STANDARD
    stored = read_model(model, WHO)
    points = None if data is None else _points(stored, data, reading)
    options: dict[str, Any] = {"n_centers": centers} if tol is None else {"tol": tol}
    options |= {"time_limit": time_limit, "memory_limit": memory_limit}
    with screen.bar("Compressing", time_limit):
        small = _small(stored.model, points if tol is None else None, options)
    save_model(small, out, stored.card)
    size = os.path.getsize(out) if out != STANDARD else None
    _show(screen, stored, small, size, _change(stored.model, small, points))


def _points(stored: Stored, data: str, reading: Reading) -> Any:
    predictor = Predictor(stored, Asked(), WHO)
    return predictor.points(read(data, **predictor.options(data, reading)))


def _small(model: Any, points: Any, options: dict[str, Any]) -> Any:
    """Return the model compressed; of a pipeline its last step."""
    if not isinstance(model, Pipeline):
        return compress(model, X=points, **options)
    inner = None if points is None else model[:-1].transform(points)
    last = compress(model.steps[-1][1], X=inner, **options)
    return Pipeline([*model.steps[:-1], (model.steps[-1][0], last)])


def _change(model: Any, small: Any, points: Any) -> dict[str, float] | None:
    """Return how far predictions of rows have moved; None without rows."""
    if points is None:
        return None
    before, after = np.asarray(model.predict(points)), np.asarray(small.predict(points))
    if before.dtype.kind == "f":
        moved = np.abs(after - before)
        return {"largest": float(moved.max()), "mean": float(moved.mean())}
    return {"changed_share": float((before != after).mean())}


def _errors(small: Any) -> float | None:
    """Return the largest relative error of a function, over all members."""
    found = [
        max(one.compression_.relative_errors)
        for one in members_of(small)
        if hasattr(getattr(one, "compression_", None), "relative_errors")
    ]
    return max(found) if found else None


def _show(
    screen: Screen, stored: Stored, small: Any, size: int | None, change: dict[str, float] | None
) -> None:
    before = sum(points_of(one) for one in members_of(stored.model))
    after = sum(points_of(one) for one in members_of(small))
    rows = [["points", f"{before:,}", f"{after:,}", f"{before / max(after, 1):.1f} ×"]]
    if size is not None:
        ratio = f"{stored.size / size:.1f} ×"
        rows.append(["file", bytes_text(stored.size), bytes_text(size), ratio])
    error = _errors(small)
    screen.show(
        heading("Compressed", type(stored.last).__name__),
        table(("", "before", "after", "smaller"), rows, right=(1, 2, 3)),
    )
    if error is not None:
        screen.show(f"  The functions have moved by at most {100 * error:.3g} % of their size.")
        if error > ROUGH and change is None:
            screen.warn(
                "The small model may predict something else: take more --centers or a smaller "
                "--tol, or name rows by --data to see how far their predictions move."
            )
    if change is not None and "largest" in change:
        screen.show(
            f"  Predictions of the rows given have moved by {change['mean']:.4g} on average, "
            f"by {change['largest']:.4g} at most."
        )
    elif change is not None:
        screen.show(
            f"  {100 * change['changed_share']:.3g} % of the rows given change their class."
        )
    screen.result |= {
        "points": {"before": before, "after": after},
        "bytes": {"before": stored.size, "after": size},
        "relative_error": error,
        "predictions": change,
    }
