"""`tune` along the gradient of leave-one-out: what the gradient costs, and what it finds.

The second case is against scikit-learn's GaussianProcessRegressor with an anisotropic RBF kernel
and noise, which maximises its evidence by the same optimiser, and against the best single gamma
found by `tune`. `python benchmarks/bench_tune_gradient.py [part of a name]` runs the cases that
match.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from machine import best, run_cases
from scipy.optimize import minimize
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from mercer import KernelRidge, PerColumn, tune
from mercer.fitting.ridge.tuning import Coordinate, RidgeObjective
from mercer.inputs import Matrix
from mercer.kernels import Gaussian
from mercer.solvers import RidgeProblem
from mercer.solvers.ridge.criteria import LeaveOneOut, SquaredError

ROWS, COLUMNS = 2000, 50


def data(rows: int, seed: int) -> tuple[Any, Any]:
    """Return rows of which five columns decide, and what they decide on, with noise."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, COLUMNS))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + np.cos(2 * X[:, 3]) + 0.5 * X[:, 4]
    return X, y + 0.1 * random.normal(size=rows)


def objective() -> tuple[RidgeObjective, Any]:
    """Return leave-one-out with a gamma per column, a coefficient and alpha, and a place."""
    X, y = data(ROWS, 0)
    found = RidgeObjective(
        points=Matrix(X),
        rows=np.arange(ROWS),
        problem=RidgeProblem(targets=y[:, None], alpha=np.array([0.1]), intercept=True),
        kernel=1.5 * Gaussian((0.01,) * COLUMNS),
        coordinates=(
            Coordinate(name="kernel__gamma", low=1e-6, high=1e3, size=COLUMNS),
            Coordinate(name="kernel__coef", low=1e-6, high=1e3),
            Coordinate(name="alpha", low=1e-6, high=1e3),
        ),
        criterion=LeaveOneOut(SquaredError()),
    )
    spread = np.random.default_rng(1).uniform(0.3, 3.0, COLUMNS)
    return found, np.log([*(0.01 * spread), 1.5, 0.1])


def case_gradient() -> Iterator[str]:
    criterion, place = objective()
    without = best(lambda: criterion.at(place, slope=False))
    whole = best(lambda: criterion.at(place))
    yield (
        f"{ROWS} rows, {COLUMNS} columns: value {without:.3f} s, with all {len(place)} derivatives "
        f"{whole:.3f} s: {whole / without:.2f} x (wanted <= 3)"
    )
    gradient = criterion.at(place)[1]
    gap = 0.0
    for c in range(len(place)):
        step = np.zeros(len(place))
        step[c] = 1e-4
        ends = [criterion.at(place + s * step, slope=False)[0] for s in (1, -1)]
        gap = max(gap, abs((ends[0] - ends[1]) / 2e-4 - gradient[c]))
    yield f"differs from central differences by {gap / np.abs(gradient).max():.1e} (wanted 1e-5)"
    start = time.perf_counter()
    for _ in range(200):
        criterion.at(place)
    yield f"200 evaluations: {time.perf_counter() - start:.1f} s (wanted 60)"


def case_relevant_columns() -> Iterator[str]:
    (X, y), (X_test, y_test) = data(ROWS, 0), data(4000, 1)

    def error(model: Any) -> float:
        return float(np.mean((model.predict(X_test) - y_test) ** 2))

    alpha = (1e-5, 1e2)
    spaces = {
        "one gamma": {"kernel__gamma": (1e-4, 1e1), "alpha": alpha},
        "a gamma per column": {"kernel__gamma": PerColumn(1e-6, 1e1), "alpha": alpha},
    }
    errors, seconds = [], 0.0
    for name, space in spaces.items():
        model = KernelRidge(kernel=Gaussian(), fit_intercept=True)
        found = tune(model, X, y, space, random_state=0)
        errors.append(error(found.model))
        seconds = found.seconds
        yield (
            f"{name}: {found.seconds:.1f} s, {found.status}, {len(found.table['params'])} "
            f"evaluations; test error {errors[-1]:.4f}"
        )
    chosen = np.sort(np.argsort(found.params["kernel__gamma"])[-5:]).tolist()
    yield f"columns with the largest gamma: {chosen} (0 to 4 decide, y is linear in 4)"
    yield f"test error: {errors[1] / errors[0]:.3f} of that with one gamma (wanted <= 0.5)"
    kernel = ConstantKernel() * RBF(np.full(COLUMNS, np.sqrt(COLUMNS))) + WhiteKernel()
    start = time.perf_counter()
    limited = Limited(SHARE * seconds)
    peer = GaussianProcessRegressor(kernel, normalize_y=True, optimizer=limited).fit(X, y)
    took = time.perf_counter() - start
    yield (
        f"GaussianProcessRegressor, {limited.evaluations} evaluations in {took:.1f} s "
        f"({'stopped' if limited.stopped else 'ended'}): test error {error(peer):.4f}; ours in "
        f"{seconds / took:.3f} of its time (wanted <= 0.2, with an error not higher)"
    )


SHARE = 6  # times our time, after which the peer is judged by the best that it has found


class Limited:
    """The optimiser that GaussianProcessRegressor uses, L-BFGS-B, with a limit of time."""

    def __init__(self, most: float) -> None:
        self.end = time.perf_counter() + most
        self.evaluations, self.stopped = 0, False

    def __call__(self, objective: Any, start: Any, bounds: Any) -> tuple[Any, float]:
        best: list[Any] = [np.inf, start]

        def evaluate(place: Any) -> Any:
            if time.perf_counter() > self.end:
                raise TimeoutError
            value, slope = objective(place, eval_gradient=True)
            self.evaluations += 1
            if value < best[0]:
                best[:] = value, place.copy()
            return value, slope

        try:
            minimize(evaluate, start, method="L-BFGS-B", jac=True, bounds=bounds)
        except TimeoutError:
            self.stopped = True
        return best[1], best[0]


if __name__ == "__main__":
    run_cases(globals())
