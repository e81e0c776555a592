"""Searches of ridge models along the gradient of leave-one-out errors, or of the evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.metrics import check_scoring

from ..checks import Array, InputError, KernelError, nearest, sentence
from ..fitting.cross_validation import HeldOut, HeldOutClasses, HeldOutNumbers, weight_option
from ..fitting.ridge.tuning import PREFIX, Coordinate, RidgeObjective
from ..grams.slopes.parameters import ParameterSlopes
from ..grams.slopes.tagged import points_of
from ..inputs import Input, RowBlocks
from ..kernels import Kernel
from ..kernels.pairs import as_matrix
from ..models.contract.targets import numbers_of
from ..models.ridge.classifier import KernelRidgeClassifier
from ..models.ridge.regressor import KernelRidge
from ..monitor import Monitor, Stopped
from ..solvers import RidgeProblem
from ..solvers.ridge.criteria import Evidence, LeaveOneOut, LogisticLoss, SquaredError
from ..status import Status
from ..typing import Estimator, LabelsLike, PointsLike, Scoring, TargetsLike
from .spaces import PerColumn, draw, is_bounds, is_distribution

SMALL = 1000  # points on which starts are compared
WHOLE = 5000  # points up to which all of K is used: an evaluation takes 2 n**3 operations
WORK = 1.6e10  # of points times squared centres beyond that: it takes some 8 times as many
LEAST_CENTRES, MOST_CENTRES = 500, 1500
SETTLED = 2000  # points on which alpha is settled after a search with few centres
FOLLOWED = 3  # starts that are followed to their end
STEPS = 200  # of one of them
TOLERANCE = 1e-6  # relative fall of the criterion that ends the search
ROUGH = 1e-4  # the same on a part of the points, which leads to a start
FAILED = 1e300  # in the place of an infinite criterion, which L-BFGS-B cannot take
EVIDENCE = "evidence"
SMOOTH: dict[Any, dict[Any, Any]] = {
    KernelRidge: {
        None: LeaveOneOut(SquaredError()),
        "r2": LeaveOneOut(SquaredError()),
        "neg_mean_squared_error": LeaveOneOut(SquaredError()),
        "neg_root_mean_squared_error": LeaveOneOut(SquaredError()),
        EVIDENCE: Evidence(),
    },
    KernelRidgeClassifier: {
        None: LeaveOneOut(SquaredError()),
        "accuracy": LeaveOneOut(SquaredError()),
        "neg_log_loss": LeaveOneOut(LogisticLoss()),
        EVIDENCE: Evidence(),
    },
}


Seen = tuple[dict[str, Any], float, float]  # parameters, score, criterion


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A ridge model to be tuned.

    score: takes the criterion, the values that points get from models without them, and their rows.
    """

    objective: RidgeObjective
    score: Callable[[float, Array, Array], float]
    spaces: tuple[Any, ...]

    def first(self) -> Array:
        """Return where a search starts: at the parameters as they are, "scale" by the points."""
        alpha = float(self.objective.problem.alpha[0])
        known = self.objective.kernel.get_params() | {"alpha": alpha}
        return np.concatenate(
            [one.inner(known[one.name.removeprefix(PREFIX)]) for one in self._coordinates()]
        )

    def drawn(self, random: np.random.Generator) -> Array:
        """Return another place to start from."""
        pairs = zip(self._coordinates(), self.spaces, strict=True)
        return np.concatenate([one.inner(draw(value, random, one.size)) for one, value in pairs])

    def _coordinates(self) -> tuple[Coordinate, ...]:
        return self.objective.coordinates

    def bounds(self) -> list[tuple[float, float]]:
        """Return the bounds of the numbers that are searched."""
        return [ends for one in self._coordinates() for ends in one.bounds()]


