"""Kernels of strings and graphs against GraKeL, NumPy and scikit-learn.

    MERCER_DATA=… python benchmarks/bench_structured.py [case]

Needs `pip install grakel`. Each case starts from objects in memory, on both sides, ends with a
whole Gram matrix and compares the values in the same run. What a peer does pair by pair is timed
on a prefix and said to be so.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from data import questions, tu_graphs
from machine import keep_memory, run_cases, timed
from scipy.signal import lfilter
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score

from mercer import SVC
from mercer.kernels import Graph, RandomWalk, ShortestPath, Spectrum, Subsequence, WeisfeilerLehman


def grakel_form(graphs: list[Graph], labels: bool) -> list[Any]:
    """Return graphs as GraKeL takes them: ordered edges and labels of nodes."""
    made: list[Any] = []
    for graph in graphs:
        edges = {(int(u), int(v)) for pair in graph.edges for u, v in (pair, pair[::-1])}
        names = dict(enumerate(graph.node_labels or ())) if labels else {}
        made.append([edges, names] if labels else [edges])
    return made


def compare(ours: Any, theirs: Any) -> str:
    """Return how far two matrices are apart, in words."""
    return f"values differ by {np.abs(ours - theirs).max() / np.abs(theirs).max():.1e} at most"


def against_grakel(
    graphs: list[Graph], ours: Any, peer: Callable[[], Any], labels: bool
) -> Iterator[str]:
    given = grakel_form(graphs, labels)
    keep_memory(2e9)
    mine, K = timed(lambda: ours(graphs), 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs, wanted = timed(lambda: peer().fit_transform(given), 3)
    yield f"mercer {mine:.3f} s, GraKeL {theirs:.2f} s: {theirs / mine:.0f} x; {compare(K, wanted)}"


def case_weisfeiler_lehman() -> Iterator[str]:
    from grakel.kernels import VertexHistogram
    from grakel.kernels import WeisfeilerLehman as Peer

    yield "wanted: 15 x GraKeL on NCI1, 5 rounds"
    graphs, _ = tu_graphs("NCI1")
    kernel = WeisfeilerLehman(5)
    yield from against_grakel(
        graphs, kernel, lambda: Peer(n_iter=5, base_graph_kernel=VertexHistogram), labels=True
    )


def case_shortest_path() -> Iterator[str]:
    from grakel.kernels import ShortestPath as Peer

    yield "wanted: 15 x GraKeL on NCI1"
    graphs, _ = tu_graphs("NCI1")
    yield from against_grakel(graphs, ShortestPath(), Peer, labels=True)


def without_labels(graphs: list[Graph]) -> list[Graph]:
    return [Graph(graph.n_nodes, graph.edges) for graph in graphs]


def case_random_walk() -> Iterator[str]:
    from grakel.kernels import RandomWalk as Peer

    yield "wanted: 50 x GraKeL on MUTAG, the geometric series"
    graphs = without_labels(tu_graphs("MUTAG")[0])
    for decay in (0.1, 0.01):
        yield f"decay {decay}"
        kernel = RandomWalk(decay)
        yield from against_grakel(
            graphs, kernel, lambda decay=decay: Peer(lamda=decay), labels=False
        )


def case_random_walk_with_labels() -> Iterator[str]:
    """No ratio: GraKeL's labelled walks are another, faulty kernel. Time only."""
    graphs, _ = tu_graphs("MUTAG")
    seconds, K = timed(lambda: RandomWalk(0.1)(graphs), 3)
    yield f"MUTAG with labels {seconds:.3f} s; k from {K.min():.3g} to {K.max():.3g}"


