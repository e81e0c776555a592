"""The kernel methods of `bench_tables.py`: scikit-learn's SVC, SVR and KernelRidge, and xRFM.

Numbers are standardised, categories one-hot, missing values replaced by the median beside an
indicator; targets of regression are standardised. Decision values of held-out rows teach how they
become probabilities: Platt's sigmoid for two classes, and softmax(a f_k + b_k) for more.
"""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR
from tables_search import Job, Part, Predict, Settings, log_uniform, search

FOLDS = 4  # twice the threads
SEARCH_ROWS = 5000
COST = 2.2  # time grows as this power of the rows
LAST_FIT = 0.6  # of the time, at most, for the fit after the search
MAX_RIDGE_ROWS = 15_000  # a matrix of 1.8 GB
MAX_STEPS = 200_000  # of SMO, about 4 s
MAX_LPQ_ROWS = 1000
LEAVES = (2000, 4000, 8000)  # rows in a leaf of xRFM on large tables, which two cores can solve


def encoder() -> Any:
    """Frame to numbers, fitted on training rows."""
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    words = OneHotEncoder(handle_unknown="ignore", sparse_output=False, dtype=np.float64)
    return make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (words, make_column_selector(dtype_include="category")),
    )


@dataclass(frozen=True, kw_only=True)
class Machine:
    """What differs between the methods: settings, one fit, its answers."""

    propose: Callable[[np.random.Generator, int], Settings]
    build: Callable[[Settings, int, int], Any]  # settings, columns, rows
    target: Callable[[np.ndarray], np.ndarray]
    decide: Callable[[Any, np.ndarray], np.ndarray]
    max_rows: int


def _column(values: np.ndarray) -> np.ndarray:
    return values[:, None] if values.ndim == 1 else values


