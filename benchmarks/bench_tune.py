"""`tune` against GridSearchCV, with mercer's SVC and with scikit-learn's: ratios, in one run.

Every side tries the same six candidates in the same three folds. Seconds are the least of three
runs, by the clock and of all processors. Scores of `tune` must be those of GridSearchCV with the
same machine in every fold; scikit-learn's machine stops at tol = 1e-3, so a few of its points may
differ. `python benchmarks/bench_tune.py [part of a name]` runs the cases that match; MERCER_DATA
names the directory of the data.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from data import questions
from machine import run_cases
from sklearn import svm
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from mercer import SVC, tune
from mercer.kernels import Gaussian, Spectrum

FOLDS = StratifiedKFold(3)
COSTS = [1.0, 10.0, 100.0]


def both_times(run: Callable[[], Any], times: int = 3) -> tuple[float, float, Any]:
    """Return the least seconds of several runs, by the clock and of all processors."""
    wall, cpu, result = np.inf, np.inf, None
    for _ in range(times):
        start, used = time.perf_counter(), time.process_time()
        result = run()
        wall, cpu = (
            min(wall, time.perf_counter() - start),
            min(cpu, time.process_time() - used),
        )
    return wall, cpu, result


def compare(X: Any, y: Any, space: dict[str, Any], theirs: dict[str, Any]) -> Iterator[str]:
    """Compare `tune` with both searches; theirs: the space of scikit-learn's machine, if it can."""
    model = SVC(kernel=Gaussian(gamma=1.0))
    wall, cpu, found = both_times(lambda: tune(model, X, y, space, cv=FOLDS))
    yield f"tune: {wall:.2f} s, {cpu:.2f} CPU s; score {found.score:.4f} of {found.params}"
    search = GridSearchCV(model, space, cv=FOLDS)
    own_wall, own_cpu, own = both_times(lambda: search.fit(X, y))
    gap = 0.0
    for place, params in enumerate(own.cv_results_["params"]):
        other = found.table["params"].index(params)
        for fold in range(3):
            name = f"split{fold}_test_score"
            gap = max(gap, abs(own.cv_results_[name][place] - found.table[name][other]))
    same = "same" if own.best_params_ == found.params else "DIFFERENT"
    yield (
        f"mercer's SVC in GridSearch: {own_wall / wall:.1f} x by the clock, {own_cpu / cpu:.1f} x "
        f"of CPU s (wanted 2); {same} choice, scores of folds differ by {gap:.1e}"
    )
    if theirs:
        search = GridSearchCV(svm.SVC(), theirs, cv=FOLDS)
        wall_, cpu_, peer = both_times(lambda: search.fit(X, y))
        yield (
            f"scikit-learn's SVC in GridSearchCV: {wall_ / wall:.1f} x by the clock, "
            f"{cpu_ / cpu:.1f} x of CPU s (wanted 1); best score {peer.best_score_:.4f} of "
            f"{peer.best_params_}"
        )


def case_digits() -> Iterator[str]:
    X, y = load_digits(return_X_y=True)
    gammas = [0.02, 0.1]
    space = {"C": COSTS, "kernel__gamma": gammas}
    yield from compare(X / 16, y, space, {"C": COSTS, "gamma": gammas})


def case_trec_words() -> Iterator[str]:
    texts, labels = questions()
    X, gammas = TfidfVectorizer().fit_transform(texts[:2000]), [0.1, 1.0]
    space = {"C": COSTS, "kernel__gamma": gammas}
    yield from compare(X, labels[:2000], space, {"C": COSTS, "gamma": gammas})


def case_trec_letters() -> Iterator[str]:
    texts, labels = questions()
    kernels = [Spectrum(2).normalized(), Spectrum(3).normalized()]
    yield from compare(texts[:2000], labels[:2000], {"C": COSTS, "kernel": kernels}, {})


if __name__ == "__main__":
    run_cases(globals())
