"""Smaller models: python benchmarks/bench_compress.py [rows] (MERCER_DATA names the data).

MNIST, SVC(C=10, gamma=0.02) on pixels in [0, 1]. The machine is compressed to 1/10 and 1/40 of its
support vectors, with and without the training points, and by selection alone; each line has the
loss of accuracy on the test set, in points, and the seconds. Then single rows are classified by the
model of 1/10 and by scikit-learn's SVC with all vectors: the median and the 99th percentile. Each
answers alone, as where one model is in use and stays in the cache, and in turn, where the vectors
of scikit-learn drive ours out of it before every answer. scikit-learn fits the support vectors
alone, which gives it the same machine.
"""

import sys
import time

import numpy as np
import sklearn.svm
from data import mnist
from machine import describe

from mercer import SVC, compress
from mercer.kernels import Gaussian

STEPS = 20
REPEATS = 300


def compressed(model, X, Xt, yt):
    """Yield the models of 1/40 and 1/10 that met the scores of X; print what each way costs."""
    n, full = len(model.support_), 100 * model.score(Xt, yt)
    print(f"all {n} support vectors: accuracy {full:.2f}")
    for share in (40, 10):
        ways = {
            "selection": {"polish": False},
            "polish": {"max_iter": STEPS},
            "polish, X": {"max_iter": STEPS, "X": X},
        }
        for name, given in ways.items():
            small = compress(model, n_centers=n // share, **given)
            record = small.compression_
            loss = full - 100 * small.score(Xt, yt)
            print(
                f"1/{share}, {record.centers} centres, {name}: loss {loss:.2f} points, relative "
                f"error {max(record.relative_errors):.2f}, {record.seconds:.0f} s",
                flush=True,
            )
        yield small


def latency(*functions):
    """Return the median and the 99th percentile of each function in microseconds, in turn."""
    spent = [[] for _ in functions]
    for step in range(REPEATS):
        for seconds, function in zip(spent, functions, strict=True):
            start = time.perf_counter()
            function(step)
            seconds.append(time.perf_counter() - start)
    return [1e6 * np.percentile(seconds, [50, 99]) for seconds in spent]


def main():
    print(describe())
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 60_000
    X, y, Xt, yt = mnist()
    X, y = X[:count], y[:count]
    model = SVC(C=10.0, kernel=Gaussian(gamma=0.02)).fit(X, y)
    small = list(compressed(model, X, Xt, yt))[-1]
    rows = model.support_
    peer = sklearn.svm.SVC(C=10.0, gamma=0.02, cache_size=2000).fit(X[rows], y[rows])
    same = np.mean(peer.predict(Xt[:REPEATS]) == model.predict(Xt[:REPEATS]))
    print(
        f"scikit-learn: {len(peer.support_)} vectors; {100 * same:.1f} % of the answers are equal"
    )
    wide = Xt.astype(np.float64)
    ours, theirs = (
        lambda step: small.predict(Xt[step : step + 1]),
        lambda step: peer.predict(wide[step : step + 1]),
    )
    alone = [*latency(ours), *latency(theirs)]
    for way, found in (("alone", alone), ("in turn", latency(ours, theirs))):
        for name, a, b in zip(("p50", "p99"), *found, strict=True):
            print(f"one row, {way}, {name}: {a:.0f} us against {b:.0f} us, {b / a:.1f} x")


if __name__ == "__main__":
    main()