def _calibrate(scores: np.ndarray, y: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Decision values to probabilities; one slope for all classes, which few rows suffice for."""
    if scores.shape[1] == 1:
        return LogisticRegression(C=1e4).fit(scores, y).predict_proba
    scale, codes = np.std(scores), np.eye(scores.shape[1])[y]

    def loss(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        logits = parameters[0] * scores / scale + parameters[1:]
        gaps = softmax(logits, axis=1) - codes
        slope = np.sum(gaps * scores / scale) / len(y)
        value = -np.mean(np.sum(codes * log_softmax(logits, axis=1), axis=1))
        return float(value), np.concatenate([[slope], gaps.mean(axis=0)])

    start = np.concatenate([[1.0], np.zeros(scores.shape[1])])
    best = minimize(loss, start, jac=True, method="L-BFGS-B").x
    return lambda scores: softmax(best[0] * scores / scale + best[1:], axis=1)


def _soft_votes(duels: np.ndarray, n_classes: int) -> np.ndarray:
    """A score per class from those of the pairs of classes, each between -1 and 1."""
    if n_classes == 2:
        return duels
    winners, losers = np.triu_indices(n_classes, 1)
    signs = np.eye(n_classes)[winners] - np.eye(n_classes)[losers]
    return np.clip(duels, -1, 1) @ signs


def _fit(machine: Machine, settings: Settings, Z: np.ndarray, y: np.ndarray) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return machine.build(settings, Z.shape[1], len(Z)).fit(Z, machine.target(y))


def _held_out(job: Job, machine: Machine, settings: Settings, blocks: list[Any]) -> Any:
    """Decision values of all rows by models that did not see them."""

    def one(block: Any) -> np.ndarray:
        Z, y, Z_held = block
        return _column(machine.decide(_fit(machine, settings, Z, y), Z_held))

    found = Parallel(n_jobs=job.threads, prefer="threads")(delayed(one)(b) for b in blocks)
    return np.concatenate(found)


def _choose(
    job: Job, machine: Machine, deadline: float, growth: float
) -> tuple[Settings, Any, float]:
    """The best settings by held-out decisions, their calibrator, and the time of one fit.

    The last fit, which costs `growth` times as much, keeps its time, up to a share of all.
    """
    folds = job.folds(FOLDS)
    blocks = []
    for rows, held in folds:
        code = encoder()
        part, rest = job.part.rows(rows), job.part.rows(held)
        blocks += [(code.fit_transform(part.X), part.y, code.transform(rest.X))]
    y = np.concatenate([job.part.y[held] for _, held in folds])
    random, best, times = np.random.default_rng(0), (np.inf, {}, None, 0.0), []
    for number in itertools.count():
        start = time.perf_counter()
        last = min(best[3] * growth, LAST_FIT * job.seconds)
        if times and start + np.quantile(times, 0.75) + last > deadline:
            break
        settings = machine.propose(random, number)
        scores = _held_out(job, machine, settings, blocks)
        calibrator = _calibrate(scores, y) if job.n_classes else None
        found = calibrator(scores) if calibrator else scores[:, 0]
        times.append(time.perf_counter() - start)
        loss = job.loss(y, found)
        if loss < best[0]:
            best = (loss, settings, calibrator, times[-1] * job.threads / FOLDS)
    return best[1], best[2], best[3]


def tuned(job: Job, machine: Machine) -> Predict:
    """Search on 5,000 rows at most, then fit as many as the rest of the time bears."""
    deadline, random, n = job.deadline, np.random.default_rng(0), len(job.part.y)
    large = n > SEARCH_ROWS
    order = random.permutation(n) if large else np.arange(n)
    few = replace(job, part=job.part.rows(order[:SEARCH_ROWS]))
    fold_rows = len(few.part.y) * (1 - 1 / FOLDS)
    most = min(0.9 * n, machine.max_rows) if large else n  # the last tenth calibrates
    growth = (most / fold_rows) ** COST
    settings, calibrator, one = _choose(few, machine, deadline, growth)
    rows = order
    if large:
        left = deadline - time.perf_counter()
        rows = order[: int(min(most, fold_rows * max(left / one, 1.0) ** (1 / COST)))]
    code = encoder()
    part = job.part.rows(rows)
    model = _fit(machine, settings, code.fit_transform(part.X), part.y)
    if large and job.n_classes:
        kept = job.part.rows(order[-min(n // 10, SEARCH_ROWS) :])
        scores = _column(machine.decide(model, code.transform(kept.X)))
        calibrator = _calibrate(scores, kept.y)

    def predict(X: pd.DataFrame) -> np.ndarray:
        scores = _column(machine.decide(model, code.transform(X)))
        return calibrator(scores) if calibrator else scores[:, 0]

    return predict


def _scale(job: Job) -> tuple[float, float]:
    return (float(np.mean(job.part.y)), float(np.std(job.part.y))) if not job.n_classes else (0, 1)


def support_vectors(job: Job) -> Predict:
    mean, deviation = _scale(job)

    def propose(random: np.random.Generator, number: int) -> Settings:
        if number < 2:
            return {"C": (1.0, 10.0)[number], "gamma": 1.0, "epsilon": 0.1}
        return {
            "C": log_uniform(random, 0.03, 300),
            "gamma": log_uniform(random, 0.01, 10),
            "epsilon": log_uniform(random, 0.01, 0.5),
        }

    def build(settings: Settings, columns: int, rows: int) -> Any:
        steps = int(MAX_STEPS * max(rows / SEARCH_ROWS, 1))
        common = {"C": settings["C"], "gamma": settings["gamma"] / columns, "max_iter": steps}
        if job.n_classes:
            return SVC(cache_size=500, decision_function_shape="ovo", **common)
        return SVR(cache_size=500, epsilon=settings["epsilon"], **common)

    return tuned(
        job,
        Machine(
            propose=propose,
            build=build,
            target=(lambda y: y) if job.n_classes else (lambda y: (y - mean) / deviation),
            decide=lambda model, Z: (
                _soft_votes(model.decision_function(Z), job.n_classes)
                if job.n_classes
                else mean + deviation * model.predict(Z)
            ),
            max_rows=10**9,
        ),
    )


def ridge(job: Job) -> Predict:
    mean, deviation = _scale(job)

    def propose(random: np.random.Generator, number: int) -> Settings:
        if number < 2:
            return {"kernel": ("laplacian", "rbf")[number], "gamma": 0.3, "alpha": 0.3}
        return {
            "kernel": str(random.choice(["rbf", "laplacian"])),
            "gamma": log_uniform(random, 0.01, 10),
            "alpha": log_uniform(random, 1e-4, 30),
        }

    def build(settings: Settings, columns: int, rows: int) -> Any:
        return KernelRidge(**settings | {"gamma": settings["gamma"] / columns})

    def target(y: np.ndarray) -> np.ndarray:
        if not job.n_classes:
            return (y - mean) / deviation
        codes = np.eye(job.n_classes)[y] * 2 - 1
        return codes[:, 1] if job.n_classes == 2 else codes

    machine = Machine(
        propose=propose,
        build=build,
        target=target,
        decide=lambda model, Z: mean + deviation * model.predict(Z),
        max_rows=MAX_RIDGE_ROWS,
    )
    return tuned(job, machine)


class _Recursive:
    """A fitted xRFM behind its encoder."""

    rounds = 1

    def __init__(self, job: Job, code: Any, model: Any, scale: tuple[float, float]) -> None:
        self.job, self.code, self.model, self.scale = job, code, model, scale

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        Z = self.code.transform(X).astype(np.float32)
        if self.job.n_classes:
            found = np.asarray(self.model.predict_proba(Z), dtype=np.float64)
            return found / found.sum(axis=1, keepdims=True)  # single precision until here
        mean, deviation = self.scale
        return mean + deviation * np.asarray(self.model.predict(Z), dtype=np.float64)[:, 0]


def xrfm(job: Job) -> Predict:
    """xRFM, searched in TabArena's ranges after its defaults, with held-out rows as it asks.

    TabArena draws the kernel lpq four times of five, for which xRFM has fast code on CUDA only: one
    fit on 2,400 rows would take 20 s here. So l1 and l2 are drawn, and lpq on small tables.
    """
    import torch
    from xrfm import xRFM

    torch.set_num_threads(job.threads)
    mean, deviation = _scale(job)

    kernels = ["l2", "l1"] + ["lpq"] * (len(job.part.y) <= MAX_LPQ_ROWS)

    def propose(random: np.random.Generator, number: int) -> Settings:
        large = len(job.part.y) > SEARCH_ROWS
        leaf = {"leaf": LEAVES[number % len(LEAVES)] if large else SEARCH_ROWS}
        if number < 2:  # its defaults, then more of a penalty, which noise needs
            start = {"kernel": "l2", "bandwidth": 10.0, "exponent": 1.0, "diag": True}
            return leaf | start | {"reg": (1e-3, 1.0)[number]}
        exponent = random.uniform(0.7, 1.4)
        kernel = str(random.choice(kernels))
        settings = {
            "kernel": kernel,
            "bandwidth": log_uniform(random, 0.5, 200),
            "exponent": exponent,
            "norm_p": exponent + (2 - exponent) * random.uniform(0, 0.8),
            "reg": log_uniform(random, 1e-6, 10),
            "diag": kernel == "l1" or bool(random.integers(2)),
        }
        return leaf | settings

    def train(settings: Settings, part: Part, held: Part | None, *, rounds: int, limit: float):
        assert held is not None
        code = encoder()
        Z = code.fit_transform(part.X).astype(np.float32)
        settings = dict(settings)
        leaf, reg = settings.pop("leaf"), settings.pop("reg")
        model = xRFM(
            rfm_params={
                "model": settings | {"bandwidth_mode": "constant"},
                "fit": {"reg": reg, "iters": 5, "early_stop_rfm": True, "verbose": False},
            },
            max_leaf_size=leaf,
            device=torch.device("cpu"),
            tuning_metric="logloss" if job.n_classes else "mse",
            classification_mode="prevalence",
            time_limit_s=limit,
            n_threads=job.threads,
            random_state=0,
            verbose=False,
        )
        target = [torch.as_tensor(_wanted(y)) for y in (part.y, held.y)]
        model.fit(Z, target[0], code.transform(held.X).astype(np.float32), target[1])
        return _Recursive(job, code, model, (mean, deviation))

    def _wanted(y: np.ndarray) -> np.ndarray:
        return y if job.n_classes else ((y - mean) / deviation).astype(np.float32)

    return search(job, propose, train, refit=False)  # a refit would have no rows to stop by
