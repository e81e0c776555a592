"""How long Ctrl-C takes: SIGINT at random moments of a fit, for every estimator.

Each case runs in a process of its own. It is timed once, then begun again and again and interrupted
at a moment drawn evenly from its time; the delay is from the signal to KeyboardInterrupt. Both
processes read the same clock. The delays say something on a quiet machine only.

`python benchmarks/interrupts.py [part of a name] [--trials 50] [--size 1.0]`; it ends with code 1
if the 99th percentile of all delays is above `--limit` seconds. size: a factor of the points.
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

import mercer
from mercer.kernels import Gaussian, Graph, Linear, RandomWalk, Subsequence

RANDOM = np.random.default_rng(0)
Case = Callable[[int], Callable[[], Any]]


def rows(n: int, d: int = 10, kind: Any = np.float64) -> Any:
    return RANDOM.normal(size=(n, d)).astype(kind)


def regression(n: int, d: int = 10) -> tuple[Any, Any]:
    X = rows(n, d)
    return X, np.sin(3 * X[:, 0]) + X[:, 1] + 0.3 * RANDOM.normal(size=n)


def classes(n: int, count: int = 2, d: int = 10) -> tuple[Any, Any]:
    X, y = regression(n, d)
    return X, np.digitize(y, np.quantile(y, np.arange(1, count) / count))


def fit(model: Any, data: Callable[[int], Any]) -> Case:
    """Return a case that fits a model to the data of a size."""

    def case(n: int) -> Callable[[], Any]:
        X, y = data(n)
        return lambda: model.fit(X, y)

    return case


def precomputed(model: Any) -> Case:
    """Return a case that fits a model to a given Gram matrix, as every one is checked."""

    def case(n: int) -> Callable[[], Any]:
        X, y = classes(n)
        K = Gaussian(0.05)(X, X)
        return lambda: model.fit(K, y)

    return case


def indefinite(n: int) -> Any:
    X = rows(n)
    return -Gaussian(0.05)(X, X) + Linear()(X, X)


def deviations(n: int) -> Callable[[], Any]:
    X, y = regression(n)
    model = mercer.KernelRidge(kernel=Gaussian(0.05)).fit(X, y)
    return lambda: model.predict(X, return_std=True)


def strings(n: int) -> Any:
    return ["".join(RANDOM.choice(list("ACGT"), size=200)) for _ in range(n)]


def graphs(n: int, nodes: int = 30) -> Any:
    found = []
    for _ in range(n):
        i, j = np.triu_indices(nodes, 1)
        some = RANDOM.random(len(i)) < 0.15
        found.append(Graph(nodes, list(zip(i[some].tolist(), j[some].tolist(), strict=True))))
    return found


G = Gaussian(0.05)
# The number of points, so that a case takes a few seconds on two processors.
CASES: dict[str, tuple[int, Case]] = {
    "KernelRidge cholesky": (
        8000,
        fit(mercer.KernelRidge(kernel=G, solver="cholesky"), regression),
    ),
    "KernelRidge cg": (12000, fit(mercer.KernelRidge(1e-3, kernel=G, solver="cg"), regression)),
    "KernelRidge nystrom": (
        40000,
        fit(mercer.KernelRidge(1e-3, kernel=G, solver="nystrom", n_centers=2400), regression),
    ),
    "KernelRidge many centres": (
        30000,
        fit(mercer.KernelRidge(1e-6, kernel=G, solver="nystrom", n_centers=5000), regression),
    ),
    "KernelRidge primal": (
        200_000,
        fit(mercer.KernelRidge(kernel=(Linear() + 1) ** 3), lambda n: regression(n, 12)),
    ),
    "KernelRidge deviations": (5000, deviations),
    "KernelRidgeClassifier": (6000, fit(mercer.KernelRidgeClassifier(kernel=G), classes)),
    "KernelRidgeCV": (3000, fit(mercer.KernelRidgeCV(kernel=G), regression)),
    "KernelRidgeCV folds": (
        3000,
        fit(mercer.KernelRidgeCV(kernel=Gaussian(1.0), cv=KFold(3)), regression),
    ),
    "KernelRidgeClassifierCV": (20000, fit(mercer.KernelRidgeClassifierCV(kernel=G), classes)),
    "KernelPCA dense, few": (
        4000,
        fit(mercer.KernelPCA(5, kernel=G, eigen_solver="dense"), regression),
    ),
    "KernelPCA dense, all": (
        2500,
        fit(mercer.KernelPCA(kernel=G, eigen_solver="dense"), regression),
    ),
    "KernelPCA dense, not Mercer's": (
        2500,
        lambda n: (
            lambda K: lambda: mercer.KernelPCA(5, kernel="precomputed", eigen_solver="dense").fit(K)
        )(indefinite(n)),
    ),
    "KernelPCA krylov": (
        12000,
        fit(mercer.KernelPCA(50, kernel=Gaussian(0.5), eigen_solver="krylov"), regression),
    ),
    "KernelPCA krylov, many": (
        10000,
        fit(mercer.KernelPCA(400, kernel=G, eigen_solver="krylov", tol=1e-10), regression),
    ),
    "KernelKMeans": (8000, fit(mercer.KernelKMeans(20, kernel=Gaussian(0.2)), regression)),
    "KernelKMeans by factor": (
        20000,
        fit(mercer.KernelKMeans(20, kernel=G, memory_limit="400MB"), regression),
    ),
    "SVC": (12000, fit(mercer.SVC(10.0, kernel=G), classes)),
    "SVC five classes": (8000, fit(mercer.SVC(10.0, kernel=G), lambda n: classes(n, 5))),
    "SVC probabilities": (8000, fit(mercer.SVC(kernel=G, probability=True), classes)),
    "SVC precomputed": (6000, precomputed(mercer.SVC(kernel="precomputed"))),
    "NuSVC": (8000, fit(mercer.NuSVC(0.4, kernel=G), classes)),
    "SVR": (8000, fit(mercer.SVR(C=10.0, kernel=G), regression)),
    "NuSVR": (6000, fit(mercer.NuSVR(C=10.0, kernel=G), regression)),
    "OneClassSVM": (20000, fit(mercer.OneClassSVM(kernel=G), regression)),
    "KernelMachineClassifier": (
        6000,
        fit(mercer.KernelMachineClassifier(kernel=G), lambda n: classes(n, 3)),
    ),
    "KernelMachineRegressor": (
        8000,
        fit(mercer.KernelMachineRegressor(loss="huber", kernel=G), regression),
    ),
    "KernelPerceptron": (20000, fit(mercer.KernelPerceptron(kernel=G, max_iter=50), classes)),
    "KernelNeighborsClassifier": (
        30000,
        lambda n: (
            lambda X, y: lambda: mercer.KernelNeighborsClassifier(kernel=G).fit(X, y).predict(X)
        )(*classes(n)),
    ),
    "KernelPrototypeClassifier": (40000, fit(mercer.KernelPrototypeClassifier(kernel=G), classes)),
    "KernelFisherDiscriminant": (
        8000,
        fit(mercer.KernelFisherDiscriminant(kernel=G), lambda n: classes(n, 5)),
    ),
    "check_kernel": (2000, lambda n: (lambda X: lambda: mercer.check_kernel(G, X))(rows(n))),
    "check_kernel, many points": (
        20000,
        lambda n: (lambda X: lambda: mercer.check_kernel(G, X))(rows(n)),
    ),
    "repair": (2500, lambda n: (lambda K: lambda: mercer.repair(K))(indefinite(n))),
    "repair nearest": (
        700,
        lambda n: (lambda K: lambda: mercer.repair(K, "nearest"))(indefinite(n) + 500 * np.eye(n)),
    ),
    "mmd_test": (
        8000,
        lambda n: (lambda X, Y: lambda: mercer.mmd_test(X, Y, G))(rows(n), rows(n) + 0.1),
    ),
    "hsic_test": (
        6000,
        lambda n: (lambda X, y: lambda: mercer.hsic_test(X, y[:, None]))(*regression(n)),
    ),
    "svm_path": (
        3000,
        lambda n: (lambda X, y: lambda: mercer.svm_path(X, y, G, [0.1, 1, 10, 100]))(*classes(n)),
    ),
    "strings": (
        400,
        lambda n: (lambda X: lambda: Subsequence(4, 0.5)(X, X))(strings(n)),
    ),
    "graphs": (300, lambda n: (lambda X: lambda: RandomWalk(0.01)(X, X))(graphs(n))),
    "graphs, large": (
        2,
        lambda n: (lambda X: lambda: RandomWalk(1e-6)(X, X))(graphs(n, 1200)),
    ),
    "Gram on the fly": (
        40000,
        lambda n: (lambda K: lambda: K @ np.ones((n, 3)))(
            mercer.gram(G, rows(n, 100, np.float32), store=False)
        ),
    ),
}


# --- the process that is interrupted -------------------------------------------------------------


def work(name: str, size: float) -> None:
    """Run a case once for every line of input, and say how it ended and when."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it
    warnings.simplefilter("ignore")
    n, case = CASES[name]
    run = case(max(2, int(size * n)))
    say("ready")
    while True:
        try:
            if not sys.stdin.readline():
                return
            say("begin")
            run()
            say("done")
        except KeyboardInterrupt:
            say("stopped")


