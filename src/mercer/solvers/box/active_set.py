"""Box problems to the last digits, and those on which steps of two variables make no progress."""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas, lapack

from ...checks import Array
from ...monitor import Monitor
from .problem import BoxProblem

EPSILON = float(np.finfo(np.float64).eps)
DEPENDENT = 8 * EPSILON  # squared distance to a span, against kernel values, that is rounding
CHANGES = 20  # variables that may enter, per variable
PATIENCE = 50  # variables that may enter without a fall of the objective beyond rounding
FRESH = 64  # of these, after which g is summed anew
MOVES = 50  # to the optimum of the members; each but the last loses a member
SHORTER = 0.1  # an image this much shorter than that of the base takes its place
TINY = float(np.finfo(np.float64).tiny)


class ActiveSet:
    """Moves b, and g = K b + linear with it, to the optimum, one variable entering at a time.

    b = p - m with 0 <= p <= upper and 0 <= m <= -lower has variables x of simple bounds, each with
    a `sign`. Where sums are given, x counts in the sum of its `side` with its `weight` of 1 or -1.
    Amounts are in units of that sum, and so are slopes, then called levels: at an optimum all
    variables that can move both ways have the level of their side.

    The members are such variables, with images that do not depend on one another when measured
    from the image of the first member of their side, the base. Another variable enters along the
    direction that keeps the levels of the members equal, and whoever reaches a bound on the way
    leaves. Every step goes to the minimum along its line, so the objective never rises. A kernel
    matrix of low rank has few members, however ill-conditioned it is.

    Scheinberg, "An efficient implementation of an active set method for SVMs" (2006).
    """

    def __init__(self, K: Array, problem: BoxProblem, b: Array, g: Array, monitor: Monitor) -> None:
        self.K, self.g, self.kink, self.monitor = K, g, problem.kink, monitor
        above, below = np.flatnonzero(problem.upper > 0), np.flatnonzero(problem.lower < 0)
        self.index = np.concatenate([above, below])
        self.sign = np.repeat([1.0, -1.0], [len(above), len(below)])
        self.cap = np.concatenate([problem.upper[above], -problem.lower[below]])
        self.x = np.clip(self.sign * b[self.index], 0.0, self.cap)
        self.offset, self.split = problem.offset, problem.split
        self.weight = self.sign if self.offset and not self.split else np.ones(len(self.x))
        self.image = self.weight * self.sign
        self.side = (self.sign < 0).astype(np.int64) * int(self.split)
        self.twin = self._twins(len(b))
        self.squares = np.diagonal(K)[self.index]  # of the lengths of images
        self.lengths = np.sqrt(np.abs(self.squares))
        self.linear = problem.linear
        self.bases = np.full(2, -1)
        self.members = np.zeros(0, dtype=np.int64)  # but for the bases
        self.factor = np.zeros((0, 0))
        self.changes = 0  # variables that have entered
        self.fall = self.terms = 0.0  # of the objective so far, and the size of its terms
        self.unbounded = False

    def run(self) -> Array:
        """Go on until levels differ by no more than rounding, or nothing more is won; return b."""
        self._start(np.flatnonzero((self.x > 0) & (self.x < self.cap)))
        self._settle()
        refused = np.zeros(len(self.x), dtype=bool)
        fall, patience = self.fall, PATIENCE
        most = CHANGES * (len(self.x) + 1)
        while (
            patience
            and self.changes < most
            and not self.unbounded
            and (found := self._entering(refused))
        ):
            variable, way = found
            if self._enter(variable, way):
                refused[:] = False
            else:
                refused[variable] = True
            self._settle()
            self.changes += 1
            patience = PATIENCE if self.fall - fall > EPSILON * self.terms else patience - 1
            fall = self.fall
            if self.changes % FRESH == 0:
                self.g[:] = self.K @ self._b() + self.linear
                self.monitor.poll()
        return self._b()

    def _b(self) -> Array:
        return np.bincount(self.index, self.sign * self.x, minlength=len(self.g))

    def _twins(self, n: int) -> Array:
        """Return for each variable that of the same point on the other side of 0, or -1."""
        if len(self.x) <= n:  # no point has both, as in classification
            return np.full(len(self.x), -1)
        places = np.full((2, n), -1)
        below = (self.sign < 0).astype(int)
        places[below, self.index] = np.arange(len(self.x))
        return np.asarray(places[1 - below, self.index])

    # --- levels -----------------------------------------------------------------------------

    def _levels(self) -> Array:
        return np.asarray(self.weight * (self.sign * self.g[self.index] + self.kink))

    def _common(self, levels: Array) -> Array:
        """Return the level of each variable's side: that of its base, 0 where no sum is given."""
        if not self.offset:
            return np.zeros(len(levels))
        return np.asarray(levels[self.bases[self.side]])

    def _own_rounding(self) -> Array:
        """Return by how much rounding may change the level of each variable."""
        targets = np.abs(self.linear)[self.index]
        return np.asarray(EPSILON / 2 * (self.lengths * float(self.lengths @ self.x) + targets))

    def _unsure(self) -> Array:
        """Return by how much rounding may change the level of each variable against its base."""
        own = self._own_rounding()
        return np.asarray(own + own[self.bases[self.side]] if self.offset else own)

    # --- who enters -------------------------------------------------------------------------

    def _entering(self, refused: Array) -> tuple[int, float] | None:
        """Return the variable that promises most, and its sign: 1 adds to the sum of its side."""
        levels = self._levels()
        rises = (self.x < self.cap) & ((self.twin < 0) | (self.x[self.twin] == 0))
        falls = self.x > 0
        up = self.weight > 0
        low = np.where(np.where(up, rises, falls), levels, np.inf)
        high = np.where(np.where(up, falls, rises), levels, -np.inf)
        if self.offset:
            self._begin(low, high)
        common = self._common(levels)
        want = np.maximum(common - low, high - common)
        want[refused] = 0.0
        want[self.members] = 0.0
        if self.offset:
            missing = self.bases[self.side] < 0
            want[missing] = 0.0
            want[self.bases[self.bases >= 0]] = 0.0
        gain = np.where(want > self._unsure(), want, 0.0) / np.sqrt(self._curvature())
        place = int(gain.argmax())
        if not gain[place] > 0:
            return None
        return place, 1.0 if common[place] - low[place] >= high[place] - common[place] else -1.0

    def _begin(self, low: Array, high: Array) -> None:
        """Give each side that violates the conditions, and has no base, one."""
        for side in np.flatnonzero(self.bases < 0):
            here = np.flatnonzero(self.side == side)
            if len(here) == 0:
                continue
            first = here[int(low[here].argmin())]
            if high[here].max() > low[first]:
                self.bases[side] = first

    def _curvature(self) -> Array:
        """Return the curvature of each variable when it moves against its base."""
        found = self.squares
        for side in np.flatnonzero(self.bases >= 0) if self.offset else ():
            base = self.bases[side]
            cross = self.K[self.index[base], self.index] * (self.image * self.image[base])
            apart = self.squares + self.squares[base] - 2 * cross
            found = np.where(self.side == side, apart, found)
        return np.asarray(
            np.maximum(found, EPSILON * self._scales(np.arange(len(found))) ** 2 + TINY)
        )

    def _enter(self, variable: int, way: float) -> bool:
        """Move a variable until its level fits; return whether it moved."""
        moved = False
        alone = np.array([variable])
        while True:
            column = self._between(self.members, alone)[:, 0]
            row = self._solved(column)
            distance = float(self._between(alone, alone)[0, 0] - row @ row)
            against = -self._solved(row, transposed=True)
            chosen = np.append(self.members, variable)
            step, left = self._move(chosen, way * np.append(against, 1.0))
            moved = moved or step > 0
            if step < 0:
                return moved
            if len(left) == 0:
                if distance > DEPENDENT * float(self._scales(alone)[0]) ** 2:
                    self._append(variable, row, distance)
                return True
            self._drop(left)
            if variable in left or (self.offset and self.bases[self.side[variable]] < 0):
                return moved

    # --- moving -----------------------------------------------------------------------------

    def _move(self, chosen: Array, change: Array) -> tuple[float, Array]:
        """Go to the minimum along a line, the bases keeping the sums.

        Returns how far that is, -1 if the objective would not fall, and who met a bound.
        """
        if self.offset:
            balance = -np.bincount(self.side[chosen], change, minlength=2)
            with_base = self.bases >= 0
            chosen = np.append(chosen, self.bases[with_base])
            change = np.append(change, balance[with_base])
        levels = self._levels()
        terms = (levels - self._common(levels))[chosen] * change
        points, signed = self.index[chosen], self.image[chosen] * change
        turned = signed @ self.K[points]
        size = np.abs(change)
        slope, curvature = float(terms.sum()), float(signed @ turned[points])
        # Where rounding hides the curvature, a step for all that may be hidden is short enough.
        curvature = max(curvature, EPSILON * float(size @ self.lengths[chosen]) ** 2)
        none = chosen[:0]
        if not slope < -float(size @ self._own_rounding()[chosen]):
            return -1.0, none
        change = self.weight[chosen] * change  # of x
        limit = np.where(change > 0, self.cap[chosen], 0.0)
        room = np.abs(limit - self.x[chosen])
        part = np.divide(room, size, out=np.full(len(chosen), np.inf), where=size > 0)
        step = min(-slope / curvature if curvature > 0 else np.inf, float(part.min()))
        if step == np.inf:
            self.unbounded = True
            return -1.0, none
        met = part <= step
        after = np.clip(self.x[chosen] + step * change, 0.0, self.cap[chosen])
        self.x[chosen] = np.where(met, limit, after)
        self.g += step * turned
        self.fall -= step * slope + step**2 * curvature / 2
        self.terms = float(np.abs(self.x) @ np.abs(self.g[self.index]))
        return step, chosen[met]

    def _settle(self) -> None:
        """Move the members to where their levels are equal, if they are not."""
        for _ in range(MOVES):
            levels = self._levels()
            uneven = (levels - self._common(levels))[self.members]
            if (np.abs(uneven) <= self._unsure()[self.members]).all():
                return
            change, _ = lapack.dpotrs(self.factor, -uneven, lower=1)
            step, left = self._move(self.members, change)
            if step < 0:
                return
            self._drop(left)

    def _solved(self, right: Array, transposed: bool = False) -> Array:
        """Return the solution of equations with the factor of the members, or its transpose."""
        if len(right) == 0:
            return right
        return np.asarray(blas.dtrsv(self.factor, right, lower=1, trans=int(transposed)))

    # --- members ----------------------------------------------------------------------------

    def _between(self, rows: Array, columns: Array) -> Array:
        """Return the products of images, each measured from its base."""
        found = self._products(rows, columns)
        if self.offset:
            above, beside = self.side[rows], self.side[columns]
            if not self.split:  # one row and one column serve all
                above, beside = above[:1], beside[:1]
            found -= self._products(self.bases, columns)[above]
            found -= self._products(rows, self.bases)[:, beside]
            found += self._products(self.bases, self.bases)[above[:, None], beside]
        return found

    def _products(self, rows: Array, columns: Array) -> Array:
        found = self.K[self.index[rows][:, None], self.index[columns]]
        return np.asarray(found * (self.image[rows][:, None] * self.image[columns]))

    def _start(self, between: Array) -> None:
        """Make those variables members whose images do not depend on one another."""
        self.bases[:] = -1
        for side in range(1 + self.split) if self.offset else ():
            here = between[self.side[between] == side]
            if len(here):
                self.bases[side] = self._shortest(here)
                between = between[between != self.bases[side]]
        self.members, self.factor = between, np.zeros((0, 0))
        if len(between):
            scales = self._scales(between)
            products = self._between(between, between) / np.outer(scales, scales)
            factor, order, rank, _ = lapack.dpstrf(products, tol=DEPENDENT, lower=1)
            chosen = order[:rank] - 1
            self.members = between[chosen]
            self.factor = np.asfortranarray(scales[chosen, None] * factor[:rank, :rank])

    def _shortest(self, variables: Array) -> int:
        """Return the variable with the shortest image: measured from it, no other loses digits."""
        return int(variables[self.lengths[variables].argmin()])

    def _scales(self, variables: Array) -> Array:
        """Return the size of the numbers that are subtracted to measure images from their bases."""
        found = self.lengths[variables]
        if self.offset:
            found = np.hypot(found, self.lengths[self.bases[self.side[variables]]])
        return np.asarray(np.maximum(found, TINY))

    def _refactor(self) -> None:
        if len(self.members) == 0:
            self.factor = np.zeros((0, 0))
            return
        self.factor, failed = lapack.dpotrf(self._between(self.members, self.members), lower=1)
        if failed:  # rounding: those after the ones that depend on others have to wait
            kept = failed - 1
            self.factor, self.members = self.factor[:kept, :kept], self.members[:kept]

    def _append(self, variable: int, row: Array, distance: float) -> None:
        base = self.bases[self.side[variable]]
        if self.offset and self.lengths[variable] < SHORTER * self.lengths[base]:
            self.bases[self.side[variable]] = variable
            self.members = np.append(self.members, base)
            self._refactor()
            return
        size = len(self.members)
        factor = np.zeros((size + 1, size + 1), order="F")
        factor[:size, :size] = self.factor
        factor[size, :size], factor[size, size] = row, np.sqrt(distance)
        self.factor, self.members = factor, np.append(self.members, variable)

    def _drop(self, gone: Array) -> None:
        """Let variables go that met a bound."""
        if len(gone) == 0:
            return
        leaves = np.zeros(len(self.x) + 1, dtype=bool)  # the last place is that of no base, -1
        leaves[gone] = True
        self.members = self.members[~leaves[self.members]]
        for side in np.flatnonzero(leaves[self.bases]):
            left = self.members[self.side[self.members] == side]
            self.bases[side] = self._shortest(left) if len(left) else -1
            self.members = self.members[self.members != self.bases[side]]
        self._refactor()
