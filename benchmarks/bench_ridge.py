"""Kernel ridge regression against NumPy and scikit-learn: ratios, in one run.

Fits of 10,000 points are the best of three on both sides after a first run that touches the memory.
Searches: ours is the best of three, the peer's grid search is timed once. Fits of 60,000 points are
measured once. `python benchmarks/bench_ridge.py [part of a name]` runs the cases that match;
MERCER_DATA names the directory of the data.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from data import abalone, mnist
from machine import best, peak_memory, run_cases
from sklearn.kernel_ridge import KernelRidge as PeerRidge
from sklearn.model_selection import GridSearchCV, KFold

from mercer import KernelRidge, KernelRidgeCV
from mercer.kernels import Gaussian

ALPHA, GAMMA = 0.3, 0.02
GAMMAS = [0.01, 0.1, 1.0, 10.0]


def product_time(X: Any) -> float:
    """Return the time of NumPy's X @ X.T on the first 10,000 rows."""
    part = np.ascontiguousarray(X[:10_000])
    room = np.empty((len(part), len(part)), dtype=np.float32)
    return best(lambda: np.matmul(part, part.T, out=room))


def one_hot(labels: Any) -> Any:
    return np.where(labels[:, None] == np.arange(10), 1.0, -1.0)


def digits(wanted: str, **options: Any) -> Iterator[str]:
    """Fit all of MNIST and report time, memory, accuracy and the certificate."""
    X, y, X_test, y_test = mnist()
    unit = product_time(X)
    model = KernelRidge(ALPHA, kernel=Gaussian(gamma=GAMMA), tol=1e-4, **options)
    with peak_memory() as peak:
        start = time.perf_counter()
        model.fit(X, one_hot(y))
        seconds = time.perf_counter() - start
        memory = peak()
    accuracy = (model.predict(X_test).argmax(axis=1) == y_test).mean()
    record = model.certificate_
    yield (
        f"{seconds:.1f} s = {seconds / unit:.0f} x NumPy's X @ X.T of 10,000 rows ({unit:.2f} s); "
        f"peak {memory / 1e9:.2f} GB; accuracy {accuracy:.2%} ({wanted})"
    )
    yield f"{record.status}: residual {record.residual:.1e}, {record.iterations} iterations, rank"
    yield f"{record.rank}; error bound {record.error_bound:.1e}; {record.plan}"


def case_mnist_full() -> Iterator[str]:
    yield from digits("wanted <= 90 x, stretch 60 x; <= 10 GB; >= 98.5 %")


def case_mnist_nystrom() -> Iterator[str]:
    yield from digits("wanted <= 25 x; >= 97.9 %", solver="nystrom", n_centers=5000)


def case_mnist_two_gigabytes() -> Iterator[str]:
    yield from digits("wanted: inside 2 GB; >= 98 %", memory_limit="2GB")


def peer_search(X: Any, y: Any, alphas: Any) -> tuple[float, Any]:
    """Return the time of scikit-learn's grid search, processes started beforehand, and itself."""
    grid = {"alpha": alphas, "gamma": GAMMAS}
    search = GridSearchCV(PeerRidge(kernel="rbf"), grid, cv=KFold(5), n_jobs=2)
    start = time.perf_counter()
    search.fit(X, y)
    return time.perf_counter() - start, search


def warm_up(X: Any, y: Any) -> None:
    GridSearchCV(PeerRidge(), {"alpha": [1.0, 2.0]}, cv=2, n_jobs=2).fit(X[:100], y[:100])


def case_abalone_folds() -> Iterator[str]:
    X, y = abalone()
    alphas = np.logspace(-3, 3, 13)
    kernels = [Gaussian(gamma=gamma) for gamma in GAMMAS]
    model = KernelRidgeCV(alphas, kernel=kernels, cv=KFold(5))
    ours = best(lambda: model.fit(X, y))
    warm_up(X, y)
    theirs, search = peer_search(X, y, alphas)
    order = [(p["alpha"], p["gamma"]) for p in search.cv_results_["params"]]
    mine = [(p["alpha"], p["kernel"].gamma) for p in model.cv_results_["params"]]
    scores = search.cv_results_["mean_test_score"][[order.index(pair) for pair in mine]]
    gap = np.abs(scores - model.cv_results_["mean_test_score"]).max()
    same = search.best_params_ == {"alpha": model.alpha_, "gamma": model.kernel_.gamma}
    yield f"ours {ours:.2f} s; {theirs / ours:.1f} x GridSearchCV, n_jobs=2 (wanted >= 4)"
    yield f"same best parameters: {same}; largest difference of a score {gap:.1e} (wanted 1e-6)"


def case_abalone_leave_one_out() -> Iterator[str]:
    X, y = abalone()
    alphas = np.logspace(-3, 3, 50)
    kernels = [Gaussian(gamma=gamma) for gamma in GAMMAS]
    model = KernelRidgeCV(alphas, kernel=kernels)
    ours = best(lambda: model.fit(X, y))
    warm_up(X, y)
    theirs, search = peer_search(X, y, alphas)
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


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    run_cases(globals())
