"""The boosted trees of `bench_tables.py`, mercer's own entry, and the list of all methods.

Settings are drawn from TabArena's search spaces, with learning rates from 0.02 to 0.2, whose rounds
fit into the time. Categories are given to each library as such.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import tables_kernels
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from tables_search import (
    Job,
    Part,
    Predict,
    Settings,
    Watch,
    log_integer,
    log_uniform,
    search,
)

HIST_STEP = 20  # rounds to the first look at held-out rows; each goes over all trees again


def _probabilities(found: Any) -> np.ndarray:
    """A row per point and a column per class from what a binary or multi-class booster gives."""
    found = np.asarray(found, dtype=np.float64)
    return np.stack([1 - found, found], axis=1) if found.ndim == 1 else found


class _Boosted:
    """A booster and the rounds of it that count."""

    def __init__(self, ask: Callable[[pd.DataFrame, int], Any], watch: Watch, classify: bool):
        self.ask, self.rounds, self.classify = ask, max(watch.rounds, 1), classify

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        found = self.ask(X, self.rounds)
        return _probabilities(found) if self.classify else np.asarray(found, dtype=np.float64)


def _objective(job: Job, names: tuple[str, str, str]) -> str:
    """Of the names for numbers, two classes and more, the one that fits."""
    return names[min(max(job.n_classes - 1, 0), 2)]


def lightgbm(job: Job) -> Predict:
    import lightgbm as lgb

    fixed = {
        "objective": _objective(job, ("l2", "binary", "multiclass")),
        "metric": _objective(job, ("rmse", "binary_logloss", "multi_logloss")),
        "num_threads": job.threads,
        "seed": 0,
        "verbosity": -1,
        "feature_pre_filter": False,
    }
    if job.n_classes > 2:
        fixed["num_class"] = job.n_classes

    def propose(random: np.random.Generator, number: int) -> Settings:
        if number < 2:
            return {"learning_rate": (0.1, 0.05)[number]}
        return {
            "learning_rate": log_uniform(random, 0.02, 0.2),
            "num_leaves": log_integer(random, 2, 200),
            "min_data_in_leaf": log_integer(random, 1, 64),
            "feature_fraction": random.uniform(0.4, 1),
            "bagging_fraction": random.uniform(0.7, 1),
            "bagging_freq": 1,
            "lambda_l1": log_uniform(random, 1e-5, 1),
            "lambda_l2": log_uniform(random, 1e-5, 2),
            "extra_trees": bool(random.integers(2)),
            "min_data_per_group": log_integer(random, 2, 100),
            "cat_l2": log_uniform(random, 0.005, 2),
            "cat_smooth": log_uniform(random, 0.001, 100),
            "max_cat_to_onehot": log_integer(random, 8, 100),
        }

    def train(settings: Settings, part: Part, held: Part | None, *, rounds: int, limit: float):
        watch = Watch(limit)

        def look(env: Any) -> None:
            losses = env.evaluation_result_list
            if watch.ends(losses[0][2] if losses else None):
                raise lgb.callback.EarlyStopException(watch.rounds - 1, losses)

        booster = lgb.train(
            fixed | settings,
            lgb.Dataset(part.X, part.y),
            num_boost_round=rounds,
            valid_sets=[lgb.Dataset(held.X, held.y)] if held else None,
            callbacks=[look],
        )
        ask = lambda X, rounds: booster.predict(X, num_iteration=rounds)  # noqa: E731
        return _Boosted(ask, watch, bool(job.n_classes))

    return search(job, propose, train)


def xgboost(job: Job) -> Predict:
    import xgboost as xgb

    fixed = {
        "objective": _objective(job, ("reg:squarederror", "binary:logistic", "multi:softprob")),
        "eval_metric": _objective(job, ("rmse", "logloss", "mlogloss")),
        "nthread": job.threads,
        "seed": 0,
        "verbosity": 0,
        "tree_method": "hist",
    }
    if job.n_classes > 2:
        fixed["num_class"] = job.n_classes

    def propose(random: np.random.Generator, number: int) -> Settings:
        if number < 2:  # with the default of 0.3 it would only lose
            return {"learning_rate": (0.1, 0.05)[number]}
        return {
            "learning_rate": log_uniform(random, 0.02, 0.2),
            "max_depth": log_integer(random, 4, 10),
            "min_child_weight": log_uniform(random, 0.001, 5),
            "subsample": random.uniform(0.6, 1),
            "colsample_bylevel": random.uniform(0.6, 1),
            "colsample_bynode": random.uniform(0.6, 1),
            "reg_alpha": log_uniform(random, 1e-4, 5),
            "reg_lambda": log_uniform(random, 1e-4, 5),
            "grow_policy": str(random.choice(["depthwise", "lossguide"])),
            "max_cat_to_onehot": log_integer(random, 8, 100),
            "max_leaves": log_integer(random, 8, 1024),
        }

    class Look(xgb.callback.TrainingCallback):
        def __init__(self, watch: Watch) -> None:
            self.watch = watch

        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            scores = [scores for of in evals_log.values() for scores in of.values()]
            return self.watch.ends(scores[0][-1] if scores else None)

    def matrix(X: pd.DataFrame, y: np.ndarray | None = None) -> Any:
        return xgb.DMatrix(X, y, enable_categorical=True, nthread=job.threads)

    def train(settings: Settings, part: Part, held: Part | None, *, rounds: int, limit: float):
        watch = Watch(limit)
        booster = xgb.train(
            fixed | settings,
            matrix(part.X, part.y),
            num_boost_round=rounds,
            evals=[(matrix(held.X, held.y), "held")] if held else [],
            callbacks=[Look(watch)],
            verbose_eval=False,
        )
        ask = lambda X, rounds: booster.predict(matrix(X), iteration_range=(0, rounds))  # noqa: E731
        return _Boosted(ask, watch, bool(job.n_classes))

    return search(job, propose, train)


def catboost(job: Job) -> Predict:
    from catboost import CatBoost, Pool

    fixed = {
        "loss_function": _objective(job, ("RMSE", "Logloss", "MultiClass")),
        "thread_count": job.threads,
        "random_seed": 0,
        "verbose": False,
        "allow_writing_files": False,
    }
    words = list(job.part.X.select_dtypes("category"))
    answers = "Probability" if job.n_classes else "RawFormulaVal"

    def propose(random: np.random.Generator, number: int) -> Settings:
        if number < 2:  # first the learning rate that it would choose for 1,000 rounds
            return ({"iterations": 1000}, {"learning_rate": 0.1, "boosting_type": "Plain"})[number]
        return {
            "boosting_type": "Plain",
            "bootstrap_type": "Bernoulli",
            "learning_rate": log_uniform(random, 0.02, 0.2),
            "subsample": random.uniform(0.7, 1),
            "grow_policy": str(random.choice(["SymmetricTree", "Depthwise"])),
            "depth": int(random.integers(4, 9)),
            "colsample_bylevel": random.uniform(0.85, 1),
            "l2_leaf_reg": log_uniform(random, 1e-4, 5),
            "leaf_estimation_iterations": log_integer(random, 1, 20),
            "one_hot_max_size": log_integer(random, 8, 100),
            "model_size_reg": log_uniform(random, 0.1, 1.5),
            "max_ctr_complexity": int(random.integers(2, 6)),
        }

    class Look:
        def __init__(self, watch: Watch) -> None:
            self.watch = watch

        def after_iteration(self, info: Any) -> bool:
            scores = (info.metrics or {}).get("validation", {}).values()
            return not self.watch.ends(next(iter(scores))[-1] if scores else None)

    def pool(X: pd.DataFrame, y: np.ndarray | None = None) -> Any:
        X = X.copy()
        for name in words:
            X[name] = X[name].astype(object).where(X[name].notna(), "missing")
        return Pool(X, y, cat_features=words, thread_count=job.threads)

    def train(settings: Settings, part: Part, held: Part | None, *, rounds: int, limit: float):
        watch = Watch(limit)
        settings = fixed | {"iterations": rounds} | settings
        settings["iterations"] = min(settings["iterations"], rounds)
        booster = CatBoost(settings)
        booster.fit(
            pool(part.X, part.y),
            eval_set=pool(held.X, held.y) if held else None,
            use_best_model=False,
            callbacks=[Look(watch)],
        )

        def ask(X: pd.DataFrame, rounds: int) -> Any:
            return booster.predict(pool(X), prediction_type=answers, ntree_end=rounds)

        return _Boosted(ask, watch, bool(job.n_classes))

    return search(job, propose, train)


def hist_gradient_boosting(job: Job) -> Predict:
    kind = HistGradientBoostingClassifier if job.n_classes else HistGradientBoostingRegressor

    def propose(random: np.random.Generator, number: int) -> Settings:
        if number < 2:
            return {"learning_rate": (0.1, 0.05)[number]}
        return {
            "learning_rate": log_uniform(random, 0.02, 0.2),
            "max_leaf_nodes": log_integer(random, 4, 128),
            "min_samples_leaf": log_integer(random, 2, 64),
            "l2_regularization": log_uniform(random, 1e-5, 10),
            "max_features": random.uniform(0.4, 1),
        }

    def ask(model: Any, X: pd.DataFrame, rounds: int) -> np.ndarray:
        stages = model.staged_predict_proba(X) if job.n_classes else model.staged_predict(X)
        return next(found for number, found in enumerate(stages, 1) if number == rounds)

    def train(settings: Settings, part: Part, held: Part | None, *, rounds: int, limit: float):
        watch = Watch(limit)
        model = kind(early_stopping=False, warm_start=True, random_state=0, **settings)
        done = False
        while not done and watch.seen < rounds:
            step = min(max(HIST_STEP, watch.seen // 4), rounds - watch.seen)
            model.set_params(max_iter=watch.seen + step).fit(part.X, part.y)
            answer = model.predict_proba if job.n_classes else model.predict
            done = watch.ends(job.loss(held.y, answer(held.X)) if held else None, step)
        return _Boosted(lambda X, rounds: ask(model, X, rounds), watch, bool(job.n_classes))

    return search(job, propose, train)


def mercer(job: Job) -> Predict:
    """The learner that all of this is about; it keeps its own time."""
    from mercer import AutoKernelClassifier, AutoKernelRegressor

    kind = AutoKernelClassifier if job.n_classes else AutoKernelRegressor
    model = kind(time_limit=job.seconds, random_state=0, n_jobs=job.threads)
    model.fit(job.part.X, job.part.y)
    return model.predict_proba if job.n_classes else model.predict


def constant(job: Job) -> Predict:
    """The shares of the classes, or the mean: what every method must beat."""
    y = job.part.y
    one = np.bincount(y, minlength=job.n_classes) / len(y) if job.n_classes else np.mean(y)
    return lambda X: np.broadcast_to(one, (len(X), *np.shape(one)))


METHODS: dict[str, tuple[str, Callable[[Job], Predict]]] = {  # the package and the function
    "mercer": ("mercer", mercer),
    "LightGBM": ("lightgbm", lightgbm),
    "XGBoost": ("xgboost", xgboost),
    "CatBoost": ("catboost", catboost),
    "HistGB": ("sklearn", hist_gradient_boosting),
    "SVM": ("sklearn", tables_kernels.support_vectors),
    "KernelRidge": ("sklearn", tables_kernels.ridge),
    "xRFM": ("xrfm", tables_kernels.xrfm),
    "constant": ("sklearn", constant),
}
BOOSTERS = ("LightGBM", "XGBoost", "CatBoost")
