"""The other learners against scikit-learn and NumPy: PCA, neighbours, perceptron, losses, k-means.

    MERCER_DATA=… python benchmarks/bench_learners.py [case]

Each case compares equal results in the same run. What a peer does row by row is timed on a prefix
and said to be so.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from data import mnist
from machine import keep_memory, peak_memory, run_cases, timed
from sklearn.decomposition import KernelPCA as PeerPCA
from sklearn.metrics import log_loss
from sklearn.neighbors import KNeighborsClassifier

from mercer import (
    KernelKMeans,
    KernelMachineClassifier,
    KernelNeighborsClassifier,
    KernelPCA,
    KernelPerceptron,
    KernelRidge,
    gram,
)
from mercer.kernels import Gaussian
from mercer.solvers.kmeans import seed

GAMMA = 0.02
KERNEL = Gaussian(gamma=GAMMA)


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
    prefix, passes = 20_000, 5
    seconds, order = timed(lambda: _row_by_row(X[:prefix], y[:prefix], 1, _Gathered), 1)
    small = KernelPerceptron(kernel=KERNEL, max_iter=1)
    ours, model = timed(lambda: _quiet(small.fit, X[:prefix], y[:prefix]), 3)
    yield f"first {prefix} rows, one pass, support gathered at each visit: mercer {ours:.3f} s, "
    yield f"NumPy {seconds:.2f} s: {seconds / ours:.0f} x; the same {len(order)} updates: "
    yield f"{np.array_equal(model.mistakes_, order)}"
    ours, model = timed(
        lambda: _quiet(KernelPerceptron(kernel=KERNEL, max_iter=passes, average=True).fit, X, y), 1
    )
    accuracy = np.mean(model.predict(new) == truth)
    yield f"60,000 rows, {passes} passes: {ours:.1f} s, accuracy {accuracy:.4f} (averaged)"
    theirs, order = timed(lambda: _row_by_row(X, y, passes, _Kept), 1)
    yield f"NumPy with the support kept in one float32 block: {theirs:.0f} s: "
    yield f"{theirs / ours:.1f} x; the same {len(order)} updates: "
    yield f"{np.array_equal(model.mistakes_, order)}"


def _quiet(fit: Any, *arguments: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fit(*arguments)


class _Gathered:
    """Support points as they are written first: a list, from which rows are taken."""

    def __init__(self, X: Any, classes: int) -> None:
        self.X, self.places, self.rows = X, [], []
        self.norms = (X.astype(np.float64) ** 2).sum(axis=1)

    def scores(self, t: int) -> Any:
        near = self.X[self.places]
        squares = self.norms[self.places] - 2 * (near @ self.X[t]) + self.norms[t]
        return (np.exp(-GAMMA * squares) + 1) @ np.array(self.rows)

    def add(self, t: int, change: Any) -> None:
        self.places.append(t)
        self.rows.append(change)


class _Kept(_Gathered):
    """Support points kept next to one another in single precision, as is quickest in NumPy."""

    def __init__(self, X: Any, classes: int) -> None:
        super().__init__(X, classes)
        self.near = np.empty((20_000, X.shape[1]), dtype=np.float32)
        self.votes = np.zeros((20_000, classes))
        self.squares = np.empty(20_000)
        self.place: dict[int, int] = {}

    def scores(self, t: int) -> Any:
        m = len(self.places)
        squares = self.squares[:m] - 2 * (self.near[:m] @ self.X[t]) + self.norms[t]
        return (np.exp(-GAMMA * squares) + 1) @ self.votes[:m]

    def add(self, t: int, change: Any) -> None:
        m = self.place.setdefault(t, len(self.places))
        if m == len(self.places):
            self.places.append(t)
            self.near[m], self.squares[m] = self.X[t], self.norms[t]
        self.votes[m] += change


def _row_by_row(X: Any, y: Any, passes: int, kind: Any) -> Any:
    """Return the mistakes of the perceptron of several classes, one kernel row at a time."""
    classes, codes = np.unique(y, return_inverse=True)
    support, order = kind(X, len(classes)), []
    for _ in range(passes):
        for t in range(len(X)):
            scores = support.scores(t) if support.places else np.zeros(len(classes))
            own = scores[codes[t]]
            scores[codes[t]] = -np.inf
            rival = int(scores.argmax())
            if own <= scores[rival]:
                change = np.zeros(len(classes))
                change[codes[t]], change[rival] = 1, -1
                support.add(t, change)
                order.append(t)
    return np.array(order)


def case_softmax() -> Iterator[str]:
    yield "wanted: at most 4 x our ridge fit (bench_ridge.py: alpha 0.3, tol 1e-4)"
    X, y, new, truth = mnist()
    keep_memory(11e9)
    room = {"kernel": KERNEL, "memory_limit": "11GB"}  # "auto" would not count what is kept
    Y = (y[:, None] == np.arange(10)).astype(np.float64)
    ridge, _ = timed(lambda: KernelRidge(0.3, tol=1e-4, **room).fit(X, Y), 1)
    seconds, model = timed(lambda: KernelMachineClassifier(alpha=0.1, **room).fit(X, y), 1)
    chances, record = model.predict_proba(new), model.certificate_
    accuracy = np.mean(model.classes_[chances.argmax(axis=1)] == truth)
    yield f"softmax {seconds:.0f} s, ridge {ridge:.0f} s: {seconds / ridge:.1f} x; {record.plan}"
    yield f"accuracy {accuracy:.4f}, log-loss {log_loss(truth, chances):.4f}; gap "
    yield f"{record.gap / record.primal:.1e} of the objective, {record.iterations} steps, "
    yield f"{record.products} products"


def case_kmeans() -> Iterator[str]:
    yield "wanted: 5,000 rows 20 x a NumPy version, same objective"
    X, k = mnist()[0], 10
    keep_memory(3e9)
    few = X[:5000]
    start = seed(gram(KERNEL, few), np.ones(5000), k, np.random.default_rng(0))
    ours, model = timed(lambda: KernelKMeans(k, kernel=KERNEL, n_init=1).fit(few), 3)
    yield f"one start: mercer {ours:.2f} s, objective {model.inertia_:.4f}"
    for name, step in (("clusters by masks", _by_masks), ("one product a pass", _by_product)):
        theirs, (objective, passes) = timed(lambda s=step: _lloyd(few, start, k, s), 2)  # type: ignore[misc]
        yield f"NumPy, {name}: {theirs:.2f} s, objective {objective:.4f}, {passes} passes: "
        yield f"{theirs / ours:.1f} x"
    seconds, model = timed(lambda: KernelKMeans(k, kernel=KERNEL, n_init=1).fit(X), 1)
    yield f"60,000 rows: {seconds:.1f} s, objective {model.inertia_:.1f}, {model.n_iter_} passes; "
    yield f"{model.certificate_.plan}"


def _lloyd(X: Any, labels: Any, k: int, step: Any) -> tuple[float, int]:
    """Return the objective of Lloyd's algorithm on a stored K, and its passes."""
    K, passes = numpy_gram(X, X), 0
    while True:
        squares = step(K, labels, k)
        passes += 1
        new = squares.argmin(axis=1)
        if np.array_equal(new, labels):
            return float(squares[np.arange(len(X)), labels].sum()), passes
        labels = new


def _by_masks(K: Any, labels: Any, k: int) -> Any:
    squares = np.empty((len(K), k))
    for c in range(k):
        mask = labels == c
        inside = K[:, mask]
        squares[:, c] = np.diag(K) - 2 * inside.mean(axis=1) + inside[mask].mean()
    return squares


def _by_product(K: Any, labels: Any, k: int) -> Any:
    Z = np.eye(k)[labels]
    sizes = Z.sum(axis=0)
    S = K @ Z / sizes
    return np.diag(K)[:, None] - 2 * S + (Z * S).sum(axis=0) / sizes


if __name__ == "__main__":
    run_cases(globals())
