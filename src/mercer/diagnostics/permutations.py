"""What tests by permutation share: the verdict, the source of permutations, the Gram matrix."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import checks
from ..checks import Array
from ..grams import Gram, prepare
from ..inputs import Input
from ..kernels import Kernel
from ..typing import Seed

STREAM = 20050708  # tells the numbers drawn here from others of the same seed


@dataclass(frozen=True)
class PermutationTest:
    """A statistic, and how it compares with what permutations make of it; prints in words.

    Attributes
    ----------
    statistic : float
        The statistic of the data.
    p_value : float
        (1 + number of permutations with a statistic at least as large) / (1 + number of
        permutations). Where there is nothing to be found it is at most p with probability at most
        p, for every p.
    n_permutations : int
        Number of permutations.
    null_mean : float
        Mean of the statistic over permutations.
    null_deviation : float
        Standard deviation of the statistic over permutations.
    threshold : float
        What the statistic must exceed at a level of 5 %.
    method : str
        How permutations were computed.
    null : ndarray of shape (n_permutations,)
        The statistic of each permutation.
    """

    statistic: float
    p_value: float
    n_permutations: int
    null_mean: float
    null_deviation: float
    threshold: float
    method: str
    null: Array = field(repr=False, compare=False)

    def __str__(self) -> str:
        return "\n".join(
            [
                f"statistic {self.statistic:.4g}, p = {self.p_value:.4g}",
                f"  {self.n_permutations} permutations: mean {self.null_mean:.4g}, deviation "
                f"{self.null_deviation:.4g}, 95 % are at most {self.threshold:.4g}",
                f"  {self.method}",
            ]
        )


def assess(statistic: float, values: Array, rounding: float, method: str) -> PermutationTest:
    """Return the test; values: of the data as they are, then of every permutation."""
    null = values[1:]
    # A permutation that changes nothing must count, whatever the order in which it was summed.
    as_large = int(np.count_nonzero(null >= values[0] - rounding))
    return PermutationTest(
        statistic=statistic,
        p_value=(1 + as_large) / (1 + len(null)),
        n_permutations=len(null),
        null_mean=float(null.mean()),
        null_deviation=float(null.std()),
        threshold=float(np.quantile(null, 0.95, method="higher")),
        method=method,
        null=null,
    )


def generator(who: str, state: Seed) -> np.random.Generator:
    """Return a source of permutations; None is a fixed seed.

    A seed has a stream of its own here: permutations drawn from the very numbers that the data were
    drawn from would not be independent of them.
    """
    if isinstance(state, np.random.Generator):
        return state
    if isinstance(state, np.random.RandomState):
        seed = int(state.randint(2**31 - 1))
    else:
        seed = 0 if state is None else checks.whole(who, "random_state", state, least=0)
    return np.random.default_rng((seed, STREAM))


def one_pass(kernel: Kernel, points: Input, limit: int, dtype: Any = None) -> Gram:
    """Return K to be gone through once or twice: on the fly, if no map makes it cheaper."""
    prepared = prepare(kernel, points)
    K = prepared.gram(memory_limit=limit, dtype=dtype)
    if K.plan.kind in ("stored", "half stored"):
        K = prepared.gram(memory_limit=limit, dtype=dtype, store=False)
    return K
