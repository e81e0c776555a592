"""Gram matrices and their order; eigenvalues and the effective dimension."""

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import make_blobs
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from mercer import SVC, AutoKernelRegressor, KernelPCA, KernelRidge, center
from mercer.checks import InputError
from mercer.kernels import Gaussian, Linear, Spectrum
from mercer.plots import GramDisplay, SpectrumDisplay

X, Y = make_blobs(30, centers=3, cluster_std=0.4, random_state=2)
KERNEL = Gaussian(0.3)


def runs(labels):
    """How many stretches of equal labels there are."""
    return 1 + sum(a != b for a, b in zip(labels[1:], labels[:-1], strict=True))


def test_the_matrix_is_that_of_the_kernel():
    display = GramDisplay.from_kernel(KERNEL, X, Y)
    assert np.allclose(display.matrix, KERNEL(X))
    shown = display.ax_.images[0].get_array()
    assert np.allclose(shown, KERNEL(X[display.order]))
    assert display.title == "Gaussian(gamma=0.3)"


def test_classes_stand_together():
    display = GramDisplay.from_kernel(KERNEL, X, np.array(["b", "c", "a"])[Y])
    assert runs(display.labels[display.order]) == 3
    assert [text.get_text() for text in display.ax_.get_xticklabels()] == ["a", "b", "c"]
    assert display.ax_.get_xticks() == pytest.approx([4.5, 14.5, 24.5])


def test_clusters_are_found_without_classes():
    display = GramDisplay.from_kernel(KERNEL, X)
    assert display.labels is None
    assert runs(Y[display.order]) == 3


def test_the_leading_eigenvector():
    display = GramDisplay.from_kernel(Linear(), X, order="eigenvector")
    _, vectors = np.linalg.eigh(center(Linear()(X)))
    along = vectors[display.order, -1]
    assert (np.diff(along) >= 0).all() or (np.diff(along) <= 0).all()


def test_numbers_are_sorted():
    display = GramDisplay.from_kernel(KERNEL, X, X[:, 0])
    assert (np.diff(X[display.order, 0]) >= 0).all()
    whole = GramDisplay.from_kernel(KERNEL, X, np.arange(30)[::-1])
    assert whole.order.tolist() == list(range(29, -1, -1))


def test_no_order():
    assert GramDisplay.from_kernel(KERNEL, X, Y, order="none").order.tolist() == list(range(30))


def test_some_of_many_points():
    display = GramDisplay.from_kernel(KERNEL, X, Y, max_points=12)
    assert display.matrix.shape == (12, 12)
    assert len(display.labels) == 12
    again = GramDisplay.from_kernel(KERNEL, X, Y, max_points=12)
    assert np.array_equal(display.matrix, again.matrix)


def test_strings_and_a_matrix():
    words = ["abab", "baba", "xyxy", "yxyx"]
    kernel = Spectrum(2).normalized()
    display = GramDisplay.from_kernel(kernel, words)
    assert {frozenset(display.order[:2]), frozenset(display.order[2:])} == {
        frozenset({0, 1}),
        frozenset({2, 3}),
    }
    given = GramDisplay.from_kernel("precomputed", kernel(words), max_points=3)
    assert given.matrix.shape == (3, 3)


def test_both_signs_are_told_apart():
    display = GramDisplay(matrix=[[1.0, -0.5], [-0.5, 1.0]])
    display.plot()
    assert display.ax_.images[0].get_clim() == (-1.0, 1.0)


def test_of_a_model():
    model = SVC(kernel=Gaussian()).fit(X, Y)
    assert np.allclose(GramDisplay.from_estimator(model, X, Y).matrix, model.kernel_(X))
    line = make_pipeline(StandardScaler(), SVC(kernel=Gaussian(0.5))).fit(X, Y)
    wanted = Gaussian(0.5)(StandardScaler().fit_transform(X))
    assert np.allclose(GramDisplay.from_estimator(line, X, Y).matrix, wanted)
    search = GridSearchCV(SVC(kernel=Gaussian(0.1)), {"kernel__gamma": [0.7]}).fit(X, Y)
    assert np.allclose(GramDisplay.from_estimator(search, X, Y).matrix, Gaussian(0.7)(X))


def test_of_an_automatic_model():
    frame = pl.DataFrame({"a": X[:, 0], "b": np.where(Y > 0, "p", "q")})
    model = AutoKernelRegressor(max_candidates=1).fit(frame, X[:, 1])
    display = GramDisplay.from_estimator(model, frame)
    member = model.members_[0]
    rows = model.encoders_[member.view].transform(frame).astype(np.float32)
    assert np.allclose(display.matrix, member.model.kernel_(rows), atol=1e-5)


