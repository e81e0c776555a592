"""How large the parts are that a box problem is solved in."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class BoxSizes:
    """From where on a box problem is solved in another way.

    whole: variables up to which the whole problem is one block. block: variables that change
    together, at most; small: and of few variables, at least; share: else this part of all. inner:
    how far a block is solved, against the violation at hand. steps: of two variables, per variable
    of a block, before something else is tried. large: variables up to which that is an active set,
    on a copy of K. members: of an active set; a step costs the square of it, to let one go the
    cube. rounds: of steps of two variables and active sets in turn. unthreaded: variables up to
    which BLAS uses one thread of its own accord. window: blocks after which progress is looked for.
    """

    whole: int = 2000
    block: int = 1536
    small: int = 512
    share: int = 20
    inner: float = 0.1
    steps: int = 100
    large: int = 4000
    members: int = 1000
    rounds: int = 1000
    unthreaded: int = 100
    window: int = 100
