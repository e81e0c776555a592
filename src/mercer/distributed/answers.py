"""Predictions for collections of Dask, which stay lazy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..checks import Array, InputTypeError, sentence
from ..models.contract.anywhere import answers_elsewhere


@answers_elsewhere
def answer_lazily(model: Any, method: str, X: Any, *args: Any, **kwargs: Any) -> Any:
    """Return what a fitted model answers for the rows of a Dask collection, when it is computed.

    The model goes into the graph once, and to each worker once. Of an array the answer is an array,
    of a data frame with one column a series with its index, else a data frame.
    """
    from dask.delayed import delayed

    sent = delayed(model, pure=True)
    few = _few(X)
    shown = getattr(model, method)(few, *args, **kwargs)
    if not isinstance(shown, np.ndarray):
        who = f"{type(model).__name__}.{method}"
        must = "a lazy answer must be one array"
        advice = "Use X.map_blocks or X.map_partitions with a function of your own."
        raise InputTypeError(sentence(who, must, type(shown).__name__, advice))
    task = {
        "model": sent,
        "ask": Question(method=method, args=args, kwargs=kwargs, empty=shown[:0]),
    }
    if hasattr(X, "map_partitions"):
        return X.map_partitions(_of_frame, **task, meta=_framed(shown, few.index)[:0])
    X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    shape = {"drop_axis": 1} if shown.ndim == 1 else {"chunks": (X.chunks[0], shown.shape[1:])}
    return X.map_blocks(_of_array, **task, **shape, meta=shown[:0])


def _few(X: Any) -> Any:
    """Return a row like those of X, made up."""
    if hasattr(X, "_meta_nonempty"):
        return X._meta_nonempty[:1]  # in the next one words are missing
    return np.ones((1, X.shape[1]), dtype=X.dtype)


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is asked of a model; empty: the answer for no rows."""

    method: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    empty: Array


def _of_array(block: Array, model: Any, ask: Question) -> Any:
    return getattr(model, ask.method)(block, *ask.args, **ask.kwargs) if len(block) else ask.empty


def _of_frame(block: Any, model: Any, ask: Question) -> Any:
    return _framed(_of_array(block, model, ask), block.index)


def _framed(values: Array, index: Any) -> Any:
    """Return an answer as a series, or of several columns as a data frame."""
    import pandas

    return (pandas.Series if values.ndim == 1 else pandas.DataFrame)(values, index=index)
