"""What the geometry of a support vector machine says about new points."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import checks
from ...checks import Array, InputError, sentence
from ...fitting.rows import SharedRows
from ...grams import prepare
from ...monitor import Monitor
from ...run import Run
from ...solvers import BoxProblem, BoxSolver
from ...typing import KernelLike, LabelsLike, PointsLike
from .base import SupportVectorEstimator
from .classes import SupportVectorClassifier

SMALLEST = 2.0**-50  # norm, of those that a bound tells apart
DECISIVE = 0.83  # below sqrt(ln 2), up to which the bound by dimension is proved


def enclosing_radius(
    model: SupportVectorEstimator | KernelLike, X: PointsLike | None = None
) -> float:
    """Compute the radius of the smallest ball in feature space that holds all images of points.

    R**2 = max sum_i b_i k(x_i, x_i) - b' K b over b >= 0 with sum b = 1.

    Parameters
    ----------
    model : fitted support vector machine or Kernel
        What gives the feature space.
    X : array-like, sparse matrix, data frame or sequence of objects, default=None
        The points. None takes those of the fit, and a ball about 0, which is no smaller than the
        smallest ball.

    Returns
    -------
    float
        The radius.

    Raises
    ------
    InputError
        If there are no points, or if X is None and the model is not a fitted machine.

    References
    ----------
    .. [1] D. Tax, R. Duin, "Support vector data description", Machine Learning 54 (2004).

    Examples
    --------
    >>> from mercer import enclosing_radius
    >>> from mercer.kernels import Linear
    >>> round(enclosing_radius(Linear(), [[1.0, 0.0], [3.0, 0.0], [2.0, 0.5]]), 6)
    1.0
    """
    who = "enclosing_radius"
    if X is None:
        return float(_fitted(who, model).certificate_.radius)
    kernel = model.kernel_ if isinstance(model, SupportVectorEstimator) else model
    return _radius(who, kernel, X, tol=1e-9)


def _radius(who: str, kernel: Any, X: Any, tol: float) -> float:
    """Return the radius of a ball that holds the points, the smallest as tol goes to 0."""
    prepared = prepare(kernel, X)
    n = len(prepared)
    if n == 0:
        raise InputError(sentence(who, "X must have a point", "none"))
    diagonal = np.asarray(prepared.kernel.diag(prepared.points), dtype=np.float64)
    scale = max(float(diagonal.max()), np.finfo(np.float64).tiny)
    rows = SharedRows(prepared, [np.arange(n)], Run(who=who), tol).of(0)
    start = np.zeros(n)
    start[0] = 1.0
    problem = BoxProblem(linear=-diagonal / 2, lower=np.zeros(n), upper=np.ones(n), start=start)
    solution = BoxSolver(rows, tol * scale, 2**62, Monitor()).solve(problem)
    b, products = solution.b, solution.g + diagonal / 2
    squared = diagonal - 2 * products + float(b @ products)
    return float(np.sqrt(max(float(squared.max()), 0.0)))


def vc_bound(
    model: SupportVectorClassifier,
    X: PointsLike,
    y: LabelsLike,
    *,
    delta: float = 0.05,
    norm: float | None = None,
) -> float:
    """Bound the risk of a machine of two classes, with probability 1 - delta.

    Margin: mean_i min(1, max(0, 1 - y_i f(x_i))) + 2 (2 L R + 1) / sqrt(n)
    + 3 sqrt(ln(2 / delta) / (2 n)), with R the radius of a ball that holds the points in feature
    space, close to the smallest, and L >= |w| fixed beforehand. `norm=None` takes L = 2**(j / 4)
    for the best whole number j, and delta p_j for delta, with p_j = 2 / (3 (|j| + 1) (|j| + 2)),
    which sum to 1. Without an offset 2 L sqrt(mean_i k(x_i, x_i) / n) takes the place of the second
    term.

    Dimension: for functions w . phi(x) + b with h coefficients, the share of points on the wrong
    side + sqrt((h (ln(2 n / h) + 1) - ln(delta / 4)) / n) + 1 / n. For a kernel with a finite
    feature map the smaller of the two bounds counts, each with delta / 2. A bound of 1 says
    nothing.

    It holds for points drawn independently of each other, and for a kernel that does not depend on
    them: one whose parameters were tuned on the same points, or set by "scale", is not covered.
    C, nu and weights may be chosen in any way. docs/svm.md has the proof.

    Parameters
    ----------
    model : SVC or NuSVC
        A fitted machine of two classes.
    X : array-like, sparse matrix, data frame or sequence of objects
        The points that the machine was fitted on.
    y : array-like of shape (n,)
        The class of each point.
    delta : float, default=0.05
        Probability that the bound may fail.
    norm : float, default=None
        A bound of |w| that was fixed before the points were seen. None if there was none.

    Returns
    -------
    float
        The bound, at most 1.

    Raises
    ------
    InputError
        If the model is not a fitted classifier of two classes, or y does not hold its classes.

    References
    ----------
    .. [1] P. Bartlett, S. Mendelson, "Rademacher and Gaussian complexities", Journal of Machine
       Learning Research 3 (2002).
    .. [2] V. Vapnik, "Statistical learning theory", Wiley (1998).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVC, vc_bound
    >>> from mercer.kernels import Linear
    >>> X = np.repeat([[-1.0], [1.0]], 5_000, axis=0)
    >>> y = X[:, 0] > 0
    >>> round(vc_bound(SVC(kernel=Linear()).fit(X, y), X, y), 3)
    0.051
    """
    who = "vc_bound"
    chance = checks.number(who, "delta", delta, above=0, most=1)
    fitted = _fitted(who, model)
    if not isinstance(fitted, SupportVectorClassifier) or len(fitted.classes_) != 2:
        must = "the model must be a support vector classifier of two classes"
        raise InputError(sentence(who, must, checks.show(model)))
    margins = _margins(who, fitted, X, y)
    offset = bool(getattr(fitted, "fit_intercept", True))
    width = fitted._prepared.map_width()
    if width is not None:
        chance /= 2
    bounds = [
        1.0,
        _margin_bound(
            who=who, model=fitted, X=X, margins=margins, offset=offset, chance=chance, norm=norm
        ),
    ]
    if width is not None:
        bounds.append(_dimension_bound(margins, width + offset, chance))
    return float(min(bounds))


def _margins(who: str, model: SupportVectorClassifier, X: Any, y: Any) -> Array:
    """Return y f(x) of every point, y being -1 or 1."""
    scores = model.decision_function(X)
    labels = np.asarray(y)
    if labels.shape != scores.shape:
        must = f"y must have a class for each of the {len(scores)} points"
        raise InputError(sentence(who, must, f"shape {labels.shape}"))
    known = np.isin(labels, model.classes_)
    if not known.all():
        must = f"y must have the classes of the model, {model.classes_.tolist()}"
        raise InputError(sentence(who, must, checks.show(labels[~known][0])))
    return np.asarray(np.where(labels == model.classes_[1], scores, -scores))


def _margin_bound(
    who: str,
    model: SupportVectorClassifier,
    X: Any,
    margins: Array,
    offset: bool,
    chance: float,
    norm: Any,
) -> float:
    """Return the bound by Rademacher averages of the functions of norm at most L."""
    n, own = len(margins), model.certificate_.norm
    loss = float(np.clip(1 - margins, 0.0, 1.0).mean())
    if norm is None:
        first = int(np.ceil(4 * np.log2(max(own, SMALLEST))))
        steps = np.arange(first, max(first, 0) + 1)
        lengths, chances = 2.0 ** (steps / 4), 2 / (3 * (abs(steps) + 1) * (abs(steps) + 2))
    else:
        lengths, chances = np.array([checks.number(who, "norm", norm, above=0)]), np.ones(1)
        if own > lengths[0]:
            must = "norm must be at least that of the machine"
            raise InputError(sentence(who, must, f"{lengths[0]:g}, below {own:g}"))
    if offset:
        complexity = (2 * lengths * _radius(who, model.kernel_, X, tol=1e-4) + 1) / np.sqrt(n)
    else:
        prepared = prepare(model.kernel_, X)
        squares = prepared.kernel.diag(prepared.points)
        complexity = lengths * np.sqrt(squares.mean() / n)
    chances = np.sqrt(np.log(2 / (chance * chances)) / (2 * n))
    return float((loss + 2 * complexity + 3 * chances).min())


def _dimension_bound(margins: Array, h: int, chance: float) -> float:
    """Return the bound by the dimension of the space of functions."""
    n = len(margins)
    if h >= n:
        return 1.0
    term = float(np.sqrt((h * (np.log(2 * n / h) + 1) - np.log(chance / 4)) / n))
    return float(np.mean(margins <= 0)) + term + 1 / n if term < DECISIVE else 1.0


def _fitted(who: str, model: Any) -> SupportVectorEstimator:
    if isinstance(model, SupportVectorEstimator) and hasattr(model, "certificate_"):
        return model
    must = "the model must be a fitted support vector machine"
    raise InputError(sentence(who, must, checks.show(model)))
