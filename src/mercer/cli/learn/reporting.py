"""The report of a fit, with what only the command line knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...report import Report, make_report
from .training import Training

if TYPE_CHECKING:
    from typing import Any

    from ..bars import Bar


def report_of(
    model: Any, training: Training, *, seconds: float | None, seed: int, command: str, bar: Bar
) -> Report:
    """Return the report of a model on its training data."""
    import polars

    # The report finds the name of the target at y.
    y = polars.Series(training.target, training.y)
    return make_report(
        model,
        training.X,
        y,
        title=f"{training.target} by {_name(model)}",
        groups=training.groups,
        command=command,
        seed=seed,
        source=training.read.source,
        sha256=training.read.sha256,
        time_limit=seconds,
        progress=lambda what, done: bar.tell(what, done),
        random_state=seed,
    )


def _name(model: Any) -> str:
    last = model.steps[-1][1] if hasattr(model, "named_steps") else model
    return type(last).__name__
