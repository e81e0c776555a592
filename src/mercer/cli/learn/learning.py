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
from ...files.records import estimators
from ...kernels import Kernel
from ...models.svm.classes import SupportVectorClassifier
from ...selection import tune
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
    search = Search(
        wish=wish,
        recipe=recipe_of(wish.chosen, wish.kind, y),
        X=points,
        y=y,
        splits=splits_of(wish, len(y), y, groups),
        start=start,
        bar=bar,
    )
    model = search.model()
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


@dataclass(frozen=True, kw_only=True, eq=False)
class Search:
    """The best model of a recipe, among those that there is time to try.

    splits: who is judged by whom, where that is not by chance. start: when the clock began.
    """

    wish: Wish
    recipe: Recipe
    X: Any
    y: Array
    splits: list[tuple[Array, Array]] | None
    start: float
    bar: Bar

    @property
    def left(self) -> float | None:
        """Seconds that are left; None without a clock."""
        if self.wish.seconds is None:
            return None
        return max(self.wish.seconds - (time.monotonic() - self.start), LEAST_SECONDS)

    @property
    def kernels(self) -> list[Kernel]:
        """The kernel that was asked for, or those to try."""
        if self.wish.kernel is not None:
            return [self.wish.kernel]
        return kernels_for(self.wish.points, self.X)

    def estimator(self) -> type[Any]:
        """Return the class of the model."""
        found: type[Any] = estimators()[self.recipe.estimator(self.wish.kind)]
        return found

    def options(self) -> dict[str, Any]:
        """Return what is not searched."""
        return self.recipe.options | shared_options(
            self.estimator(), self.wish.memory, self.wish.seed
        )

    def model(self) -> Any:
        """Return the model, fitted."""
        kind, options = self.estimator(), self.options()
        if self.wish.chosen == "ridge":
            kernels = self.kernels
            self.bar.tell(f"{len(kernels)} kernels")
            searching = kind(kernel=kernels, cv=self.splits, time_limit=self.left, **options)
            return searching.fit(self.X, self.y)
        if self.wish.chosen == "rfm":
            if self.wish.kernel is not None:
                options["kernel"] = self.wish.kernel
            return kind(time_limit=self.left, **options).fit(self.X, self.y)
        return self._tuned(kind(**options, **self._stack()))

    def _stack(self) -> dict[str, Any]:
        """Return the kernels of a model that has several; none where its own will do."""
        wish = self.wish
        if wish.chosen != "mkl" or (wish.kernel is None and wish.points in ("table", "matrix")):
            return {}
        return {"kernels": self.kernels if wish.kernel is None else wish.kernel}

    def space(self) -> dict[str, list[Any]]:
        """Return what is tried of each parameter."""
        found = {name: list(values) for name, values in self.recipe.penalties.items()}
        if self.wish.chosen != "mkl":
            kernels = self.kernels
            found["kernel"] = kernels[:1] if self.wish.chosen == "knn" else kernels
        return few(found, self.wish.max_candidates)

    def _tuned(self, estimator: Any) -> Any:
        """Return the estimator with the best of the parameters, fitted to all rows."""
        space = self.space()
        count = int(np.prod([len(values) for values in space.values()]))
        params = {name: values[0] for name, values in space.items()}
        if count > 1:
            self.bar.tell(f"{count} settings")
            found = tune(
                estimator,
                self.X,
                self.y,
                space,
                cv=self.splits or FOLDS,
                time_limit=None if self.left is None else SEARCH_SHARE * self.left,
                random_state=self.wish.seed,
            )
            params = found.params
        model = estimator.set_params(**params)
        if isinstance(model, SupportVectorClassifier):
            model.set_params(probability=True)
        if "time_limit" in model.get_params(deep=False) and self.left is not None:
            model.set_params(time_limit=self.left)
        self.bar.tell("the last fit")
        return model.fit(self.X, self.y)


def shared_options(kind: type[Any], memory: str, seed: int) -> dict[str, Any]:
    """Return the options of all models, as far as one of a class has them."""
    known = set(kind._get_param_names())
    options = {"memory_limit": memory, "random_state": seed}
    return {name: value for name, value in options.items() if name in known}


def few(space: dict[str, Any], most: int | None) -> dict[str, Any]:
    """Return fewer values of each parameter where only so many candidates are wanted."""
    if most is None:
        return space
    found, room = {}, most
    for name, values in space.items():
        found[name] = values[: max(room, 1)]
        room //= len(found[name])
    return found


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
