"""From data to a fitted model, within a time limit."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold
from sklearn.pipeline import Pipeline

from ...checks import Array
from ...kernels import Kernel
from ..bars import Bar
from .spaces import Recipe, kernels_for, recipe_of
from .tasks import CLASSES

SEARCH_SHARE = 0.7  # of the time of a fit, for trying parameters; the rest is for the last fit
LEAST_SECONDS = 0.5  # that a part of a fit is given in any case
FOLDS = 5
LAST = 0.2  # share of rows in the order of time that are judged by the others


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What a user asks for.

    seconds: for the fit; None without a clock. types: of columns, by name. by_time: rows are in the
    order of time.
    """

    model: str
    kind: str
    points: str
    kernel: Kernel | None = None
    seconds: float | None = None
    memory: str = "auto"
    seed: int = 0
    max_candidates: int | None = None
    types: dict[str, str] = field(default_factory=dict)
    by_time: bool = False
    is_raw: bool = False

    @property
    def is_automatic(self) -> bool:
        """Whether the table learner does it all."""
        dense = self.points in ("table", "matrix") and not self.is_raw
        return self.model == "auto" and self.kernel is None and dense

    @property
    def chosen(self) -> str:
        """The name of the model, where the table learner does not do it all."""
        return "ridge" if self.model == "auto" else self.model


def learn(wish: Wish, X: Any, y: Array, groups: Array | None, bar: Bar) -> Any:
    """Return a fitted model, or a pipeline that ends in one."""
    if wish.is_automatic and not scipy.sparse.issparse(X):
        return _automatic(wish, X, y, groups, bar)
    start = time.monotonic()
    encoder, points = encoded_points(wish, X)
    recipe = recipe_of(wish.chosen, wish.kind, y)
    splits = splits_of(wish, len(y), y, groups)

    def left() -> float | None:
        if wish.seconds is None:
            return None
        return max(wish.seconds - (time.monotonic() - start), LEAST_SECONDS)

    model = _fitted(wish, recipe, points, y, splits, left, bar)
    return model if encoder is None else Pipeline([("columns", encoder), ("model", model)])


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
    return model.fit(X, y, groups=groups)


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


def splits_of(
    wish: Wish, n: int, y: Array, groups: Array | None
) -> list[tuple[Array, Array]] | None:
    """Return who is judged by whom where that is not by chance; None: it is."""
    rows = np.arange(n)
    if wish.by_time:
        cut = n - max(round(LAST * n), 1)
        return [(rows[:cut], rows[cut:])]
    if groups is None:
        return None
    folds = min(FOLDS, len(np.unique(groups)))
    kind = StratifiedGroupKFold if wish.kind == CLASSES else GroupKFold
    return list(kind(folds).split(rows, y, groups))


def _fitted(wish: Wish, recipe: Recipe, X: Any, y: Array, splits: Any, left: Any, bar: Bar) -> Any:
    """Return the model of a recipe with the best of the parameters that there was time to try."""
    import mercer

    kernels = [wish.kernel] if wish.kernel is not None else kernels_for(wish.points, X)
    kind = getattr(mercer, recipe.estimator(wish.kind))
    known = set(kind._get_param_names())
    shared = {"memory_limit": wish.memory, "random_state": wish.seed}
    options = recipe.options | {name: value for name, value in shared.items() if name in known}
    if wish.chosen == "ridge":
        bar.tell(f"{len(kernels)} kernels")
        return kind(kernel=kernels, cv=splits, time_limit=left(), **options).fit(X, y)
    if wish.chosen == "rfm":
        if wish.kernel is not None:
            options["kernel"] = wish.kernel
        return kind(time_limit=left(), **options).fit(X, y)
    space: dict[str, Any] = {name: list(values) for name, values in recipe.penalties.items()}
    if wish.chosen == "mkl":
        if wish.kernel is not None or wish.points in ("strings", "trees", "graphs"):
            options["kernels"] = wish.kernel if wish.kernel is not None else kernels
    else:
        space["kernel"] = kernels[:1] if wish.chosen == "knn" else kernels
    space = _few(space, wish.max_candidates)
    return _tuned(kind(**options), X, y, space, splits, left, wish.seed, bar)


def _few(space: dict[str, Any], most: int | None) -> dict[str, Any]:
    """Return fewer values of each parameter where only so many candidates are wanted."""
    if most is None:
        return space
    found, room = {}, most
    for name, values in space.items():
        found[name] = values[: max(room, 1)]
        room //= len(found[name])
    return found


def _tuned(
    estimator: Any, X: Any, y: Array, space: Any, splits: Any, left: Any, seed: int, bar: Bar
) -> Any:
    from ...models.svm.classes import SupportVectorClassifier
    from ...selection import tune

    count = int(np.prod([len(values) for values in space.values()]))
    params = {name: values[0] for name, values in space.items()}
    if count > 1:
        bar.tell(f"{count} settings")
        limit = left()
        limit = None if limit is None else SEARCH_SHARE * limit
        found = tune(
            estimator, X, y, space, cv=splits or FOLDS, time_limit=limit, random_state=seed
        )
        params = found.params
    model = estimator.set_params(**params)
    known = model.get_params(deep=False)
    if isinstance(model, SupportVectorClassifier):
        model.set_params(probability=True)
    if "time_limit" in known and left() is not None:
        model.set_params(time_limit=left())
    bar.tell("the last fit")
    return model.fit(X, y)


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