def reason_against(estimator: Estimator, space: Mapping[str, Any], scoring: Scoring) -> str | None:
    """Return why a search cannot follow a gradient, in words; None if it may."""
    if type(estimator) not in SMOOTH:
        return f"{type(estimator).__name__}, which is no ridge model"
    if not (scoring is None or isinstance(scoring, str)):
        return "a scorer without a derivative"
    if scoring not in SMOOTH[type(estimator)]:
        return f"scoring={scoring!r}, which has no derivative"
    if "alpha" not in space and np.ndim(getattr(estimator, "alpha", 1.0)):
        return "one alpha for each output"
    for name, value in space.items():
        if _ends(value) is None:
            return f"space[{name!r}], which has no bounds"
        if name != "alpha" and not name.startswith(PREFIX):
            return f"{name}, which is neither alpha nor a parameter of the kernel"
    return None


def _ends(value: Any) -> tuple[float, float] | None:
    """Return the bounds of the real numbers that a value of a space stands for."""
    if isinstance(value, PerColumn):
        return value.low, value.high
    if is_bounds(value):
        return float(value[0]), float(value[1])
    if is_distribution(value) and hasattr(value, "pdf") and hasattr(value, "support"):
        low, high = value.support()
        return (float(low), float(high)) if np.isfinite([low, high]).all() else None
    return None


def ridge_problem(
    estimator: Estimator,
    X: PointsLike,
    y: TargetsLike | LabelsLike,
    space: Mapping[str, Any],
    scoring: Scoring,
    weight: Array | None,
    monitor: Monitor,
) -> Problem:
    """Return what is to be minimised; KernelError where a parameter has no derivative."""
    model = clone(estimator)
    points = model._check_fit(X)
    if isinstance(points, RowBlocks):
        raise KernelError(sentence("tune", "leave-one-out needs all points at once", points.kind))
    given = _given(model, y, len(points), weight)
    kernel, coordinates = _coordinates(
        model._kernel().resolve(points, given.problem.weight), space, points
    )
    rows = np.arange(len(points))
    if given.problem.weight is not None:
        rows = np.flatnonzero(given.problem.weight)  # a point without weight has no say
    problem = given.problem.take(rows)
    scale = float(np.sqrt(np.mean(problem.targets**2))) or 1.0
    objective = RidgeObjective(
        points=points if len(rows) == len(points) else points.take(rows),
        rows=rows,
        problem=replace(problem, targets=problem.targets / scale),
        kernel=kernel,
        coordinates=coordinates,
        criterion=SMOOTH[type(estimator)][scoring],
        monitor=monitor,
    )

    score = _Score(given=given, scoring=scoring, scale=scale, weight=weight)
    return Problem(objective=objective, score=score, spaces=tuple(space.values()))


@dataclass(frozen=True, kw_only=True)
class _Given:
    """What a model is to fit, how values become predictions, and what these are compared with."""

    problem: RidgeProblem
    known: Callable[[Array], HeldOut]
    truth: Any


@dataclass(frozen=True, kw_only=True)
class _Score:
    """The score that goes with a criterion.

    scale: by what the targets were divided. weight: of the samples, where there are any.
    """

    given: _Given
    scoring: Any
    scale: float
    weight: Array | None

    def __call__(self, value: float, left_out: Array, rows: Array) -> float:
        if not np.isfinite(value):
            return np.nan
        if self.scoring == EVIDENCE:
            return -left_out.size * (value + float(np.log(self.scale)))
        weight = None if self.weight is None else self.weight[rows]
        if self.scoring == "neg_log_loss":
            return -LogisticLoss().of(self.given.problem.targets[rows], left_out, weight)[0]
        held = self.given.known(self.scale * left_out)
        scorer = check_scoring(held, self.scoring)
        option = weight_option(scorer, weight)
        return float(scorer(held, np.arange(len(rows)), self.given.truth[rows], **option))


