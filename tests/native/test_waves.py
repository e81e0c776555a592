"""Waves: what the native class computes, and what it refuses."""

import numpy as np
import pytest
import scipy.linalg

from mercer import _native

pytestmark = pytest.mark.native

random = np.random.default_rng(2)
NONE = {np.float32: np.empty(0, np.float32), np.float64: np.empty(0)}
KINDS = [
    (np.float32, _native.Panels32, _native.Waves32, 3e-6),
    (np.float64, _native.Panels64, _native.Waves64, 1e-14),
]
each_kind = pytest.mark.parametrize(("dtype", "panels", "waves", "eps"), KINDS)


@each_kind
@pytest.mark.parametrize("rows", [1, 2, 23, 24, 25, 200])
@pytest.mark.parametrize("count", [1, 7, 24, 383, 385])
def test_cosines_and_sines_of_any_size(dtype, panels, waves, eps, rows, count):
    X = random.normal(size=(rows, 5)).astype(dtype)
    V = random.normal(size=(count, 5))
    amplitudes = random.uniform(0.5, 1.5, count).astype(dtype)
    made = waves(panels.pack(V * (2 / np.pi), None, None), amplitudes, NONE[dtype])
    out = np.full((rows + 1, 2 * count), np.nan, dtype)
    points = panels.pack(X, None, None)
    assert made.width == 2 * count
    assert made.store(points, out[:rows], None)
    angles = X.astype(np.float64) @ V.T
    wanted = np.hstack([amplitudes * np.cos(angles), amplitudes * np.sin(angles)])
    assert np.abs(out[:rows] - wanted).max() < eps * max(np.abs(angles).max(), 1.0)
    assert np.isnan(out[rows]).all()  # nothing is written beyond
    c = random.normal(size=(2 * count, 3))
    products = np.empty((rows, 3))
    assert made.multiply(points, c, products, None)
    assert np.abs(products - wanted @ c).max() < 10 * eps * np.abs(c).sum() + 1e-12


@each_kind
@pytest.mark.parametrize("size", [8, 16, 32, 1024])
def test_rotations_of_any_size(dtype, panels, waves, eps, size):
    columns, count = max(1, size - 1), size + size // 2
    X = random.normal(size=(30, columns)).astype(dtype)
    groups = -(-count // size)
    signs = random.choice([-1.0, 1.0], size=(groups, 3, size))
    radii = random.uniform(0.1, 1.0, count) * size**-1.5
    H = scipy.linalg.hadamard(size)
    whole = np.vstack([H @ (c[:, None] * (H @ (b[:, None] * (H * a)))) for a, b, c in signs])
    V = whole[:count, :columns] * radii[:, None]
    phases = random.uniform(0, 4, count).astype(dtype)
    made = waves.rotated(
        columns,
        size,
        signs.ravel().astype(dtype),
        (radii * 2 / np.pi).astype(dtype),
        np.ones(count, dtype),
        phases,
    )
    out = np.empty((30, count), dtype)
    assert made.store(panels.pack(X, None, None), out, None)
    wanted = np.cos(X.astype(np.float64) @ V.T + phases * (np.pi / 2))
    assert np.abs(out - wanted).max() < 10 * eps


def test_angles_of_many_turns_keep_their_digits():
    turns = np.array([[0.0], [1.0], [1e6], [-12345.0], [4.0e8]])
    quarters = _native.Panels64.pack(np.array([[4.0]]), None, None)
    made = _native.Waves64(quarters, np.ones(1), np.empty(0))
    out = np.empty((5, 2))
    panels = _native.Panels64.pack(turns, None, None)
    assert made.store(panels, out, None)
    assert np.array_equal(out, np.tile([1.0, 0.0], (5, 1)))  # whole turns, exactly


def test_what_is_no_number_stays_so():
    made = _native.Waves64(
        _native.Panels64.pack(np.ones((3, 2)), None, None), np.ones(3), np.empty(0)
    )
    out = np.empty((2, 6))
    made.store(_native.Panels64.pack(np.array([[np.nan, 0.0], [1.0, 1.0]]), None, None), out, None)
    assert np.isnan(out[0]).all()
    assert np.isfinite(out[1]).all()


def test_sizes_that_do_not_fit():
    frequencies = _native.Panels64.pack(np.ones((3, 2)), None, None)
    with pytest.raises(ValueError, match="every frequency needs its amplitude"):
        _native.Waves64(frequencies, np.ones(2), np.empty(0))
    with pytest.raises(ValueError, match="a phase for every frequency, or none"):
        _native.Waves64(frequencies, np.ones(3), np.ones(2))
    made = _native.Waves64(frequencies, np.ones(3), np.empty(0))
    points = _native.Panels64.pack(np.ones((4, 3)), None, None)
    with pytest.raises(ValueError, match="points must have as many columns"):
        made.store(points, np.empty((4, 6)), None)
    points = _native.Panels64.pack(np.ones((4, 2)), None, None)
    with pytest.raises(ValueError, match="a row per point and a column per feature"):
        made.store(points, np.empty((4, 3)), None)
    with pytest.raises(ValueError, match="v and out must fit"):
        made.multiply(points, np.ones((3, 1)), np.empty((4, 1)), None)
    ones = np.ones(4)
    for size, columns, signs, message in (
        (3, 2, 6 * 3, "power of two"),
        (0, 1, 3, "power of two"),
        (4, 3, 12, "at least 8"),
        (8, 9, 24, "room for all columns"),
        (8, 0, 24, "room for all columns"),
        (8, 3, 23, "three rows of signs"),
    ):
        with pytest.raises(ValueError, match=message):
            _native.Waves64.rotated(columns, size, np.ones(signs), ones, ones, np.empty(0))


def test_a_stop_is_obeyed():
    made = _native.Waves64(
        _native.Panels64.pack(random.normal(size=(4000, 50)), None, None),
        np.ones(4000),
        np.empty(0),
    )
    points = _native.Panels64.pack(random.normal(size=(4000, 50)), None, None)
    assert not made.multiply(points, np.ones((8000, 1)), np.empty((4000, 1)), lambda: True)
