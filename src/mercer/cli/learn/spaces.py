"""What is tried where the user names a model and no more: kernels and penalties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...checks import Array
from ...kernels import (
    Exponential,
    Gaussian,
    Kernel,
    Linear,
    Matern,
    Spectrum,
    SubsetTree,
    WeisfeilerLehman,
)
from ...losses import Huber
from .tasks import CLASSES

# Models that search by themselves have a sibling that does not.
PLAIN = {"KernelRidgeCV": "KernelRidge", "KernelRidgeClassifierCV": "KernelRidgeClassifier"}
ALPHAS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
COSTS = (1.0, 10.0, 0.1, 100.0)
NEIGHBOURS = (5, 10, 1, 3, 20, 50)
ROBUST = 1.4826 * 1.35  # times the median deviation: where Huber's loss becomes straight


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How a model is found.

    classes, numbers: the name of the estimator for each task; None where there is none. options: of
    the estimator. penalties: what is tried of each parameter.
    """

    classes: str | None
    numbers: str | None
    options: dict[str, Any]
    penalties: dict[str, Sequence[Any]]

    def estimator(self, kind: str) -> str:
        """Return the name of the estimator."""
        return (self.classes if kind == CLASSES else self.numbers) or ""


def recipe_of(model: str, kind: str, y: Array) -> Recipe:
    """Return how a model is found for a target."""
    spread = float(np.std(y)) or 1.0 if kind != CLASSES else 1.0
    costs = [spread * cost for cost in COSTS]
    near = {"epsilon": 0.1 * spread} if kind != CLASSES else {}
    if model in ("svc", "svr"):
        return Recipe(classes="SVC", numbers="SVR", options=near, penalties={"C": costs})
    if model == "mkl":
        return Recipe(
            classes="MKLClassifier", numbers="MKLRegressor", options=near, penalties={"C": costs}
        )
    if model == "machine":
        loss: Any = "logistic" if kind == CLASSES else Huber(_robust_scale(y))
        return Recipe(
            classes="KernelMachineClassifier",
            numbers="KernelMachineRegressor",
            options={"loss": loss},
            penalties={"alpha": ALPHAS},
        )
    return _RECIPES[model]


_RECIPES = {
    "ridge": Recipe(
        classes="KernelRidgeClassifierCV",
        numbers="KernelRidgeCV",
        options={"fit_intercept": True},
        penalties={},
    ),
    "rfm": Recipe(classes="RFMClassifier", numbers="RFMRegressor", options={}, penalties={}),
    "knn": Recipe(
        classes="KernelNeighborsClassifier",
        numbers="KernelNeighborsRegressor",
        options={},
        penalties={"n_neighbors": NEIGHBOURS},
    ),
    "prototype": Recipe(
        classes="KernelPrototypeClassifier",
        numbers=None,
        options={},
        penalties={"n_prototypes": (1, 3, 5)},
    ),
    "perceptron": Recipe(
        classes="KernelPerceptron", numbers=None, options={"average": True}, penalties={}
    ),
    "fisher": Recipe(
        classes="KernelFisherDiscriminant", numbers=None, options={}, penalties={"alpha": ALPHAS}
    ),
}
MODELS = ("auto", "ridge", "svc", "svr", "mkl", "rfm", "machine", "knn", *list(_RECIPES)[3:])


def _robust_scale(y: Array) -> float:
    deviation = float(np.median(np.abs(y - np.median(y))))
    return ROBUST * (deviation or float(np.std(y)) or 1.0)


def kernels_for(points: str, X: Any) -> list[Kernel]:
    """Return kernels to try, the most likely first; points: the kind of data."""
    if points == "strings":
        return [Spectrum(k).normalized() for k in (3, 4, 2, 5)]
    if points == "trees":
        return [SubsetTree(decay=decay).normalized() for decay in (0.4, 0.8, 0.2)]
    if points == "graphs":
        return [WeisfeilerLehman(h).normalized() for h in (2, 3, 1, 4)]
    gaussian = Gaussian()
    scale = float(gaussian.resolve(gaussian.admit(X)).get_params()["gamma"])
    length = scale**-0.5
    return [
        Gaussian(0.1 * scale),
        Matern(1.5, 2.5 * length),
        Gaussian(0.3 * scale),
        Gaussian(0.03 * scale),
        Gaussian(scale),
        Exponential(4.0 * length),
        Linear(),
    ]
