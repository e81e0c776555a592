"""Models of many points made small."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, Self, TypeVar, cast

import numpy as np

from .. import checks
from ..checks import Array, InputError, sentence, show
from ..grams import Prepared, limited_threads
from ..inputs import GramRows, Input, RowBlocks
from ..monitor import Monitor, to_stderr
from ..postfit.compress.condense import Condensed, condense
from ..postfit.compress.functions import Request, compress_functions
from ..postfit.compress.record import Condensation
from ..run import Run
from ..typing import MemoryLimit, PointsLike
from .base import KernelEstimator
from .contract.approximation import has_approximation
from .expansions import copy_of, holder_of
from .neighbors import KernelNeighborsClassifier, KernelNeighborsRegressor
from .pca import KernelPCA
from .ridge.regressor import KernelRidge

WHO = "compress"

Shrink = Callable[[KernelEstimator, PointsLike | None], KernelEstimator]


class Ensemble(Protocol):
    """A model of members, which are compressed one by one."""

    def _compressed(self, shrink: Shrink, X: PointsLike | None) -> Self: ...


Model = TypeVar("Model", bound=KernelEstimator | Ensemble)


def compress(
    model: Model,
    *,
    tol: float | None = None,
    n_centers: int | None = None,
    X: PointsLike | None = None,
    polish: bool = True,
    max_iter: int = 50,
    time_limit: float | None = None,
    memory_limit: MemoryLimit = "auto",
    n_jobs: int | None = None,
    verbose: bool | int = False,
) -> Model:
    """Return a model with nearly the same predictions that fewer points carry.

    Every function f = sum_i a_i k(x_i, .) of the model becomes g = sum_j b_j k(z_j, .) with centres
    z_j that all functions share. The centres begin at the points that take most of what is missing
    (orthogonal matching pursuit), b is the projection K_zz**-1 f(z) of f on their span, and for
    dense rows of numbers under a kernel with a gradient the centres then move downhill on the sum
    of ||f - g||**2 over all functions. With X the last steps lower the mean of (f(x) - g(x))**2
    over these points instead, and the offsets may change with b: hand in the training points, or
    any others like those to come; no labels are needed.

    `KernelNeighborsClassifier` is condensed: some of the training points are kept such that all are
    classified as before.

    Parameters
    ----------
    model : KernelEstimator
        A fitted ridge regression or classifier, support vector machine, kernel machine, kernel PCA,
        model of multiple kernels, discriminant, perceptron, k-means, prototype classifier or
        classifier by neighbours; or an automatic learner, of which each member is compressed. It
        stays as it is.
    tol : float, default=None
        Largest relative error ||f - g|| / ||f|| of each function, in the space of the kernel; as
        few centres are taken as were found to reach it. For neighbours, the share of the training
        points that may be classified otherwise. Give either this or `n_centers`.
    n_centers : int, default=None
        Number of centres. There are fewer where these carry the functions exactly.
    X : array-like, sparse matrix, data frame or sequence of objects, default=None
        Points at which the predictions are to be met. Not with `tol`, which is about all functions
        of the space, and not for neighbours.
    polish : bool, default=True
        Whether to move the centres where that is possible. Without it they are training points.
    max_iter : int, default=50
        Most steps that move the centres, and again as many with X.
    time_limit : float, default=None
        Seconds after which the centres move no further; to select them takes the time it takes.
    memory_limit : int or str, default="auto"
        Bytes that may be allocated, as a number or a text such as "2GB"; "auto" takes a share of
        the free memory.
    n_jobs : int, default=None
        Number of threads; None uses all that are allowed, -1 one per processor.
    verbose : bool or int, default=False
        Whether to show progress on stderr.

    Returns
    -------
    KernelEstimator
        A fitted estimator of the same class and parameters, which can be saved. Its `compression_`
        says how far its functions are from those of the model. Its `support_` has the numbers of
        the points at which the centres began.

    Raises
    ------
    InputError
        If the model is not fitted or has no functions of points, if its kernel is precomputed, if
        not exactly one of tol and n_centers is given, or if tol is out of reach.
    MemoryLimitError
        If so many centres do not fit the memory limit.

    See Also
    --------
    KernelRidge : With solver="nystrom" a function of few centres is found at once.

    Notes
    -----
    `docs/compression.md` has the formulas and what to choose. Slopes of probabilities stay as they
    are, since scores hardly move. `predict(return_std=True)` of ridge regression and
    `inverse_transform` of kernel PCA need all points: ask the model itself.

    References
    ----------
    .. [1] C. Burges, "Simplified support vector decision rules", International Conference on
       Machine Learning (1996).
    .. [2] B. Schölkopf, S. Mika, C. Burges and others, "Input space versus feature space in
       kernel-based methods", IEEE Transactions on Neural Networks 10 (1999).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRidge, compress
    >>> from mercer.kernels import Gaussian
    >>> x = np.linspace(0.0, 6.0, 200)[:, None]
    >>> model = KernelRidge(alpha=1e-3, kernel=Gaussian(gamma=0.5)).fit(x, np.sin(x[:, 0]))
    >>> small = compress(model, n_centers=8)
    >>> small.dual_coef_.shape, small.compression_.moved
    ((8,), 8)
    >>> bool(np.abs(small.predict(x) - model.predict(x)).max() <= small.compression_.bound)
    True
    """
    if hasattr(model, "_compressed"):
        settings: Any = {"polish": polish, "max_iter": max_iter, "time_limit": time_limit}
        settings |= {"memory_limit": memory_limit, "n_jobs": n_jobs, "verbose": verbose}
        ensemble: Any = model._compressed(_shrink(tol, n_centers, settings), X)
        return cast(Model, ensemble)
    carried = _check_model(model)
    if (tol is None) == (n_centers is None):
        got = "neither" if tol is None else f"tol={show(tol)} and n_centers={show(n_centers)}"
        raise InputError(sentence(WHO, "either tol or n_centers must be given", got))
    if time_limit is not None:
        checks.number(WHO, "time_limit", time_limit, above=0)
    monitor = Monitor(time_limit, to_stderr(WHO) if verbose else None)
    run = Run(who=WHO, memory_limit=memory_limit, n_jobs=n_jobs, monitor=monitor)
    given: Any = {
        "tol": None if tol is None else checks.number(WHO, "tol", tol, least=0),
        "n_centers": None if n_centers is None else _count(n_centers, len(carried._prepared)),
        "polish": checks.flag(WHO, "polish", polish),
        "max_iter": checks.whole(WHO, "max_iter", max_iter, least=1),
        "run": run,
    }
    with limited_threads(n_jobs, WHO):
        make = _condensed if isinstance(model, KernelNeighborsClassifier) else _compressed
        found: Model = make(model, X, given)
    return found


def _shrink(tol: float | None, n_centers: int | None, settings: dict[str, Any]) -> Shrink:
    """Return what compresses a member; one that has fewer points than n_centers keeps them."""
    most = None if n_centers is None else checks.whole(WHO, "n_centers", n_centers, least=1)

    def shrink(one: KernelEstimator, X: PointsLike | None) -> KernelEstimator:
        count = None if most is None else min(most, len(one._prepared))
        return compress(one, tol=tol, n_centers=count, X=X, **settings)

    return shrink


def _count(n_centers: Any, n: int) -> int:
    advice = f"The model is carried by {n} point{'' if n == 1 else 's'}."
    return checks.whole(WHO, "n_centers", n_centers, least=1, most=n, advice=advice)


def _check_model(model: Any) -> KernelEstimator:
    """Return the model; refuse what cannot be compressed, and say what can be done."""
    if isinstance(model, KernelNeighborsRegressor):
        must = "neighbours must be those of a classifier, since condensing is about classes"
        advice = "For numbers, KernelRidge(n_centers=500, solver='nystrom') is a small model."
        raise InputError(sentence(WHO, must, "KernelNeighborsRegressor", advice))
    known = isinstance(model, KernelNeighborsClassifier) or (
        isinstance(model, KernelEstimator) and holder_of(model) is not None
    )
    if not known:
        must = "the model must be an estimator of mercer that points carry"
        advice = ""
        if hasattr(model, "steps"):
            advice = "Compress the last step of a pipeline: compress(pipeline[-1], …)."
        elif hasattr(model, "best_estimator_"):
            advice = "Compress its best_estimator_."
        raise InputError(sentence(WHO, must, show(model), advice))
    model._require_fit()
    if has_approximation(model):
        must = "the model must be carried by points, not by the features of a map"
        got = f"approximation={show(model.approximation)}"
        raise InputError(sentence(WHO, must, got, "Lower n_components of the map instead."))
    if hasattr(model, "leaves_"):
        must = "the model must have one function for all points"
        got = f"{len(model.leaves_)} leaves"
        raise InputError(sentence(WHO, must, got, "Fit it with leaf_rows=None."))
    if isinstance(model._prepared.points, GramRows):
        must = "the kernel must be one of points, of which fewer can be kept"
        advice = "Fit the model with the kernel itself and the points."
        raise InputError(sentence(WHO, must, "a precomputed kernel matrix", advice))
    if isinstance(model, KernelPCA) and hasattr(model, "compression_"):
        must = "components must still have their training points, about whose mean they are"
        raise InputError(sentence(WHO, must, "compressed ones", "Compress the model before."))
    if isinstance(model._prepared.points, RowBlocks):
        must = "the points that carry the model must be in memory"
        advice = "Fit it with solver='nystrom', which keeps few of them."
        raise InputError(sentence(WHO, must, "blocks of rows", advice))
    return cast(KernelEstimator, model)


def _scored(model: Any, X: Any, tol: float | None) -> Input | None:
    """Return the points at which predictions are to be met, checked."""
    if X is None:
        return None
    if tol is not None:
        must = "X must be left out where tol is given, which is about the space of the kernel"
        raise InputError(sentence(WHO, must, f"tol={tol:g}", "Give n_centers."))
    points: Input = model._check_predict(X)
    if isinstance(points, RowBlocks) or len(points) == 0:
        got = "blocks of rows" if isinstance(points, RowBlocks) else "none"
        raise InputError(sentence(WHO, "X must have points in memory", got, "Give a sample."))
    return points


def _compressed(model: Any, X: Any, given: dict[str, Any]) -> Any:
    """Return a model whose functions are carried by fewer points."""
    points = _scored(model, X, given["tol"])
    holder: Any = holder_of(model)
    coefficients = holder.coefficients(model)
    prepared = Prepared(holder.kernel(model), model._prepared.view)
    request = Request(
        points=points,
        offset=holder.has_offset(model),
        equal_units=holder.equal_units(model),
        **given,
    )
    found = compress_functions(prepared, coefficients, request)
    new = copy_of(model)
    new.compression_ = found.record
    holder.store(model, new, found)
    if isinstance(model, KernelPCA) and model._inverse is not None:
        new._inverse = _smaller_inverse(model._inverse, found.record.centers, given)
    return new


def _smaller_inverse(inverse: KernelRidge, count: int, given: dict[str, Any]) -> KernelRidge:
    """Return the regression from components to rows, carried by as many centres."""
    if hasattr(inverse, "coef_") or count >= len(inverse._prepared):
        return inverse
    smaller: KernelRidge = _compressed(inverse, None, given | {"tol": None, "n_centers": count})
    return smaller


# --- neighbours ----------------------------------------------------------------------------------


def _condensed(model: Any, X: Any, given: dict[str, Any]) -> Any:
    """Return a model that keeps some of the points."""
    if X is not None:
        must = "X must be left out for neighbours, which answer for their own points"
        raise InputError(sentence(WHO, must, show(type(X).__name__)))
    n, k = model.n_samples_fit_, int(model.n_neighbors)
    most = n if given["n_centers"] is None else given["n_centers"]
    if most < k:
        must = f"n_centers must be at least n_neighbors = {k}"
        raise InputError(sentence(WHO, must, most))
    allowed = 0 if given["tol"] is None else int(given["tol"] * n)
    points = model._prepared.points
    neighbours = model.kneighbors(points, return_distance=False)

    def look(rows: Array) -> tuple[Array, Array, Array]:
        part = _part(model, rows)
        distances, nearest = part.kneighbors(points, n_neighbors=1)
        return part.predict_proba(points).argmax(axis=1), nearest[:, 0], distances[:, 0]

    found = condense(
        model.predict_proba(points).argmax(axis=1),
        neighbours,
        _central(model, min(max(k, len(model.classes_)), most)),
        look,
        most=most,
        allowed=allowed,
    )
    new = _part(model, found.rows)
    new.compression_ = _record(n, found, given["run"])
    return new


def _record(n: int, found: Condensed, run: Run) -> Condensation:
    return Condensation(
        points=n,
        centers=len(found.rows),
        changed=found.changed,
        rounds=found.rounds,
        seconds=run.seconds,
    )


def _part(model: KernelNeighborsClassifier, rows: Array) -> Any:
    """Return the model with some of its points."""
    part = copy_of(model)
    part._prepared = model._prepared.take(rows)
    part._codes, part._diagonal = model._codes[rows], model._diagonal[rows]
    part.n_samples_fit_ = len(rows)
    return part


def _central(model: KernelNeighborsClassifier, count: int) -> Array:
    """Return the points nearest to the means of their classes, a class after the other."""
    codes, k = model._codes, len(model.classes_)
    members = (codes[:, None] == np.arange(k)).astype(np.float64)
    means = members / members.sum(axis=0)
    products = model._prepared.times(model._prepared.points, means, model.memory_limit)
    near = products[np.arange(len(codes)), codes] - model._diagonal / 2
    order = np.lexsort((-near, codes))
    rank = np.empty(len(codes), dtype=np.intp)
    rank[order] = np.arange(len(codes)) - np.searchsorted(codes[order], codes[order])
    return np.lexsort((codes, rank))[:count]
