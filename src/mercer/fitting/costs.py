"""What the ways to solve a ridge problem cost, by which one of them is chosen.

Costs are in seconds of one nominal core. Where the choice depends on whether a rate is a little
higher or lower, both ways cost about the same; so the rates are fixed, not timed, and a fit on the
same data takes the same way, to the same digits, however busy the machine is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..linalg.cholesky import SINGLE_FROM


@dataclass(frozen=True, kw_only=True)
class Costs:
    """Rates of a core, and from where on a cost matters.

    single, double: multiplications and additions per second of a factorisation in that precision;
    square: of a matrix times its transpose; reduction: of one to three diagonals, half of which
    waits for memory; bytes: read per second; rounds: entries of K that are copied, converted and
    multiplied in double precision per second.
    per_digit: iterations of preconditioned conjugate gradients that a decimal digit takes.
    quick: seconds that a factor may take before conjugate gradients, which are less exact, are
    considered. exact_rows: up to which errors left out come from a factor. pass_seconds: of one
    product with K computed anew, beyond which few centres do better; machine_pass_seconds: the same
    for losses, which take a hundred products or more.
    """

    single: float = 7e10
    double: float = 3.6e10
    square: float = 6e10
    reduction: float = 1.3e10
    bytes: float = 8e9
    rounds: float = 3e8
    per_digit: float = 5.0
    quick: float = 0.25
    exact_rows: int = 12_000
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
