"""Searches over points in blocks."""

import numpy as np
import pytest
from sklearn.model_selection import KFold

from mercer import SVC, KernelMachineClassifier, KernelRidge, tune
from mercer.inputs import RowBlocks
from mercer.kernels import Gaussian

random = np.random.default_rng(0)
X = random.normal(size=(120, 2))
Y = np.sin(2 * X[:, 0]) + X[:, 1]
CLASSES = np.where(Y > 0, "high", "low")
WEIGHT = random.uniform(0.5, 2.0, len(X))
WEIGHT[:40] = 0.0  # all of the first block
RIDGE = KernelRidge(kernel=Gaussian(0.5), solver="nystrom", n_centers=30, random_state=0)
MACHINE = KernelMachineClassifier(
    kernel=Gaussian(0.5), solver="nystrom", n_centers=30, tol=1e-9, random_state=0
)
BOUNDS = {"alpha": (1e-3, 1.0), "kernel__gamma": (0.1, 1.0)}


@pytest.mark.parametrize(
    ("model", "y", "space", "options"),
    [
        (RIDGE, Y, {"alpha": [0.01, 1.0]}, {}),
        (RIDGE, Y, {"alpha": [0.01, 1.0]}, {"sample_weight": WEIGHT}),
        (RIDGE, Y, {"kernel__gamma": [0.1, 1.0]}, {"cv": KFold(3, shuffle=True, random_state=0)}),
        (RIDGE, Y, BOUNDS, {"method": "random", "n_iter": 3}),
        (RIDGE, Y, BOUNDS, {"method": "halving", "n_iter": 3}),
        (MACHINE, CLASSES, {"alpha": [0.1, 1.0]}, {"scoring": "neg_log_loss"}),
        (SVC(kernel=Gaussian(0.5)), CLASSES, {"C": [0.1, 1.0]}, {}),
    ],
)
def test_scores_are_those_of_rows(model, y, space, options):
    options = {"random_state": 0, "cv": 3} | options
    found = tune(model, RowBlocks.split(X, 40), y, space, **options)
    wanted = tune(model, X, y, space, **options)
    scores = [one.table["mean_test_score"] for one in (found, wanted)]
    assert np.allclose(*scores, rtol=0, atol=1e-8)
    assert found.params == wanted.params


def test_there_is_no_gradient_for_blocks():
    found = tune(RIDGE, RowBlocks.split(X, 40), Y, BOUNDS, n_iter=2, cv=3)
    assert found.method == "random"
    with pytest.raises(ValueError, match="leave-one-out needs all points at once; got row blocks"):
        tune(RIDGE, RowBlocks.split(X, 40), Y, BOUNDS, method="gradient")
