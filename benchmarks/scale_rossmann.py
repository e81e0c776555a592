"""Rossmann's sales: a kernel model against boosted trees, for `bench_scale.py`.

Both learn the log sales of a store beyond their mean, from the same columns; the trees see the
store itself as well, a category of 1,115 levels. Both choose their parameters by the six weeks
before those that are held out, on means that do not know these weeks, and are then fitted again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scale_data import rossmann

from mercer import KernelRidge, TableEncoder
from mercer.inputs import RowBlocks
from mercer.kernels import Gaussian

Case = dict[str, Any]
BLOCK = 50_000
WIDTHS = (1.0, 2.0, 4.0)  # gamma, in units of that of the encoder
ALPHAS = (0.1, 1.0, 10.0)
CHOICE_ROWS, CHOICE_CENTRES = 200_000, 1000
LEAVES = (63, 255)
TREES_MOST, PATIENCE = 3000, 100
FIRST = pd.Timestamp("2013-01-01")


@dataclass(frozen=True)
class Sales:
    """Days with what is known beforehand, log sales beyond the mean of the store, this mean."""

    X: Any
    y: Any
    base: Any
    held: Any

    @property
    def known(self) -> Any:
        return ~self.held


def sales(case: Case, skipped: int) -> Sales:
    """Return the sales without the last weeks."""
    X, y, base, held = rossmann(skipped, case["rows"])
    return Sales(X, y - base, base, held)


def errors(part: Sales, values: Any) -> Case:
    """Return the errors of log sales, and relative errors of sales, of what was held out."""
    left = part.y[part.held] - values
    return {
        "rmse_log": float(np.sqrt(np.mean(left**2))),
        "rmspe": float(np.sqrt(np.mean((1 - np.exp(-left)) ** 2))),
    }


def judged(fit: Callable[[Sales], Any], part: Sales) -> tuple[Case, Any]:
    """Return times and errors of a model, and the model: a function of a frame."""
    start = time.perf_counter()
    predict = fit(part)
    fitted = time.perf_counter()
    values = predict(part.X[part.held])
    found = {"seconds": fitted - start, "predict_seconds": time.perf_counter() - fitted}
    return found | errors(part, values) | {"rows": int(part.known.sum())}, predict


# --- the kernel model ----------------------------------------------------------------------------


def kernel_model(part: Sales, width: float, alpha: float, centres: int, limit: str) -> Any:
    """Return the predictions of ridge regression with centres, fitted to blocks of encoded rows."""
    X, y = part.X[part.known].drop(columns="Store"), part.y[part.known]
    encoder = TableEncoder().fit(X)
    gamma = width * encoder.kernel_.inner.gamma
    starts = range(0, len(X), BLOCK)

    def blocks() -> Any:
        parts = (encoder.transform(X.iloc[start : start + BLOCK]) for start in starts)
        return (one.astype(np.float32) for one in parts)

    model = KernelRidge(
        alpha,
        kernel=Gaussian(gamma),
        solver="nystrom",
        n_centers=centres,
        tol=1e-3,
        memory_limit=limit,
        random_state=0,
    )
    model.fit(RowBlocks(blocks), y)
    ours = [column for column in part.X if column != "Store"]
    return lambda new: model.predict(encoder.transform(new[ours]).astype(np.float32))


def run_rossmann_kernel(case: Case) -> Case:
    """Choose width and alpha, then fit to all days before the weeks that are held out."""
    start = time.perf_counter()
    part = sales(case, 6)
    rows = np.flatnonzero(part.known)
    some = np.random.default_rng(0).choice(rows, min(CHOICE_ROWS, len(rows)), replace=False)
    kept = np.sort(np.concatenate([some, np.flatnonzero(part.held)]))
    few = Sales(part.X.iloc[kept], part.y[kept], part.base[kept], part.held[kept])
    tried = {}
    for width in WIDTHS:
        for alpha in ALPHAS:
            centres = min(CHOICE_CENTRES, case["centres"])
            predict = kernel_model(few, width, alpha, centres, case["limit"])
            tried[width, alpha] = errors(few, predict(few.X[few.held]))["rmse_log"]
    width, alpha = min(tried, key=tried.__getitem__)
    searched = time.perf_counter() - start
    found, _ = judged(
        lambda part: kernel_model(part, width, alpha, case["centres"], case["limit"]),
        sales(case, 0),
    )
    return found | {"search_seconds": searched, "chosen": {"width": width, "alpha": alpha}}


# --- boosted trees --------------------------------------------------------------------------------


def run_rossmann_trees(case: Case) -> Case:
    """Choose leaves and trees, then fit to all days before the weeks that are held out."""
    import lightgbm

    def fitted(part: Sales, leaves: int, trees: int, stop: bool) -> Any:
        model = lightgbm.LGBMRegressor(
            n_estimators=trees, num_leaves=leaves, learning_rate=0.05, n_jobs=2, verbose=-1
        )
        X = _for_trees(part.X)
        options = {}
        if stop:
            options["eval_set"] = [(X[part.held], part.y[part.held])]
            options["callbacks"] = [lightgbm.early_stopping(PATIENCE, verbose=False)]
        return model.fit(X[part.known], part.y[part.known], **options)

    start = time.perf_counter()
    part = sales(case, 6)
    tried = []
    for leaves in LEAVES:
        model = fitted(part, leaves, case["trees"] or TREES_MOST, True)
        (scores,) = model.best_score_["valid_0"].values()
        tried.append((scores, leaves, model.best_iteration_))
    _, leaves, trees = min(tried)
    searched = time.perf_counter() - start

    def final(part: Sales) -> Any:
        model = fitted(part, leaves, trees, False)
        return lambda new: model.predict(_for_trees(new))

    found, _ = judged(final, sales(case, 0))
    return found | {"search_seconds": searched, "chosen": {"leaves": leaves, "trees": trees}}


def _for_trees(frame: Any) -> Any:
    """Return the frame with the date as a number of days, its week and its day of the year."""
    days = frame["Date"]
    return frame.drop(columns="Date").assign(
        date=(days - FIRST).dt.days,
        week=days.dt.isocalendar().week.astype(int),
        day_of_year=days.dt.dayofyear,
    )


RUNS = {"rossmann_kernel": run_rossmann_kernel, "rossmann_trees": run_rossmann_trees}