def _given(model: Any, y: Any, n: int, weight: Array | None) -> _Given:
    if isinstance(model, KernelRidge):
        targets, flat = numbers_of(model, y, n)
        truth = targets[:, 0] if flat else targets
        return _Given(
            problem=_problem(model, targets, weight, None),
            known=lambda v: HeldOutNumbers(v[:, 0] if flat else v),
            truth=truth,
        )
    labels = model._encode(y, n, weight)
    single = labels.targets.shape[1] == 1 and not model._multilabel
    truth = labels.codes if model._multilabel else model.classes_[labels.codes]

    def known(values: Array) -> HeldOut:
        shown = values[:, 0] if single else values
        return HeldOutClasses(shown, model.classes_, model._decide)

    problem = _problem(model, labels.targets, labels.weight, labels.copies)
    return _Given(problem=problem, known=known, truth=truth)


def _problem(
    model: Any, targets: Array, weight: Array | None, copies: Array | None
) -> RidgeProblem:
    alpha = 1.0 if np.ndim(model.alpha) else float(model.alpha)
    return RidgeProblem(
        targets=targets,
        alpha=np.full(targets.shape[1], alpha),
        weight=weight,
        intercept=bool(model.fit_intercept),
        copies=copies,
    )


def _coordinates(
    kernel: Kernel, space: Mapping[str, Any], points: Input
) -> tuple[Kernel, tuple[Coordinate, ...]]:
    """Return the kernel with one number per column where asked for, and what is searched."""
    found = []
    known = kernel.get_params()
    for name, value in space.items():
        low, high = _ends(value) or (0.0, 0.0)
        size, inner = None, name.removeprefix(PREFIX)
        if name != "alpha" and inner not in known:
            must = f"the kernel's parameters are {', '.join(sorted(known))}"
            raise InputError(sentence("tune", must, repr(inner), nearest(inner, known)))
        if isinstance(value, PerColumn):
            if name == "alpha":
                raise InputError(sentence("tune", "alpha is no parameter per column", "PerColumn"))
            size = as_matrix(points_of(kernel, inner, points)).n_columns
            start = known[inner]
            if not isinstance(start, tuple):
                kernel = kernel.replace(**{inner: (start,) * size})
        found.append(Coordinate(name=name, low=low, high=high, size=size))
    names = [one.name.removeprefix(PREFIX) for one in found if one.name != "alpha"]
    ParameterSlopes(kernel, names, points.take(slice(0, 2)))  # says what has no derivative
    return kernel, tuple(found)


