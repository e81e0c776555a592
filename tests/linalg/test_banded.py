"""Symmetric matrices in a band: the same matrix, the same solutions, stoppable."""

import numpy as np
import pytest

from mercer.linalg import banded
from mercer.linalg.banded import Banded
from mercer.linalg.cholesky import NotPositiveDefinite
from mercer.monitor import Monitor, Stopped

random = np.random.default_rng(5)


def symmetric(n):
    A = random.normal(size=(n, n))
    return A + A.T


def dense(band):
    """B from its diagonals."""
    out = np.zeros((band.n, band.n))
    for i in range(band.width + 1):
        rows = np.arange(band.n - i)
        out[rows + i, rows] = out[rows, rows + i] = band.band[i, : band.n - i]
    return out


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 9, 20, 41])
@pytest.mark.parametrize("width", [1, 4, 64])
def test_it_is_the_same_matrix(n, width, monkeypatch):
    monkeypatch.setattr(banded, "WIDTH", width)
    A = symmetric(n)
    kept = A.copy()
    band = Banded(A, Monitor())
    assert np.array_equal(A, kept)
    assert band.width <= max(width, 1)
    Q = band.from_band(np.eye(n))
    np.testing.assert_allclose(Q @ Q.T, np.eye(n), atol=1e-13)
    np.testing.assert_allclose(Q @ dense(band) @ Q.T, A, atol=1e-12)
    np.testing.assert_allclose(band.to_band(np.eye(n)), Q.T, atol=1e-13)


@pytest.mark.parametrize("overwrite", [False, True])
def test_only_the_lower_half_is_read(overwrite, monkeypatch):
    monkeypatch.setattr(banded, "WIDTH", 3)
    A = symmetric(20)
    half = np.asfortranarray(np.tril(A))
    half[np.triu_indices(20, 1)] = np.nan
    band = Banded(half, Monitor(), overwrite)
    np.testing.assert_allclose(np.linalg.eigvalsh(dense(band)), np.linalg.eigvalsh(A), atol=1e-12)


def test_shifted_systems():
    A = symmetric(150)
    A = A @ A
    right = random.normal(size=(150, 3))
    kept = right.copy()
    band = Banded(A, Monitor())
    turned = band.to_band(right)
    assert np.array_equal(right, kept)
    for alpha in (0.5, 30.0):
        found = band.from_band(band.solve(alpha, turned))
        wanted = np.linalg.solve(A + alpha * np.eye(150), right)
        np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-10)
    with pytest.raises(NotPositiveDefinite):
        band.solve(-2 * np.linalg.eigvalsh(A)[-1], turned)


def test_it_can_be_stopped(monkeypatch):
    monkeypatch.setattr(banded, "WIDTH", 4)
    told = []

    def stop_halfway(what, fraction):
        told.append((what, fraction))
        if fraction > 0.5:
            monitor.cancel()

    monitor = Monitor(progress=stop_halfway)
    with pytest.raises(Stopped):
        Banded(symmetric(60), monitor)
    assert {what for what, _ in told} == {"band"}
    assert [fraction for _, fraction in told] == sorted(fraction for _, fraction in told)
    assert told[-1][1] < 0.7
