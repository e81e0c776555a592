"""Predictions of rows by models that have not seen them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...checks import Array, InputError, sentence
from ..clock import Clock, NotShown
from ..subject import Fitted, Learner, Subject
from ..subject.subject import WHO, last_of
from ..words import count
from .splits import Parts, folds_of, thinned

FOLDS = 5
GROWTH = 2.0  # the power of the rows by which the time of a fit grows
FEWEST = 20  # rows that a model is fitted to
JUDGED = 0.2  # share of the rows that are judged once, where there is no time for folds
MOST_JUDGED = 20_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Honest:
    """Honest predictions.

    rows: that were judged. values: what was predicted for them. folds: the fold of each; None
    where all were judged at once. how: in a sentence. parts: rows to learn from and to be judged
    on. fitted: the model of each part, where there are any. baselines: predictions by the name of
    the baseline, as far as they are known.
    """

    rows: Array
    values: Array
    how: str
    parts: Parts
    folds: Array | None = None
    fitted: tuple[Fitted, ...] = ()
    baselines: dict[str, Array]


def honest_predictions(subject: Subject, learner: Learner, clock: Clock, seed: int) -> Honest:
    """Return the model's own honest predictions, or those of a cross-validation."""
    own = getattr(subject.model, "out_of_sample_", None)
    if own is not None:
        return _own(subject, own, seed)
    return _validated(subject, learner, clock, seed)


def _own(subject: Subject, own: Any, seed: int) -> Honest:
    rows, n = np.asarray(own.rows), len(subject)
    width = subject.truth.shape[1] if subject.classes is None else len(subject.classes)
    if rows.max() >= n or own.values.shape[1] != width:
        must = "X and y must be those of the fit"
        got = f"{n} rows, where row {int(rows.max())} was judged"
        raise InputError(sentence(WHO, must, got))
    kept_aside = len(rows) < n
    how = "by models that were fitted without them, as the search for the model went on"
    if kept_aside:
        others = np.setdiff1d(np.arange(n), rows)
        how = f"kept aside while the model was sought with the other {count(len(others))}"
        parts = [(others, rows)]
    else:
        parts = folds_of(n, FOLDS, subject.codes, subject.groups, seed)
    return Honest(rows=rows, values=own.values, how=how, parts=parts, baselines=own.baselines)


def _validated(subject: Subject, learner: Learner, clock: Clock, seed: int) -> Honest:
    """Return predictions of a cross-validation, of as many folds as there is time for."""
    parts, times, how = _plan(subject, clock.left, seed)
    n_judged = sum(len(held) for _, held in parts)
    width = subject.truth.shape[1] if subject.classes is None else len(subject.classes)
    rows = np.concatenate([held for _, held in parts])
    values = np.empty((n_judged, width))
    folds = np.concatenate([np.full(len(held), fold) for fold, (_, held) in enumerate(parts)])
    fitted, start = [], 0
    for train, held in parts:
        clock.poll()
        one = learner.fitted(train, clock.left)
        values[start : start + len(held)] = one.at(held)
        start += len(held)
        fitted.append(one)
    if not np.isfinite(values).all():
        raise NotShown("A model that was fitted to a part of the rows predicts no finite numbers.")
    order = np.argsort(rows, kind="stable")
    return Honest(
        rows=rows[order],
        values=values[order],
        how=how,
        parts=parts,
        folds=folds[order] if times > 1 else None,
        fitted=tuple(fitted),
        baselines={},
    )


def _plan(subject: Subject, left: float, seed: int) -> tuple[Parts, int, str]:
    """Return the parts of a cross-validation, how many there are, and how in words.

    The time of the fit that there was says how long the next ones will take.
    """
    n = len(subject)
    cost = max(_seconds(subject.model), 1e-3)
    affordable = left / cost
    for times in (FOLDS, 3):
        if times * ((times - 1) / times) ** GROWTH <= affordable:
            parts = folds_of(n, times, subject.codes, subject.groups, seed)
            how = f"in {len(parts)} folds, each by a model fitted to the others"
            return parts, len(parts), how
    train, held = folds_of(n, round(1 / JUDGED), subject.codes, subject.groups, seed)[0]
    held = thinned(held, MOST_JUDGED, subject.codes, seed)
    most = max(int(n * affordable ** (1 / GROWTH)), min(FEWEST, len(train)))
    some = thinned(train, most, subject.codes, seed)
    how = f"by a model fitted to {count(len(some))} others, for lack of time for more"
    return [(some, held)], 1, how


def _seconds(model: Any) -> float:
    """Return the time that a fit took, as far as its certificate says."""
    certificate = getattr(last_of(model), "certificate_", None)
    return 0.1 if certificate is None else float(certificate.seconds)
