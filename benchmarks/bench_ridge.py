"""Kernel ridge regression against NumPy and scikit-learn: ratios, in one run.

Fits of 10,000 points are the best of three on both sides after a first run that touches the memory.
Searches are the best of two on both sides after a rehearsal. Fits of 60,000 points are measured
once as they come and once more in memory touched beforehand. `python benchmarks/bench_ridge.py
[part of a name]` runs the cases that match; MERCER_DATA names the directory of the data.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from data import abalone, mnist
from machine import best, keep_memory, peak_memory, run_cases
from sklearn.datasets import make_classification
from sklearn.kernel_ridge import KernelRidge as PeerRidge
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold

from mercer import KernelRidge, KernelRidgeClassifierCV, KernelRidgeCV
from mercer.kernels import Gaussian

ALPHA, GAMMA = 0.3, 0.02
GRIDS = [[0.01, 0.1, 1.0, 10.0], [0.1, 0.5, 2.0, 8.0]]  # smooth kernels have a low rank


def product_time(X: Any) -> float:
    """Return the time of NumPy's X @ X.T on the first 10,000 rows."""
    part = np.ascontiguousarray(X[:10_000])
    room = np.empty((len(part), len(part)), dtype=np.float32)
    return best(lambda: np.matmul(part, part.T, out=room))


def one_hot(labels: Any) -> Any:
    return np.where(labels[:, None] == np.arange(10), 1.0, -1.0)


def digits(wanted: str, timed: bool = True, **options: Any) -> Iterator[str]:
    """Fit all of MNIST and report time, memory, accuracy and the certificate.

    timed: fit again, in memory that the first fit had touched, and report that time.
    """
    X, y, X_test, y_test = mnist()
    unit = product_time(X)
    model = KernelRidge(ALPHA, kernel=Gaussian(gamma=GAMMA), tol=1e-4, **options)
    start = time.perf_counter()
    with peak_memory() as peak:
        model.fit(X, one_hot(y))
        memory = peak()
    first = time.perf_counter() - start
    accuracy = (model.predict(X_test).argmax(axis=1) == y_test).mean()
    yield f"first fit {first:.1f} s = {first / unit:.0f} x NumPy's X @ X.T of 10,000 rows"
    yield f"({unit:.2f} s); peak {memory / 1e9:.2f} GB; accuracy {accuracy:.2%} ({wanted})"
    record = model.certificate_
    yield f"{record.status}: residual {record.residual:.1e}, {record.iterations} iterations, rank"
    yield f"{record.rank}; error bound {record.error_bound:.1e}; {record.plan}"
    if timed:
        keep_memory(memory)
        unit = product_time(X)
        start = time.perf_counter()
        model.fit(X, one_hot(y))
        seconds = time.perf_counter() - start
        yield f"in memory touched before: {seconds:.1f} s = {seconds / unit:.0f} x ({unit:.2f} s)"


def case_mnist_full() -> Iterator[str]:
    yield from digits("wanted <= 90 x, stretch 60 x; <= 10 GB; >= 98.5 %")


def case_mnist_nystrom() -> Iterator[str]:
    yield from digits("wanted <= 25 x; >= 97.9 %", solver="nystrom", n_centers=5000)


def case_mnist_two_gigabytes() -> Iterator[str]:
    yield from digits("wanted: inside 2 GB; >= 98 %", timed=False, memory_limit="2GB")


def searches(X: Any, y: Any, alphas: Any, gammas: list[float], cv: Any) -> tuple[Any, ...]:
    """Return both searches and their times, each the best of two after a rehearsal."""
    model = KernelRidgeCV(alphas, kernel=[Gaussian(gamma=gamma) for gamma in gammas], cv=cv)
    grid = {"alpha": alphas, "gamma": gammas}
    search = GridSearchCV(PeerRidge(kernel="rbf"), grid, cv=KFold(5), n_jobs=2)
    ours = best(lambda: model.fit(X, y), 2)
    theirs = best(lambda: search.fit(X, y), 2)
    return model, search, ours, theirs


def case_abalone_folds() -> Iterator[str]:
    X, y = abalone()
    alphas = np.logspace(-3, 3, 13)
    for gammas in GRIDS:
        model, search, ours, theirs = searches(X, y, alphas, gammas, KFold(5))
        order = [(p["alpha"], p["gamma"]) for p in search.cv_results_["params"]]
        mine = [(p["alpha"], p["kernel"].gamma) for p in model.cv_results_["params"]]
        scores = search.cv_results_["mean_test_score"][[order.index(pair) for pair in mine]]
        gap = np.abs(scores - model.cv_results_["mean_test_score"]).max()
        same = search.best_params_ == {"alpha": model.alpha_, "gamma": model.kernel_.gamma}
        yield f"gammas {gammas}: ours {ours:.2f} s; {theirs / ours:.1f} x GridSearchCV, n_jobs=2"
        yield f"  (wanted >= 4); same choice: {same}; scores differ by {gap:.1e} (wanted 1e-6)"


