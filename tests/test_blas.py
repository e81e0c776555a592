"""Products by SciPy's BLAS, whatever the order of the numbers in memory."""

import numpy as np
import pytest

from mercer.grams.blas import half_square, mirror, product

RANDOM = np.random.default_rng(0)
ORDERS = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "neither": lambda A: np.repeat(A, 2, axis=1)[:, ::2],
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("left", ORDERS)
@pytest.mark.parametrize("right", ORDERS)
def test_a_product_is_that_of_numpy(left, right, dtype):
    A = ORDERS[left](RANDOM.normal(size=(7, 4)).astype(dtype))
    B = ORDERS[right](RANDOM.normal(size=(4, 5)).astype(dtype))
    found = product(A, B)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, A @ B, rtol=1e-5 if dtype == np.float32 else 1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ORDERS)
def test_half_a_square_and_its_mirror_image(order, dtype):
    A = ORDERS[order](RANDOM.normal(size=(6, 3)).astype(dtype))
    half = half_square(A)
    assert not np.triu(half, 1).any()
    whole = mirror(half)
    np.testing.assert_array_equal(whole, whole.T)
    np.testing.assert_allclose(whole, A @ A.T, rtol=1e-5 if dtype == np.float32 else 1e-13)
