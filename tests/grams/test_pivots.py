"""Partial Cholesky factors from randomly pivoted columns."""

import numpy as np
import pytest
import samples
from scipy.stats import chisquare

from mercer.grams import gram, partial_cholesky, pivots
from mercer.kernels import Gaussian, Linear, Polynomial

X = np.random.default_rng(2).normal(size=(60, 3))


def factor(kernel, points, rank, seed=0, **options):
    return partial_cholesky(gram(kernel, points), rank, np.random.default_rng(seed), **options)


@pytest.mark.parametrize("at_once", [1, 3, 256])
@pytest.mark.parametrize("rank", [1, 7, 40, 60, 90])
def test_what_is_left_is_the_remaining_diagonal(rank, at_once, monkeypatch):
    monkeypatch.setattr(pivots, "AT_ONCE", at_once)
    K = Gaussian(0.4)(X)
    found = factor(Gaussian(0.4), X, rank)
    size = min(rank, 60)
    assert found.values.shape == (size, 60)
    assert len(set(found.pivots.tolist())) == len(found.pivots) == size
    left = K - found.values.T @ found.values
    assert np.allclose(np.diag(left), found.remaining, rtol=0, atol=1e-13)
    assert found.remaining.min() >= 0
    assert np.linalg.eigvalsh(left).min() > -1e-12
    # Columns that were used are exact, and the factor of the pivots is triangular.
    assert np.allclose(left[:, found.pivots], 0.0, atol=1e-12)
    assert np.allclose(np.tril(found.values[:, found.pivots], -1), 0.0, atol=1e-12)
    if rank >= 60:
        assert np.allclose(left, 0.0, atol=1e-12)


def test_the_error_of_a_random_factor_is_near_the_best():
    # Epperly, Tropp, Webber: few more columns than the best rank leave about as much.
    K = Gaussian(0.1)(X)
    best = np.sort(np.linalg.eigvalsh(K))[:-10].sum()
    left = [factor(Gaussian(0.1), X, 20, seed).remaining.sum() for seed in range(20)]
    assert np.mean(left) < best
    first = [factor(Gaussian(0.1), X, 20, seed).remaining.sum() for seed in range(3)]
    assert first == left[:3]
    assert len(set(left)) == 20


def test_roots_scale_rows_and_columns():
    roots = np.random.default_rng(0).uniform(0.1, 2.0, size=60)
    scaled = Gaussian(0.4)(X) * roots * roots[:, None]
    found = factor(Gaussian(0.4), X, 60, roots=roots)
    assert np.allclose(found.values.T @ found.values, scaled, rtol=0, atol=1e-12)
    part = factor(Gaussian(0.4), X, 12, roots=roots)
    left = scaled - part.values.T @ part.values
    assert np.allclose(left[:, part.pivots], 0.0, atol=1e-13)
    assert np.allclose(np.diag(left), part.remaining, rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    ("kernel", "points", "rank"),
    [
        (Linear(), X, 3),
        (Polynomial(2, 1.0, 1.0), X, 10),
        (Gaussian(0.4), np.vstack([X, X[:40]]), 60),
        (Linear(), np.zeros((5, 2)), 0),
        (Gaussian(0.4), samples.rows(8, 3), 7),
    ],
    ids=["linear", "quadratic", "repeated", "zero", "one repeated"],
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_it_ends_where_nothing_remains(kernel, points, rank, dtype):
    found = factor(kernel, points, len(points), dtype=dtype)
    assert found.values.dtype == dtype
    if dtype == np.float64:
        assert len(found.pivots) == rank
    K = kernel(points)
    assert len(found.pivots) <= rank + 2  # rounding of single precision may look like something
    gap = np.abs(K - found.values.astype(float).T @ found.values.astype(float)).max()
    assert gap <= 200 * np.finfo(dtype).eps * max(K.max(), 1.0)


def test_the_first_pivot_is_drawn_by_the_diagonal():
    points = np.sqrt(np.arange(1.0, 7.0))[:, None] * np.eye(6)  # k(x, x) = 1, ..., 6
    random = np.random.default_rng(5)
    K = gram(Linear(), points)
    found = [partial_cholesky(K, 1, random).pivots[0] for _ in range(2100)]
    counts = np.bincount(found, minlength=6)
    assert chisquare(counts, 100.0 * np.arange(1, 7)).pvalue > 0.01


@pytest.mark.parametrize("at_once", [1, 256])
def test_the_second_pivot_is_drawn_by_what_the_first_leaves(at_once, monkeypatch):
    # Blocks of proposals follow the law of drawing one by one: P(i, j) = d_i / sum d d_j^i / sum.
    monkeypatch.setattr(pivots, "AT_ONCE", at_once)
    points = np.array([[1.0, 0.0], [0.9, 0.5], [0.0, 1.5], [1.2, 1.2]])
    H = points @ points.T
    wanted = np.zeros((4, 4))
    for i in range(4):
        left = np.maximum(np.diag(H) - H[i] ** 2 / H[i, i], 0.0)
        wanted[i] = H[i, i] / np.trace(H) * left / left.sum()
    random = np.random.default_rng(9)
    K = gram(Linear(), points)
    counts = np.zeros((4, 4))
    for _ in range(2000):
        i, j = partial_cholesky(K, 2, random).pivots
        counts[i, j] += 1
    drawn = wanted > 0
    assert counts[~drawn].sum() == 0
    assert chisquare(counts[drawn], 2000 * wanted[drawn]).pvalue > 0.01
