"""What the ways to solve a ridge problem cost, by which one of them is chosen.

Costs are in seconds of one nominal core. Where the choice depends on whether a rate is a little
higher or lower, both ways cost about the same; so the rates are fixed, not timed, and a fit on the
same data takes the same way, to the same digits, however busy the machine is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..linalg.cholesky import SINGLE_FROM


def entry_seconds(columns: int) -> float:
    """Return the seconds that one value of a kernel of rows takes, in single precision."""
    return (0.15 + 0.003 * columns) * 1e-9


@dataclass(frozen=True, kw_only=True)
class Costs:
    """Rates of a core, and from where on a cost matters.

    single, double: multiplications and additions per second of a factorisation in that precision;
    square: of a matrix times its transpose; band, diagonals: of a reduction to a band, and to three
    diagonals, half of which waits for memory; divide: of the eigenvectors of those. bytes: read per
    second; rounds: entries of K copied, converted and multiplied in double precision per second.
    per_digit: iterations of preconditioned conjugate gradients that a decimal digit takes.
    quick: seconds that a factor may take before conjugate gradients, which are less exact, are
    considered. exact_rows: up to which errors left out come from a factor. search_rows: up to which
    a search is about K itself, not a smaller model. refit_from: the rows from which on a search may
    fit every fold; below, eigenvectors are a matter of milliseconds. pass_seconds: of one product
    with K computed anew, beyond which few centres do better; machine_pass_seconds: the same for
    losses, which take a hundred products or more.
    """

    single: float = 7e10
    double: float = 3.6e10
    square: float = 6e10
    band: float = 2.6e10
    diagonals: float = 1.3e10
    divide: float = 2.2e10
    bytes: float = 8e9
    rounds: float = 3e8
    per_digit: float = 5.0
    quick: float = 0.25
    exact_rows: int = 12_000
    search_rows: int = 6000
    refit_from: int = 800
    pass_seconds: float = 60.0
    machine_pass_seconds: float = 2.0

    def factor(self, n: int) -> float:
        """Return the cost of a Cholesky factor and of refining what it gives."""
        rate = self.double if n < SINGLE_FROM else self.single
        return n**3 / 3 / rate + 2 * n * n / self.rounds

    def iteration(self, n: int, columns: int, itemsize: int, rank: int) -> float:
        """Return the cost of one step of conjugate gradients, with half of K in memory."""
        read = n * n / 2 * itemsize + 2 * rank * n * 4
        return read / self.bytes + 2 * columns * n * (n + 2 * rank) * itemsize / 4 / self.square

    def gradients(self, n: int, columns: int, itemsize: int, rank: int, tol: float) -> float:
        """Return the likely cost of conjugate gradients with a preconditioner of a rank."""
        steps = self.per_digit * max(-math.log10(tol), 1.0)
        start = 3 * rank * rank * n / self.single
        check = n * n / self.rounds if itemsize == 4 else 0.0
        return start + check + steps * self.iteration(n, columns, itemsize, rank)

    def spectrum(self, n: int) -> float:
        """Return the cost of all eigenvectors: three diagonals, theirs, turned back."""
        return n**3 * (4 / 3 / self.diagonals + 1 / self.divide + 2 / self.double)

    def held_out(self, rank: int, held: int, alphas: int) -> float:
        """Return the cost of the errors of points held out, given `rank` eigenvectors."""
        unknowns = min(rank, held)
        squares = held * rank * unknowns * (alphas if held <= rank else 1)
        return squares / self.square + alphas * unknowns**3 / 3 / self.double


@dataclass(frozen=True, kw_only=True)
class SearchCosts:
    """What the held-out errors of one kernel cost, for many alphas.

    points: all of them. held: how many each fold holds out; None leaves out one at a time.
    weightings: how many different weights the folds are fitted with.
    """

    rates: Costs
    points: int
    held: tuple[int, ...] | None
    alphas: int
    weightings: int = 1

    def cheapest(self) -> tuple[str, float]:
        """Return the way that costs least, "spectrum", "factors" or "bands", and its cost."""
        table = {"spectrum": self.by_spectrum()}
        if self.points >= self.rates.refit_from:
            table["factors"] = self.by_factors()
            if self.held is not None:
                table["bands"] = self.by_bands()
        way = min(table, key=lambda name: table[name])
        return way, table[way]

    def by_spectrum(self) -> float:
        """Return the cost where all errors come from the eigenvectors of all points."""
        n = self.points
        each = sum(self.rates.held_out(n, held, self.alphas) for held in self.held or ())
        return self.weightings * self.rates.spectrum(n) + each

    def by_factors(self) -> float:
        """Return the cost where each fold and alpha has a Cholesky factor of its own."""
        if self.held is None:  # the diagonal of the inverse is as much work again
            return self.alphas * 2 * self.points**3 / 3 / self.rates.double
        work = sum((self.points - held) ** 3 / 3 for held in self.held)
        return self.alphas * work / self.rates.double

    def by_bands(self) -> float:
        """Return the cost where each fold is reduced to a band once."""
        return sum(4 / 3 * (self.points - held) ** 3 for held in self.held or ()) / self.rates.band

    def most_rank(self) -> int:
        """Return up to which rank of K, next to alpha, a factor of low rank costs less."""
        n, best = self.points, self.cheapest()[1]
        ranks = range(n // 2, 0, -max(n // 32, 1))
        return next((rank for rank in ranks if self._by_low_rank(rank) < best), n // 32)

    def _by_low_rank(self, rank: int) -> float:
        n, held = self.points, self.held or ()
        start = 3 * n * rank * rank / self.rates.double + self.rates.spectrum(rank)
        each = sum(self.rates.held_out(rank, some, self.alphas) for some in held)
        return self.weightings * start + each
