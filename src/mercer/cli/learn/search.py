"""The best model of a recipe, among those that there is time to try."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ...checks import Array
from ...files.records import estimators
from ...kernels import Kernel
from ...models.svm.classes import SupportVectorClassifier
from ...report.measure.splits import thinned
from ...report.subject import taken
from ...selection import tune
from ..bars import Bar
from .spaces import PLAIN, Recipe, kernels_for
from .tasks import CLASSES
from .wishes import FOLDS, Wish, splits_of

SEARCH_ROWS, FEWER_ROWS = 2000, 1000  # on which parameters are tried, of more
SHORT_TIME = 30.0  # seconds below which they are tried on fewer
SEARCH_SHARE = 0.5  # of the time of a fit, for trying parameters; the rest is for the last fit
LEAST_SECONDS = 0.5  # that a part of a fit is given in any case
RATE = 2e10  # multiplications and additions per second of a factorisation, roughly


@dataclass(frozen=True, kw_only=True, eq=False)
class Search:
    """The best model of a recipe, among those that there is time to try.

    start: when the clock began. notes: what should be known of the model, in sentences.
    """

    wish: Wish
    recipe: Recipe
    X: Any
    y: Array
    groups: Array | None
    start: float
    bar: Bar
    notes: list[str] = field(default_factory=list)

    # --- what is searched -------------------------------------------------------------------

    @property
    def left(self) -> float | None:
        """Seconds that are left; None without a clock."""
        if self.wish.seconds is None:
            return None
        return max(self.wish.seconds - (time.monotonic() - self.start), LEAST_SECONDS)

    @cached_property
    def rows(self) -> Array:
        """The rows on which parameters are tried: of many some, of those in time the last."""
        every, seconds = np.arange(len(self.y)), self.wish.seconds
        most = SEARCH_ROWS if seconds is None or seconds >= SHORT_TIME else FEWER_ROWS
        if self.wish.by_time:
            return every[-most:]
        codes = None
        if self.wish.kind == CLASSES:
            codes = np.unique(self.y, return_inverse=True)[1]
        return thinned(every, most, codes, self.wish.seed)

    @property
    def is_part(self) -> bool:
        """Whether parameters are tried on a part of the rows only."""
        return len(self.rows) < len(self.y)

    def _some(self) -> tuple[Any, Array, list[tuple[Array, Array]] | None]:
        """Return the points on which parameters are tried, their targets and their folds."""
        X, y = self.X, self.y
        if self.is_part:
            self.notes.append(
                f"Kernel and penalty were chosen on {len(self.rows):,} of {len(y):,} rows."
            )
            X, y = taken(X, self.rows), y[self.rows]
        groups = None if self.groups is None else self.groups[self.rows]
        return X, y, splits_of(self.wish, len(y), y, groups)

    def _estimator(self) -> type[Any]:
        found: type[Any] = estimators()[self.recipe.estimator(self.wish.kind)]
        return found

    def _options(self) -> dict[str, Any]:
        """Return what is not searched."""
        shared = shared_options(self._estimator(), self.wish.memory, self.wish.seed)
        return self.recipe.options | shared | self._stack()

    def _stack(self) -> dict[str, Any]:
        """Return the kernels of a model that has several; none where its own will do."""
        wish = self.wish
        if wish.chosen != "mkl" or (wish.kernel is None and wish.points in ("table", "matrix")):
            return {}
        return {"kernels": self._kernels(self.X) if wish.kernel is None else wish.kernel}

    def _kernels(self, X: Any) -> list[Kernel]:
        """Return the kernel that was asked for, or those to try."""
        return (
            [self.wish.kernel] if self.wish.kernel is not None else kernels_for(self.wish.points, X)
        )

    # --- how --------------------------------------------------------------------------------

    def model(self) -> Any:
        """Return the model, fitted to all rows."""
        if self.wish.chosen == "rfm":
            given = {} if self.wish.kernel is None else {"kernel": self.wish.kernel}
            return self._last(self._estimator()(**self._options(), **given))
        X, y, splits = self._some()
        if self.wish.chosen == "ridge":
            return self._ridge(X, y, splits)
        return self._last(self._tuned(X, y, splits))

    def _ridge(self, X: Any, y: Array, splits: Any) -> Any:
        kernels, kind = few({"": self._kernels(X)}, self.wish.max_candidates)[""], self._estimator()
        self.bar.tell(f"{len(kernels)} kernels")
        limit = self.left if self.left is None or not self.is_part else SEARCH_SHARE * self.left
        found = kind(kernel=kernels, cv=splits, time_limit=limit, **self._options()).fit(X, y)
        if not self.is_part:
            found.time_limit = None  # which was for this fit, and not for others like it
            return found
        plain = estimators()[PLAIN[kind.__name__]]
        kernel = found.kernel_ if self.wish.kernel is None else self.wish.kernel
        return self._last(plain(alpha=found.alpha_, kernel=kernel, **self._options()))

    def _tuned(self, X: Any, y: Array, splits: Any) -> Any:
        """Return the estimator with the best of the parameters, not fitted."""
        estimator = self._estimator()(**self._options())
        space: dict[str, Any] = {name: list(some) for name, some in self.recipe.penalties.items()}
        if self.wish.chosen != "mkl":
            kernels = self._kernels(X)
            space["kernel"] = kernels[:1] if self.wish.chosen == "knn" else kernels
        space = few(space, self.wish.max_candidates)
        count = int(np.prod([len(values) for values in space.values()]))
        if count == 1:
            return estimator.set_params(**{name: values[0] for name, values in space.items()})
        self.bar.tell(f"{count} settings")
        limit = None if self.left is None else SEARCH_SHARE * self.left
        found = tune(
            estimator,
            X,
            y,
            space,
            cv=splits or FOLDS,
            time_limit=limit,
            random_state=self.wish.seed,
        )
        return estimator.set_params(**found.params)

    def _last(self, model: Any) -> Any:
        """Return a model fitted to all rows in the time that is left."""
        known = model.get_params(deep=False)
        if isinstance(model, SupportVectorClassifier):
            model.set_params(probability=True)
        left = self.left
        if left is not None and "solver" in known and len(self.y) ** 3 / 3 / RATE > left / 2:
            model.set_params(solver="nystrom")
            self.notes.append("The model is a function of few centres, for lack of time.")
        if "time_limit" in known:
            model.set_params(time_limit=left)
        self.bar.tell("the last fit")
        model.fit(self.X, self.y)
        if "time_limit" in known:
            model.time_limit = None  # which was for this fit, and not for others like it
        return model


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
