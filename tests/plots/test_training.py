"""Convergence from callbacks and histories; weights of kernels."""

import numpy as np
import pytest

from mercer import SVC, KernelRidge, MKLClassifier
from mercer.checks import InputError
from mercer.kernels import Gaussian, Linear
from mercer.plots import ConvergenceDisplay, KernelWeightsDisplay

random = np.random.default_rng(0)
X = random.normal(size=(50, 2))
Y = (X[:, 0] ** 2 + X[:, 1] > 0.5).astype(int)
KERNELS = [Linear(), Gaussian(0.1), Gaussian(1.0), Gaussian(10.0)]
LEARNT = MKLClassifier(KERNELS, algorithm="simple", gap_tol=1e-3).fit(X, Y)


def test_records_of_a_callback():
    records = []
    KernelRidge(0.01, solver="cg", callback=records.append).fit(X, X[:, 0])
    display = ConvergenceDisplay.from_records(records, tol=1e-4)
    assert display.series["residual"].tolist() == [one["residual"] for one in records]
    assert display.steps.tolist() == [one["iteration"] for one in records]
    assert display.name == "iteration"
    assert display.ax_.get_yscale() == "log"
    assert "asked for: 0.0001" in [t.get_text() for t in display.ax_.get_legend().get_texts()]


def test_the_history_of_a_model():
    display = ConvergenceDisplay.from_estimator(LEARNT)
    assert display.series["gap"].tolist() == LEARNT.history_["gap"].tolist()
    assert display.steps.tolist() == LEARNT.history_["solves"].tolist()
    objective = ConvergenceDisplay.from_estimator(LEARNT, quantities=["objective"], log=False)
    assert objective.series["objective"].tolist() == LEARNT.history_["objective"].tolist()
    assert objective.ax_.get_yscale() == "linear"


def test_zero_is_left_out_of_a_logarithmic_axis():
    display = ConvergenceDisplay(steps=[1, 2, 3], series={"gap": [1.0, 0.0, 0.1]})
    display.plot()
    assert display.ax_.lines[0].get_xdata().tolist() == [1.0, 3.0]


def test_wrong_records():
    with pytest.raises(InputError, match="records must have at least one entry"):
        ConvergenceDisplay.from_records([])
    with pytest.raises(InputError, match="quantities must be among 'loss'; got none of residual"):
        ConvergenceDisplay.from_records([{"loss": 1.0, "fraction": 0.5}])
    with pytest.raises(InputError, match="quantities must be among 'gap'; got 'gop'"):
        ConvergenceDisplay.from_records([{"gap": 1.0}], quantities=["gop"])
    with pytest.raises(InputError, match=r"must keep a history.*got SVC.*callback=records.append"):
        ConvergenceDisplay.from_estimator(SVC().fit(X, Y))
    with pytest.raises(InputError, match=r"series\['gap'\] must have shape \(2,\)"):
        ConvergenceDisplay(steps=[1, 2], series={"gap": [1.0]})


# --- weights -------------------------------------------------------------------------------------


def test_weights_by_step():
    display = KernelWeightsDisplay.from_estimator(LEARNT, most=2)
    assert np.array_equal(display.history, LEARNT.history_["weights"])
    assert display.names == tuple(repr(kernel) for kernel in KERNELS)
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    heaviest = np.argsort(-LEARNT.weights_)[:2]
    assert labels == [*(repr(KERNELS[place]) for place in heaviest), "2 others"]


def test_weights_as_bars():
    display = KernelWeightsDisplay.from_estimator(LEARNT, by="bar", names=["a", "b", "c", "d"])
    assert [bar.get_width() for bar in display.ax_.patches] == LEARNT.weights_.tolist()
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == ["a", "b", "c", "d"]


def test_kernels_that_the_model_has_chosen_itself():
    model = MKLClassifier().fit(X, Y)
    display = KernelWeightsDisplay.from_estimator(model)
    for weight, name in zip(model.weights_, display.names, strict=True):
        assert (name in str(model.kernel_)) == (weight > 0)


def test_wrong_weights():
    with pytest.raises(InputError, match=r"must have weights of kernels.*got SVC"):
        KernelWeightsDisplay.from_estimator(SVC().fit(X, Y))
    with pytest.raises(InputError, match="names must have one name for each of 2 kernels; got 1"):
        KernelWeightsDisplay(weights=[1.0, 2.0], names=["a"])
    with pytest.raises(InputError, match=r"history must have the shape \(any, 2\)"):
        KernelWeightsDisplay(weights=[1.0, 2.0], history=[[1.0]])
    with pytest.raises(InputError, match="by must be one of"):
        KernelWeightsDisplay.from_estimator(LEARNT, by="pie")
