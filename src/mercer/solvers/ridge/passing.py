"""Cross-validation of ridge regression in a feature space whose rows pass by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...checks import Array
from ...grams.maps.passing import Passing, mean_of_first
from ...grams.sinks import JointSink, some
from ...linalg.blas import fill_upper, product
from ...linalg.eigen import eigh
from ...monitor import Monitor
from ...stages import State
from .moments import Moments, unwhiten, wide_product
from .problem import RidgeProblem

LEAST_REST = 1e-12  # of 1 - h, which rounding may take to 0


class FoldMoments(JointSink):
    """The `Moments` of the rows of each fold, and of all rows as the last.

    member: which rows belong to which fold, a column per fold.
    """

    is_sum = True
    kept = ("parts",)

    def __init__(
        self,
        Y: Array,
        roots: Array | None,
        shift: Array,
        member: Array,
        lower: Array | None = None,
    ) -> None:
        self.Y, self.roots, self.shift, self.member = Y, roots, shift, member
        self.common = lower

    def start(self, shape: tuple[int, int], dtype: Any) -> None:
        self.parts = [
            Moments(self.Y, self.roots, self.shift, self.common)
            for _ in range(self.member.shape[1] + 1)
        ]
        for part in self.parts:
            part.start(shape, dtype)

    def take(self, rows: slice, band: Any) -> None:
        roots, Y = some(self.roots, rows), self.Y[rows]
        self.parts[-1].add(band, roots, Y)
        for part, inside in zip(self.parts, self.member[rows].T, strict=False):
            if inside.any():
                part.add(band[inside], some(roots, inside), Y[inside])

    def part(self, rows: slice) -> FoldMoments:
        return FoldMoments(self.Y[rows], some(self.roots, rows), self.shift, self.member[rows])

    def join(self, rows: slice, found: list[tuple[Array, Array, Array]]) -> None:
        for part, one in zip(self.parts, found, strict=True):
            part.join(rows, one)

    def state(self) -> State:
        states = [part.state() for part in self.parts]
        return {f"{k} {i}": v for i, state in enumerate(states) for k, v in state.items()}

    def go_on(self, state: State) -> None:
        for i, part in enumerate(self.parts):
            part.go_on({name: state[f"{name} {i}"] for name in Moments.kept})

    def result(self) -> list[tuple[Array, Array, Array]]:
        return [part.result() for part in self.parts]


class FoldValues(JointSink):
    """Z t + b of the rows of each fold, with the t and b of that fold."""

    kept = ("found",)

    def __init__(self, functions: Sequence[tuple[Array, Array]], member: Array) -> None:
        self.functions, self.member = functions, member

    def start(self, shape: tuple[int, int], dtype: Any) -> None:
        self.found: list[list[Array]] = [[] for _ in self.functions]

    def take(self, rows: slice, band: Any) -> None:
        for found, (t, b), inside in zip(
            self.found, self.functions, self.member[rows].T, strict=True
        ):
            if inside.any():
                found.append(wide_product(band[inside], t) + b)

    def part(self, rows: slice) -> FoldValues:
        return FoldValues(self.functions, self.member[rows])

    def join(self, rows: slice, found: list[Array]) -> None:
        for mine, one in zip(self.found, found, strict=True):
            mine.append(one)

    def state(self) -> State:
        return {str(fold): values for fold, values in enumerate(self.result())}

    def go_on(self, state: State) -> None:
        self.found = [[np.asarray(state[str(fold)])] for fold in range(len(self.functions))]

    def result(self) -> list[Array]:
        return [
            np.concatenate([np.zeros((0, t.shape[1])), *found])
            for found, (t, _) in zip(self.found, self.functions, strict=True)
        ]


class Turned(JointSink):
    """Values and leverages of some rows, from their coordinates v = Z turn - centre.

    The values are v inside, the leverages v**2 shrink. common: turn. inside: a mask of rows.
    """

    kept = ("values", "leverages")

    def __init__(
        self, turn: Array | None, centre: Array, functions: Array, shrink: Array, inside: Array
    ) -> None:
        self.common, self.centre = turn, centre
        self.functions, self.shrink, self.inside = functions, shrink, inside

    def start(self, shape: tuple[int, int], dtype: Any) -> None:
        self.values = [np.zeros((0, self.functions.shape[1]))]
        self.leverages = [np.zeros((0, self.shrink.shape[1]))]

    def take(self, rows: slice, band: Any) -> None:
        v = wide_product(band[self.inside[rows]], self.common) - self.centre
        self.values.append(product(v, self.functions))
        self.leverages.append(product(v**2, self.shrink))

    def part(self, rows: slice) -> Turned:
        return Turned(None, self.centre, self.functions, self.shrink, self.inside[rows])

    def join(self, rows: slice, found: tuple[Array, Array]) -> None:
        self.values.append(found[0])
        self.leverages.append(found[1])

    def state(self) -> State:
        return dict(zip(self.kept, self.result(), strict=True))

    def go_on(self, state: State) -> None:
        self.values, self.leverages = ([np.asarray(state[name])] for name in self.kept)

    def result(self) -> tuple[Array, Array]:
        return np.concatenate(self.values), np.concatenate(self.leverages)


@dataclass(frozen=True)
class Fold:
    """Points to be held out together, which are sorted, and the place of the fold."""

    rows: Array
    number: int


@dataclass(frozen=True, kw_only=True)
class Spectrum:
    """A ridge problem in coordinates where the penalty is the identity, for every alpha.

    moments = U diag(values) U'. turn: L**-T U. centre: of the coordinates z turn. inside: U' times
    the products with the targets. mean: of the targets. total: of the weights.
    """

    values: Array
    turn: Array
    centre: Array
    inside: Array
    mean: Array
    total: float

    def functions(self, alphas: Sequence[float]) -> tuple[Array, Array]:
        """Return t and b with f(x) = z . t + b, the outputs of each alpha beside each other."""
        inside = self.within(alphas)
        b = np.tile(self.mean, len(alphas)) - self.centre @ inside
        return product(self.turn, inside), b

    def within(self, alphas: Sequence[float]) -> Array:
        """Return the coefficients along the directions of U."""
        return np.hstack([self.inside / (self.values + alpha)[:, None] for alpha in alphas])

    def shrink(self, alphas: Sequence[float]) -> Array:
        """Return what the squares along the directions count in a leverage."""
        return np.asarray(1 / (self.values[:, None] + np.asarray(alphas)))


class PassingPath:
    """Errors of ridge models fitted without some of the points, for any alpha, in a few passes.

    Z: rows that pass by, dense or CSR; lower: the Cholesky factor of the penalty, or None. The
    first pass sums up the moments of every fold, so that those of all other points are known; a
    second one finds the errors for `at_once` alphas. All but these errors takes no more room than
    the moments do. Leaving out one point at a time takes the leverages of all points.
    """

    def __init__(
        self,
        Z: Passing,
        problem: RidgeProblem,
        lower: Array | None,
        alphas: Sequence[float],
        at_once: int,
        monitor: Monitor,
    ) -> None:
        self.Z, self.problem, self.lower, self.monitor = Z, problem, lower, monitor
        self.alphas, self.at_once = list(dict.fromkeys(alphas)), at_once
        self.weight = problem.roots[:, 0] ** 2
        self.mean = np.zeros(problem.targets.shape[1])
        if problem.intercept:
            self.mean = self.weight @ problem.targets / self.weight.sum()
        self.centred = problem.targets - self.mean
        self.shift = mean_of_first(Z) if problem.intercept else np.zeros(Z.shape[1])
        self.folds: list[Fold] = []
        self._spectra: list[Spectrum] = []
        self._errors: dict[float, list[Array]] = {}

    def part(self, rows: Array) -> Fold:
        """Return what is needed to hold out these points, which must be sorted."""
        self.folds.append(Fold(rows, len(self.folds)))
        self._spectra, self._errors = [], {}
        return self.folds[-1]

    def hold_out(self, alpha: float, held: Fold) -> Array:
        """Return y_i - f(x_i) of the points held out, of the model without all of them."""
        if alpha not in self._errors:
            some_alphas = self._from(alpha)
            functions = [one.functions(some_alphas) for one in self._without_folds()]
            found: list[Array] = self.Z.reduce(FoldValues(functions[:-1], self._member()))
            targets = [self.problem.targets[fold.rows] for fold in self.folds]
            self._errors = self._by_alpha(some_alphas, targets, found)
        return self._errors[alpha][held.number]

    def leave_one_out(self, alpha: float) -> Array:
        """Return y_i - f(x_i) of the models without sample i: the point, or one of its copies."""
        if alpha not in self._errors:
            alphas, everything = self._from(alpha), np.ones(len(self.weight), dtype=bool)
            errors = self._left_out(self._without_folds()[-1], alphas, everything)
            self._errors = {alpha: [one] for alpha, one in zip(alphas, errors, strict=True)}
        return self._errors[alpha][0]

    def leave_one_out_of_rest(self, alpha: float, held: Fold) -> tuple[Array, Array]:
        """Return the other points, and their errors left out of the model without those held."""
        rest = np.ones(len(self.weight), dtype=bool)
        rest[held.rows] = False
        spectrum = self._without_folds()[held.number]
        return np.flatnonzero(rest), self._left_out(spectrum, [alpha], rest)[0]

    def _from(self, alpha: float) -> list[float]:
        """Return the alphas whose errors are found together with those of this one."""
        if alpha not in self.alphas:
            return [alpha]
        first = self.alphas.index(alpha)
        return self.alphas[first : first + self.at_once]

    def _by_alpha(
        self, alphas: list[float], targets: list[Array], values: list[Array]
    ) -> dict[float, list[Array]]:
        found: dict[float, list[Array]] = {alpha: [] for alpha in alphas}
        for wanted, one in zip(targets, values, strict=True):
            for alpha, part in zip(alphas, np.split(one, len(alphas), axis=1), strict=True):
                found[alpha].append(wanted - part)
        return found

    def _left_out(self, spectrum: Spectrum, alphas: list[float], inside: Array) -> list[Array]:
        """Return the errors of points left out of the model of a spectrum, for each alpha."""
        values, leverages = self.Z.reduce(
            Turned(
                spectrum.turn,
                spectrum.centre,
                spectrum.within(alphas),
                spectrum.shrink(alphas),
                inside,
            )
        )
        if self.problem.intercept:
            leverages += 1 / spectrum.total
        shares = leverages * (self.weight[:, None] * self.problem.left_out)[inside]
        rest = np.maximum(1 - shares, LEAST_REST)
        targets = self.problem.targets[inside] - spectrum.mean
        return [
            (targets - part) / rest[:, place, None]
            for place, part in enumerate(np.split(values, len(alphas), axis=1))
        ]

    def _member(self) -> Array:
        found = np.zeros((len(self.weight), len(self.folds)), dtype=bool)
        for fold in self.folds:
            found[fold.rows, fold.number] = True
        return found

    def _without_folds(self) -> list[Spectrum]:
        """Return the spectrum of all points but those of each fold, and of all as the last."""
        if not self._spectra:
            roots = None if self.problem.weight is None else self.problem.roots
            *folds, whole = self.Z.reduce(
                FoldMoments(self.centred, roots, self.shift, self._member(), self.lower)
            )
            weights = [self.weight[fold.rows] for fold in self.folds]
            targets = [
                w @ self.centred[fold.rows] for w, fold in zip(weights, self.folds, strict=True)
            ]
            total, sums = float(self.weight.sum()), self.weight @ self.centred
            for found, weight, target in zip(folds, weights, targets, strict=True):
                rest = [a - b for a, b in zip(whole, found, strict=True)]
                self._spectra.append(
                    self._spectrum(rest, total - float(weight.sum()), sums - target)
                )
            self._spectra.append(self._spectrum(list(whole), total, sums))
        return self._spectra

    def _spectrum(self, moments: list[Array], total: float, targets: Array) -> Spectrum:
        """Return the spectrum of moments, given the sum of the weights and of the targets."""
        squares, products, sums = moments
        squares, mean = fill_upper(squares), np.zeros_like(sums)
        target_mean = np.zeros_like(targets)
        if self.problem.intercept:
            mean, target_mean = sums / total, targets / total
            squares = squares - np.outer(sums, mean)
            products = products - np.outer(sums, target_mean)
        values, U = eigh(squares, self.monitor)
        kept = values > len(values) * np.finfo(np.float64).eps * values.max(initial=0.0)
        values, U = values[kept], U[:, kept]
        turn = U if self.lower is None else unwhiten(self.lower, U)
        return Spectrum(
            values=values,
            turn=turn,
            centre=self.shift @ turn + mean @ U,
            inside=product(U.T, products),
            mean=self.mean + target_mean,
            total=total,
        )
