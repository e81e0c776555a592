"""Block coordinate descent on the whole kernel system, beside which conjugate gradients are run.

Each step takes a block of points, moves their coefficients against the gradient of the block,
preconditioned by Nyström's approximation of its own kernel matrix, and adds momentum. A step needs
the rows of K that belong to the block, computed anew by the same engine; as many steps as there are
blocks read all of K once, while a product with the symmetric K computes half of it.

Rathore, Frangella, Yang, Dereziński, Udell, "Have ASkotch: a neat solution for large-scale kernel
ridge regression" (2024), with the parameters that they recommend.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from scale_data import GAMMA, draw
from scale_runs import ALPHA, Case

from mercer.grams import gram
from mercer.kernels import Gaussian

RANK = 100
BLOCKS = 100  # that the points are divided into
POWERS = 10  # products by which the step length is found


class BlockInverse:
    """v -> (U diag(s) U' + rho I)**-1 v, Nyström's approximation of a block's matrix, damped."""

    def __init__(self, K: Any, alpha: float, random: np.random.Generator) -> None:
        n = len(K)
        omega = np.linalg.qr(random.standard_normal((n, RANK)))[0]
        sketch = K @ omega
        shift = np.finfo(K.dtype).eps * np.trace(K)
        sketch += shift * omega
        lower = np.linalg.cholesky(omega.T @ sketch)
        B = np.linalg.solve(lower, sketch.T).T
        self.U, roots, _ = np.linalg.svd(B, full_matrices=False)
        self.s = np.maximum(roots**2 - shift, 0.0)
        self.rho = alpha + self.s[-1]

    def __call__(self, v: Any) -> Any:
        inside = self.U.T @ v
        return self.U @ (inside / (self.s + self.rho)) + (v - self.U @ inside) / self.rho

    def step_length(self, K: Any, alpha: float, random: np.random.Generator) -> float:
        """Return 1 over the largest eigenvalue of the preconditioned block."""
        v = random.standard_normal(len(K))
        largest = 1.0
        for _ in range(POWERS):
            v /= np.linalg.norm(v)
            v = self(K @ v + alpha * v)
            largest = float(np.linalg.norm(v))
        return 1.0 / largest


def run_descent(case: Case) -> Case:
    """Take steps for so many seconds; return the residual then, and the passes over K."""
    X, y = draw(case["rows"], 0)
    n, random = len(X), np.random.default_rng(0)
    right = y - y.mean()
    K = gram(Gaussian(GAMMA), X, store=False)
    size = n // BLOCKS
    mu, nu = ALPHA / n, n / size
    beta, gamma = 1 - np.sqrt(mu / nu), 1 / np.sqrt(mu * nu)
    share = 1 / (1 + gamma * nu)
    w = v = z = np.zeros(n)
    start, steps = time.perf_counter(), 0
    while time.perf_counter() - start < case["seconds"]:
        block = np.sort(random.choice(n, size, replace=False))
        own = K.restrict(block, block).dense().astype(np.float64)
        inverse = BlockInverse(own, ALPHA, random)
        length = inverse.step_length(own, ALPHA, random)
        rows = K.restrict(block, slice(None)) @ z
        d = length * inverse(rows + ALPHA * z[block] - right[block])
        w = z.copy()
        w[block] -= d
        v = beta * v + (1 - beta) * z
        v[block] -= gamma * d
        z = share * v + (1 - share) * w
        steps += 1
    seconds = time.perf_counter() - start
    left = right - K @ w - ALPHA * w
    return {
        "seconds": seconds,
        "passes": steps * size / n,
        "residual": float(np.linalg.norm(left) / np.linalg.norm(right)),
    }


RUNS = {"descent": run_descent}
