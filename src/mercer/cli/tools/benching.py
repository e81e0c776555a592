"""A few tasks done by mercer and by scikit-learn, with the same result, and how long each took."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import RenderableType

from ..._native import num_threads
from ...checks import Array
from ..show.parts import heading, pairs, table

if TYPE_CHECKING:
    from ..screen import Screen

TIMES = 3  # each is done; the best counts
ONE_ROW_CALLS = 200
TOLERANCE = 1e-3  # of the conditions of an optimum, with which both stop
SAME = 1e-3  # relative difference of what both found that counts as none


@dataclass(frozen=True, kw_only=True)
class Race:
    """A task: two functions that do it, and one that tells whether they agree.

    agree: of both results the name of what is to be the same, and its relative difference.
    allowed: a difference up to which it is the same.
    """

    name: str
    ours: Callable[[], Any]
    theirs: Callable[[], Any]
    agree: Callable[[Any, Any], tuple[str, float]]
    allowed: float = SAME


def run_bench(screen: Screen, scale: float, seed: int) -> None:
    """Do the tasks and show the ratios."""
    found = []
    for race in races(scale, seed):
        screen.note(f"{race.name} …")
        found.append(_result(race))
    screen.show(*_shown(found))
    screen.result |= {
        "tasks": found,
        "threads": num_threads(),
        "scikit_learn": version("scikit-learn"),
    }


def _result(race: Race) -> dict[str, Any]:
    """Return the times of both, and whether they agree; without that there is no ratio."""
    ours, theirs, mine, other = _timed(race)
    what, difference = race.agree(mine, other)
    return {
        "task": race.name,
        "mercer_seconds": ours,
        "scikit_learn_seconds": theirs,
        "ratio": theirs / ours if difference <= race.allowed else None,
        "compared": what,
        "difference": difference,
    }


def _shown(found: list[dict[str, Any]]) -> Iterator[RenderableType]:
    rows = []
    for one in found:
        is_fair = one["ratio"] is not None
        rows.append(
            [
                one["task"],
                _time(one["mercer_seconds"]),
                _time(one["scikit_learn_seconds"]),
                f"{one['ratio']:.1f} ×" if is_fair else "–",
                f"{one['compared']} {'alike' if is_fair else 'DIFFERS'} ({one['difference']:.0e})",
            ]
        )
    yield heading("mercer and scikit-learn on this machine")
    heads = ("task", "mercer", "scikit-learn", "faster", "same result")
    yield table(heads, rows, right=(1, 2, 3))
    yield ""
    versions = ", ".join(f"{name} {version(name)}" for name in ("mercer", "scikit-learn", "numpy"))
    yield pairs(
        [
            ("machine", f"{platform.machine()}, {os.cpu_count()} processors"),
            ("threads", str(num_threads())),
            ("versions", versions),
            ("best of", f"{TIMES}, in turn"),
        ]
    )


def _timed(race: Race) -> tuple[float, float, Any, Any]:
    """Return the best times and the last results; both take turns, for the sake of the cache."""
    best = [np.inf, np.inf]
    results: list[Any] = [None, None]
    for _ in range(TIMES):
        for place, function in enumerate((race.ours, race.theirs)):
            start = time.perf_counter()
            results[place] = function()
            best[place] = min(best[place], time.perf_counter() - start)
    return best[0], best[1], results[0], results[1]


def races(scale: float, seed: int) -> list[Race]:
    """Return the tasks on data of a size."""
    random = np.random.default_rng(seed)
    n = max(int(3000 * scale), 60)
    X = random.normal(size=(n, 20))
    score = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    classes = (score + 0.5 * random.normal(size=n) > 0).astype(int)
    numbers = score + 0.2 * random.normal(size=n)
    return [
        _support_vectors(X, classes),
        _one_row(X, classes),
        _ridge(X, numbers),
        _components(X[: max(int(1500 * scale), 60)]),
    ]


GAMMA = 0.05


def _support_vectors(X: Array, y: Array) -> Race:
    import sklearn.svm

    from ...models import SVC

    def agree(mine: Any, other: Any) -> tuple[str, float]:
        left, right = _dual(mine, X, y), _dual(other, X, y)
        return "dual objective", abs(left - right) / abs(right)

    return Race(
        name=f"SVC fit, {len(X):,} rows",
        ours=lambda: SVC(C=5.0, gamma=GAMMA, kernel="rbf").fit(X, y),
        theirs=lambda: sklearn.svm.SVC(C=5.0, gamma=GAMMA).fit(X, y),
        agree=agree,
    )


def _dual(model: Any, X: Array, y: Array) -> float:
    """Return the dual objective sum |a| - a'Ka / 2 of a machine, by the formula."""
    from sklearn.metrics.pairwise import rbf_kernel

    a = np.ravel(model.dual_coef_)
    vectors = X[model.support_]
    return float(np.abs(a).sum() - a @ (rbf_kernel(vectors, gamma=GAMMA) @ a) / 2)


def _one_row(X: Array, y: Array) -> Race:
    import sklearn.svm

    from ...models import SVC

    mine = SVC(C=5.0, gamma=GAMMA, kernel="rbf").fit(X, y)
    other = sklearn.svm.SVC(C=5.0, gamma=GAMMA).fit(X, y)
    new = np.random.default_rng(1).normal(size=(ONE_ROW_CALLS, X.shape[1]))

    def scores(model: Any) -> Array:
        return np.array([model.decision_function(new[row : row + 1])[0] for row in range(len(new))])

    def agree(left: Array, right: Array) -> tuple[str, float]:
        return "scores", float(np.abs(left - right).max())

    return Race(
        name=f"SVC scores, {ONE_ROW_CALLS} rows one by one",
        ours=lambda: scores(mine),
        theirs=lambda: scores(other),
        agree=agree,
        allowed=5 * TOLERANCE,
    )


def _ridge(X: Array, y: Array) -> Race:
    from sklearn.kernel_ridge import KernelRidge as Theirs

    from ...models import KernelRidge

    def agree(mine: Any, other: Any) -> tuple[str, float]:
        left, right = mine.predict(X[:500]), other.predict(X[:500])
        return "predictions", float(np.abs(left - right).max() / np.abs(right).max())

    return Race(
        name=f"KernelRidge fit, {len(X):,} rows",
        ours=lambda: KernelRidge(alpha=0.1, kernel="rbf", gamma=GAMMA).fit(X, y),
        theirs=lambda: Theirs(alpha=0.1, kernel="rbf", gamma=GAMMA).fit(X, y),
        agree=agree,
    )


def _components(X: Array) -> Race:
    from sklearn.decomposition import KernelPCA as Theirs

    from ...models import KernelPCA

    def agree(mine: Any, other: Any) -> tuple[str, float]:
        left, right = mine.eigenvalues_, other.eigenvalues_
        return "eigenvalues", float(np.abs(left - right).max() / right.max())

    return Race(
        name=f"KernelPCA fit, {len(X):,} rows, 10 components",
        ours=lambda: KernelPCA(10, kernel="rbf", gamma=GAMMA).fit(X),
        theirs=lambda: Theirs(10, kernel="rbf", gamma=GAMMA).fit(X),
        agree=agree,
    )


def _time(seconds: float) -> str:
    return f"{1000 * seconds:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"
