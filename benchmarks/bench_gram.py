"""The Gram engine against NumPy and scikit-learn: ratios, in one run.

Every case touches its memory beforehand and takes the best of three for both sides (the peer of the
prediction case, which takes half a minute, once); equal results are checked in the same run.
`python benchmarks/bench_gram.py [part of a name]` runs the cases that match.
"""

from __future__ import annotations

import concurrent.futures
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from machine import best, peak_memory, run_cases
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

import mercer
from mercer import gram, prepare
from mercer.kernels import Gaussian, Intersection, Laplacian

RANDOM = np.random.default_rng(0)


def rows(n: int, d: int) -> Any:
    return RANDOM.random((n, d), dtype=np.float32)


def stored(kernel: Any, X: Any) -> Callable[[], Any]:
    """Return a run that computes the whole K into memory it has used before."""
    out = np.empty((len(X), len(X)), dtype=X.dtype)

    def run() -> Any:
        return gram(kernel, X, store=False).dense(out=out)

    return run


def case_gaussian_wide() -> Iterator[str]:
    X = rows(10_000, 784)
    kernel = Gaussian(gamma=3 / 784)
    product = np.empty((len(X), len(X)), dtype=np.float32)
    numpy_time = best(lambda: np.matmul(X, X.T, out=product))
    run = stored(kernel, X)
    ours = best(run)
    peer = best(lambda: rbf_kernel(X, gamma=3 / 784))
    gap = np.abs(run()[:500] - rbf_kernel(X[:500].astype(float), X, gamma=3 / 784)).max()
    yield f"ours {ours:.3f} s = {ours / numpy_time:.2f} x NumPy's X @ X.T (wanted <= 0.85)"
    yield f"{peer / ours:.1f} x scikit-learn rbf_kernel (wanted >= 3.2); largest error {gap:.1e}"
    threads = mercer.num_threads()
    mercer.set_num_threads(1)
    single = best(run)
    mercer.set_num_threads(threads)
    yield f"{threads} threads against one: {single / ours:.2f} x (wanted >= 1.6)"


def case_gaussian_narrow() -> Iterator[str]:
    X = rows(20_000, 10)
    run = stored(Gaussian(gamma=0.5), X)
    ours = best(run)
    peer = best(lambda: rbf_kernel(X, gamma=0.5))
    gap = np.abs(run()[:200] - rbf_kernel(X[:200].astype(float), X, gamma=0.5)).max()
    yield f"ours {ours:.3f} s; {peer / ours:.1f} x scikit-learn (wanted >= 8); error {gap:.1e}"


def case_laplacian() -> Iterator[str]:
    X = rows(10_000, 50)
    run = stored(Laplacian(gamma=0.1), X)
    ours = best(run)
    seconds = best(lambda: laplacian_kernel(X, gamma=0.1))
    gap = np.abs(run() - laplacian_kernel(X, gamma=0.1)).max()
    other = best(stored(Intersection(), X))
    yield f"ours {ours:.3f} s; {seconds / ours:.1f} x scikit-learn (wanted >= 20); error {gap:.1e}"
    yield f"Intersection {other:.3f} s = {other / ours:.2f} x Laplacian (wanted: as fast)"


def case_sum_of_ten() -> Iterator[str]:
    for n, d, wanted in ((10_000, 784, 1.3), (20_000, 10, 3.0)):
        X = rows(n, d)
        kernels = [Gaussian(gamma=g / d) for g in np.geomspace(0.1, 10, 10)]
        total = kernels[0]
        for kernel in kernels[1:]:
            total = total + kernel
        one, ten = best(stored(kernels[5], X)), best(stored(total, X))
        yield f"d = {d}: ten {ten:.3f} s = {ten / one:.2f} x one (wanted <= {wanted})"


def blocked(X: Any, V: Any) -> Any:
    """Return K V for Gaussian(0.5) as one would write it with NumPy, block by block."""
    part, squares = 4096, np.einsum("ij,ij->i", X, X)
    weights = V.astype(np.float32)
    out = np.empty(V.shape, dtype=np.float32)
    for i in range(0, len(X), part):
        block = X[i : i + part] @ X.T
        block *= 2
        block -= squares[i : i + part, None]
        block -= squares
        block *= 0.5
        np.exp(block, out=block)
        out[i : i + part] = block @ weights
    return out


