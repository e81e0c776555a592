"""Preprocessors of scikit-learn that scale columns, as operators."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from .graph import Graph

SCALERS = (StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler)


def shifted(graph: Graph, tensor: str, centre: Any) -> str:
    """Return rows minus a centre; what rounding leaves of it is taken away after it."""
    given = np.asarray(centre, dtype=np.float64)
    held = given.astype(graph.dtype).astype(np.float64)
    for part in (held, given - held):
        if part.any():
            tensor = graph.call("Sub", tensor, graph.floats(part))
    return tensor


def scaled(graph: Graph, step: Any, tensor: str) -> str:
    """Return what a fitted scaler makes of rows."""
    check_is_fitted(step)
    if isinstance(step, MinMaxScaler):
        return _between(graph, step, tensor)
    centre = getattr(step, "mean_", None) if isinstance(step, StandardScaler) else None
    if isinstance(step, RobustScaler):
        centre = step.center_
    if centre is not None and getattr(step, "with_mean", getattr(step, "with_centering", True)):
        tensor = shifted(graph, tensor, centre)
    if step.scale_ is not None:
        tensor = graph.call("Div", tensor, graph.floats(step.scale_))
    return tensor


def _between(graph: Graph, step: MinMaxScaler, tensor: str) -> str:
    """Return rows between the ends of the scaler.

    x scale + min is written as (x - data_min) scale + low, which keeps the digits of x.
    """
    low, high = step.feature_range
    moved = shifted(graph, tensor, step.data_min_)
    moved = graph.affine(graph.call("Mul", moved, graph.floats(step.scale_)), 1.0, float(low))
    if step.clip:
        moved = graph.call("Clip", moved, graph.floats(low), graph.floats(high))
    return moved