@dataclass(kw_only=True)
class Descent:
    """A search along the gradient, from several starts.

    Starts are compared, and followed, on a random part of the points; the best is then followed on
    all of them, or as many as there is time for; of many points in Nyström's space. seen: what was
    evaluated on most points: parameters, score, criterion. best: the chosen one of these.
    n_centers: of that space.
    """

    problem: Problem
    random: np.random.Generator
    starts: int
    seen: list[Seen] = field(default_factory=list)
    best: Seen = ({}, float("nan"), np.inf)
    rows: int = 0
    n_centers: int | None = None
    status: Status = Status.CONVERGED

    def run(self) -> Descent:
        """Search until the criterion falls no further, or the time is over."""
        objective = self.problem.objective
        whole, part = self._whole(objective), self._part(objective, SMALL)
        first = objective.params(self.problem.first())
        try:
            tolerance = TOLERANCE if part is whole else ROUGH
            ends = (self._follow(part, start, tolerance) for start in self._chosen(part))
            start = min(ends, key=_value)[1]
            if part is not whole:
                self.status = Status.CONVERGED  # how the search for a start ended does not count
                self._follow(whole, start, TOLERANCE)
            if whole.centres is not None:
                self._settle_alpha(whole)
        except Stopped as stopped:
            self.status = stopped.reason
        if not self.seen:
            self.seen.append((first, float("nan"), np.inf))
        if not self.best[0]:
            self.best = min(self.seen, key=lambda one: one[2])
        return self

    def _settle_alpha(self, whole: RidgeObjective) -> None:
        """Choose the kernel found with few centres, and an alpha for a model of all points.

        With few centres alpha also stands for what these cannot express. That of a model of all
        points is close to that of a part of them, and so is its score.
        """
        alpha = next((one for one in whole.coordinates if one.name == "alpha"), None)
        if alpha is None:
            return
        params, _, _ = min(self.seen, key=lambda one: one[2])
        part = self._part(self.problem.objective, SETTLED).only(alpha, params)
        found = _minimum(
            lambda inner: _finite(*part.at(inner)[:2]),
            alpha.inner(params["alpha"]),
            alpha.bounds(),
        )
        value, _, left_out = part.at(found.x, slope=False)
        score = self.problem.score(value, left_out, part.rows)
        self.best = (params | {"alpha": alpha.outer(found.x)}, score, value)
        self.seen.append(self.best)

    def _whole(self, objective: RidgeObjective) -> RidgeObjective:
        """Return all that an evaluation of a few seconds can be about."""
        if len(objective.points) <= WHOLE:
            return objective
        part = self._part(objective, int(WORK / LEAST_CENTRES**2))
        n = len(part.points)
        count = min(max(int((WORK / n) ** 0.5), LEAST_CENTRES), MOST_CENTRES, n)
        return replace(part, centres=np.sort(self.random.choice(n, count, replace=False)))

    def _part(self, objective: RidgeObjective, most: int) -> RidgeObjective:
        n = len(objective.points)
        if n <= most + most // 2:
            return objective
        return objective.take(np.sort(self.random.choice(n, most, replace=False)))

    def _chosen(self, part: RidgeObjective) -> list[Array]:
        """Return the first start and the best of those drawn."""
        drawn = [self.problem.drawn(self.random) for _ in range(self.starts)]
        values = [self._note(part, start, slope=False)[0] for start in drawn]
        order = np.argsort(values, kind="stable")[: FOLLOWED - 1]
        return [self.problem.first(), *(drawn[place] for place in order)]

    def _follow(
        self, objective: RidgeObjective, start: Array, tolerance: float
    ) -> tuple[float, Array]:
        bounds = self.problem.bounds()
        found = _minimum(lambda inner: self._note(objective, inner), start, bounds, tolerance)
        if found.status == 1:
            self.status = Status.ITERATION_LIMIT
        return float(found.fun), np.asarray(found.x)

    def _note(
        self, objective: RidgeObjective, inner: Array, slope: bool = True
    ) -> tuple[float, Array]:
        """Return value and gradient, and remember what was found."""
        value, gradient, left_out = objective.at(inner, slope)
        n = len(objective.points)
        if n > self.rows:
            self.rows, self.seen = n, []
            self.n_centers = None if objective.centres is None else len(objective.centres)
        score = self.problem.score(value, left_out, objective.rows)
        self.seen.append((objective.params(inner), score, value))
        return _finite(value, gradient)


def _minimum(
    function: Callable[[Array], tuple[float, Array]],
    start: Array,
    bounds: list[tuple[float, float]],
    tolerance: float = TOLERANCE,
) -> Any:
    """Return what L-BFGS-B finds.

    It works in units of the first value, since its tolerance is absolute for values below 1.
    """
    units: list[float] = []

    def in_units(inner: Array) -> tuple[float, Array]:
        value, gradient = function(inner)
        if not units:
            units.append(abs(value) if 0.0 < abs(value) < FAILED else 1.0)
        return value / units[0], gradient / units[0]

    options = {"maxiter": STEPS, "ftol": tolerance}
    found = minimize(in_units, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    found.fun *= units[0]
    return found


def _finite(value: float, gradient: Array) -> tuple[float, Array]:
    return (value, gradient) if np.isfinite(value) else (FAILED, np.zeros(len(gradient)))


def _value(found: tuple[float, Array]) -> float:
    return found[0]
