"""Dense linear algebra that Ctrl-C can stop, borrowed from the room above, which is only named."""

from __future__ import annotations

import importlib

import numpy as np

from ..checks import Array

SMALL = 800  # rows up to which NumPy's eigh takes less than some 100 ms


def eigh(matrix: Array) -> tuple[Array, Array]:
    """Return the eigenvalues of a symmetric matrix, ascending, and their vectors."""
    values, vectors = importlib.import_module("mercer.grams.eigen").eigh(matrix)
    return values, vectors


def eigh_of_each(matrices: Array) -> tuple[Array, Array]:
    """Return the same of several matrices of one size."""
    if matrices.shape[-1] <= SMALL or len(matrices) == 0:
        values, vectors = np.linalg.eigh(matrices)
        return values, vectors
    found = [eigh(matrix) for matrix in matrices]
    return np.stack([one for one, _ in found]), np.stack([one for _, one in found])


def product(A: Array, B: Array) -> Array:
    """Return A B in double precision."""
    wide = (np.asarray(one, dtype=np.float64) for one in (A, B))
    return np.asarray(importlib.import_module("mercer.grams.blas").product(*wide))
