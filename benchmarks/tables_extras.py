"""Other figures of `bench_tables.py`: coverage of intervals, time limits, hidden directions."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.linalg import subspace_angles
from tables_data import DEVELOPMENT, FOLDS, load

COVERAGE = 0.9
SECONDS = 20.0
LIMITS = (5.0, 20.0, 60.0)
SIZES = (500, 5_000, 50_000, 500_000)
ROWS, COLUMNS, HIDDEN = 16_000, 50, 3


def intervals() -> Iterator[str]:
    """Coverage of 90 % intervals on every development table of regression."""
    from mercer import AutoKernelRegressor

    for name in DEVELOPMENT:
        table = load("dev", name)
        if table.n_classes:
            continue
        covered, widths = [], []
        for fold in range(FOLDS):
            rows, held = table.fold(fold)
            model = AutoKernelRegressor(time_limit=SECONDS, random_state=0, n_jobs=2)
            model.fit(table.X.iloc[rows], table.y[rows])
            found = np.asarray(model.predict_interval(table.X.iloc[held], coverage=COVERAGE))
            low, high = found if found.shape[0] == 2 else found.T
            covered += [(low <= table.y[held]) & (table.y[held] <= high)]
            widths += [np.mean(high - low) / np.std(table.y)]
        share = 100 * np.mean(np.concatenate(covered))
        width = np.mean(widths)
        yield f"{name}: {share:.1f} % covered (wanted 88 to 92), width {width:.2f} deviations"


def limits() -> Iterator[str]:
    """How far a fit goes beyond its time limit."""
    from mercer import AutoKernelRegressor

    random = np.random.default_rng(0)
    for rows in SIZES:
        X = random.normal(size=(rows, 20)).astype(np.float32)
        y = np.sin(X[:, 0] * 2) + X[:, 1] * X[:, 2] + 0.3 * random.normal(size=rows)
        for limit in LIMITS:
            start = time.perf_counter()
            AutoKernelRegressor(time_limit=limit, random_state=0, n_jobs=2).fit(X, y)
            spent = time.perf_counter() - start
            kept = "within" if spent <= limit + min(limit / 10, 3) else "ABOVE"
            yield f"{rows:,} rows, {limit:g} s: {spent:.2f} s, {kept} 10 % and 3 s"


def _hidden() -> tuple[Any, Any, Any, Any, Any]:
    """Rows to train and to test on, their targets, and the three directions that matter."""
    random = np.random.default_rng(0)
    X = random.normal(size=(ROWS + 4000, COLUMNS)).astype(np.float32)
    directions = np.linalg.qr(random.normal(size=(COLUMNS, HIDDEN)))[0]
    U = X @ directions
    y = np.sin(2 * U[:, 0]) + U[:, 1] * U[:, 2] + 0.1 * random.normal(size=len(X))
    return X[:ROWS], y[:ROWS], X[ROWS:], y[ROWS:], directions


def _line(name: str, seconds: float, error: float, metric: Any, directions: Any) -> str:
    text = f"{name}: {seconds:.1f} s, RMSE {error:.4f}"
    if metric is None:
        return text
    top = np.linalg.eigh(np.asarray(metric, dtype=np.float64))[1][:, -HIDDEN:]
    angle = np.degrees(subspace_angles(top, directions).max())
    return f"{text}, largest angle to the hidden directions {angle:.1f} degrees"


def _their_machine(X: Any, y: Any, X_test: Any) -> tuple[Any, Any]:
    """xRFM with its defaults and a full metric, a fifth held out as it asks."""
    import torch
    from xrfm import xRFM

    model = xRFM(
        rfm_params={
            "model": {"kernel": "l2", "bandwidth": 10.0, "exponent": 1.0, "diag": False},
            "fit": {"reg": 1e-3, "iters": 5, "early_stop_rfm": True, "verbose": False},
        },
        device=torch.device("cpu"),
        tuning_metric="mse",
        random_state=0,
        verbose=False,
    )
    cut = 4 * len(X) // 5
    target = torch.as_tensor(np.asarray(y, dtype=np.float32))
    model.fit(X[:cut], target[:cut], X[cut:], target[cut:])
    return np.asarray(model.predict(X_test))[:, 0], model.collect_Ms()[0]


def rfm() -> Iterator[str]:
    """Hidden directions: a recursive feature machine, xRFM and a tuned Gaussian ridge."""
    from mercer import KernelRidgeCV
    from mercer.kernels import Gaussian

    X, y, X_test, y_test, directions = _hidden()

    def error(found: Any) -> float:
        return float(np.sqrt(np.mean((np.asarray(found).ravel() - y_test) ** 2)))

    start = time.perf_counter()
    kernels = [Gaussian(sigma=sigma) for sigma in (5.0, 8.0, 12.0, 20.0, 30.0)]
    model = KernelRidgeCV(kernel=kernels, cv=3).fit(X, y)
    spent = time.perf_counter() - start
    yield _line(f"tuned ridge, {model.kernel_}", spent, error(model.predict(X_test)), None, None)
    start = time.perf_counter()
    found, metric = _their_machine(X, y, X_test)
    spent = time.perf_counter() - start
    yield _line("xRFM", spent, error(found), metric, directions)
    yield from _our_machines(X, y, X_test, error, error(found), directions)


def _our_machines(
    X: Any, y: Any, X_test: Any, error: Callable[[Any], float], theirs: float, directions: Any
) -> Iterator[str]:
    """Machines whose settings are searched; then with these, by as few steps as beat xRFM."""
    from mercer import RFMRegressor

    def line(kernel: str, how: str, **given: Any) -> tuple[str, Any, float]:
        start = time.perf_counter()
        machine = RFMRegressor(kernel, metric="full", random_state=0, **given).fit(X, y)
        found = error(machine.predict(X_test))
        spent = time.perf_counter() - start
        name = f"mercer RFMRegressor, {kernel}, {how}"
        return _line(name, spent, found, machine.metric_, directions), machine.choice_, found

    for kernel in ("exponential", "gaussian"):
        text, chosen, _ = line(kernel, "settings searched")
        yield text
        for steps in range(1, chosen.steps + 1):
            given = {"width": chosen.width, "alpha": chosen.alpha, "steps": steps}
            text, _, found = line(kernel, f"settings given, as to xRFM, {steps} steps", **given)
            yield text
            if found <= theirs:
                break


COMMANDS: dict[str, Callable[[], Iterator[str]]] = {
    "intervals": intervals,
    "limits": limits,
    "rfm": rfm,
}
