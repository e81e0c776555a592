"""Sums of powers of distances in native code, over the whole range of numbers."""

import numpy as np
import pytest

from mercer import _native

pytestmark = pytest.mark.native

PANELS = {np.float32: _native.Panels32, np.float64: _native.Panels64}
JOBS = {np.float32: _native.Job32, np.float64: _native.Job64}
POWER, DECAY = 7, 8  # in the enumeration of statistics


def statistic(code, exponent, distances, dtype):
    """What native code makes of the distances of points to the point 0, in a single column."""
    points = np.array(distances, dtype=dtype)[:, None]
    job = JOBS[dtype](
        1,
        len(points),
        False,
        [code],
        [PANELS[dtype].pack(np.zeros((1, 1), dtype=dtype), None, None)],
        [PANELS[dtype].pack(points, None, None)],
        [np.zeros(0, dtype=dtype)],
        [0.0],
        [np.zeros((1, 4), dtype=np.int32)],
        [np.zeros((1, 2))],
        [],
        [],
        [],
        [exponent],
    )
    out = np.empty((1, len(points)), dtype=dtype)
    assert job.store([out], None)
    return points[:, 0].astype(np.float64), out[0]


EXPONENTS = [0.1, 0.25, 0.5, 0.7, 0.999, 1.0, 1.001, 1.3, 1.5, 1.9, 1.999, 2.0, 2.7]


@pytest.mark.parametrize("exponent", EXPONENTS)
@pytest.mark.parametrize(("dtype", "rounding"), [(np.float32, 1e-6), (np.float64, 1e-14)])
def test_powers(exponent, dtype, rounding):
    near = np.concatenate([[0.0, 1.0], np.geomspace(1e-3, 1e3, 3001)])
    x, found = statistic(POWER, exponent, near, dtype)
    # The exponent of 2 is rounded before it is split, where the power is above 2.
    rounding *= 4 if exponent > 2 else 1
    np.testing.assert_allclose(found, x ** float(dtype(exponent)), rtol=rounding)
    assert found[0] == 0.0
    assert found[1] == 1.0


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_powers_of_tiny_and_huge_distances(exponent):
    x, found = statistic(POWER, exponent, np.geomspace(1e-36, 1e12, 500), np.float32)
    wanted = x ** float(np.float32(exponent))
    np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=2e-19)
    assert (np.diff(found) >= 0).all()


@pytest.mark.parametrize("exponent", EXPONENTS)
@pytest.mark.parametrize(("dtype", "rounding"), [(np.float32, 3e-7), (np.float64, 1e-15)])
def test_decays(exponent, dtype, rounding):
    x, found = statistic(DECAY, exponent, [0.0, *np.geomspace(1e-3, 1e3, 3000)], dtype)
    np.testing.assert_allclose(found, -np.expm1(-(x**exponent)), atol=rounding)
    assert found[0] == 0.0