def case_abalone_leave_one_out() -> Iterator[str]:
    X, y = abalone()
    alphas = np.logspace(-3, 3, 50)
    model, search, ours, theirs = searches(X, y, alphas, GRIDS[0], None)
    yield f"ours {ours:.2f} s; {theirs / ours:.1f} x GridSearchCV's five folds (wanted >= 15)"
    yield f"ours chose {model.alpha_:.3g}, {model.kernel_}; theirs {search.best_params_}"


def case_one_fit() -> Iterator[str]:
    X, y, _, _ = mnist()
    X, Y = X[:10_000], one_hot(y[:10_000])
    for dtype, wanted in ((np.float64, 2), (np.float32, 1.5)):
        points = X.astype(dtype)
        model = KernelRidge(ALPHA, kernel=Gaussian(gamma=GAMMA))
        ours = best(lambda m=model, p=points: m.fit(p, Y))
        peer = PeerRidge(alpha=ALPHA, kernel="rbf", gamma=GAMMA)
        theirs = best(lambda m=peer, p=points: m.fit(p, Y))
        wide = points.astype(np.float64)
        K = Gaussian(gamma=GAMMA)(wide)
        left = [
            np.linalg.norm(Y - K @ a - ALPHA * a) / np.linalg.norm(Y)
            for a in (model.dual_coef_, peer.dual_coef_.astype(np.float64))
        ]
        yield (
            f"{np.dtype(dtype)}: ours {ours:.2f} s; {theirs / ours:.1f} x scikit-learn (wanted >= "
            f"{wanted}); residuals in float64 {left[0]:.1e} and {left[1]:.1e}"
        )


def case_rows() -> Iterator[str]:
    """Time must rise with the rows, and neither a small alpha nor many outputs be a cliff."""
    random = np.random.default_rng(0)
    for dtype in (np.float32, np.float64):
        for n in (4000, 8000, 12_500):
            X = random.normal(size=(n, 20)).astype(dtype)
            y = np.sin(X[:, 0]) + 0.1 * random.normal(size=n)
            model = KernelRidge(1.0, kernel=Gaussian(0.05))
            yield f"{np.dtype(dtype)}, {n} rows: {processor(model, X, y)}"
    for alpha, outputs in ((1e-1, 1), (1e-2, 1), (1e-3, 1), (1.0, 40)):
        X = random.normal(size=(8000, 10))
        y = np.sin(X[:, :1] * np.arange(1, outputs + 1))
        for solver in ("auto", "cholesky", "cg"):
            model = KernelRidge(alpha, kernel=Gaussian(0.05), solver=solver)
            found = processor(model, X, y, times=1)
            yield f"alpha {alpha:g}, {outputs} outputs, solver {solver}: {found}"


def processor(model: Any, X: Any, y: Any, times: int = 3) -> str:
    """Return the times of a fit on the clock and on the processors, and how it was solved."""
    found = []
    for _ in range(times):
        start, worked = time.perf_counter(), time.process_time()
        model.fit(X, y)
        found.append((time.perf_counter() - start, time.process_time() - worked))
    seconds, work = (min(values) for values in zip(*found, strict=True))
    record = model.certificate_
    return f"{seconds:.2f} s, {work:.2f} CPU s; {record.solver}, {record.iterations} iterations"


def case_classes_folds() -> Iterator[str]:
    """A classifier's search over 4 kernels and 13 alphas, 3 folds of 5,000 rows, and the plain one.

    The plain one is GridSearchCV on scikit-learn's ridge regression of -1 and 1.
    """
    X, y = make_classification(5000, 20, n_informative=10, random_state=0)
    alphas, gammas = np.logspace(-3, 3, 13), [0.01, 0.03, 0.1, 0.3]
    folds = StratifiedKFold(3)
    model = KernelRidgeClassifierCV(alphas, kernel=[Gaussian(g) for g in gammas], cv=folds)
    yield f"ours: {processor(model, X, y, times=1)}; chose {model.alpha_:.3g}, {model.kernel_}"
    right = make_scorer(lambda truth, values: np.mean((values > 0) == (truth > 0)))
    grid = {"alpha": alphas, "gamma": gammas}
    search = GridSearchCV(PeerRidge(kernel="rbf"), grid, cv=list(folds.split(X, y)), scoring=right)
    start, worked = time.perf_counter(), time.process_time()
    search.fit(X, 2.0 * y - 1.0)
    seconds, work = time.perf_counter() - start, time.process_time() - worked
    yield f"GridSearchCV: {seconds:.1f} s, {work:.1f} CPU s; chose {search.best_params_}"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    run_cases(globals())
