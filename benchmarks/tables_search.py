"""How every side of `bench_tables.py` searches: random settings on inner folds until time is up.

Up to 5,000 rows a setting is scored on three inner folds, and the fold models of the best setting
are averaged: they exist already, and their average has less variance than one model fitted again.
Above, a fifth is held out and the best setting is fitted again on all rows for as many rounds.
The first settings are a library's own. A setting that trails the best clearly after a fold is
abandoned. No fit starts that is not expected to end in time, and boosting stops at the limit.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit

Settings = dict[str, Any]
Predict = Callable[[pd.DataFrame], np.ndarray]

MAX_FOLD_ROWS = 5000
INNER_FOLDS = 3
PATIENCE = 50  # rounds without a better loss on held-out rows
MAX_ROUNDS = 2000
CLEARLY_WORSE = 1.05
MARGIN = 0.03  # of the time, for what follows the search


@dataclass(frozen=True, kw_only=True)
class Part:
    """Some rows of a table with their targets."""

    X: pd.DataFrame
    y: np.ndarray

    def rows(self, kept: np.ndarray) -> Part:
        return Part(X=self.X.iloc[kept].reset_index(drop=True), y=self.y[kept])


@dataclass(frozen=True, kw_only=True)
class Job:
    """What a method is asked: the training rows of an outer fold, time and threads."""

    part: Part
    n_classes: int  # 0 for regression
    seconds: float
    threads: int

    @property
    def deadline(self) -> float:
        return time.perf_counter() + (1 - MARGIN) * self.seconds

    def loss(self, y: np.ndarray, found: np.ndarray) -> float:
        """Log loss of probabilities, or the root of the mean squared error."""
        if self.n_classes:
            return float(log_loss(y, found, labels=np.arange(self.n_classes)))
        return float(np.sqrt(np.mean((y - found) ** 2)))

    def splitter(self, folds: int) -> Any:
        """Inner folds, or one split that holds out a fifth."""
        if folds == 1:
            kind = StratifiedShuffleSplit if self.n_classes else ShuffleSplit
            return kind(1, test_size=0.2, random_state=0)
        fold = StratifiedKFold if self.n_classes else KFold
        return fold(folds, shuffle=True, random_state=0)

    def folds(self, count: int) -> list[tuple[np.ndarray, np.ndarray]]:
        return list(self.splitter(count).split(self.part.X, self.part.y))


class Model(Protocol):
    """A fitted model; `rounds` is how many served held-out rows best."""

    rounds: int

    def predict(self, X: pd.DataFrame) -> np.ndarray: ...


class Train(Protocol):
    """Fits settings; `held` stops boosting early, `rounds` bounds it, `limit` is in seconds."""

    def __call__(
        self, settings: Settings, part: Part, held: Part | None, *, rounds: int, limit: float
    ) -> Model: ...


class Watch:
    """Early stopping, the same for every boosting library: by rounds without gain, and by time."""

    def __init__(self, limit: float) -> None:
        self.deadline = time.perf_counter() + limit
        self.loss, self.rounds, self.seen = np.inf, 0, 0

    def ends(self, loss: float | None, rounds: int = 1, patience: int = PATIENCE) -> bool:
        """Take note of some more rounds; return whether they were the last."""
        self.seen += rounds
        if loss is None or loss < self.loss:
            self.loss, self.rounds = np.inf if loss is None else loss, self.seen
        return self.seen - self.rounds >= patience or time.perf_counter() > self.deadline


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A setting that was fitted on every fold."""

    settings: Settings
    models: list[Model]
    losses: list[float]
    seconds: float

    @property
    def loss(self) -> float:
        return float(np.mean(self.losses))


def _attempt(
    job: Job, settings: Settings, train: Train, folds: list[Any], best: Trial | None, end: float
) -> Trial | None:
    """Fit a setting on the folds one after another, or return None where the best is far ahead."""
    start, models, losses = time.perf_counter(), [], []
    for number, (rows, held_rows) in enumerate(folds):
        limit = (end - time.perf_counter()) / (len(folds) - number)
        held = job.part.rows(held_rows)
        models += [train(settings, job.part.rows(rows), held, rounds=MAX_ROUNDS, limit=limit)]
        losses += [job.loss(held.y, models[-1].predict(held.X))]
        behind = best and np.mean(losses) > CLEARLY_WORSE * np.mean(best.losses[: len(losses)])
        if behind or not np.isfinite(losses[-1]):
            return None
    seconds = time.perf_counter() - start
    return Trial(settings=settings, models=models, losses=losses, seconds=seconds)


def search(
    job: Job,
    propose: Callable[[np.random.Generator, int], Settings],
    train: Train,
    *,
    refit: bool = True,
) -> Predict:
    """Return what predicts by the best setting; `refit`: on all rows if one split was held out."""
    deadline, random = job.deadline, np.random.default_rng(0)
    splits = job.folds(INNER_FOLDS if len(job.part.y) <= MAX_FOLD_ROWS else 1)
    again = 1.25 if refit and len(splits) == 1 else 0.0  # a refit costs so much of a trial
    best: Trial | None = None
    times: list[float] = []
    for number in itertools.count():
        start = time.perf_counter()
        end = deadline - again * best.seconds if best else start + (deadline - start) / (1 + again)
        if times and start + np.quantile(times, 0.75) > end:
            break
        trial = _attempt(job, propose(random, number), train, splits, best, end)
        times.append(time.perf_counter() - start)
        if trial and (best is None or trial.loss < best.loss):
            best = trial
        if best is None and number == 2:
            raise RuntimeError("none of the first three settings gave a finite loss")
    assert best is not None
    models = best.models
    if again:
        limit = deadline - time.perf_counter()
        models = [train(best.settings, job.part, None, rounds=models[0].rounds, limit=limit)]
    return lambda X: np.mean([model.predict(X) for model in models], axis=0)


def log_uniform(random: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(random.uniform(np.log(low), np.log(high))))


def log_integer(random: np.random.Generator, low: int, high: int) -> int:
    return round(log_uniform(random, low, high))
