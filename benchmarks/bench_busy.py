"""How a fit fares beside other busy processes: python benchmarks/bench_busy.py.

SVR(C=10) on 1,500 points of 20 columns, mercer and scikit-learn, alone and beside one and two
processes that compute without end. Every process has its BLAS as it comes, with all its threads.
"""

import multiprocessing
import time

import numpy as np
import sklearn.svm
from machine import describe

from mercer import SVR


def busy():
    """Compute until killed."""
    while True:
        sum(range(10_000))


def spread(model, X, y, times=5):
    """Return the least and the most seconds of several fits."""
    found = []
    for _ in range(times):
        start = time.perf_counter()
        model.fit(X, y)
        found.append(time.perf_counter() - start)
    return min(found), max(found)


def main():
    random = np.random.default_rng(0)
    X = random.normal(size=(1500, 20))
    y = X[:, 0] + np.sin(2 * X[:, 1]) + random.normal(0, 0.3, 1500)
    ours, theirs = SVR(C=10), sklearn.svm.SVR(C=10)
    print(describe())
    ours.fit(X, y)
    theirs.fit(X, y)
    b = np.zeros(1500)
    b[theirs.support_] = theirs.dual_coef_[0]
    K = ours.kernel_(X)
    dual = y @ b - theirs.epsilon * np.abs(b).sum() - b @ K @ b / 2
    print(f"dual objective {ours.certificate_.dual:.6f}, scikit-learn {dual:.6f}")
    for count in range(3):
        others = [multiprocessing.Process(target=busy, daemon=True) for _ in range(count)]
        for other in others:
            other.start()
        time.sleep(0.5)
        (low, high), (peer, slow) = spread(ours, X, y), spread(theirs, X, y)
        print(
            f"beside {count} busy processes: mercer {low:.3f} to {high:.3f} s, "
            f"scikit-learn {peer:.3f} to {slow:.3f} s"
        )
        for other in others:
            other.kill()
            other.join()


if __name__ == "__main__":
    main()
