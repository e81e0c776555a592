"""What a user asks of a model, and who is judged by whom."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

from ...checks import Array
from ...kernels import Kernel
from .tasks import CLASSES

FOLDS = 5
LAST = 0.2  # share of rows in the order of time that are judged by the others


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What a user asks for.

    seconds: for the fit; None without a clock. types: of columns, by name. by_time: rows are in the
    order of time.
    """

    model: str
    kind: str
    points: str
    kernel: Kernel | None = None
    seconds: float | None = None
    memory: str = "auto"
    seed: int = 0
    max_candidates: int | None = None
    types: dict[str, str] = field(default_factory=dict)
    by_time: bool = False
    is_raw: bool = False

    @property
    def is_automatic(self) -> bool:
        """Whether the table learner does it all."""
        dense = self.points in ("table", "matrix") and not self.is_raw
        return self.model == "auto" and self.kernel is None and dense

    @property
    def chosen(self) -> str:
        """The name of the model, where the table learner does not do it all."""
        return "ridge" if self.model == "auto" else self.model


def splits_of(
    wish: Wish, n: int, y: Array, groups: Array | None
) -> list[tuple[Array, Array]] | None:
    """Return who is judged by whom where that is not by chance; None: it is."""
    rows = np.arange(n)
    if wish.by_time:
        cut = n - max(round(LAST * n), 1)
        return [(rows[:cut], rows[cut:])]
    if groups is None:
        return None
    folds = min(FOLDS, len(np.unique(groups)))
    kind = StratifiedGroupKFold if wish.kind == CLASSES else GroupKFold
    return list(kind(folds).split(rows, y, groups))
