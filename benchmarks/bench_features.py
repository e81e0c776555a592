"""Feature maps against scikit-learn's, and against the whole kernel.

    MERCER_DATA=… python benchmarks/bench_features.py [case]

Errors are those of the products of features, against the kernel in double precision, on points that
are drawn at random.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from data import mnist, tu_graphs
from machine import keep_memory, run_cases
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from mercer import SVC
from mercer.features import ExplicitMap, Nystrom
from mercer.kernels import Gaussian, WeisfeilerLehman

GAMMA = 0.02


def error_of(features: Any, points: Any) -> float:
    """Return ||F F' - K|| / ||K|| of a Gaussian kernel in double precision."""
    F, X = features.astype(np.float64), points.astype(np.float64)
    squares = (X**2).sum(axis=1)
    K = np.exp(-GAMMA * np.maximum(squares[:, None] - 2 * X @ X.T + squares, 0))
    return float(np.linalg.norm(F @ F.T - K) / np.linalg.norm(K))


def case_nystrom() -> Iterator[str]:
    yield "wanted: 3 x scikit-learn's Nystroem, 2,000 centres, with an error not higher"
    X = mnist()[0]
    keep_memory(3e9)
    # A seed of its own: with that of the centres, the points would be the centres.
    some = np.random.default_rng(12345).choice(len(X), 2000, replace=False)

    def run(phi: Any) -> tuple[float, float, Any]:
        start = time.perf_counter()
        phi.fit(X)
        fitted = time.perf_counter() - start
        F = phi.transform(X)
        return fitted, time.perf_counter() - start - fitted, F[some]

    maps: dict[str, Any] = {
        "scikit-learn": Nystroem(gamma=GAMMA, n_components=2000, random_state=0)
    }
    for how in ("rpcholesky", "uniform", "kmeans"):
        maps[how] = Nystrom(Gaussian(GAMMA), 2000, centers=how, random_state=0)
    first = 0.0
    for name, phi in maps.items():  # each the faster of two runs
        fit, transform, F = min((run(phi) for _ in range(2)), key=lambda found: sum(found[:2]))
        first = first or fit + transform
        yield f"{name}: fit {fit:.1f} s, transform {transform:.1f} s, error "
        yield f"{error_of(F, X[some]):.4f} on 2,000 points: {first / (fit + transform):.1f} x"


def case_graphs() -> Iterator[str]:
    yield "wanted: NCI1, 500 centres: accuracy within 1 point of the whole kernel (SVC), 5 x faster"
    graphs, y = tu_graphs("NCI1")
    kernel = WeisfeilerLehman(5).normalized()
    # C and the alphas are about the best on these very folds: accuracies are for comparison only.
    models: dict[str, Any] = {"whole kernel, SVC": SVC(kernel=kernel, C=10)}
    for count, alpha in ((500, 0.02), (1000, 0.05), (2000, 0.1)):
        linear = RidgeClassifier(alpha=alpha)
        models[f"{count} centres, ridge"] = make_pipeline(Nystrom(kernel, count), linear)
    models["exact map, linear machine"] = make_pipeline(ExplicitMap(kernel), LinearSVC(C=10))
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(graphs, y))
    keep_memory(1e9)
    first = 0.0
    for name, model in models.items():
        scores, seconds = [], 0.0
        for train, test in folds:
            parts = [[graphs[i] for i in rows] for rows in (train, test)]
            start = time.perf_counter()
            scores.append(model.fit(parts[0], y[train]).score(parts[1], y[test]))
            seconds += time.perf_counter() - start
        first = first or seconds
        yield f"{name}: {100 * np.mean(scores):.1f} %, {seconds:.2f} s: {first / seconds:.1f} x"


if __name__ == "__main__":
    run_cases(globals())
