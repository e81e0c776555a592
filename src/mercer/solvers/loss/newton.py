"""Newton's method for functions with a smooth convex loss."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...checks import Array
from ...losses import Softmax, Squared
from ...monitor import Monitor, Stopped
from ...stages import Stage, State
from ...status import Status
from .curvature import Curvature, FreeOffset, curvature_of, inverse
from .elements import Element, Elements

STAGE = 10.0  # factor between the penalties of the path
FIRST = 1e-2  # the first penalty, against the trace of K and the curvature at the start
LOOSE = 0.3  # relative residual of the equations of a step far from the end
SMALL = 1e-3  # of the losses of f = 0: what is below is compared with this
SHORTEST = 2.0**-30  # step that is tried
FINEST = 1e-8  # share of the usual residual that steps which get nowhere are solved to
STALLED = 12  # steps over which neither the gap halves nor the objective falls: rounding rules
PROGRESS = 1e-2  # share of the objective that counts as a fall
OFFSET_STEPS = 60
MOST = 200  # iterations of conjugate gradients in a step of Newton's method


@dataclass(frozen=True, kw_only=True)
class LossProblem:
    """min over f, b of sum_i w_i loss(f(x_i) + b, y_i) + alpha/2 ||f||**2.

    targets: (points, outputs), as the loss takes them. weight: positive.
    """

    loss: Any
    targets: Array
    weight: Array
    alpha: float
    intercept: bool

    def losses(self, F: Array) -> float:
        """Return the sum of the losses of predictions F."""
        return float(self.weight @ self.loss.value(F, self.targets).sum(axis=1))

    def slopes(self, F: Array) -> Array:
        """Return the gradient of the sum of losses."""
        return np.asarray(self.weight[:, None] * self.loss.gradient(F, self.targets))


@dataclass(frozen=True, kw_only=True)
class LossSolution:
    """f, and how far it is from the best one.

    t: its coefficients. gap: the objective `primal` is at most this far above its minimum.
    steps: of Newton's method. products: with K, in all.
    """

    t: Array
    intercept: Array
    status: Status
    primal: float
    gap: float
    steps: int
    products: int


@dataclass(frozen=True)
class Newton:
    """Newton's method along penalties that fall to the wanted one.

    Every step solves (alpha + W K) d = -gradient by preconditioned conjugate gradients, about as
    far as the step is worth. The gradient at alpha is a function r in the space of the kernel, and
    the objective is alpha-strongly convex there: it is at most ||r||**2 / (2 alpha) above its
    minimum, which is also the gap to the dual objective at the gradients of the losses. It ends
    when this is at most tol times the objective.

    Marteau-Ferey, Bach, Rudi, "Globally convergent Newton methods for ill-conditioned generalized
    self-concordant losses" (2019).
    """

    tol: float
    max_iter: int

    def solve(self, elements: Elements, problem: LossProblem, monitor: Monitor) -> LossSolution:
        """Return the best function of the elements."""
        return _Descent(self, elements, problem, monitor).run()


@dataclass(kw_only=True)
class Pace:
    """How quickly steps at the wanted penalty lead down.

    best: the smallest gap. care: how much more accurate than usual the next step is. reached,
    reached_at: the objective where there was progress last, and the step that made it.
    """

    best: float = math.inf
    care: float = 1.0
    reached: float = math.inf
    reached_at: int = 0

    @classmethod
    def of(cls, known: State | None) -> Pace:
        """Return what an earlier process has found, if it came so far."""
        if known is None or "care" not in known:
            return cls()
        best, care, reached = (float(known[name]) for name in ("best", "care", "reached"))
        return cls(best=best, care=care, reached=reached, reached_at=int(known["reached_at"]))


def _packed(name: str, f: Element) -> State:
    return {f"{name} t": f.t, f"{name} values": f.values}


def _unpacked(name: str, state: State) -> Element:
    return Element(np.asarray(state[f"{name} t"]), np.asarray(state[f"{name} values"]))


class _Descent:
    def __init__(
        self, settings: Newton, elements: Elements, problem: LossProblem, monitor: Monitor
    ) -> None:
        self.settings, self.elements, self.problem = settings, elements, problem
        self.monitor, self.steps = monitor, 0
        outputs = problem.targets.shape[1]
        self.f, self.offset = elements.zero(outputs), np.zeros(outputs)
        self.squared = 0.0  # norm of f
        self.gap = math.nan

    @property
    def F(self) -> Array:
        return np.asarray(self.f.values + self.offset)

    def objective(self, alpha: float) -> float:
        return self.problem.losses(self.F) + alpha / 2 * self.squared

    def run(self) -> LossSolution:
        try:
            if self.problem.intercept:
                self._settle_offset()
            path = self._path()
            with self.monitor.stage("Newton") as stage:
                for place in range(_take_up(self, stage.known), len(path)):
                    self._measure(path[place])
                    self._step(path[place], LOOSE)
                    stage.reached(_state(self, place + 1))
                status = self._finish(stage, len(path))
        except Stopped as stop:
            status = stop.reason
        return LossSolution(
            t=self.f.t,
            intercept=self.offset,
            status=status,
            primal=self.objective(self.problem.alpha),
            gap=self.gap,
            steps=self.steps,
            products=self.elements.products,
        )

    def _curvature(self) -> Curvature:
        problem = self.problem
        return curvature_of(problem.loss, self.F, problem.targets, problem.weight)

    def _path(self) -> list[float]:
        """Return the penalties above the wanted one, from the largest on."""
        if isinstance(self.problem.loss, Squared):  # one step is all
            return []
        largest = float(self._curvature().weights.max(initial=0.0)) * self.elements.trace()
        if not largest > 0:  # nor is it for a kernel that is not Mercer
            return []
        # The difference of logarithms: the quotient may not be finite.
        ratio = math.log(FIRST * largest) - math.log(self.problem.alpha)
        stages = math.floor(max(ratio, 0.0) / math.log(STAGE))
        return [self.problem.alpha * STAGE**stage for stage in range(stages, 0, -1)]

    def _finish(self, stage: Stage, place: int) -> Status:
        """Take steps at the wanted penalty until the gap is small; return how that ended."""
        alpha, tol, moved = self.problem.alpha, self.settings.tol, True
        start = self.problem.losses(np.zeros_like(self.F))
        pace = Pace.of(stage.known)
        while True:
            gap, primal = self._measure(alpha), self.objective(alpha)
            floor = max(abs(primal), SMALL * abs(start), np.finfo(float).tiny)
            share = gap / floor
            digits = math.log(max(share, 1e-300)) / math.log(min(tol, 0.5))
            record = {"stage": "Newton", "iteration": self.steps, "gap": gap, "primal": primal}
            self.monitor.iteration(record | {"fraction": min(max(digits, 0.0), 1.0)})
            if share <= tol:
                return Status.CONVERGED
            if gap <= pace.best / 2 or primal <= pace.reached - PROGRESS * floor:
                pace.reached, pace.reached_at = primal, self.steps
            if not moved or self.steps - pace.reached_at >= STALLED:
                return Status.STAGNATED
            if self.steps >= self.settings.max_iter:
                return Status.ITERATION_LIMIT
            # As accurate as the step is worth, and no more than the end asks for.
            enough = 0.5 * math.sqrt(tol / share)
            far = 0.0 if isinstance(self.problem.loss, Squared) else math.sqrt(share)
            # Steps that go to and fro were not accurate enough.
            pace.care = pace.care / 10 if gap > pace.best / 2 else 1.0
            pace.best = min(pace.best, gap)
            moved = self._step(alpha, min(LOOSE, max(far, enough)) * max(pace.care, FINEST))
            if moved:
                stage.reached({**_state(self, place), **vars(pace)})

    def _measure(self, alpha: float) -> float:
        """Return the gap; the gradient is kept for the next step."""
        self.u = self.problem.slopes(self.F)
        self.gradient = self.elements.gradient(self.f, self.u, alpha)
        squared = max(self.elements.inner(self.gradient, self.gradient), 0.0)
        # An offset off its best one adds what its slope says; it is at most as far off as F.
        rest = float(np.abs(self.u.sum(axis=0)).sum() * (1 + np.ptp(self.F)))
        self.gap = squared / (2 * alpha) + (rest if self.problem.intercept else 0.0)
        return self.gap

    def _step(self, alpha: float, accuracy: float) -> bool:
        """Take one step from where the gradient was measured; return whether it went down."""
        curvature = FreeOffset(self._curvature(), self.problem.intercept)
        d = self._direction(curvature, alpha, accuracy)
        shift = curvature.best_offset(self.u.sum(axis=0), d.values)
        change = d.values + shift
        cross, squared = self.elements.inner(self.f, d), self.elements.inner(d, d)
        slope = float((self.u * change).sum()) + alpha * cross
        before, F, t = self.objective(alpha), self.F, 1.0
        self.steps += 1
        while t >= SHORTEST:
            norm = self.squared + 2 * t * cross + t * t * squared
            after = self.problem.losses(F + t * change) + alpha / 2 * norm
            if after <= before + 1e-4 * t * slope:
                break
            t /= 2
        else:
            return False
        self.f, self.offset = self.f.plus(t, d), self.offset + t * shift
        self.squared = max(norm, 0.0)
        if self.problem.intercept:
            self._settle_offset()
        return after < before

    def _direction(self, curvature: FreeOffset, alpha: float, accuracy: float) -> Element:
        """Return -A**-1 gradient by conjugate gradients, as accurate as asked for.

        However early they end, the step leads down: they minimise the quadratic model.
        """
        space, outputs = self.elements, self.problem.targets.shape[1]
        A = space.newton(curvature, alpha, self.monitor)
        d, r = space.zero(outputs), self.gradient
        z = A.precondition(r)
        p, size = z, space.inner(r, z)
        wanted, done = space.inner(r, r) * accuracy**2, 0
        with self.monitor.stage("direction") as stage:
            if stage.known is not None:
                d, r, p = (_unpacked(name, stage.known) for name in "drp")
                size, done = float(stage.known["size"]), int(stage.known["done"])
                space.products = int(stage.known["products"])
            for iteration in range(done, MOST):
                if not (size > 0 and space.inner(r, r) > wanted):
                    break
                applied = A.apply(p)
                steepness = space.inner(p, applied)
                if not steepness > 0:  # rounding is all that is left
                    break
                d = d.plus(-size / steepness, p)
                r = r.plus(-size / steepness, applied)
                z = A.precondition(r)
                size, before = space.inner(r, z), size
                p = z.plus(size / before, p)
                state = {**_packed("d", d), **_packed("r", r), **_packed("p", p)}
                counts = {"done": iteration + 1, "products": space.products}
                stage.reached({**state, **counts, "size": size})
                self.monitor.poll()
        return d

    def _settle_offset(self) -> None:
        """Move the offset to its best value for the function as it is."""
        if isinstance(self.problem.loss, Softmax):
            self._settle_together()
        else:
            self._settle_apart()

    def _settle_together(self) -> None:
        """Newton's method for all outputs; near the end slopes tell more than losses do."""
        problem = self.problem
        for _ in range(OFFSET_STEPS):
            F = self.F
            u, before = problem.slopes(F), problem.losses(F)
            slope = u.sum(axis=0)
            if np.abs(slope).max() <= 1e-13 * np.abs(u).sum():
                return
            step, t = -inverse(self._curvature().total) @ slope, 1.0
            flatter = problem.slopes(F + step).sum(axis=0)
            while np.abs(flatter).max() >= np.abs(slope).max() and not (
                problem.losses(F + t * step) < before
            ):
                t /= 2
                if t < SHORTEST:
                    return
            self.offset = self.offset + t * step

    def _settle_apart(self) -> None:
        """Newton's method for each output by itself, kept between bounds of its zero."""
        problem, b = self.problem, self.offset.copy()
        low, high, reach = np.full(len(b), -np.inf), np.full(len(b), np.inf), np.ones(len(b))
        for _ in range(OFFSET_STEPS):
            F = self.f.values + b
            u = problem.slopes(F)
            slope = u.sum(axis=0)
            if (np.abs(slope) <= 1e-13 * np.abs(u).sum(axis=0)).all():
                break
            low, high = np.where(slope < 0, b, low), np.where(slope > 0, b, high)
            total = problem.weight @ problem.loss.curvature(F, problem.targets)
            with np.errstate(divide="ignore", invalid="ignore"):
                step = np.where(slope == 0, 0.0, -slope / total)
                middle = (low + high) / 2 - b
            wide = ~np.isfinite(step) | (np.abs(step) > reach)
            step = np.where(wide, -np.sign(slope) * reach, step)
            outside = (b + step <= low) | (b + step >= high)
            step = np.where(outside & np.isfinite(middle), middle, step)
            reach = np.where(wide, 2 * reach, reach)
            if (b + step == b).all():
                break
            b = b + step
        if problem.losses(self.f.values + b) <= problem.losses(self.F):
            self.offset = b


def _state(descent: _Descent, place: int) -> State:
    """Return what it takes to go on; place: of the next penalty in the path."""
    plain: State = {
        "place": place,
        "steps": descent.steps,
        "products": descent.elements.products,
        "squared": descent.squared,
    }
    return {**plain, "offset": descent.offset, **_packed("f", descent.f)}


def _take_up(descent: _Descent, known: State | None) -> int:
    """Go on from what is known of an earlier process; return the place in the path."""
    if known is None:
        return 0
    descent.steps, descent.elements.products = int(known["steps"]), int(known["products"])
    descent.offset, descent.squared = np.asarray(known["offset"]), float(known["squared"])
    descent.f = _unpacked("f", known)
    return int(known["place"])