def case_multiply_on_the_fly() -> Iterator[str]:
    X, V = rows(60_000, 10), RANDOM.normal(size=(60_000, 10))
    kernel = Gaussian(gamma=0.5)
    with peak_memory() as extra:
        found = gram(kernel, X, store=False) @ V
        memory = extra()
    ours = best(lambda: gram(kernel, X, store=False) @ V)
    wanted = blocked(X, V)
    numpy_time = best(lambda: blocked(X, V))
    gap = np.abs(found - wanted).max() / np.abs(wanted).max()
    yield f"ours {ours:.2f} s; {numpy_time / ours:.1f} x NumPy in blocks (wanted >= 6)"
    yield f"extra memory {memory / 1e6:.0f} MB (wanted <= 200); relative difference {gap:.1e}"


def bandwidth() -> float:
    """Return the bytes a second that all threads together read from memory."""
    threads, size = mercer.num_threads(), 250_000_000
    data = np.ones(threads * size, dtype=np.float32)
    parts = [data[i * size : (i + 1) * size] for i in range(threads)]
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        seconds = best(lambda: list(pool.map(np.max, parts)))  # releases the lock, reads only
    return data.nbytes / seconds


def case_half_stored() -> Iterator[str]:
    rate = bandwidth()
    X = rows(30_000, 10)
    K = gram(Gaussian(gamma=0.5), X, store="half")
    size = K.packed.bytes
    part = Gaussian(gamma=0.5).formula(X[:50], X)
    for columns in (1, 10):
        V = RANDOM.normal(size=(30_000, columns))
        seconds = best(lambda V=V: K @ V)
        gap = np.abs((K @ V)[:50] - part @ V).max() / np.abs(part @ V).max()
        share = size / seconds / rate
        flops = 4 * columns * size / 4 / seconds / 1e9
        yield f"{columns} columns: {seconds:.3f} s, {flops:.0f} GFLOP/s, error {gap:.1e}"
        rate_text = f"{size / seconds / 1e9:.1f} of {rate / 1e9:.1f} GB/s"
        yield f"  {rate_text} = {share:.0%} (wanted >= 80 %)"


def case_predict() -> Iterator[str]:
    X, Z, V = rows(60_000, 784), rows(10_000, 784), RANDOM.normal(size=(60_000, 10))
    kernel = Gaussian(gamma=1 / 784)
    ready = prepare(kernel, X)
    ours = best(lambda: ready.gram(Z, store=False) @ V)
    start = time.perf_counter()
    wanted = rbf_kernel(Z, X, gamma=1 / 784) @ V
    peer = time.perf_counter() - start
    gap = np.abs(ready.gram(Z, store=False) @ V - wanted).max() / np.abs(wanted).max()
    yield f"ours {ours:.2f} s; {peer / ours:.1f} x scikit-learn (wanted >= 2.5); gap {gap:.1e}"


def case_accuracy() -> Iterator[str]:
    for dtype, wanted in ((np.float32, 2e-6), (np.float64, 1e-13)):
        worst = 0.0
        for offset in (0.0, 1e4):
            X = (RANDOM.normal(size=(1000, 20)) + offset).astype(dtype)
            kernel = Gaussian().resolve(X)
            worst = max(worst, float(np.abs(kernel(X) - kernel.formula(X.astype(float))).max()))
        name = np.dtype(dtype).name
        yield f"{name}: largest error {worst:.1e}, offset 10,000 included (wanted <= {wanted:g})"


def case_import() -> Iterator[str]:
    for what in ("mercer", "mercer.kernels", "mercer.grams"):
        script = f"import sys, time; s = time.perf_counter(); import {what}\n"
        script += "print(time.perf_counter() - s, 'sklearn' in sys.modules)"
        command = [sys.executable, "-c", script]
        runs = [subprocess.run(command, capture_output=True, text=True) for _ in range(4)]
        seconds = min(float(run.stdout.split()[0]) for run in runs)
        loads = runs[0].stdout.split()[1]
        wanted = " (wanted <= 0.25)" if what == "mercer" else ""
        yield f"import {what}: {seconds:.3f} s{wanted}; loads scikit-learn: {loads}"


if __name__ == "__main__":
    run_cases(globals())
