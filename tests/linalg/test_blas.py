"""Products by SciPy's BLAS, whatever the order of the numbers in memory."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from mercer.linalg import blas
from mercer.linalg.blas import blas_threads, half_square, mirror, product, solve_lower

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


@pytest.fixture
def short_calls(monkeypatch):
    """Hardly any work in one call, so that every matrix is taken in parts."""
    monkeypatch.setattr(blas, "WORK", 50)
    monkeypatch.setattr(blas, "COLUMNS", 30)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("left", ORDERS)
@pytest.mark.parametrize("right", ORDERS)
@pytest.mark.parametrize("shape", [(150, 70, 90), (70, 150, 20), (3, 200, 40), (200, 3, 31)])
def test_a_large_product_is_taken_in_parts(left, right, shape, dtype, short_calls):
    A = ORDERS[left](RANDOM.normal(size=shape[:2]).astype(dtype))
    B = ORDERS[right](RANDOM.normal(size=shape[1:]).astype(dtype))
    found = product(A, B)
    assert found.dtype == dtype
    wanted = A.astype(np.float64) @ B.astype(np.float64)
    np.testing.assert_allclose(found, wanted, atol=1e-4 if dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("shape", [(100, 40), (40, 100)])
def test_half_of_a_large_square_is_taken_in_parts(order, shape, dtype, short_calls):
    A = ORDERS[order](RANDOM.normal(size=shape).astype(dtype))
    half = half_square(A)
    assert half.dtype == dtype
    wanted = np.tril(A.astype(np.float64) @ A.T.astype(np.float64))
    np.testing.assert_allclose(half, wanted, atol=1e-4 if dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("work", [50, 1e9])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("columns", [None, 1, 50])
def test_triangular_systems_are_solved_in_parts(work, order, transposed, columns, monkeypatch):
    monkeypatch.setattr(blas, "WORK", work)
    L = ORDERS[order](np.tril(RANDOM.normal(size=(9, 9))) + 5 * np.eye(9))
    B = RANDOM.normal(size=9 if columns is None else (9, columns))
    found = solve_lower(L, B, transposed)
    assert found.shape == B.shape
    np.testing.assert_allclose((L.T if transposed else L) @ found, B, atol=1e-12)


@pytest.mark.parametrize("function", [product, half_square, solve_lower])
def test_no_call_is_long(function, monkeypatch):
    """What one call of BLAS has to do is bounded: Python acts on Ctrl-C between calls only."""
    work = []

    def counted(name):
        original = getattr(blas.blas, name)

        def call(alpha, a, *others, **options):
            found = original(alpha, a, *others, **options)
            work.append(a.size * found.shape[1] / (2 if name == "dsyrk" else 1))
            return found

        return call

    class Spy:
        dgemm, dsyrk = counted("dgemm"), counted("dsyrk")

    def solved(L, B, **options):
        work.append(L.size * B.shape[1] / 2)
        return np.zeros_like(B)

    monkeypatch.setattr(blas, "blas", Spy)
    monkeypatch.setattr(blas, "solve_triangular", solved)
    monkeypatch.setattr(blas, "WORK", 1e6)
    monkeypatch.setattr(blas, "COLUMNS", 30)
    A = RANDOM.normal(size=(300, 400))
    if function is product:
        product(A, A.T)
    elif function is half_square:
        half_square(A)
    else:
        solve_lower(np.eye(300), A)
    assert len(work) > 10
    assert max(work) <= 1e6


def threads():
    return [
        library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"
    ]


def test_threads_are_bounded_for_a_while_and_never_raised():
    before = threads()
    assert before  # NumPy's or SciPy's
    with blas_threads(1):
        assert set(threads()) == {1}
        with blas_threads(1024):  # the least limit counts
            assert set(threads()) == {1}
        assert set(threads()) == {1}
    assert threads() == before
    with blas_threads(1024):
        assert threads() == before
    assert threads() == before


def test_threads_are_given_back_after_an_error():
    before = threads()
    with pytest.raises(ZeroDivisionError), blas_threads(1):
        raise ZeroDivisionError
    assert threads() == before


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_squares_are_added_tile_by_tile(order, dtype, monkeypatch):
    monkeypatch.setattr(blas, "SIDE", 5)
    A = np.asarray(RANDOM.normal(size=(13, 7)), dtype=dtype, order=order)
    before = np.tril(RANDOM.normal(size=(13, 13)))
    half = np.asfortranarray(before)
    blas.add_square(half, A)
    wanted = before + np.tril(A.astype(np.float64) @ A.T)
    rounding = 1e-13 if dtype == np.float64 else 1e-5
    assert np.abs(np.tril(half) - wanted).max() < rounding


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("size", [1, 4, 5, 13])
def test_a_matrix_is_mirrored_in_its_place(order, size, monkeypatch):
    monkeypatch.setattr(blas, "TILE", 4)
    whole = RANDOM.normal(size=(size, size))
    whole = whole + whole.T
    half = np.array(whole, order=order)
    half[np.triu_indices(size, 1)] = 7.0  # whatever stands there is overwritten
    assert blas.fill_upper(half) is half
    assert np.array_equal(half, whole)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_are_added_on_both_sides(dtype):
    A, B = (RANDOM.normal(size=(6, 2)).astype(dtype) for _ in range(2))
    half = np.asfortranarray(np.tril(RANDOM.normal(size=(6, 6))), dtype=dtype)
    wanted = np.tril(half - 0.5 * (A @ B.T + B @ A.T))
    assert np.allclose(
        np.tril(blas.add_products(half.copy(order="F"), A, B, -0.5)), wanted, atol=1e-6
    )
