"""The chosen candidates, fitted to all rows."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self, cast

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ...checks import Array, InputError
from ...jobs import each, processes
from ...kernels import Kernel
from ...models.base import KernelEstimator
from ...models.compression import Shrink
from ...models.expansions import copy_of
from ...monitor import logger
from ...typing import PointsLike
from ..encoder import TableEncoder
from ..race.judging import LEAST_SECONDS, Judge, Judged
from ..race.pace import Limits

LEAST_WEIGHT = 0.02  # of a member that is worth a fit
AGAIN = 1.3  # of the time of a fit, that must be left to do it again with more rows
SECOND = 0.1  # added to the seconds of a fit, by which weights are divided to find who is first


@dataclass(frozen=True, kw_only=True)
class Member:
    """One model of an ensemble.

    Parameters
    ----------
    name : str
        Its name in the leaderboard.
    weight : float
        Its share in the average.
    view : str
        The encoder whose matrix it takes, a key of `encoders_`.
    target : str
        What it was fitted to: "plain", or "log" for the logarithm of y; "chances" if the scores of
        several classes are read as statements of their chances.
    link : float
        What turns its scores into values: the slope of probabilities, or a factor of y.
    model : BaseEstimator
        The fitted model, which takes encoded rows: a kernel model of mercer or, where they are
        allowed, boosted trees of scikit-learn.

    Examples
    --------
    >>> from mercer import AutoKernelRegressor
    >>> model = AutoKernelRegressor(max_candidates=1).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 4.0])
    >>> member = model.members_[0]
    >>> member.weight, member.target
    (1.0, 'plain')
    """

    name: str
    weight: float
    view: str
    target: str
    link: float
    model: BaseEstimator


class HasMembers:
    """An ensemble that `compress` makes small, member by member."""

    encoders_: dict[str, TableEncoder]
    members_: tuple[Member, ...]

    def _compressed(self, shrink: Shrink, X: PointsLike | None) -> Self:
        """Return the ensemble with smaller members; X: a table at which predictions are met."""
        check_is_fitted(self)
        found = []
        for one in self.members_:
            points = None
            if X is not None:
                points = self.encoders_[one.view].transform(X).astype(np.float32)
            is_kernel = isinstance(one.model, KernelEstimator)
            found.append(replace(one, model=shrink(one.model, points)) if is_kernel else one)
        small = copy_of(self)
        small.members_ = tuple(found)
        return cast(Self, small)


def fit_members(
    judge: Judge, chosen: Sequence[tuple[Judged, float]], limits: Limits, refit: bool
) -> tuple[Member, ...]:
    """Return the members, the heaviest first; as many as there is time for.

    chosen: with weights. refit: whether those that were judged on rows kept aside are to be fitted
    to all rows, in the time that is left.
    """
    found: list[Member] = []
    longest = 0.0  # fit so far: all are to the same rows
    least = min(LEAST_WEIGHT, max(weight for _, weight in chosen))
    heavy = [pair for pair in chosen if pair[1] >= least]
    order = sorted(heavy, key=lambda pair: -pair[1] / (SECOND + pair[0].fit_seconds))
    unhurried = [one for one, _ in order if one.model is None and limits.seconds is None]
    other = replace(judge, run=judge.run.elsewhere())
    fits = each(_fitted, unhurried, (judge if processes() == 1 else other,))
    for one, weight in order:
        rows, model = _rows(judge, one), one.model
        if model is None and limits.seconds is None:
            model = next(fits)
        elif model is None:
            if found and limits.left < max(one.fit_seconds, longest):
                continue
            start = time.monotonic()
            model = _fitted(one, judge)
            longest = max(longest, time.monotonic() - start)
        elif refit and len(rows) != one.trained and limits.left > AGAIN * one.seconds:
            model = _again(judge, one, rows, limits)
        found.append(_member(one, weight, model))
    found.sort(key=lambda member: -member.weight)
    total = sum(member.weight for member in found)
    return tuple(replace(member, weight=member.weight / total) for member in found)


def _fitted(one: Judged, judge: Judge) -> BaseEstimator:
    return judge.fitted(one.candidate, _kernel(judge, one), _rows(judge, one))


def _again(judge: Judge, one: Judged, rows: Array, limits: Limits) -> BaseEstimator:
    """Return a member fitted to more rows or, where that failed or took too long, as it was."""
    within = None if limits.seconds is None else max(limits.left, LEAST_SECONDS)
    try:
        model = judge.fitted(one.candidate, one.kernel, rows, within)
    except InputError as error:
        logger.info("%s with all rows: %s", one.name, error)
        return one.model
    certificate = getattr(model, "certificate_", None)
    return model if certificate is None or certificate.status.is_good else one.model


def _rows(judge: Judge, one: Judged) -> Array:
    """Return the rows that a member is fitted to: all, or as many as it was judged with.

    Where candidates were judged with a part of many rows, they stay what they are.
    """
    train, every = judge.splits.parts[0][0], np.arange(len(judge.task))
    if one.trained is None or one.trained == len(train):
        return every
    return train[: one.trained]


def _kernel(judge: Judge, one: Judged) -> Kernel | None:
    """Return the kernel of a member; where folds had metrics of their own, one for all rows."""
    if one.kernel is not None or one.candidate.learner != "rfm":
        return one.kernel or judge.kernel_of(one.candidate)
    sample = judge.sample_of(one.candidate, np.arange(len(judge.task)))
    recursion = judge.recursion_of(one.candidate)
    return recursion.learn(sample, one.candidate.steps, judge.monitor)


def _member(one: Judged, weight: float, model: BaseEstimator) -> Member:
    return Member(
        name=one.name,
        weight=weight,
        view=one.candidate.view,
        target=one.candidate.target,
        link=one.link,
        model=model,
    )
