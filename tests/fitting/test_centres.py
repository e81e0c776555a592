"""Centres that are moved to the means of what is nearest to them."""

import numpy as np
import scipy.sparse

from mercer import prepare
from mercer.fitting.centres import moved_to_means
from mercer.kernels import Gaussian, Spectrum
from mercer.monitor import Monitor

X = np.random.default_rng(0).normal(size=(90, 3))


def moved(kernel, points, chosen):
    prepared = prepare(kernel, points)
    few = prepared.take(np.asarray(chosen))
    return few, *moved_to_means(prepared, few, np.random.default_rng(0), Monitor())


def test_each_centre_is_the_mean_of_its_nearest_points():
    chosen = np.arange(0, 90, 9)
    _, found, share = moved(Gaussian(gamma=0.5), X, chosen)
    squares = ((X[:, None] - X[chosen]) ** 2).sum(axis=2)
    nearest = squares.argmin(axis=1)
    wanted = [X[nearest == j].mean(axis=0) for j in range(len(chosen))]
    np.testing.assert_allclose(found.points.values, wanted, atol=1e-12)
    np.testing.assert_array_equal(share, np.bincount(nearest))
    assert found.kernel == Gaussian(gamma=0.5)


def test_a_centre_without_points_stays_where_it_is():
    points = np.vstack([X, X[:1]])  # the same point twice: the second is nearest to none
    _, found, share = moved(Gaussian(gamma=0.5), points, [0, 40, 90])
    np.testing.assert_array_equal(found.points.values[2], X[0])
    assert share[2] == 0.5


def test_what_has_no_mean_is_not_moved():
    words = ["anna", "banana", "coco", "cocoa"]
    for kernel, points in ((Spectrum(2), words), (Gaussian(gamma=0.5), scipy.sparse.csr_array(X))):
        few, found, share = moved(kernel, points, [0, 2])
        assert found is few
        np.testing.assert_array_equal(share, [1, 1])
