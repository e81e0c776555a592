"""What a search found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..checks import InputError, sentence
from ..fitting.cross_validation import ranks
from ..status import Status


@dataclass(frozen=True, kw_only=True)
class Tuned:
    """What a search found.

    Attributes
    ----------
    model : estimator
        The estimator with the best parameters, fitted on all points.
    params : dict
        The best parameters.
    score : float
        Their mean score over the folds, or over the points left out one at a time.
    table : dict
        All candidates with their scores; columns have scikit-learn's names.
    status : str
        "complete" for a list of candidates that were all tried, "converged" for a search along the
        gradient that came to an end, or the reason why neither.
    seconds : float
        Time that the search took.
    method : str
        "grid", "random", "halving" or "gradient".
    rows : int
        How many points the search has used: fewer than there are where leave-one-out was taken on a
        random part of them, or where some have no weight.
    n_centers : int or None
        How many of these points the functions were made of, where leave-one-out was taken in
        Nyström's space; None where they were made of all. Alpha is then settled, and scored, with
        the whole kernel matrix of a random part of the points, in the last row of `table`.
    """

    model: Any
    params: dict[str, Any]
    score: float
    table: dict[str, Any]
    status: Status
    seconds: float
    method: str = "grid"
    rows: int = 0
    n_centers: int | None = None

    def plot(self, x: str, y: str | None = None, axes: Any = None) -> Any:
        """Draw the scores of all candidates against one parameter, or two; needs matplotlib.

        Parameters
        ----------
        x : str
            Name of a parameter whose values are numbers, along the horizontal axis.
        y : str, default=None
            Name of another along the vertical axis, with scores as colours; None draws the scores
            themselves there.
        axes : matplotlib.axes.Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            What was drawn on.

        Raises
        ------
        InputError
            If the search has no such parameter.
        """
        import matplotlib.pyplot as plt

        axes = plt.figure().add_subplot() if axes is None else axes
        scores = self.table["mean_test_score"]
        across = self._numbers(x)
        if y is None:
            axes.plot(across, scores, "o", alpha=0.6)
            axes.set_ylabel("score")
        else:
            along = self._numbers(y)
            points = axes.scatter(across, along, c=scores)
            axes.figure.colorbar(points, ax=axes, label="score")
            axes.set_ylabel(y)
            axes.set_yscale("log" if along.min() > 0 else "linear")
        axes.set_xlabel(x)
        axes.set_xscale("log" if across.min() > 0 else "linear")
        return axes

    def _numbers(self, name: str) -> Any:
        column = self.table.get(f"param_{name}")
        if column is None or any(np.ndim(value) or isinstance(value, str) for value in column):
            known = [key.removeprefix("param_") for key in self.table if key.startswith("param_")]
            must = f"the parameter must be a number each time, of {', '.join(known)}"
            raise InputError(sentence("Tuned.plot", must, repr(name)))
        return np.array(column, dtype=np.float64)


def make_table(candidates: list[dict[str, Any]], scores: list[Any]) -> dict[str, Any]:
    """Return the scores of candidates, by fold or one each, with scikit-learn's names."""
    found = [np.atleast_1d(score) for score in scores]
    means = np.array([score.mean() for score in found])
    table: dict[str, Any] = {"params": candidates, "mean_test_score": means}
    table["std_test_score"] = np.array([score.std() for score in found])
    table["rank_test_score"] = ranks(means)
    for name in candidates[0]:
        table[f"param_{name}"] = [candidate[name] for candidate in candidates]
    for fold in range(len(found[0])) if np.ndim(scores[0]) else ():
        table[f"split{fold}_test_score"] = np.array([score[fold] for score in found])
    return table
