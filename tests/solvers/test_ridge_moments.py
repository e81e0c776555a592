"""Sums over rows that pass by: they are the same whatever has the rows."""

import numpy as np

from mercer.linalg.blas import blas_threads
from mercer.solvers.ridge.moments import wide_product


def test_thin_products_do_not_depend_on_the_threads_of_blas():
    """With two threads the second product differs in its last digits, where there are two."""
    random = np.random.default_rng(0)
    band, weighted = random.normal(size=(800, 3000)), random.normal(size=(800, 2))
    found = []
    for threads in (1, 2):
        with blas_threads(threads):
            found.append(wide_product(band.T, weighted))
    assert np.array_equal(*found)
    assert np.allclose(found[0], band.T @ weighted, rtol=0, atol=1e-11)


def test_products_are_in_double_precision():
    band = np.array([[1.0, 1e-9], [1.0, 0.0]], dtype=np.float32)
    found = wide_product(band, np.array([[1.0], [1.0]]))
    assert found[0, 0] - found[1, 0] > 0