def say(what: str) -> None:
    sys.stdout.write(f"{what} {time.monotonic()}\n")
    sys.stdout.flush()


# --- the process that interrupts ---------------------------------------------------------------


class Worker:
    """A process that runs one case."""

    def __init__(self, name: str, size: float) -> None:
        command = [sys.executable, __file__, "--work", name, "--size", str(size)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def heard(self) -> tuple[str, float]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("the process ended")
        what, moment = line.split()
        return what, float(moment)

    def begin(self) -> float:
        assert self.process.stdin is not None
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        return self.heard()[1]

    def seconds(self) -> float:
        """Return how long a run takes if nothing disturbs it."""
        started = self.begin()
        what, ended = self.heard()
        if what != "done":
            raise RuntimeError(f"a run was {what}")
        return ended - started

    def delay(self, after: float) -> float:
        """Interrupt a run after some seconds; return how long it went on."""
        started = self.begin()
        time.sleep(max(0.0, started + after - time.monotonic()))
        sent = time.monotonic()
        self.process.send_signal(signal.SIGINT)
        what, ended = self.heard()
        if what == "done" and ended <= sent:  # it was quicker this time; the signal is still heard
            self.heard()
            return 0.0
        return ended - sent

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


def measure(name: str, trials: int, size: float) -> list[float]:
    """Interrupt one case many times, and print what that showed; a case that fails never stops."""
    worker = Worker(name, size)
    try:
        worker.heard()
        worker.seconds()  # memory is touched, libraries are loaded
        whole = worker.seconds()
        delays = [worker.delay(RANDOM.uniform(0.0, 0.95 * whole)) for _ in range(trials)]
    except RuntimeError as error:
        print(f"{name:32s} failed: {error}", flush=True)
        return [float("inf")]
    finally:
        worker.end()
    print(f"{name:32s} {whole:7.2f} s   {shown(delays)}", flush=True)
    return delays


def shown(delays: list[float]) -> str:
    low, high = np.percentile(delays, [50, 99]) * 1e3
    return f"p50 {low:6.0f}   p99 {high:6.0f}   max {max(delays) * 1e3:6.0f} ms"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("part", nargs="?", default="")
    parser.add_argument("--trials", type=int, default=50)
    parser.add_argument("--size", type=float, default=1.0)
    parser.add_argument("--limit", type=float, default=0.2)
    parser.add_argument("--work")
    given = parser.parse_args()
    if given.work is not None:
        work(given.work, given.size)
        return 0
    chosen = [name for name in CASES if given.part in name]
    delays = [one for name in chosen for one in measure(name, given.trials, given.size)]
    if not delays:
        print(f"No case matches {given.part!r}.")
        return 1
    print(f"{'all':32s} {'':7s}     {shown(delays)}")
    return int(np.percentile(delays, 99) > given.limit)


if __name__ == "__main__":
    sys.exit(main())
