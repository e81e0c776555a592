"""Fits of the same kind of model to parts of the rows, and what they predict."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from ...checks import Array
from ...models.expansions import copy_of
from ...status import Status
from ...tables import Member, TableEncoder
from ...tables.race.tasks import PLAIN, ClassTask
from ..clock import NotShown
from .points import taken
from .subject import Subject, last_of


def values_of(model: Any, X: Any, classes: Array | None) -> Array:
    """Return what a model predicts: probabilities, or 1 for the class it says, or numbers.

    A class that the model does not know has the probability 0.
    """
    if classes is None:
        found = np.asarray(model.predict(X), dtype=np.float64)
        return found[:, None] if found.ndim == 1 else found
    places = {label: place for place, label in enumerate(classes.tolist())}
    if hasattr(model, "predict_proba"):
        known = np.asarray(model.predict_proba(X), dtype=np.float64)
        out = np.zeros((len(known), len(classes)))
        out[:, [places[label] for label in np.asarray(model.classes_).tolist()]] = known
        return out
    said = np.array([places[label] for label in np.asarray(model.predict(X)).tolist()])
    return np.asarray(np.eye(len(classes))[said])


@dataclass(frozen=True, kw_only=True, eq=False)
class EncodedRows:
    """The rows of a table as the members of an ensemble see them, encoded when asked for."""

    encoder: TableEncoder
    table: Any

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of numbers of each."""
        return len(self.table), self.encoder.columns_[-1].stop

    def __getitem__(self, rows: Array) -> Array:
        return np.asarray(self.encoder.transform(self.table.take(rows)), dtype=np.float32)


@dataclass(frozen=True, kw_only=True, eq=False)
class Fitted:
    """A model that has seen some rows of a subject."""

    model: Any
    subject: Subject
    rows: Array

    def values(self, X: Any) -> Array:
        """Return what it predicts for points."""
        return values_of(self.model, X, self.subject.classes)

    def at(self, rows: Array) -> Array:
        """Return what it predicts for rows of its subject."""
        X = self.subject.X
        if self.subject.is_pairwise:
            return self.values(np.asarray(X)[np.ix_(rows, self.rows)])
        return self.values(taken(X, rows))


@dataclass(frozen=True, kw_only=True, eq=False)
class Learner(ABC):
    """Fits models like that of a subject; what: they are, in words."""

    subject: Subject
    what: str

    @abstractmethod
    def fitted(self, rows: Array, within: float) -> Fitted:
        """Return a model fitted to rows; within: so many seconds, or it is not shown."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CloneLearner(Learner):
    """Clones the model, fitted anew; estimator: what is cloned."""

    estimator: Any

    def fitted(self, rows: Array, within: float) -> Fitted:
        """Return a clone fitted to rows."""
        subject = self.subject
        model = clone(self.estimator)
        _limit(model, within)
        X = subject.X
        X = np.asarray(X)[np.ix_(rows, rows)] if subject.is_pairwise else taken(X, rows)
        model.fit(X, subject.y[rows])
        _require_end(model)
        return Fitted(model=model, subject=subject, rows=rows)


@dataclass(frozen=True, kw_only=True, eq=False)
class MemberLearner(Learner):
    """Fits the members of an ensemble anew, with the kernels, penalties and weights they have."""

    def fitted(self, rows: Array, within: float) -> Fitted:
        """Return the ensemble with members fitted to rows."""
        model = self.subject.model
        encoded = {
            name: EncodedRows(encoder=model.encoders_[name], table=self.subject.table)[rows]
            for name in sorted({member.view for member in model.members_})
        }
        members = []
        for member in model.members_:
            twin = clone(member.model)
            _limit(twin, within)
            twin.fit(encoded[member.view], member_targets(self.subject, member)[rows])
            _require_end(twin)
            members.append(replace(member, model=twin))
        small = copy_of(model)
        small.members_ = tuple(members)
        return Fitted(model=small, subject=self.subject, rows=rows)


def member_targets(subject: Subject, member: Member) -> Array:
    """Return what a member of an ensemble is fitted to."""
    if subject.classes is None:
        targets = subject.model.units_.targets(subject.truth, member.target)
    elif is_classifier(member.model):
        return subject.truth
    else:
        targets = ClassTask(codes=subject.truth, count=len(subject.classes)).targets(PLAIN)
    return np.asarray(targets[:, 0] if targets.shape[1] == 1 else targets)


def learner_of(subject: Subject) -> Learner:
    """Return what fits models like that of a subject."""
    if subject.is_automatic:
        what = "the ensemble with its members fitted again, their kernels and weights unchanged"
        return MemberLearner(subject=subject, what=what)
    model = subject.model
    if hasattr(model, "best_estimator_"):
        what = "the best model of the search with its parameters as they are"
        return CloneLearner(subject=subject, what=what, estimator=model.best_estimator_)
    return CloneLearner(subject=subject, what="the same model fitted again", estimator=model)


def _limit(model: Any, within: float) -> None:
    """Give a model and its parts a time limit, where they take one and have no shorter one."""
    if not np.isfinite(within):
        return
    limits = {
        name: max(within, 0.01)
        for name, value in model.get_params().items()
        if name.rpartition("__")[2] == "time_limit" and (value is None or value > within)
    }
    model.set_params(**limits)


def _require_end(model: Any) -> None:
    """Refuse a model whose fit the clock has ended: it is not like the others."""
    certificate = getattr(last_of(model), "certificate_", None)
    if certificate is not None and certificate.status == Status.TIME_LIMIT:
        raise NotShown("A fit to a part of the rows did not end in its share of the time limit.")
