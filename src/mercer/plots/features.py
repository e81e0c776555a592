"""How features come to a kernel as there are more of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import clone

from .. import checks
from ..checks import Array, InputError, sentence
from ..features.base import FeatureMap
from ..typing import PointsLike
from . import style
from .base import Display, count_of, some, some_rows, take, vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTHS = (16, 32, 64, 128, 256, 512, 1024)


@dataclass(kw_only=True, eq=False, repr=False)
class FeatureConvergenceDisplay(Display):
    """The error of random features against their number, next to the line 1 / sqrt(D).

    The error is the root mean square of phi(x) . phi(y) - k(x, y) over pairs of different points.
    Both axes are logarithmic, so that an error of c / sqrt(D), that of independent features, is a
    straight line.

    Parameters
    ----------
    widths : array-like of shape (m,)
        Numbers of features D.
    errors : dict of str to array-like of shape (m,) or (m, n_repeats)
        The errors of each way to draw features, in several draws of each.

    See Also
    --------
    mercer.features.RandomFourier : Such features.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.features import RandomFourier
    >>> from mercer.plots import FeatureConvergenceDisplay
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> maps = {"independent": RandomFourier(method="iid"), "Sobol": RandomFourier(method="sobol")}
    >>> display = FeatureConvergenceDisplay.from_estimator(maps, X, widths=[16, 256])
    >>> {name: values.shape for name, values in display.errors.items()}
    {'independent': (2, 5), 'Sobol': (2, 5)}
    """

    widths: Array
    errors: Mapping[str, Array]

    _size: ClassVar[tuple[float, float]] = (6.0, 4.4)

    def __post_init__(self) -> None:
        who = self._who()
        self.widths = vector(who, "widths", self.widths)
        some(who, "widths", self.widths)
        some(who, "errors", list(self.errors))
        if self.widths.min() <= 0:
            raise InputError(sentence(who, "widths must be above 0", f"{self.widths.min():g}"))
        found = {}
        for name, values in self.errors.items():
            table = checks.floats(who, f"errors[{name!r}]", values)
            table = table[:, None] if table.ndim == 1 else table
            if table.ndim != 2 or len(table) != len(self.widths):
                must = f"errors[{name!r}] must have {len(self.widths)} rows, one for each width"
                raise InputError(sentence(who, must, f"shape {np.shape(values)}"))
            checks.finite(who, table, what=f"errors[{name!r}]")
            found[name] = table
        self.errors = found

    @classmethod
    def from_estimator(
        cls,
        maps: FeatureMap | Mapping[str, FeatureMap],
        X: PointsLike,
        *,
        widths: Sequence[int] = WIDTHS,
        n_repeats: int = 5,
        max_points: int = 200,
        ax: Axes | None = None,
        legend: bool = True,
    ) -> Self:
        """Draw features in several numbers, and measure how far their products are from a kernel.

        Parameters
        ----------
        maps : feature map or dict of str to feature map
            Maps of `mercer.features` with a number of features `n_components`, fitted or not;
            copies of them are fitted, with the seeds 0, 1 and so on.
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points, of a kind that the kernel takes.
        widths : sequence of int, default=(16, 32, 64, 128, 256, 512, 1024)
            Numbers of features.
        n_repeats : int, default=5
            How often features are drawn for each number.
        max_points : int, default=200
            Of more points so many are drawn at random, with a fixed seed.
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None makes a new figure.
        legend : bool, default=True
            Whether lines are explained.

        Returns
        -------
        FeatureConvergenceDisplay
            What was drawn.

        Raises
        ------
        InputError
            If a map has no number of features.
        """
        who = cls.__name__
        named = maps if isinstance(maps, Mapping) else {type(maps).__name__: maps}
        some(who, "maps", list(named))
        some(who, "widths", list(widths))
        repeats = checks.whole(who, "n_repeats", n_repeats, least=1, most=10_000)
        most = checks.whole(who, "max_points", max_points, least=2, most=10_000)
        rows = some_rows(count_of(X), most)
        points = take(X, rows) if len(rows) < count_of(X) else X
        errors = {
            name: np.array(
                [[_error(who, phi, points, w, s) for s in range(repeats)] for w in widths]
            )
            for name, phi in named.items()
        }
        display = cls(widths=np.asarray(widths), errors=errors)
        display.plot(ax, legend=legend)
        return display

    def _draw(self, ax: Axes) -> None:
        for place, (name, table) in enumerate(self.errors.items()):
            colour, mean = style.colour_of(place), table.mean(axis=1)
            look: dict[str, Any] = {"color": colour, "marker": style.mark_of(place)}
            ax.plot(self.widths, mean, linewidth=1.6, markersize=4, label=name, **look)
            if table.shape[1] > 1:
                area: dict[str, Any] = {"color": colour, "alpha": style.TINT, "linewidth": 0}
                ax.fill_between(self.widths, table.min(axis=1), table.max(axis=1), **area)
        first = float(next(iter(self.errors.values()))[0].mean())
        slope = first * np.sqrt(self.widths[0] / self.widths)
        ax.plot(self.widths, slope, color=style.INK, linestyle=":", linewidth=1.5, label="∝ 1/√D")
        ax.set(xscale="log", yscale="log", xlabel="number of features D")
        ax.set_ylabel("root mean square error of the kernel")


def _error(who: str, phi: Any, points: Any, width: int, seed: int) -> float:
    """Return the root mean square error of the products of features, over different points."""
    known = phi.get_params() if hasattr(phi, "get_params") else {}
    if "n_components" not in known:
        must = "a map must have a number of features, n_components"
        raise InputError(sentence(who, must, type(phi).__name__))
    count = checks.whole(who, "widths", width, least=1)
    seeded = {"random_state": seed} if "random_state" in known else {}
    fitted = clone(phi).set_params(n_components=count, **seeded).fit(points)
    features = fitted.transform(points)
    features = features.toarray() if hasattr(features, "toarray") else features
    gaps = features @ features.T - fitted.kernel_(points)
    return float(np.sqrt(np.mean(gaps[~np.eye(len(gaps), dtype=bool)] ** 2)))
