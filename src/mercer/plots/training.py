"""How a fit went: convergence, and the weights of kernels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from .. import checks
from ..checks import Array, InputError, sentence
from ..kernels import Kernel, Sum
from ..kernels.algebra import Scaled
from ..typing import Estimator
from . import style
from .base import Display, innermost, matrix, some, vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# What tells how far a solver is from its end, and by what its steps are counted.
DISTANCES = ("residual", "gap", "violation")
STEPS = {
    "solves": "machines solved",
    "iteration": "iteration",
    "iterations": "iterations",
    "passes": "passes over the points",
    "judged": "candidates judged",
}


@dataclass(kw_only=True, eq=False, repr=False)
class ConvergenceDisplay(Display):
    """How far a solver was from the optimum, step by step.

    Parameters
    ----------
    steps : array-like of shape (m,)
        The numbers of the steps.
    series : dict of str to array-like of shape (m,)
        What was measured at each step, such as a gap or a residual.
    tol : float, default=None
        What was asked for, drawn as a line.
    name : str, default="iteration"
        What the steps are.
    log : bool, default=True
        Whether the vertical axis is logarithmic; values that are not above 0 are left out then.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRidge
    >>> from mercer.plots import ConvergenceDisplay
    >>> records = []
    >>> X = np.linspace(0.0, 6.0, 50)[:, None]
    >>> model = KernelRidge(0.01, solver="cg", callback=records.append).fit(X, np.sin(X[:, 0]))
    >>> display = ConvergenceDisplay.from_records(records, tol=model.tol)
    >>> sorted(display.series)
    ['residual']
    """

    steps: Array
    series: Mapping[str, Array]
    tol: float | None = None
    name: str = "iteration"
    log: bool = True

    def __post_init__(self) -> None:
        who = self._who()
        self.steps = vector(who, "steps", self.steps)
        some(who, "steps", self.steps)
        some(who, "series", list(self.series))
        count = len(self.steps)
        self.series = {
            name: vector(who, f"series[{name!r}]", values, count)
            for name, values in self.series.items()
        }
        if self.tol is not None:
            self.tol = checks.number(who, "tol", self.tol, least=0)

    @classmethod
    def from_records(
        cls,
        records: Iterable[Mapping[str, Any]],
        *,
        quantities: Sequence[str] | None = None,
        tol: float | None = None,
        log: bool = True,
        ax: Axes | None = None,
        legend: bool = True,
    ) -> Self:
        """Draw what a callback has been told at each iteration.

        Parameters
        ----------
        records : iterable of dict
            The records, as `callback=records.append` collects them.
        quantities : sequence of str, default=None
            What to draw; None takes those of "residual", "gap" and "violation" that there are.
        tol : float, default=None
            What was asked for, drawn as a line.
        log : bool, default=True
            Whether the vertical axis is logarithmic.
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None makes a new figure.
        legend : bool, default=True
            Whether lines are explained.

        Returns
        -------
        ConvergenceDisplay
            What was drawn.

        Raises
        ------
        InputError
            If there are no records, or none of the quantities in them.
        """
        found = list(records)
        some(cls.__name__, "records", found)
        known = [name for name in found[0] if all(name in one for one in found)]
        table = {
            name: np.array([one[name] for one in found], dtype=np.float64)
            for name in known
            if all(isinstance(one[name], int | float | np.number) for one in found)
        }
        return cls._from_table(table, quantities, tol=tol, log=log, ax=ax, legend=legend)

    @classmethod
    def from_estimator(
        cls,
        model: Estimator,
        *,
        quantities: Sequence[str] | None = None,
        tol: float | None = None,
        log: bool = True,
        ax: Axes | None = None,
        legend: bool = True,
    ) -> Self:
        """Draw the history that a fitted model keeps, as those that learn weights of kernels do.

        Parameters
        ----------
        model : estimator
            A fitted model with `history_`. Others tell a callback: see `from_records`.
        quantities : sequence of str, default=None
            What to draw, such as "gap" or "objective"; None takes those of "residual", "gap" and
            "violation" that there are.
        tol : float, default=None
            What was asked for, drawn as a line.
        log : bool, default=True
            Whether the vertical axis is logarithmic.
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None makes a new figure.
        legend : bool, default=True
            Whether lines are explained.

        Returns
        -------
        ConvergenceDisplay
            What was drawn.

        Raises
        ------
        InputError
            If the model keeps no history, or not of these quantities.
        """
        history = getattr(innermost(model, None)[0], "history_", None)
        if history is None:
            must = "the model must keep a history, history_"
            advice = "Fit with callback=records.append, and take from_records(records)."
            raise InputError(sentence(cls.__name__, must, type(model).__name__, advice))
        table = {name: values for name, values in history.items() if np.ndim(values) == 1}
        return cls._from_table(table, quantities, tol=tol, log=log, ax=ax, legend=legend)

    @classmethod
    def _from_table(
        cls,
        table: Mapping[str, Array],
        quantities: Sequence[str] | None,
        *,
        tol: float | None,
        log: bool,
        ax: Axes | None,
        legend: bool,
    ) -> Self:
        who = cls.__name__
        known = [name for name in table if name not in STEPS and name != "fraction"]
        asked = [n for n in DISTANCES if n in known] if quantities is None else list(quantities)
        missing = [name for name in asked if name not in table]
        if missing or not asked:
            must = f"quantities must be among {', '.join(map(repr, known)) or 'those recorded'}"
            got = ", ".join(map(repr, missing)) or "none of residual, gap and violation"
            raise InputError(sentence(who, must, got, "Say quantities=[…]." * (not missing)))
        series = {name: table[name] for name in asked}
        count = len(next(iter(series.values())))
        counted = next((name for name in STEPS if name in table), None)
        display = cls(
            steps=np.arange(1, count + 1) if counted is None else table[counted],
            series=series,
            tol=tol,
            name="step" if counted is None else STEPS[counted],
            log=log,
        )
        display.plot(ax, legend=legend)
        return display

    def _draw(self, ax: Axes) -> None:
        mark = "o" if len(self.steps) <= 60 else None
        for place, (name, values) in enumerate(self.series.items()):
            shown = values > 0 if self.log else np.full(len(values), True)
            look: dict[str, Any] = {"color": style.colour_of(place), "linewidth": 1.6}
            ax.plot(self.steps[shown], values[shown], marker=mark, markersize=4, label=name, **look)
        if self.tol:
            line: dict[str, Any] = {"color": style.GREY, "linestyle": "--", "linewidth": 1}
            ax.axhline(self.tol, **line, label=f"asked for: {self.tol:g}")
        if self.log:
            ax.set_yscale("log")
        only = next(iter(self.series)) if len(self.series) == 1 else "distance from the optimum"
        ax.set(xlabel=self.name, ylabel=only)
        if np.ptp(self.steps) >= 1:
            ax.locator_params(axis="x", integer=True)


@dataclass(kw_only=True, eq=False, repr=False)
class KernelWeightsDisplay(Display):
    """The weights of several kernels, as bars, or as lines by iteration.

    Parameters
    ----------
    weights : array-like of shape (n_kernels,)
        The weights in the end.
    names : sequence of str, default=None
        Names of the kernels; None numbers them.
    history : array-like of shape (m, n_kernels), default=None
        The weights at each step; with it lines are drawn instead of bars.
    steps : array-like of shape (m,), default=None
        The numbers of the steps; None counts from 1.
    name : str, default="step"
        What the steps are.
    most : int, default=6
        How many kernels are named: the heaviest; other lines are grey.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import MKLClassifier
    >>> from mercer.kernels import Gaussian, Linear
    >>> from mercer.plots import KernelWeightsDisplay
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> model = MKLClassifier([Linear(), Gaussian(1.0)]).fit(X, X[:, 0] > 0)
    >>> display = KernelWeightsDisplay.from_estimator(model)
    >>> display.names
    ('Linear()', 'Gaussian(gamma=1.0)')
    """

    weights: Array
    names: Sequence[str] | None = None
    history: Array | None = None
    steps: Array | None = None
    name: str = "step"
    most: int = 6

    _size: ClassVar[tuple[float, float]] = (6.8, 4.0)

    def __post_init__(self) -> None:
        who = self._who()
        self.weights = vector(who, "weights", self.weights)
        some(who, "weights", self.weights)
        count = len(self.weights)
        if self.names is None:
            self.names = [f"kernel {place + 1}" for place in range(count)]
        self.names = tuple(str(name) for name in self.names)
        if len(self.names) != count:
            must = f"names must have one name for each of {count} kernels"
            raise InputError(sentence(who, must, len(self.names)))
        checks.whole(who, "most", self.most, least=1)
        if self.history is not None:
            self.history = matrix(who, "history", self.history, (None, count))
            if self.steps is None:
                self.steps = np.arange(1, len(self.history) + 1)
            self.steps = vector(who, "steps", self.steps, len(self.history))

    @classmethod
    def from_estimator(
        cls,
        model: Estimator,
        *,
        by: Literal["auto", "bar", "step"] = "auto",
        names: Sequence[str] | None = None,
        most: int = 6,
        ax: Axes | None = None,
        legend: bool = True,
    ) -> Self:
        """Draw the weights that a fitted model has found.

        Parameters
        ----------
        model : estimator
            A fitted model with `weights_`, such as `mercer.MKLClassifier`.
        by : {"auto", "bar", "step"}, default="auto"
            "bar" draws the weights in the end, "step" those of each step; "auto" draws steps where
            there are at least three.
        names : sequence of str, default=None
            Names of the kernels; None writes the kernels themselves.
        most : int, default=6
            How many kernels are named: the heaviest.
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None makes a new figure.
        legend : bool, default=True
            Whether lines are explained.

        Returns
        -------
        KernelWeightsDisplay
            What was drawn.

        Raises
        ------
        InputError
            If the model has no weights of kernels.
        """
        who = cls.__name__
        checks.one_of(who, "by", by, ("auto", "bar", "step"))
        inner = innermost(model, None)[0]
        weights, history = getattr(inner, "weights_", None), getattr(inner, "history_", {})
        if weights is None:
            must = "the model must have weights of kernels, weights_"
            raise InputError(sentence(who, must, type(inner).__name__))
        path = history.get("weights")
        if by == "bar" or path is None or (by == "auto" and len(path) < 3):
            path = None
        display = cls(
            weights=weights,
            names=_kernel_names(inner) if names is None else names,
            history=path,
            steps=None if path is None else history.get("solves"),
            name=STEPS["solves"] if "solves" in history else "step",
            most=most,
        )
        display.plot(ax, legend=legend)
        return display

    def _draw(self, ax: Axes) -> None:
        heaviest = np.argsort(-np.abs(self.weights), kind="stable")[: self.most]
        if self.history is None or self.steps is None:
            self._draw_bars(ax)
            return
        colours = {int(place): style.colour_of(rank) for rank, place in enumerate(heaviest)}
        others = [place for place in range(len(self.weights)) if place not in colours]
        for place in others:
            ax.plot(self.steps, self.history[:, place], color=style.GREY, linewidth=0.6)
        mark = "o" if len(self.steps) <= 60 else None
        names = self.names or ()
        for place, colour in colours.items():
            look: dict[str, Any] = {"color": colour, "marker": mark, "markersize": 3.5}
            label = style.kernel_text(names[place], 40)
            ax.plot(self.steps, self.history[:, place], linewidth=1.8, label=label, **look)
        if others:
            ax.plot([], [], color=style.GREY, linewidth=0.6, label=f"{len(others)} others")
        ax.set(xlabel=self.name, ylabel="weight")
        ax.set_ylim(bottom=min(0.0, float(self.history.min())))

    def _draw_bars(self, ax: Axes) -> None:
        places = np.arange(len(self.weights))
        ax.barh(places, self.weights, color=style.BLUE, height=0.7)
        ax.set_yticks(places, [style.kernel_text(name, 40) for name in self.names or ()])
        ax.set(xlabel="weight", ylim=(len(places) - 0.4, -0.6))
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0)


def _kernel_names(model: Any) -> list[str]:
    """Return the kernels of a model as texts: those with a weight, settled, are in `kernel_`."""
    count, given = len(model.weights_), getattr(model, "kernels", None)
    if isinstance(given, list | tuple) and len(given) == count:
        return [str(kernel) for kernel in given]
    names = [f"kernel {place + 1}" for place in range(count)]
    kernel = getattr(model, "kernel_", None)
    terms: Sequence[Any] = kernel.terms if isinstance(kernel, Sum) else (kernel,)
    used = np.flatnonzero(model.weights_)
    if len(used) == len(terms) and isinstance(kernel, Kernel):
        for place, term in zip(used, terms, strict=True):
            names[place] = repr(term.inner if isinstance(term, Scaled) else term)
    return names
