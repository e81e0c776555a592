"""Decision boundaries: the scores on the plane, support vectors, mistakes, several classes."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import make_blobs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import (
    SVC,
    SVR,
    KernelNeighborsClassifier,
    KernelRidgeClassifier,
    OneClassSVM,
)
from mercer.checks import InputError
from mercer.kernels import Gaussian, Linear
from mercer.plots import DecisionBoundaryDisplay

random = np.random.default_rng(5)
X = random.normal(size=(40, 2))
Y = np.where(X[:, 0] + random.normal(0, 0.4, 40) > 0, "yes", "no")
MODEL = SVC(1.0, kernel=Gaussian(0.5)).fit(X, Y)
THREE, KINDS = make_blobs(60, centers=3, cluster_std=1.5, random_state=1)


def draw(*args, **options):
    return DecisionBoundaryDisplay.from_estimator(*args, steps=30, **options)


def test_scores_are_those_of_the_model():
    display = draw(MODEL, X, Y)
    for row, column in ((0, 0), (3, 17), (29, 29)):
        point = [[display.x1[column], display.x2[row]]]
        assert display.scores[row, column] == pytest.approx(MODEL.decision_function(point)[0])


def test_support_vectors_and_mistakes():
    display = draw(MODEL, X, Y)
    assert display.support.tolist() == MODEL.support_.tolist()
    assert display.mistakes.tolist() == np.flatnonzero(MODEL.predict(X) != Y).tolist()
    assert len(display.mistakes) > 0
    assert display.margin
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels == ["no", "yes", "support vector", "mistake"]


def test_the_plane_holds_all_points():
    display = draw(MODEL, X, Y)
    assert display.x1[0] < X[:, 0].min() < X[:, 0].max() < display.x1[-1]
    assert display.x2[0] < X[:, 1].min() < X[:, 1].max() < display.x2[-1]


def test_limits_of_the_plane():
    display = draw(MODEL, X, Y, limits=((-1, 2), (0, 5)))
    assert display.ax_.get_xlim() == (-1, 2)
    assert display.x2.tolist() == np.linspace(0, 5, 30).tolist()
    with pytest.raises(InputError, match="limits must rise; got 2 and 2"):
        draw(MODEL, X, Y, limits=((2, 2), (0, 5)))


def test_the_boundary_of_a_line_by_hand():
    # The widest street between -1 and 1 along the first axis: f(x) = x_1.
    points, y = np.array([[-1.0, 0.0], [1.0, 0.0], [-3.0, 2.0], [3.0, 2.0]]), [0, 1, 0, 1]
    display = draw(SVC(np.inf, kernel=Linear()).fit(points, y), points, y)
    assert np.allclose(display.scores, display.x1[None, :], atol=1e-6)
    assert display.support.tolist() == [0, 1]


def test_of_points_that_were_not_fitted_no_support_is_known():
    assert draw(MODEL, X + 0.1, Y).support is None
    assert draw(MODEL, X[:5], Y[:5]).support is None


def test_where_all_points_carry_the_model_none_is_marked():
    model = KernelRidgeClassifier(1.0).fit(X, Y)
    assert draw(model, X, Y).support is None
    assert len(draw(model, X, Y, support=True).support) == len(X)
    assert not draw(model, X, Y).margin


@pytest.mark.parametrize(
    "model",
    [
        KernelRidgeClassifier(1.0, kernel=Gaussian(0.3)),
        SVC(kernel=Gaussian(0.3)),
        SVC(kernel=Gaussian(0.3), decision_function_shape="ovo"),
        KernelNeighborsClassifier(5),
    ],
)
def test_several_classes_are_those_predicted(model):
    model.fit(THREE, KINDS)
    display = draw(model, THREE, KINDS)
    assert display.scores.shape == (30, 30, 3)
    grid = np.column_stack([part.ravel() for part in np.meshgrid(display.x1, display.x2)])
    assert np.array_equal(display.scores.argmax(axis=2).ravel(), model.predict(grid))
    assert not display.margin


def test_two_classes_without_scores():
    model = KernelNeighborsClassifier(3).fit(X, Y)
    display = draw(model, X, Y)
    grid = np.column_stack([part.ravel() for part in np.meshgrid(display.x1, display.x2)])
    assert np.array_equal(display.scores.ravel() > 0, model.predict(grid) == "yes")


def test_inliers_and_outliers():
    model = OneClassSVM(nu=0.2, kernel=Gaussian(0.5)).fit(X)
    display = draw(model, X)
    assert display.classes.tolist() == [-1, 1]
    assert np.array_equal(display.y, model.predict(X))
    assert display.mistakes.tolist() == []


def test_a_pipeline():
    model = make_pipeline(StandardScaler(), SVC(kernel=Gaussian(0.5))).fit(X, Y)
    display = draw(model, X, Y)
    assert display.margin
    assert display.support is None  # they are known in the units of the last step only


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_a_frame_gives_names_and_chosen_columns(make):
    wide = np.column_stack([X, random.normal(size=40)])
    frame = make({"width": wide[:, 0], "height": wide[:, 1], "noise": wide[:, 2]})
    model = SVC(kernel=Gaussian(0.5)).fit(frame, Y)
    display = draw(model, frame, Y, columns=("height", 0))
    assert display.names == ("height", "width")
    point = pd.DataFrame(
        {"width": [display.x2[4]], "height": [display.x1[9]], "noise": [wide[:, 2].mean()]}
    )
    wanted = model.decision_function(make({c: point[c].to_numpy() for c in point}))[0]
    assert display.scores[4, 9] == pytest.approx(wanted)


def test_one_class_everywhere_is_drawn():
    display = DecisionBoundaryDisplay(
        x1=[0, 1], x2=[0, 1], scores=[[1.0, 2.0], [1.0, 1.0]], classes=["a", "b"]
    )
    assert display.plot().has_data()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scores": np.zeros((2, 3))}, r"scores must have the shape \(2, 2\), for 2 classes"),
        ({"scores": [[0.0, np.nan], [0.0, 0.0]]}, "scores must have finite numbers"),
        ({"classes": ["a"]}, "for 1 classes, at least 2"),
        ({"y": None}, "y must be given with X"),
        ({"y": ["a", "c"]}, "y must have classes of the model, a, b; got 'c' in row 1"),
        ({"y": ["a"]}, r"y must have shape \(2,\)"),
        ({"X": [[0.0], [1.0]]}, r"X must have the shape \(any, 2\)"),
        ({"support": [2]}, "support must be numbers of points, from 0 to 1"),
        ({"mistakes": [-1]}, "mistakes must be numbers of points"),
    ],
)
def test_wrong_numbers(change, message):
    fine = {
        "x1": [0, 1],
        "x2": [0, 1],
        "scores": np.zeros((2, 2)),
        "classes": ["a", "b"],
        "X": np.zeros((2, 2)),
        "y": ["a", "b"],
    }
    with pytest.raises(InputError, match=message):
        DecisionBoundaryDisplay(**fine | change)


def test_wrong_points():
    with pytest.raises(InputError, match=r"must have two columns.*got 1 column\.$"):
        draw(MODEL, X[:, :1], Y)
    wide = np.column_stack([X, X])
    model = SVC().fit(wide, Y)
    with pytest.raises(InputError, match=r"got 4 columns\. Say columns=\(0, 1\)\."):
        draw(model, wide, Y)
    with pytest.raises(InputError, match="columns must name two columns; got x₁ twice"):
        draw(model, wide, Y, columns=(0, 0))
    with pytest.raises(InputError, match="column must be a whole number at least 0 and at most 3"):
        draw(model, wide, Y, columns=(0, 4))
    with pytest.raises(InputError, match=r"columns must name two columns; got \(0,\)"):
        draw(model, wide, Y, columns=(0,))
    with pytest.raises(InputError, match="X must have finite numbers"):
        draw(MODEL, [[np.nan, 0.0]], ["no"])


def test_a_wrong_model():
    model = SVR().fit(X, X[:, 0])
    with pytest.raises(InputError, match="the model must be a fitted classifier; got SVR"):
        draw(model, X)