def numpy_subsequence(s: Any, t: Any, n: int, decay: float) -> float:
    """Return the kernel of two strings by the usual program, a row of t at a time."""
    before = np.ones((len(s) + 1, len(t) + 1))
    for _ in range(n):
        found, total = np.zeros_like(before), 0.0
        for i in range(1, len(s) + 1):
            meets = decay**2 * (t == s[i - 1]) * before[i - 1, :-1]
            total += meets.sum()
            found[i, 1:] = decay * found[i - 1, 1:] + lfilter([1.0], [1.0, -decay], meets)
        before = found
    return float(total)


def numpy_products(s: Any, t: Any, n: int, decay: float) -> float:
    """Return the same by products with matrices of gaps, the quickest NumPy form we know."""
    same = (s[:, None] == t[None]).astype(float)
    gaps = [np.subtract.outer(np.arange(len(u)), np.arange(len(u))) - 1 for u in (s, t)]
    down, along = (np.where(gap >= 0, decay ** np.maximum(gap, 0), 0.0) for gap in gaps)
    ending = same
    for _ in range(n - 1):
        ending = same * (down @ ending @ along.T)
    return float(decay ** (2 * n) * ending.sum())


def case_subsequence() -> Iterator[str]:
    yield "wanted: 200 x a NumPy program, 1,000 questions, n = 4, decay 0.5"
    texts = questions()[0][:1000]
    codes = [np.array([*map(ord, text)]) for text in texts]
    kernel = Subsequence(4, 0.5)
    mine, K = timed(lambda: kernel(texts), 3)
    yield f"mercer {mine:.2f} s for {len(texts) * (len(texts) + 1) // 2} pairs"
    some = 40
    pairs = [(codes[i], codes[j]) for i in range(some) for j in range(i + 1)]
    lengths = np.array([len(text) for text in texts], dtype=float)
    cells = (lengths.sum() ** 2 + (lengths**2).sum()) / 2
    cells_some = (lengths[:some].sum() ** 2 + (lengths[:some] ** 2).sum()) / 2
    for name, run in (("row by row", numpy_subsequence), ("by products", numpy_products)):
        theirs, wanted = timed(lambda run=run: [run(s, t, 4, 0.5) for s, t in pairs], 3)
        ratio = (theirs / cells_some) / (mine / cells)
        yield f"NumPy {name} {theirs:.2f} s for the pairs of the first {some}: {ratio:.0f} x a cell"
        yield compare(K[:some, :some][np.tril_indices(some)], np.array(wanted))


def case_spectrum() -> Iterator[str]:
    yield "wanted: 3 x CountVectorizer and the product of its counts, all 5,452 questions"
    texts = questions()[0]

    def peer() -> Any:
        vectorizer = CountVectorizer(analyzer="char", ngram_range=(3, 3), lowercase=False)
        counts = vectorizer.fit_transform(texts)
        return (counts @ counts.T).toarray()

    keep_memory(3e9)
    mine, K = timed(lambda: Spectrum(3)(texts), 5)
    theirs, wanted = timed(peer, 3)
    yield f"mercer {mine:.3f} s, scikit-learn {theirs:.2f} s: {theirs / mine:.1f} x"
    yield compare(K, wanted)


def case_accuracy() -> Iterator[str]:
    yield "wanted: 10-fold accuracy within 80-90 % (MUTAG) and 82-86 % (NCI1)"
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    for name, rounds in (("MUTAG", [1, 2, 3, 4]), ("NCI1", [4, 6])):
        graphs, y = tu_graphs(name)
        X = np.empty(len(graphs), dtype=object)
        X[:] = graphs
        search = GridSearchCV(
            SVC(kernel=WeisfeilerLehman(1).normalized()),
            {"kernel__rounds": rounds, "C": [1.0, 10.0, 100.0]},
            cv=3,
        )
        started = time.perf_counter()
        scores = cross_val_score(search, X, y, cv=folds)
        seconds = time.perf_counter() - started
        yield f"{name}: {scores.mean():.1%} ± {scores.std():.1%}, {seconds:.0f} s for all fits"


if __name__ == "__main__":
    run_cases(globals())
