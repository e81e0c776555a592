"""The kernel model at the heart of a pipeline, a search or an ensemble, and the points it sees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline

from ...checks import Array
from ...kernels import Kernel
from ...models import (
    SVC,
    SVR,
    KernelEstimator,
    KernelNeighborsClassifier,
    KernelNeighborsRegressor,
    KernelRidge,
    KernelRidgeClassifier,
    MKLRegressor,
)
from ...models.adaptive.base import KernelLearner
from ...models.adaptive.recursive import RecursiveMachine
from ...models.ridge.search import RidgeSearch
from ...tables import Member
from ...tables.race.judging import scores_of
from .learners import EncodedRows, member_targets, values_of
from .points import taken
from .subject import Subject

PENALTIES = ("alpha", "C", "nu", "n_neighbors")


@dataclass(frozen=True, kw_only=True, eq=False)
class Core:
    """A fitted kernel model, with the points as they reach it.

    place: which part of the whole it is, in words; "" where it is the whole. member: where it is
    one of an ensemble.
    """

    model: Any
    points: Any
    place: str = ""
    member: Member | None = None

    @property
    def is_pairwise(self) -> bool:
        """Whether the points are a Gram matrix."""
        return bool(self.model.__sklearn_tags__().input_tags.pairwise)

    @property
    def kernel(self) -> Kernel:
        """The kernel, with all parameters settled."""
        found: Kernel = self.model.kernel_
        return found

    @property
    def penalty(self) -> tuple[str, float] | None:
        """The name and the value of what keeps the model simple; None where there is none."""
        insensitive = getattr(self.model, "loss", None) == "epsilon_insensitive"
        names = ("C",) if isinstance(self.model, MKLRegressor) and insensitive else PENALTIES
        for name in names:
            for attribute in (f"{name}_", name):
                value = getattr(self.model, attribute, None)
                if isinstance(value, int | float | np.number) and not isinstance(value, bool):
                    return name, float(value)
        return None

    @property
    def width(self) -> tuple[str, float] | None:
        """The name and the value of the bandwidth of the kernel; None where it has not one."""
        for name, value in self.kernel.get_params().items():
            is_width = name.rpartition("__")[2] in ("gamma", "length_scale")
            if is_width and isinstance(value, float) and value > 0:
                return name, value
        return None

    def gram(self, rows: Array) -> Array:
        """Return the kernel values of some points with each other."""
        if self.is_pairwise:
            return np.asarray(np.asarray(self.points)[np.ix_(rows, rows)], dtype=np.float64)
        return np.asarray(self.kernel(taken(self.points, rows)), dtype=np.float64)

    def fitted_to(self, subject: Subject) -> Array:
        """Return what the model is fitted to, for all points."""
        return subject.y if self.member is None else member_targets(subject, self.member)

    def values(self, model: Any, points: Any, subject: Subject) -> Array:
        """Return what a model like this one predicts for points, as `values_of` does."""
        if self.member is None:
            return values_of(model, points, subject.classes)
        return np.asarray(subject.model._values(self.member, scores_of(model, points)))

    def twin(self, kernel: Kernel | None = None, penalty: float | None = None) -> Any:
        """Return a model like this one, not fitted, with a given kernel and penalty.

        One that searches for them is replaced by the one that it would settle on.
        """
        kernel = self.kernel if kernel is None else kernel
        options: dict[str, Any] = {"kernel": kernel}
        if self.penalty is not None:
            name, value = self.penalty
            options[name] = value if penalty is None else penalty
        model, classes = self.model, is_classifier(self.model)
        ridge = KernelRidgeClassifier if classes else KernelRidge
        if isinstance(model, RidgeSearch | RecursiveMachine):
            return ridge(fit_intercept=model.fit_intercept, **options)
        if isinstance(model, KernelLearner):
            if classes:
                return SVC(**options)
            if "alpha" in options:
                return ridge(fit_intercept=model.fit_intercept, **options)
            return SVR(epsilon=model.epsilon, **options)
        if isinstance(model, KernelNeighborsClassifier | KernelNeighborsRegressor):
            options["n_neighbors"] = round(options["n_neighbors"])
        usual = type(model)().get_params(deep=False)  # of a kernel that is given by its name
        named = {key: usual[key] for key in ("gamma", "degree", "coef0") if key in usual}
        found = type(model)(**model.get_params(deep=False))
        return found.set_params(**named, **options)


def core_of(subject: Subject) -> Core | None:
    """Return the kernel model of a subject; None where there is none."""
    return _find(subject.model, subject.X, "", subject)


def _find(model: Any, X: Any, place: str, subject: Subject) -> Core | None:
    model = getattr(model, "best_estimator_", model)
    if subject.is_automatic:
        return _heaviest(subject)
    if isinstance(model, KernelEstimator):
        return Core(model=model, points=X, place=place)
    if isinstance(model, Pipeline):
        points = model[:-1].transform(X) if len(model) > 1 else X
        return _find(model[-1], points, "the last step of the pipeline", subject)
    return None


def _heaviest(subject: Subject) -> Core | None:
    """Return the kernel model with the largest weight of an ensemble."""
    for member in subject.model.members_:
        if isinstance(member.model, KernelEstimator):
            encoder = subject.model.encoders_[member.view]
            points = EncodedRows(encoder=encoder, table=subject.table)
            place = f"the heaviest member of the ensemble, {member.name}"
            return Core(model=member.model, points=points, place=place, member=member)
    return None