def test_a_model_without_a_kernel():
    with pytest.raises(InputError, match=r"must be fitted and have a kernel.*from_kernel"):
        GramDisplay.from_estimator(DecisionTreeClassifier().fit(X, Y), X)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"matrix": np.zeros((2, 3))}, "matrix must be square"),
        ({"matrix": [[np.nan]]}, "matrix must have finite numbers"),
        ({"matrix": np.eye(2), "order": [0, 0]}, "order must have each of the numbers 0 to 1 once"),
        ({"matrix": np.eye(2), "labels": ["a"]}, r"labels must have shape \(2,\)"),
        ({"matrix": np.eye(3), "labels": ["a", "b", "a"]}, "points of a class must stand together"),
    ],
)
def test_wrong_matrices(given, message):
    with pytest.raises(InputError, match=message):
        GramDisplay(**given)


def test_wrong_orders():
    with pytest.raises(InputError, match="order='class' needs y"):
        GramDisplay.from_kernel(KERNEL, X, order="class")
    with pytest.raises(InputError, match=r"order must be one of.*Did you mean 'cluster'"):
        GramDisplay.from_kernel(KERNEL, X, order="clusters")
    with pytest.raises(InputError, match="max_points must be a whole number at least 1"):
        GramDisplay.from_kernel(KERNEL, X, max_points=0)


# --- the spectrum --------------------------------------------------------------------------------


def test_eigenvalues_of_a_kernel():
    display = SpectrumDisplay.from_kernel(KERNEL, X)
    assert np.allclose(display.eigenvalues, np.linalg.eigvalsh(KERNEL(X))[::-1])
    centred = SpectrumDisplay.from_kernel(KERNEL, X, centered=True)
    assert np.allclose(centred.eigenvalues, np.linalg.eigvalsh(center(KERNEL(X)))[::-1])


def test_the_effective_dimension():
    display = SpectrumDisplay.from_kernel(KERNEL, X)
    K = KERNEL(X)
    for alpha in (0.01, 1.0, 10.0):
        trace = np.trace(K @ np.linalg.inv(K + alpha * np.eye(30)))
        assert display.effective_dimension(alpha) == pytest.approx(trace)


def test_the_penalty_of_a_model_is_marked():
    model = KernelRidge(0.5, kernel=KERNEL).fit(X, X[:, 0])
    display = SpectrumDisplay.from_estimator(model, X)
    assert display.alpha == 0.5
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels[-1] == f"d(0.5) = {display.effective_dimension(0.5):.3g}"
    marked = display.ax_.lines[-1]
    assert marked.get_xdata()[0] == pytest.approx(display.effective_dimension(0.5))
    assert SpectrumDisplay.from_estimator(SVC(kernel=KERNEL).fit(X, Y), X).alpha is None


def test_principal_components_have_their_own():
    model = KernelPCA(4, kernel=KERNEL).fit(X)
    display = SpectrumDisplay.from_estimator(model)
    assert np.allclose(display.eigenvalues, model.eigenvalues_)
    assert display.alpha is None


def test_eigenvalues_of_some_points_stand_for_all():
    display = SpectrumDisplay.from_kernel(KERNEL, X, max_points=15)
    assert len(display.eigenvalues) == 15
    assert display.eigenvalues.sum() == pytest.approx(30.0)  # the trace, of 30 ones


def test_negative_eigenvalues_are_told_apart():
    display = SpectrumDisplay(eigenvalues=[2.0, -0.5, 1.0])
    labels = [line.get_label() for line in display.plot().lines]
    assert labels[:2] == ["eigenvalues λ", "|λ| of negative eigenvalues"]
    assert display.ax_.lines[1].get_ydata().tolist() == [0.5]
    assert display.effective_dimension(1.0) == pytest.approx(2 / 3 + 1 / 2)


def test_wrong_spectra():
    with pytest.raises(InputError, match="an eigenvalue must be above 0; got at most -1"):
        SpectrumDisplay(eigenvalues=[-1.0])
    with pytest.raises(InputError, match="eigenvalues must have at least one entry"):
        SpectrumDisplay(eigenvalues=[])
    with pytest.raises(InputError, match="alpha must be a finite number at least 0"):
        SpectrumDisplay(eigenvalues=[1.0]).effective_dimension(-1)
    with pytest.raises(InputError, match="X must be given"):
        SpectrumDisplay.from_estimator(SVC(kernel=KERNEL).fit(X, Y))
