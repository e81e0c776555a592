"""From many points to few centres: select, project, polish, and meet scores."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...checks import Array, InputError, MemoryLimitError, bytes_text, sentence
from ...grams import Prepared, limit_in_bytes
from ...inputs import Input, Matrix
from ...monitor import Monitor
from ...run import Run
from .polish import Distance, Scores, movable, polish
from .projection import Approximation, Functions, gram_of, judged, projected
from .pursuit import MatchingPursuit, Pursuit
from .record import Compression

ROWS_OF_POLISH = 20_000  # points whose scores are met while centres move; coefficients see all
TRIALS = 5  # numbers of centres that are polished in the search for the smallest
CLOSE = 0.98  # of a number of centres: to try one above this share of it is not worth the time
SAFETY = 0.98  # of the squared tolerance: what selection aims at, since rounding adds to it


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is asked for.

    tol: relative error of every function; None: n_centers counts. n_centers: how many. points: at
    which scores are to be met, or None. offset: whether these may change the offsets. equal_units:
    whether functions are compared as they are, or relative to their norms. polish: whether centres
    may move, by at most max_iter steps.
    """

    tol: float | None
    n_centers: int | None
    points: Input | None
    offset: bool
    equal_units: bool
    polish: bool
    max_iter: int
    run: Run


@dataclass(frozen=True, kw_only=True)
class Compressed:
    """rows: the points that the centres began at, ascending. shift: what is added to offsets."""

    rows: Array
    approximation: Approximation
    shift: Array
    record: Compression


def compress_functions(prepared: Prepared, coefficients: Array, request: Request) -> Compressed:
    """Return functions of few centres, near sum_i a_ic k(x_i, .)."""
    return _Work(Functions.of(prepared, coefficients, request.run), request).done()


