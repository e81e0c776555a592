"""The other learners against scikit-learn and NumPy: PCA, neighbours, perceptron, losses, k-means.

    MERCER_DATA=… python benchmarks/bench_learners.py [case]

Each case compares equal results in the same run. What a peer does row by row is timed on a prefix
and said to be so.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from data import mnist
from machine import keep_memory, peak_memory, run_cases
from sklearn.decomposition import KernelPCA as PeerPCA
from sklearn.metrics import log_loss
from sklearn.neighbors import KNeighborsClassifier

from mercer import (
    KernelKMeans,
    KernelMachineClassifier,
    KernelNeighborsClassifier,
    KernelPCA,
    KernelPerceptron,
    KernelRidgeClassifier,
)
from mercer.kernels import Gaussian

GAMMA = 0.02
KERNEL = Gaussian(gamma=GAMMA)


def timed(run: Callable[[], Any], times: int) -> tuple[float, Any]:
    """Return the fastest of several runs, in seconds, and what the last returned."""
    found = []
    for _ in range(times):
        start = time.perf_counter()
        result = run()
        found.append(time.perf_counter() - start)
    return min(found), result


def numpy_gram(A: Any, B: Any) -> Any:
    """Return the Gaussian kernel in double precision by NumPy."""
    A, B = A.astype(np.float64), B.astype(np.float64)
    squares = (A**2).sum(axis=1)[:, None] - 2 * A @ B.T + (B**2).sum(axis=1)
    return np.exp(-GAMMA * np.maximum(squares, 0))


def case_pca_5000() -> Iterator[str]:
    yield "wanted: 8 x scikit-learn, residual 1e-6"
    keep_memory(2e9)
    X = mnist()[0][:5000]
    ours, model = timed(lambda: KernelPCA(50, kernel=KERNEL).fit(X), 3)
    theirs, peer = timed(
        lambda: PeerPCA(50, kernel="rbf", gamma=GAMMA).fit(X.astype(np.float64)), 2
    )
    K = numpy_gram(X, X)
    K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    U = model.eigenvectors_.astype(np.float64)
    residual = np.linalg.norm(K @ U - U * model.eigenvalues_, axis=0) / model.eigenvalues_[0]
    apart = np.abs(model.eigenvalues_ / peer.eigenvalues_ - 1).max()
    yield f"mercer {ours:.2f} s, scikit-learn {theirs:.2f} s: {theirs / ours:.1f} x"
    yield f"largest residual in a float64 K of NumPy {residual.max():.1e}, its own "
    yield f"{np.max(model.certificate_.residuals):.1e}; eigenvalues differ by {apart:.1e}"


def case_pca_60000() -> Iterator[str]:
    yield "wanted: at most 12 GB"
    X = mnist()[0]
    with peak_memory() as peak:
        seconds, model = timed(lambda: KernelPCA(50, kernel=KERNEL, memory_limit="11GB").fit(X), 1)
        yield f"{seconds:.1f} s, {peak() / 1e9:.1f} GB; {model.certificate_.plan}"
    yield f"largest residual {np.max(model.certificate_.residuals):.1e}"


def case_neighbors() -> Iterator[str]:
    yield "wanted: 1.5 x scikit-learn's brute force on float32, same neighbours"
    X, y, new, truth = mnist()
    ours_model = KernelNeighborsClassifier(5, kernel=KERNEL).fit(X, y)
    peer_model = KNeighborsClassifier(5, algorithm="brute").fit(X, y)
    keep_memory(3e9)
    ours, found = timed(lambda: ours_model.predict(new), 3)
    theirs, wanted = timed(lambda: peer_model.predict(new), 3)
    mine = ours_model.kneighbors(new, return_distance=False)
    other = peer_model.kneighbors(new, return_distance=False)
    same = np.mean(np.sort(mine, axis=1) == np.sort(other, axis=1))
    yield f"mercer {ours:.2f} s, scikit-learn {theirs:.2f} s: {theirs / ours:.2f} x"
    yield f"accuracy {np.mean(found == truth):.4f} and {np.mean(wanted == truth):.4f}; "
    yield f"neighbours that are the same: {same:.6f}"
    if same < 1:
        yield from _who_is_right(X, new, mine, other)


def _who_is_right(X: Any, new: Any, mine: Any, other: Any) -> Iterator[str]:
    rows = np.flatnonzero((np.sort(mine, axis=1) != np.sort(other, axis=1)).any(axis=1))[:200]
    wins = 0
    for row in rows:
        squares = [
            ((X[chosen].astype(np.float64) - new[row].astype(np.float64)) ** 2).sum()
            for chosen in (mine[row], other[row])
        ]
        wins += squares[0] <= squares[1] * (1 + 1e-12)
    yield f"of {len(rows)} queries that differ, ours are as near or nearer in float64: {wins}"


def case_perceptron() -> Iterator[str]:
    yield "wanted: 20 x a NumPy row-by-row version on the same updates"
    X, y, new, truth = mnist()
    keep_memory(9e9)
    prefix = 3000
    order, seconds = _row_by_row(X[:prefix], y[:prefix])
    small = KernelPerceptron(kernel=KERNEL, max_iter=1)
    ours, model = timed(lambda: _quiet(small.fit, X[:prefix], y[:prefix]), 3)
    same = np.array_equal(model.mistakes_, order)
    yield f"first {prefix} rows, one pass: mercer {ours:.3f} s, NumPy {seconds:.2f} s: "
    yield f"{seconds / ours:.0f} x; the same {len(order)} updates: {same}"
    ours, model = timed(
        lambda: _quiet(KernelPerceptron(kernel=KERNEL, max_iter=5, average=True).fit, X, y), 1
    )
    accuracy = np.mean(model.predict(new) == truth)
    yield f"60,000 rows, five passes: {ours:.1f} s, accuracy {accuracy:.4f} (averaged), "
    yield f"{len(model.mistakes_)} mistakes"
    support, n = len(model.support_), len(X)
    per_entry = seconds / (prefix * len(order) / 2)
    yield f"NumPy at the rate of its prefix would take {5 * n * support * per_entry:.0f} s: "
    yield f"{5 * n * support * per_entry / ours:.0f} x"


def _quiet(fit: Any, *arguments: Any) -> Any:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fit(*arguments)


def _row_by_row(X: Any, y: Any) -> tuple[Any, float]:
    """Return the mistakes of the perceptron of several classes, one kernel row at a time."""
    classes = np.unique(y)
    codes = np.searchsorted(classes, y)
    start = time.perf_counter()
    norms = (X.astype(np.float64) ** 2).sum(axis=1)
    support, coefficients, order = [], [], []
    for t, x in enumerate(X):
        scores = np.zeros(len(classes))
        if support:
            near = X[support]
            squares = norms[support] - 2 * (near @ x) + norms[t]
            scores = (np.exp(-GAMMA * squares) + 1) @ np.array(coefficients)
        own = scores[codes[t]]
        scores[codes[t]] = -np.inf
        rival = int(scores.argmax())
        if own <= scores[rival]:
            change = np.zeros(len(classes))
            change[codes[t]], change[rival] = 1, -1
            support.append(t)
            coefficients.append(change)
            order.append(t)
    return np.array(order), time.perf_counter() - start


def case_softmax() -> Iterator[str]:
    yield "wanted: at most 4 x our ridge fit"
    X, y, new, truth = mnist()
    keep_memory(11e9)
    ridge, _ = timed(lambda: KernelRidgeClassifier(0.1, kernel=KERNEL).fit(X, y), 1)
    for alpha in (0.1, 0.01):
        seconds, model = timed(
            lambda alpha=alpha: KernelMachineClassifier(alpha=alpha, kernel=KERNEL).fit(X, y),  # type: ignore[misc]
            1,
        )
        chances = model.predict_proba(new)
        record = model.certificate_
        accuracy = np.mean(model.classes_[chances.argmax(axis=1)] == truth)
        yield f"alpha {alpha}: {seconds:.0f} s, ridge {ridge:.0f} s: {seconds / ridge:.1f} x; "
        yield f"accuracy {accuracy:.4f}, log-loss {log_loss(truth, chances):.4f}; gap "
        yield f"{record.gap / record.primal:.1e} of the objective, {record.iterations} steps, "
        yield f"{record.products} products"


def case_kmeans() -> Iterator[str]:
    yield "wanted: 5,000 rows 20 x a NumPy version, same objective"
    X = mnist()[0]
    keep_memory(3e9)
    few = X[:5000]
    ours, model = timed(
        lambda: KernelKMeans(10, kernel=KERNEL, n_init=1, random_state=0).fit(few), 3
    )
    theirs, objective = timed(lambda: _lloyd(few, 10), 1)
    yield f"mercer {ours:.2f} s, NumPy {theirs:.2f} s: {theirs / ours:.0f} x"
    yield f"objectives {model.inertia_:.3f} and {objective:.3f} (starts differ)"
    seconds, model = timed(lambda: KernelKMeans(10, kernel=KERNEL, n_init=1).fit(X), 1)
    yield f"60,000 rows: {seconds:.1f} s, objective {model.inertia_:.1f}, {model.n_iter_} passes; "
    yield f"{model.certificate_.plan}"


def _lloyd(X: Any, k: int) -> float:
    """Return the objective of Lloyd's algorithm on a stored K, distances anew in every pass."""
    K = numpy_gram(X, X)
    labels = np.random.default_rng(0).integers(0, k, len(X))
    while True:
        Z = np.eye(k)[labels]
        sizes = np.maximum(Z.sum(axis=0), 1)
        S = K @ Z / sizes
        squares = np.diag(K)[:, None] - 2 * S + (Z * S).sum(axis=0) / sizes
        new = squares.argmin(axis=1)
        if np.array_equal(new, labels):
            return float(squares[np.arange(len(X)), labels].sum())
        labels = new


if __name__ == "__main__":
    run_cases(globals())
