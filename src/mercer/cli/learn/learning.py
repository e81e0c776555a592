"""From data to a fitted model, within a time limit."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import scipy.sparse
from sklearn.pipeline import Pipeline

from ...checks import Array
from ...kernels import Kernel
from ..bars import Bar
from .search import Search
from .spaces import recipe_of
from .tasks import CLASSES
from .wishes import Wish


@dataclass(frozen=True, kw_only=True, eq=False)
class Learned:
    """A fitted model, or a pipeline that ends in one, and what should be known of it."""

    model: Any
    notes: tuple[str, ...] = ()


def learn(wish: Wish, X: Any, y: Array, groups: Array | None, bar: Bar) -> Learned:
    """Return a fitted model."""
    if wish.is_automatic and not scipy.sparse.issparse(X):
        return Learned(model=_automatic(wish, X, y, groups, bar))
    start = time.monotonic()
    encoder, points = encoded_points(wish, X)
    search = Search(
        wish=wish,
        recipe=recipe_of(wish.chosen, wish.kind, y),
        X=points,
        y=y,
        groups=groups,
        start=start,
        bar=bar,
    )
    model = search.model()
    if encoder is not None:
        model = Pipeline([("columns", encoder), ("model", model)])
    return Learned(model=model, notes=tuple(search.notes))


def _automatic(wish: Wish, X: Any, y: Array, groups: Array | None, bar: Bar) -> Any:
    from ...tables import AutoKernelClassifier, AutoKernelRegressor

    def told(record: dict[str, Any]) -> None:
        bar.tell(f"{record['judged']} candidates, last {record['candidate']}")

    kind = AutoKernelClassifier if wish.kind == CLASSES else AutoKernelRegressor
    model = kind(
        time_limit=wish.seconds,
        max_candidates=wish.max_candidates,
        split="time" if wish.by_time else "auto",
        types=wish.types or None,
        memory_limit=wish.memory,
        random_state=wish.seed,
        callback=told,
    )
    return model.fit(X, y, groups=groups).set_params(callback=None)


def encoded_points(wish: Wish, X: Any) -> tuple[Any, Any]:
    """Return an encoder and rows of numbers; None and X as it is, where a kernel takes that."""
    as_it_is = wish.is_raw or wish.points not in ("table", "matrix") or scipy.sparse.issparse(X)
    if as_it_is or (wish.kernel is not None and _names_columns(wish.kernel)):
        return None, X
    from ...tables import TableEncoder

    encoder = TableEncoder(types=wish.types or None)  # type: ignore[arg-type]
    return encoder, encoder.fit_transform(X)


def _names_columns(kernel: Kernel) -> bool:
    """Return whether a kernel looks at columns of a table by their names."""
    chosen = getattr(kernel, "columns", ())
    names = (chosen,) if isinstance(chosen, str) else chosen if isinstance(chosen, tuple) else ()
    return any(isinstance(one, str) for one in names) or any(
        _names_columns(one) for one in kernel.children()
    )


def members_of(model: Any) -> list[Any]:
    """Return the fitted kernel models that a model is made of."""
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    if hasattr(last, "members_"):
        return [member.model for member in last.members_]
    return [last]


def unconverged(model: Any) -> list[str]:
    """Return how the fits ended that did not reach their optimum, in words."""
    found = []
    for one in members_of(model):
        status = getattr(getattr(one, "certificate_", None), "status", None)
        if status is not None and not status.is_good:
            found.append(f"{type(one).__name__}: {status.value}")
    return found
