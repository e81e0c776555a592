"""The native sums of derivatives by columns, against the plainest loop; and what it refuses."""

import itertools
import threading

import numpy as np
import pytest

from mercer import _native

pytestmark = pytest.mark.native

PANELS = {np.dtype(np.float32): _native.Panels32, np.dtype(np.float64): _native.Panels64}


def sign_times(f):
    """A derivative by x that is f(|x - z|) with the sign of x - z, and 0 where they meet."""

    def slope(x, z):
        size = abs(x - z)
        return 0.0 if size == 0 else float(np.sign(x - z)) * f(size)

    return slope


def chi2(x, z):
    return 0.0 if x + z == 0 else (x - z) * (x + 3 * z) / (x + z) ** 2


# Number in the enumeration, exponent, and the derivative by x.
SLOPES = [
    (0, 1.0, lambda x, z: 2 * (x - z)),
    (1, 1.0, lambda x, z: float(np.sign(x - z))),
    (2, 1.0, chi2),
    *(
        (3, p, sign_times(lambda size, p=p: p * size ** (p - 1)))
        for p in (0.3, 0.5, 1.0, 1.3, 1.5, 2.0)
    ),
    *(
        (4, p, sign_times(lambda size, p=p: p * size ** (p - 1) * np.exp(-(size**p))))
        for p in (0.3, 0.5, 1.0, 1.3, 1.5, 2.0)
    ),
]
IDS = [f"{code}-{exponent}" for code, exponent, _ in SLOPES]


def arrays(points, others, columns, outputs, dtype):
    random = np.random.default_rng(points + 7 * others + 31 * columns)
    X = np.round(np.abs(random.normal(size=(points, columns))), 1).astype(dtype)
    Z = np.round(np.abs(random.normal(size=(others, columns))), 1).astype(dtype)
    Z[: points // 2] = X[: min(points // 2, others)]  # some points meet
    R = random.normal(size=(points, others)).astype(dtype)
    c = random.normal(size=(outputs, others)).astype(dtype)
    return X, Z, R, c


def packed(rows):
    return PANELS[rows.dtype].pack(np.ascontiguousarray(rows.T), None, None)


def computed(X, Z, R, c, code, exponent):
    out = np.full((len(X), len(c), X.shape[1]), np.nan)
    assert _native.column_slopes(packed(X), packed(Z), code, exponent, R, c, out, None)
    return out


def by_loops(X, Z, R, c, slope):
    out = np.zeros((len(X), len(c), X.shape[1]))
    for i, j, k in itertools.product(range(len(X)), range(len(Z)), range(X.shape[1])):
        out[i, :, k] += float(R[i, j]) * c[:, j] * slope(float(X[i, k]), float(Z[j, k]))
    return out


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("code", "exponent", "slope"), SLOPES, ids=IDS)
def test_every_slope(code, exponent, slope, dtype):
    X, Z, R, c = arrays(6, 11, 7, 3, dtype)
    wanted = by_loops(X, Z, R, c, slope)
    found = computed(X, Z, R, c, code, exponent)
    rounding = 3e-6 if dtype == np.float32 else 1e-13
    np.testing.assert_allclose(found, wanted, atol=rounding * max(1.0, np.abs(wanted).max()))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("columns", range(1, 30))
def test_widths(columns, dtype):
    X, Z, R, c = arrays(3, 5, columns, 2, dtype)
    wanted = by_loops(X, Z, R, c, SLOPES[1][2])
    found = computed(X, Z, R, c, 1, 1.0)
    np.testing.assert_allclose(found, wanted, atol=1e-5 if dtype == np.float32 else 1e-13)


@pytest.mark.parametrize("outputs", range(1, 10))
@pytest.mark.parametrize(("points", "others"), [(1, 1), (33, 257), (65, 255), (2, 513)])
def test_sizes(points, others, outputs):
    """Whole blocks, and what is left of them."""
    X, Z, R, c = arrays(points, others, 13, outputs, np.float64)
    signs = np.sign(X[:, None, :] - Z[None, :, :])
    wanted = np.einsum("ij,fj,ijc->ifc", R, c, signs)
    np.testing.assert_allclose(computed(X, Z, R, c, 1, 1.0), wanted, atol=1e-11)


def test_nothing():
    for points, others, columns, outputs in [(0, 3, 2, 1), (3, 0, 2, 1), (3, 2, 2, 0)]:
        X, Z, R, c = arrays(points, others, columns, outputs, np.float64)
        found = computed(X, Z, R, c, 1, 1.0)
        assert found.shape == (points, outputs, columns)
        assert not found.any()


def test_threads_change_nothing():
    X, Z, R, c = arrays(70, 900, 40, 3, np.float32)
    before, found = _native.num_threads(), []
    try:
        for threads in (1, 2, 3):
            _native.set_num_threads(threads)
            found.append(computed(X, Z, R, c, 1, 1.0))
    finally:
        _native.set_num_threads(before)
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


def test_a_missing_factor_shows():
    X, Z, R, c = arrays(3, 5, 4, 1, np.float64)
    R[1, 2] = np.nan
    found = computed(X, Z, R, c, 1, 1.0)
    assert np.isnan(found[1]).all()
    assert np.isfinite(found[[0, 2]]).all()


def test_it_stops():
    X, Z, R, c = arrays(600, 3000, 60, 4, np.float64)
    out = np.empty((600, 4, 60))
    asked = threading.Event()

    def stop():
        asked.set()
        return True

    assert not _native.column_slopes(packed(X), packed(Z), 4, 0.7, R, c, out, stop)
    assert asked.is_set()


def changed(**changes):
    X, Z, R, c = arrays(3, 5, 4, 2, np.float64)
    arguments = {
        "left": packed(X),
        "right": packed(Z),
        "slope": 1,
        "exponent": 1.0,
        "factors": R,
        "coefficients": c,
        "out": np.empty((3, 2, 4)),
        "stop": None,
    }
    return _native.column_slopes(**(arguments | changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"slope": 5}, "unknown slope"),
        ({"slope": -1}, "unknown slope"),
        ({"exponent": 0.0}, "above 0"),
        ({"exponent": np.nan}, "above 0"),
        ({"factors": np.ones((5, 3))}, "factors must have"),
        ({"factors": np.ones((3, 4))}, "factors must have"),
        ({"coefficients": np.ones((2, 4))}, "coefficients must have"),
        ({"out": np.empty((3, 2, 5))}, "out must have"),
        ({"out": np.empty((3, 3, 4))}, "out must have"),
        ({"out": np.empty((2, 2, 4))}, "out must have"),
        ({"right": packed(np.ones((5, 6)))}, "same columns"),
    ],
)
def test_what_does_not_fit_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        changed(**changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"factors": np.ones((3, 5), dtype=np.float32)},
        {"factors": np.ones((3, 5), order="F")},
        {"coefficients": np.ones((2, 5), dtype=np.int64)},
        {"out": np.empty((3, 2, 4), dtype=np.float32)},
        {"out": np.empty((3, 4, 2)).transpose(0, 2, 1)},
        {"left": packed(np.ones((3, 4), dtype=np.float32))},
    ],
)
def test_nothing_is_converted(changes):
    with pytest.raises(TypeError):
        changed(**changes)


def test_it_takes_what_fits():
    assert changed() is True
