"""The time that the arithmetic of a fit cannot go below on this machine, for `bench_scale.py`.

Rates are measured in the same run, in a process of its own, in memory:

- kernel entries per second: K v computed anew by the engine, from points in memory to a vector,
  with as many columns as the fit has. Points in blocks must be read, packed and centred as well,
  and a pass of conjugate gradients, K' (K v), uses every entry a second time; what that costs
  beyond K v counts as lost.
- operations per second: products of matrices by BLAS, in single and in double precision.

The roof of conjugate gradients with m centres is then

    passes n m / entries + (2/3 m^3 + 4 m^2 passes) / double + 2/3 m^3 / single

for the factor of K_zz, the triangular solves of each pass, the second moments of the centres and
their factor. The roof of the normal equations, up to 2,500 centres, is

    2 n m / entries + 2 n m^2 / single

for triangular solves and squares, beside which their m^3 terms are small. Conjugate gradients pass
over the points once for the right side, once in each iteration and once for the gradient in double
precision; normal equations once for the moments and once for the gradient. The share of the roof is
the roof divided by the seconds of the fit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from machine import best
from scale_data import GAMMA, draw

Case = dict[str, Any]
SIDE = 4000
ROWS = 50_000


def run_rates(case: Case) -> Case:
    """Return kernel entries and operations per second."""
    from mercer.grams import gram
    from mercer.kernels import Gaussian

    X, _ = draw(ROWS, 0)
    centres = X[: case["centres"]]
    K, v = gram(Gaussian(GAMMA), X, centres, store=False), np.ones(case["centres"])
    found = {"entries": ROWS * case["centres"] / best(lambda: K @ v)}
    for name, dtype in (("single", np.float32), ("double", np.float64)):
        A = np.ones((SIDE, SIDE), dtype=dtype)
        room = np.empty_like(A)
        found[name] = 2 * SIDE**3 / best(lambda A=A, room=room: np.matmul(A, A, out=room))
    return found


def conjugate_gradient_roof(rows: int, centres: int, iterations: int, rates: Case) -> float:
    """Return the seconds of conjugate gradients with few centres."""
    passes = iterations + 2
    cubes = 2 / 3 * centres**3
    seconds = passes * rows * centres / rates["entries"]
    seconds += cubes / rates["single"] + (cubes + 4 * passes * centres**2) / rates["double"]
    return float(seconds)


def normal_equation_roof(rows: int, centres: int, rates: Case) -> float:
    """Return the seconds of the normal equations of few centres."""
    return float(2 * rows * centres / rates["entries"] + 2 * rows * centres**2 / rates["single"])


RUNS = {"rates": run_rates}
