"""The training points that matter most to a model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from sklearn.base import is_classifier

from ...checks import Array
from ...models import KernelRidge, KernelRidgeClassifier
from ...models.expansions import holder_of
from ...models.ridge.search import RidgeSearch
from ..clock import NotShown
from ..subject import Core, Subject, taken

SHOWN = 8
EXACT = 2000  # points up to which the leverage of each is computed
SEARCHED = 50_000  # rows among which the points of a member are looked for
CLOSE = 0.02  # to targets, of models that are fitted with little accuracy
FEATURES = "The model is a sum of features, so that no training point can be weighed."
LEAVE_ONE_OUT, COEFFICIENT = "leave-one-out", "coefficient"


@dataclass(frozen=True, kw_only=True)
class Influential:
    """A training point.

    Attributes
    ----------
    row : int
        Its number, from 0.
    truth : float or str
        What came true.
    size : float
        How much it matters, in the units of `Influence.measure`.
    """

    row: int
    truth: float | str
    size: float


@dataclass(frozen=True, kw_only=True)
class Influence:
    """The points that matter most.

    Attributes
    ----------
    measure : str
        "leave-one-out": by how much the function at the point changes when the point is left out,
        in closed form; "coefficient": the norm |a_i| sqrt(k(x_i, x_i)) of its term in the function.
    points : tuple of Influential
        The most influential points, the first one most.
    carriers : int
        How many points carry the function.
    total : int
        How many points there are.
    top_share : float
        The share of the sum of all sizes that a tenth of the points has.
    of : str
        Which model it is about; "" for the whole.
    """

    measure: str
    points: tuple[Influential, ...]
    carriers: int
    total: int
    top_share: float
    of: str


def influence_of(subject: Subject, core: Core | None) -> Influence:
    """Return the points that matter most to the kernel model of a subject."""
    if core is None:
        raise NotShown("The model has no kernel whose points could be weighed.")
    found = _leave_one_out(subject, core)
    measure = LEAVE_ONE_OUT
    if found is None:
        found, measure = _coefficients(core), COEFFICIENT
    sizes, rows = found
    order = np.argsort(-sizes, kind="stable")
    tenth = max(1, round(len(sizes) / 10))
    total = float(sizes.sum())
    points = [
        Influential(
            row=int(rows[place]), truth=_truth(subject, int(rows[place])), size=float(sizes[place])
        )
        for place in order[:SHOWN]
        if sizes[place] > 0
    ]
    return Influence(
        measure=measure,
        points=tuple(points),
        carriers=int((sizes > 0).sum()),
        total=len(subject),
        top_share=float(sizes[order[:tenth]].sum() / total) if total > 0 else 0.0,
        of=core.place,
    )


def _truth(subject: Subject, row: int) -> float | str:
    if subject.classes is None:
        return float(subject.truth[row, 0])
    return str(subject.labels[subject.truth[row]])


def _leave_one_out(subject: Subject, core: Core) -> tuple[Array, Array] | None:
    """Return |f(x_i) - f_-i(x_i)| of each point of a ridge model in closed form; None for others.

    With G = (K + alpha)**-1, made orthogonal to constants where there is an offset, and a = G y,
    the error without a point is a_i / G_ii and with it alpha a_i; their difference is the move.
    """
    model, n, named = core.model, len(subject), core.penalty
    exact = isinstance(model, KernelRidge | KernelRidgeClassifier | RidgeSearch)
    found = getattr(model, "dual_coef_", None)
    if not exact or found is None or len(found) != n or n > EXACT:
        return None
    if named is None or named[1] <= 0 or not np.isfinite(found).all():
        return None
    rows, alpha = _carriers(core), named[1]
    a = np.asarray(found, dtype=np.float64).reshape(n, -1)
    K = core.gram(rows)
    K[np.diag_indices(n)] += alpha
    if not _explains(subject, core, rows, K @ a + model.intercept_):
        return None  # points have weights, and the closed form is another one
    G = scipy.linalg.inv(K, overwrite_a=True)
    if model.fit_intercept:
        ones = G.sum(axis=1)
        G -= np.outer(ones, ones) / ones.sum()
    moved = a / np.diag(G)[:, None] - alpha * a
    return np.linalg.norm(moved, axis=1), rows


def _explains(subject: Subject, core: Core, rows: Array, targets: Array) -> bool:
    """Return whether these are what the model was fitted to, as they are without weights."""
    if is_classifier(core.model):
        return bool(np.allclose(np.abs(targets), 1.0, atol=CLOSE))
    wanted = np.asarray(core.fitted_to(subject), dtype=np.float64)[rows].reshape(len(rows), -1)
    size = float(np.abs(wanted).max())
    return bool(np.allclose(targets, wanted, rtol=0.0, atol=CLOSE * size))


def _coefficients(core: Core) -> tuple[Array, Array]:
    """Return the norm of the term of each point in the functions of a model."""
    model = core.model
    holder = holder_of(model)
    if holder is None or hasattr(model, "compression_") or not hasattr(model, "support_"):
        raise NotShown("The model is no sum of kernels at training points, so none can be weighed.")
    rows = _carriers(core)
    coefficients = np.asarray(holder.coefficients(model), dtype=np.float64)
    if len(coefficients) != len(rows) or not np.isfinite(coefficients).all():
        raise NotShown(FEATURES)
    coefficients = coefficients.reshape(len(rows), -1)
    lengths = np.sqrt(np.maximum(_diagonal(core, rows), 0.0))
    return np.linalg.norm(coefficients, axis=1) * lengths, rows


def _diagonal(core: Core, rows: Array) -> Array:
    if core.is_pairwise:
        return np.diag(np.asarray(core.points))[rows].astype(np.float64)
    return np.asarray(core.kernel.diag(taken(core.points, rows)), dtype=np.float64)


def _carriers(core: Core) -> Array:
    """Return the rows of the points that carry the functions of a model.

    A member of an ensemble may have been fitted to some of the rows, in any order: its points are
    looked for among all.
    """
    if core.member is None:
        return np.asarray(core.model.support_)
    n = core.points.shape[0]
    if n > SEARCHED:
        raise NotShown("There are too many rows to look for those of the heaviest member.")
    every = core.points[np.arange(n)]
    places: dict[bytes, int] = {}
    for row, point in enumerate(every):
        places.setdefault(point.tobytes(), row)
    own = np.ascontiguousarray(core.model._prepared.points.raw, dtype=every.dtype)
    if len(own) < len(getattr(core.model, "support_", own)):
        raise NotShown(FEATURES)  # an exact map needs no points
    found = [places.get(point.tobytes(), -1) for point in own]
    if -1 in found:
        raise NotShown("The function is carried by points that are no rows of the data.")
    return np.array(found, dtype=np.intp)
