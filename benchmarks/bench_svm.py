"""Support vector machines against scikit-learn-intelex and scikit-learn: ratios, in one run.

All sides get the same float32 rows, C, gamma and tol = 1e-3, and run in memory touched beforehand,
the fast ones twice; scikit-learn, which takes minutes, once. The objectives of two-class machines
and the violation of their optimality conditions are computed here, from the coefficients alone.
`python benchmarks/bench_svm.py [part of a name]` runs the cases that match; MERCER_DATA names the
directory of the data. `pip install scikit-learn-intelex` brings the peer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from data import mnist, two_classes
from machine import keep_memory, run_cases, timed
from sklearn import svm as plain_svm
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearnex import svm as fast_svm

from mercer import SVC, tune
from mercer.kernels import Gaussian

TOL = 1e-3


def judge(model: Any, X: Any, y: Any, C: float, gamma: float) -> tuple[float, float]:
    """Return the dual objective of a two-class machine and its violation, in double precision."""
    b = np.zeros(len(X))
    b[model.support_] = np.asarray(model.dual_coef_)[0]
    support, weights = X[model.support_].astype(np.float64), b[model.support_]
    f = np.empty(len(X))
    for start in range(0, len(X), 2000):
        rows = slice(start, start + 2000)
        f[rows] = rbf_kernel(X[rows].astype(np.float64), support, gamma=gamma) @ weights
    g = f - y
    a = b * y
    rises = np.where(y > 0, a < C * (1 - 1e-9), a > C * 1e-9)
    falls = np.where(y > 0, a > C * 1e-9, a < C * (1 - 1e-9))
    return float(a.sum() - b @ f / 2), float(g[falls].max() - g[rises].min())


def case(
    X: Any, y: Any, X_test: Any, C: float, gamma: float, times: int = 2, plain: bool = True
) -> Iterator[str]:
    keep_memory(8e9)
    makers: dict[str, tuple[Callable[[], Any], int]] = {
        "mercer": (lambda: SVC(C, kernel=Gaussian(gamma=gamma), tol=TOL), times),
        "scikit-learn-intelex": (lambda: fast_svm.SVC(C=C, gamma=gamma, tol=TOL), times),
    }
    if plain:
        makers["scikit-learn"] = (lambda: plain_svm.SVC(C=C, gamma=gamma, tol=TOL), min(times, 1))
    ours: dict[str, float] = {}
    for name, (make, count) in makers.items():
        fit, model = timed(lambda make=make: make().fit(X, y), count)  # type: ignore[misc]
        predict, _ = timed(lambda model=model: model.predict(X_test), count + 1)  # type: ignore[misc]
        ours = ours or {"fit": fit, "predict": predict}
        line = f"{name}: fit {fit:.3g} s, predict {predict:.3g} s"
        if name != "mercer":
            line += f"; ours {fit / ours['fit']:.1f} x and {predict / ours['predict']:.1f} x"
        line += f"; {len(model.support_)} support vectors"
        if len(np.unique(y)) == 2:
            objective, violation = judge(model, X, y, C, gamma)
            line += f"; dual objective {objective:.6f}, violation {violation:.1e}"
        yield line


def case_a9a() -> Iterator[str]:
    X, y = two_classes("a9a")
    yield "wanted: fit 2 x / 15 x, predict 1.5 x / 30 x"
    yield from case(X, y, two_classes("a9a", "tst")[0][:10_000], 1.0, 0.05)


def case_ijcnn1() -> Iterator[str]:
    X, y = two_classes("ijcnn1")
    yield "wanted: fit 2 x / 4 x, predict 1 x / 20 x"
    yield from case(X, y, two_classes("ijcnn1", "tst")[0][:10_000], 32.0, 2.0)


def case_mnist() -> Iterator[str]:
    X, y, X_test, _ = mnist()
    yield "wanted: fit 2 x / 15 x, predict 3 x / 40 x"
    yield from case(X, y, X_test, 10.0, 0.02, plain=False)


def case_mnist_plain() -> Iterator[str]:
    X, y, X_test, _ = mnist()
    yield from case(X, y, X_test, 10.0, 0.02)


def case_digits() -> Iterator[str]:
    X, y = load_digits(return_X_y=True)
    X = (X / 16).astype(np.float32)
    yield "wanted: 1 x both"
    yield from case(X, y, X, 10.0, 0.1, times=20)


def case_grid() -> Iterator[str]:
    X, y = two_classes("ijcnn1")
    X, y = X[:10_000], y[:10_000]
    Cs, gammas = list(2.0 ** np.arange(-1, 7)), [0.125, 0.5, 2.0, 8.0]
    folds = StratifiedKFold(5)
    keep_memory(3e9)
    ours, found = timed(
        lambda: tune(
            SVC(kernel=Gaussian(gamma=1.0), tol=TOL),
            X,
            y,
            {"C": Cs, "kernel__gamma": gammas},
            cv=folds,
        ),
        2,
    )
    search = GridSearchCV(fast_svm.SVC(tol=TOL), {"C": Cs, "gamma": gammas}, cv=folds, n_jobs=2)
    theirs, peer = timed(lambda: search.fit(X, y), 2)
    order = [(p["C"], p["gamma"]) for p in peer.cv_results_["params"]]
    mine = [(p["C"], p["kernel__gamma"]) for p in found.table["params"]]
    scores = peer.cv_results_["mean_test_score"][[order.index(pair) for pair in mine]]
    gap = np.abs(scores - found.table["mean_test_score"]).max()
    yield f"ours {ours:.2f} s, theirs {theirs:.2f} s: {theirs / ours:.1f} x (wanted >= 5)"
    yield f"scores differ by {gap:.1e} at most; {found.params} and {peer.best_params_}"


def case_hard() -> Iterator[str]:
    X, y = two_classes("a9a")
    X, y = X[:5000], y[:5000]
    scales = np.logspace(0, 3, X.shape[1]).astype(np.float32)
    for name, rows, gamma in (("C = 1e6", X, 0.05), ("scaled by 1 to 1,000", X * scales, 1e-6)):
        for C in (1e6,) if name.startswith("C") else (1.0, 1e3):
            yield f"{name}, C = {C:g}: wanted: objective within 1e-6 of LIBSVM's, or better"
            for model in (
                SVC(C, kernel=Gaussian(gamma=gamma), tol=TOL),
                plain_svm.SVC(C=C, gamma=gamma, tol=TOL, cache_size=1000),
            ):
                seconds, fitted = timed(lambda m=model, rows=rows: m.fit(rows, y), 1)  # type: ignore[misc]
                objective, violation = judge(fitted, rows, y, C, gamma)
                name_of = type(model).__module__.split(".")[0]
                yield f"  {name_of}: {seconds:.1f} s, {objective:.8g}, violation {violation:.1e}"


if __name__ == "__main__":
    run_cases(globals())
