"""Errors of random features; embeddings with pre-images."""

import numpy as np
import pytest
from sklearn.decomposition import PCA

from mercer import KernelPCA
from mercer.checks import InputError
from mercer.features import ExplicitMap, Nystrom, RandomFourier
from mercer.kernels import Gaussian, Linear, Polynomial
from mercer.plots import EmbeddingDisplay, FeatureConvergenceDisplay

X = np.random.default_rng(0).normal(size=(40, 3))
KERNEL = Gaussian(0.2)


def test_errors_are_those_of_pairs():
    phi = RandomFourier(KERNEL, method="iid")
    display = FeatureConvergenceDisplay.from_estimator(phi, X, widths=[8, 32], n_repeats=2)
    table = display.errors["RandomFourier"]
    for place, width in enumerate((8, 32)):
        for seed in range(2):
            made = RandomFourier(KERNEL, width, method="iid", random_state=seed).fit_transform(X)
            gaps = [
                made[i] @ made[j] - KERNEL(X[[i]], X[[j]])[0, 0]
                for i in range(40)
                for j in range(40)
                if i != j
            ]
            assert table[place, seed] == pytest.approx(np.sqrt(np.mean(np.square(gaps))), rel=1e-6)


def test_more_features_are_nearer_and_the_line_is_that_of_the_first():
    maps = {"waves": RandomFourier(KERNEL), "points": Nystrom(KERNEL)}
    display = FeatureConvergenceDisplay.from_estimator(maps, X, widths=[4, 32], max_points=35)
    assert all(table[1].mean() < table[0].mean() for table in display.errors.values())
    line = display.ax_.lines[-1]
    assert line.get_label() == "∝ 1/√D"
    assert line.get_ydata()[0] == pytest.approx(display.errors["waves"][0].mean())
    assert line.get_ydata()[0] / line.get_ydata()[1] == pytest.approx(np.sqrt(8))


def test_wrong_maps():
    with pytest.raises(InputError, match="must have a number of features, n_components"):
        FeatureConvergenceDisplay.from_estimator(ExplicitMap(Polynomial(2)), X)
    with pytest.raises(InputError, match=r"errors\['a'\] must have 2 rows, one for each width"):
        FeatureConvergenceDisplay(widths=[1, 2], errors={"a": [1.0]})
    with pytest.raises(InputError, match="widths must be above 0; got 0"):
        FeatureConvergenceDisplay(widths=[0], errors={"a": [1.0]})
    with pytest.raises(InputError, match="maps must have at least one entry"):
        FeatureConvergenceDisplay.from_estimator({}, X)


# --- embeddings ----------------------------------------------------------------------------------


def test_components_are_those_of_the_model():
    model = KernelPCA(3, kernel=KERNEL).fit(X)
    display = EmbeddingDisplay.from_estimator(model, X, components=(2, 0))
    assert np.array_equal(display.Z, model.transform(X)[:, [2, 0]])
    share = 100 * model.explained_variance_ratio_[2]
    assert display.names[0] == f"component 3 ({share:.0f} % of the variance)"


def test_pre_images_move_along_the_component():
    model = KernelPCA(2, kernel=Linear()).fit(X)
    display = EmbeddingDisplay.from_estimator(model, X, n_preimages=3)
    assert np.allclose(display.places, np.quantile(display.Z[:, 0], [0.02, 0.5, 0.98]))
    # For the linear kernel the pre-image is exact: its components are those asked for.
    back = model.transform(display.preimages)
    assert np.allclose(back[:, 0], display.places, atol=1e-8)
    assert np.allclose(back[:, 1], display.Z[:, 1].mean(), atol=1e-8)
    assert len(display.ax_.child_axes) == 4  # and one for the words below


def test_pictures_below():
    pixels = np.random.default_rng(1).random((20, 6))
    model = KernelPCA(2, kernel=Linear()).fit(pixels)
    display = EmbeddingDisplay.from_estimator(model, pixels, n_preimages=2, image_shape=(2, 3))
    shown = [small.images[0].get_array() for small in display.ax_.child_axes[:2]]
    assert np.allclose(shown[0], display.preimages[0].reshape(2, 3))


def test_captions_stay_on_the_page():
    model = KernelPCA(2, kernel=Linear()).fit(X)
    display = EmbeddingDisplay.from_estimator(model, X, n_preimages=3)
    figure = display.figure_
    figure.draw_without_rendering()
    boxes = [small.get_tightbbox() for small in display.ax_.child_axes]
    assert min(box.y0 for box in boxes) >= 0


def test_numbers_are_shaded_and_classes_named():
    classes = EmbeddingDisplay.from_estimator(PCA(2).fit(X), X, np.where(X[:, 0] > 0, "p", "n"))
    assert [text.get_text() for text in classes.ax_.get_legend().get_texts()] == ["n", "p"]
    numbers = EmbeddingDisplay.from_estimator(PCA(2).fit(X), X, X[:, 0])
    assert np.allclose(numbers.ax_.collections[0].get_array(), X[:, 0])


def test_wrong_embeddings():
    with pytest.raises(InputError, match="must have at least two components"):
        EmbeddingDisplay.from_estimator(KernelPCA(1).fit(X), X)
    with pytest.raises(InputError, match="components must be a whole number at least 0 and at m"):
        EmbeddingDisplay.from_estimator(KernelPCA(2).fit(X), X, components=(0, 2))
    with pytest.raises(InputError, match="must have a method transform; got Linear"):
        EmbeddingDisplay.from_estimator(Linear(), X)
    with pytest.raises(InputError, match="places must be given with preimages"):
        EmbeddingDisplay(Z=X[:, :2], preimages=X)
    with pytest.raises(InputError, match="image_shape must have 3 places in all; got 2 x 2"):
        EmbeddingDisplay(Z=X[:, :2], preimages=X, places=X[:, 0], image_shape=(2, 2))
