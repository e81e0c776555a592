"""One new row and small fits, against scikit-learn: python benchmarks/bench_answers.py.

Each line is a model of mercer and its namesake of scikit-learn, asked in turn in one process: the
median of 300 answers (of 100 fits), by the clock, and the ratio. The same kernel and parameters for
both; predictions are compared in the same run.
"""

import time

import numpy as np
import sklearn.decomposition
import sklearn.kernel_ridge
import sklearn.neighbors
import sklearn.svm
from machine import describe
from threadpoolctl import threadpool_limits

from mercer import SVC, SVR, KernelRidge, models

REPEATS = 300
FITS = 100
COLUMNS = 10


def medians(*functions, repeats):
    """Return the median microseconds of each function; they take turns."""
    spent = [[] for _ in functions]
    for function in functions:
        function()
    for _ in range(repeats):
        for seconds, function in zip(spent, functions, strict=True):
            start = time.perf_counter()
            function()
            seconds.append(time.perf_counter() - start)
    return [1e6 * float(np.median(seconds)) for seconds in spent]


def data(n, dtype):
    """Return rows, two classes that overlap, four classes, and numbers."""
    random = np.random.default_rng(n)
    X = random.normal(size=(n, COLUMNS)).astype(dtype)
    bent = X[:, 0] * X[:, 1] + 0.3 * random.normal(size=n)
    several = 2 * (X[:, 0] > 0) + (X[:, 1] > 0)
    return X, (bent > 0).astype(int), several, bent


def pairs(n, dtype):
    """Yield a name, both models fitted, and the method that is asked."""
    X, two, several, numbers = data(n, dtype)
    rbf = {"kernel": "rbf", "gamma": 0.1}
    peers = sklearn.svm, sklearn.kernel_ridge, sklearn.neighbors, sklearn.decomposition
    svm, ridge, neighbors, decomposition = peers
    # A small C makes nearly every point a support vector.
    small = {"C": 0.05, "gamma": 0.1}
    cases = [
        ("SVC", SVC(), svm.SVC(), two),
        ("SVC, all support", SVC(**small), svm.SVC(**small), two),
        ("SVC, 4 classes", SVC(), svm.SVC(), several),
        ("SVR", SVR(), svm.SVR(), numbers),
        ("KernelRidge", KernelRidge(**rbf), ridge.KernelRidge(**rbf), numbers),
        (
            "neighbours",
            models.KernelNeighborsClassifier(),
            neighbors.KNeighborsClassifier(),
            two,
        ),
        (
            "KernelPCA",
            models.KernelPCA(n_components=2, **rbf),
            decomposition.KernelPCA(n_components=2, **rbf),
            None,
        ),
        ("KernelMachine, SVC", models.KernelMachineClassifier(), svm.SVC(), two),
    ]
    for name, ours, theirs, y in cases:
        method = "transform" if y is None else "predict"
        yield name, ours.fit(X, y), theirs.fit(X, y), method


def agreement(ours, theirs, rows):
    """Return in words how predictions of both compare."""
    if isinstance(ours, models.KernelMachineClassifier):
        return "another loss"
    if isinstance(ours, models.KernelPCA):
        found, wanted = np.abs(ours.transform(rows)), np.abs(theirs.transform(rows))
    else:
        found, wanted = ours.predict(rows), theirs.predict(rows)
    if found.dtype.kind == "f":
        return f"largest difference {np.abs(found - wanted).max():.1e}"
    return f"{(found == wanted).mean():.1%} of classes equal"


def answers():
    for dtype in (np.float64, np.float32):
        for n in (50, 200, 1000, 3000):
            rows = np.random.default_rng(1).normal(size=(500, COLUMNS)).astype(dtype)
            row = rows[:1].copy()
            for name, ours, theirs, method in pairs(n, dtype):
                ask, peer = getattr(ours, method), getattr(theirs, method)
                own, other = medians(lambda: ask(row), lambda: peer(row), repeats=REPEATS)  # noqa: B023
                told = agreement(ours, theirs, rows)
                print(
                    f"predict {np.dtype(dtype)}, n = {n:5}, {name:20}: {own:6.0f} us, "
                    f"scikit-learn {other:6.0f} us, {other / own:5.2f} times faster; {told}"
                )


def fits():
    for n in (50, 200):
        X, two, _, numbers = data(n, np.float64)
        rbf = {"kernel": "rbf", "gamma": 0.1}
        cases = [
            ("SVC", SVC, sklearn.svm.SVC, {}, two),
            ("KernelRidge", KernelRidge, sklearn.kernel_ridge.KernelRidge, rbf, numbers),
        ]
        for name, kind, peer, given, y in cases:
            mine, other = medians(
                lambda: kind(**given).fit(X, y),  # noqa: B023
                lambda: peer(**given).fit(X, y),  # noqa: B023
                repeats=FITS,
            )
            print(
                f"fit float64, n = {n:5}, {name:20}: {mine:6.0f} us, scikit-learn {other:6.0f} us, "
                f"{other / mine:5.2f} times faster"
            )


if __name__ == "__main__":
    print(describe())
    with threadpool_limits(1):
        answers()
        fits()