class _Work:
    """One compression: the functions in units of their own, and what was asked for."""

    def __init__(self, functions: Functions, request: Request) -> None:
        norms = np.sqrt(functions.squares)
        norms = np.where(norms > 0, norms, 1.0)
        size = norms.max(initial=0.0) if request.equal_units else norms
        self.request, self.plain, self.norms = request, functions, norms
        self.factors = np.ones(len(norms)) / size
        self.units = (norms * self.factors) ** 2  # of squared errors relative to the functions
        self.functions = functions.scaled(self.factors)
        self.can_move = request.polish and movable(functions.prepared)
        self.scores = self._scores()
        self.steps = 0

    def _scores(self) -> Scores | None:
        points, run = self.request.points, self.request.run
        if points is None:
            return None
        values = self.plain.prepared.times(points, self.plain.coefficients, run.memory_limit)
        return Scores(points=points, values=values * self.factors, offset=self.request.offset)

    def done(self) -> Compressed:
        if self.request.tol is None:
            most = self.request.n_centers or 1
            found = self._at(self._pursue(most).pivots)
        else:
            found = self._smallest(self.request.tol)
        rows, approximation = found
        shift = np.zeros(len(self.factors))
        errors: tuple[float, ...] = ()
        if self.scores is not None:
            approximation, shift, errors = self._met(approximation, self.scores)
        return self._recorded(rows, approximation, shift, errors)

    # --- how many centres -------------------------------------------------------------------

    def _pursue(self, most: int, enough: Array | None = None) -> Pursuit:
        prepared, run = self.functions.prepared, self.request.run
        exact = enough is not None  # single precision does not tell small errors
        dtype = np.dtype(np.float64 if exact else prepared.view.dtype)
        need, limit = len(prepared) * dtype.itemsize, limit_in_bytes(run.who, run.memory_limit)
        room = int(limit / need / 2)  # a part that grows is there twice for a moment
        if room < most and not exact:
            must = f"memory_limit must be at least {bytes_text(2 * most * need)} for {most} centres"
            raise MemoryLimitError(sentence(run.who, must, bytes_text(limit), "Ask for fewer."))
        K = prepared.gram(use="rows", dtype=dtype, memory_limit=run.memory_limit)
        search = MatchingPursuit(K, self.functions.values, self.functions.squares)
        found = search.run(min(most, max(room, 1)), enough)
        return found if len(found.pivots) else search.first()

    def _smallest(self, tol: float) -> tuple[Array, Approximation]:
        """Return the fewest centres that were found to meet the tolerance."""
        n = len(self.functions.prepared)
        allowed = tol**2 * self.functions.squares
        path = self._pursue(max(n - 1, 1), SAFETY * allowed)
        found = np.sort(path.pivots), self._projected(np.sort(path.pivots))
        if (found[1].squares > allowed).any():
            reached = float(np.sqrt(found[1].squares / self.units).max())
            must = f"tol must be within reach of fewer than {n} centres"
            got = f"tol={tol:g}; {len(path.pivots)} centres reach {reached:.2g}"
            raise InputError(sentence(self.request.run.who, must, got, "Raise tol."))
        return self._fewer(path.pivots, allowed, found) if self.can_move else found

    def _fewer(
        self, pivots: Array, allowed: Array, found: tuple[Array, Approximation]
    ) -> tuple[Array, Approximation]:
        """Return as few centres as meet the tolerance when they have moved."""
        low, high = 0, len(pivots)
        count = high  # which moves where no smaller number will do
        for _ in range(TRIALS):
            if self.request.run.monitor.stop_reason():
                break
            tried = self._at(pivots[:count])
            if (tried[1].squares <= allowed).all():
                high, found = count, tried
            else:
                low = count
            count = max((low + high) // 2, 1)
            if count >= CLOSE * high or count == low:
                break
        return found

    # --- one number of centres --------------------------------------------------------------

    def _at(self, pivots: Array) -> tuple[Array, Approximation]:
        """Return the centres that begin at these points, and the functions they carry."""
        rows = np.sort(pivots)
        before = self._projected(rows)
        if not self.can_move or len(rows) == len(self.functions.prepared):
            return rows, before
        distance = Distance(functions=self.functions, scores=None, run=self.request.run)
        moved, steps = polish(distance, before.centres, self.request.max_iter)
        products = self.functions.products(moved, self.request.run)
        after = projected(self.functions, moved, products)
        if after.squares.sum() >= before.squares.sum():
            return rows, before
        self.steps += steps
        return rows, after

    def _projected(self, rows: Array) -> Approximation:
        """Return the best functions that these points carry."""
        functions = self.functions
        if len(rows) == len(functions.prepared):
            nothing = np.zeros(len(functions.squares))
            return Approximation(
                centres=functions.prepared,
                coefficients=functions.coefficients,
                squares=nothing,
                own_squares=functions.squares,
            )
        return projected(functions, functions.prepared.take(rows), functions.values[rows])

    def _met(
        self, found: Approximation, scores: Scores
    ) -> tuple[Approximation, Array, tuple[float, ...]]:
        """Return functions that meet the scores, what offsets change by, and what is left."""
        run, centres = self.request.run, found.centres
        if self.can_move:
            part = scores.part(ROWS_OF_POLISH)
            distance = Distance(functions=self.functions, scores=part, run=run)
            centres, steps = polish(distance, centres, self.request.max_iter)
            self.steps += steps
        unlimited = replace(run, monitor=Monitor())
        whole = Distance(functions=self.functions, scores=scores, run=unlimited)
        _, b, K = whole.solved(centres)
        products = self.functions.products(centres, run)
        after = judged(self.functions, centres, gram_of(centres), products, b)
        residuals, shift = scores.residuals(K, b)
        sizes = np.sqrt((residuals**2).mean(axis=0)) / self.factors
        return after, shift, tuple(map(float, sizes))

    # --- the record -------------------------------------------------------------------------

    def _recorded(
        self, rows: Array, found: Approximation, shift: Array, score_errors: tuple[float, ...]
    ) -> Compressed:
        prepared, shift = self.functions.prepared, shift / self.factors
        approximation = Approximation(
            centres=found.centres,
            coefficients=found.coefficients / self.factors,
            squares=found.squares / self.factors**2,
            own_squares=found.own_squares / self.factors**2,
        )
        errors = np.sqrt(approximation.squares)
        largest = prepared.largest()
        record = Compression(
            points=len(prepared),
            centers=len(rows),
            moved=_count_moved(prepared, rows, found.centres),
            errors=tuple(map(float, errors)),
            relative_errors=tuple(map(float, errors / self.norms)),
            bound=float((np.sqrt(max(largest, 0.0)) * errors + np.abs(shift)).max(initial=0.0)),
            largest=largest,
            score_errors=score_errors,
            iterations=self.steps,
            seconds=self.request.run.seconds,
        )
        return Compressed(rows=rows, approximation=approximation, shift=shift, record=record)


def _count_moved(prepared: Prepared, rows: Array, centres: Prepared) -> int:
    """Return how many centres are not where they began."""
    before, after = prepared.points, centres.points
    if not (isinstance(before, Matrix) and isinstance(after, Matrix)) or before.is_sparse:
        return 0
    return int((before.values[rows] != after.values).any(axis=1).sum())
