"""What all displays promise: plain numbers in, axes out, given axes respected, one ink."""

import io
import re
import subprocess
import sys

import matplotlib.colors
import numpy as np
import pytest
from matplotlib.figure import Figure

from mercer import plots
from mercer.checks import InputTypeError
from mercer.plots import style

LINE = np.linspace(0.0, 1.0, 5)
TABLE = np.add.outer(LINE, LINE)

# Every display, made of plain numbers.
DISPLAYS = {
    "boundary": lambda: plots.DecisionBoundaryDisplay(
        x1=LINE,
        x2=LINE,
        scores=TABLE - 1,
        classes=["a", "b"],
        X=[[0.1, 0.2], [0.9, 0.8]],
        y=["a", "b"],
        support=[0],
        mistakes=[1],
        margin=True,
    ),
    "band": lambda: plots.RegressionBandDisplay(
        x=LINE, mean=LINE, low=LINE - 1, high=LINE + 1, X=LINE, y=LINE
    ),
    "residuals": lambda: plots.ResidualsDisplay(predicted=LINE, truth=LINE[::-1]),
    "gram": lambda: plots.GramDisplay(matrix=TABLE, labels=["a", "a", "b", "b", "b"]),
    "spectrum": lambda: plots.SpectrumDisplay(eigenvalues=[2.0, 1.0, 0.1, -0.1], alpha=0.5),
    "convergence": lambda: plots.ConvergenceDisplay(
        steps=[1, 2], series={"gap": [1.0, 0.1]}, tol=0.01
    ),
    "weights": lambda: plots.KernelWeightsDisplay(
        weights=[0.4, 0.6], history=[[0.5, 0.5], [0.4, 0.6]], most=1
    ),
    "surface": lambda: plots.SearchSurfaceDisplay(
        x=[1, 1, 100, 100], y=["p", "q", "p", "q"], scores=[0.1, 0.2, 0.3, 0.4]
    ),
    "features": lambda: plots.FeatureConvergenceDisplay(
        widths=[16, 64], errors={"a": [[0.2, 0.3], [0.1, 0.15]]}
    ),
    "embedding": lambda: plots.EmbeddingDisplay(
        Z=np.column_stack([LINE, LINE]),
        labels=["a", "b", "a", "b", "a"],
        preimages=np.arange(8.0).reshape(2, 4),
        places=[0.0, 1.0],
        image_shape=(2, 2),
    ),
    "columns": lambda: plots.ColumnRelevanceDisplay(values=[1.0, -2.0], spread=[0.1, 0.1]),
    "dependence": lambda: plots.PartialDependenceDisplay(
        values=LINE, mean=LINE, slopes=np.ones(5), points=LINE
    ),
    "confusion": lambda: plots.ConfusionDisplay(counts=[[3, 1], [0, 2]], classes=["a", "b"]),
    "calibration": lambda: plots.CalibrationDisplay(
        probabilities=[0.1, 0.9, 0.95], outcomes=[False, True, False]
    ),
    "learning": lambda: plots.LearningCurveDisplay(
        sizes=[10, 20], train_scores=[[1.0, 0.9], [1.0, 1.0]], test_scores=[[0.5, 0.6], [0.7, 0.8]]
    ),
    "validation": lambda: plots.ValidationCurveDisplay(
        values=[1, 100], train_scores=[[1.0], [1.0]], test_scores=[[0.5], [0.7]]
    ),
}


@pytest.fixture(params=DISPLAYS)
def display(request):
    return DISPLAYS[request.param]()


def svg(figure):
    stream = io.StringIO()
    figure.savefig(stream, format="svg")
    return stream.getvalue()


def test_every_display_is_here():
    named = {type(make()).__name__ for make in DISPLAYS.values()}
    assert named == {name for name in plots.__all__ if name.endswith("Display")} - {"Display"}


def test_a_new_figure_has_no_ground(display):
    axes = display.plot()
    assert axes is display.ax_
    assert axes.figure is display.figure_
    assert display.figure_.get_facecolor()[3] == 0
    assert axes.get_facecolor()[3] == 0


def test_given_axes_are_drawn_on(display):
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert display.plot(right) is right
    assert display.figure_ is figure
    assert right.has_data()
    assert not left.has_data()


def test_what_is_not_axes_is_refused(display):
    with pytest.raises(InputTypeError, match=r"ax must be Axes of matplotlib; got 'here'\."):
        display.plot("here")


def test_text_is_ink_or_stands_on_colour(display):
    axes = display.plot()
    fine = {matplotlib.colors.to_rgba(c) for c in (style.INK, style.ON_LIGHT, style.ON_DARK)}
    texts = [axes.title, axes.xaxis.label, axes.yaxis.label, *axes.texts]
    texts += [*axes.get_xticklabels(), *axes.get_yticklabels()]
    if axes.get_legend():
        texts += axes.get_legend().get_texts()
    for one in texts:
        assert matplotlib.colors.to_rgba(one.get_color()) in fine


def test_a_page_can_replace_the_ink(display):
    display.plot()
    text = svg(display.figure_)
    assert style.INK in text
    assert "#000000" not in re.sub(r"<image[^>]*>", "", text)  # nothing has matplotlib's own black
    assert len(text) < 300_000


def test_a_legend_can_be_left_out(display):
    assert display.plot(legend=False).get_legend() is None


def test_a_notebook_shows_a_picture(display):
    assert display._repr_png_().startswith(b"\x89PNG")


def test_it_can_be_drawn_twice(display):
    first, second = display.plot(), display.plot()
    assert first is not second
    assert len(first.get_children()) == len(second.get_children())


# --- matplotlib ----------------------------------------------------------------------------------


def test_without_matplotlib_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    wanted = r'mercer\.plots: matplotlib must be installed.*pip install "mercer\[plot\]"'
    with pytest.raises(plots.PackageError, match=wanted) as caught:
        DISPLAYS["band"]().plot()
    assert isinstance(caught.value, ImportError)


def test_matplotlib_is_loaded_when_something_is_drawn():
    code = "import sys, mercer.plots; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


# --- style ---------------------------------------------------------------------------------------


def test_classes_differ_in_colour_or_mark():
    looks = {(style.colour_of(code), style.mark_of(code)) for code in range(14)}
    assert len(looks) == 14


def test_names_of_columns():
    assert [style.column_name(place) for place in (0, 11)] == ["x₁", "x₁₂"]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Gaussian(gamma=0.06416744863614975)", "Gaussian(gamma=0.06417)"),
        ("Gaussian(gamma=0.5)", "Gaussian(gamma=0.5)"),
        ("Gaussian(gamma=1.23456e-05)", "Gaussian(gamma=1.235e-05)"),
        ("x" * 60, "x" * 55 + "…"),
    ],
)
def test_kernels_as_titles(text, wanted):
    assert style.kernel_text(text) == wanted


def test_a_figure_is_written_into_a_new_folder(tmp_path):
    path = style.write(DISPLAYS["band"]().plot().figure, tmp_path / "new" / "band.png", dpi=50)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_a_large_cloud_becomes_a_picture():
    X = np.random.default_rng(0).random((5000, 2))
    shown = plots.EmbeddingDisplay(Z=X, labels=np.arange(5000) % 3).plot()
    assert all(marks.get_rasterized() for marks in shown.collections)
    assert len(svg(shown.figure)) < 400_000
