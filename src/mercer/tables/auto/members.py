"""The chosen candidates, fitted to all rows."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from sklearn.base import BaseEstimator

from .judging import Candidate, Judge, Judged
from .race import Limits

LEAST_WEIGHT = 0.02  # of a member that is worth a fit


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
        What it was fitted to: "plain", or "log" for the logarithm of y.
    link : float
        What turns its scores into values: the slope of probabilities, or a factor of y.
    model : BaseEstimator
        The fitted model, which takes encoded rows: a kernel model of mercer or, where they are
        allowed, boosted trees of scikit-learn.
    """

    name: str
    weight: float
    view: str
    target: str
    link: float
    model: BaseEstimator


def fit_members(
    judge: Judge, chosen: Sequence[tuple[Judged, float]], limits: Limits, refit: bool
) -> tuple[Member, ...]:
    """Return the members, the one of most weight first; as many as there is time for.

    chosen: with weights. refit: whether those that were judged on rows kept aside are to be fitted
    to all rows, in the time that is left.
    """
    found: list[Member] = []
    longest = 0.0
    for one, weight in sorted(chosen, key=lambda pair: -pair[1]):
        if found and weight < LEAST_WEIGHT:
            continue
        model, start = one.model, time.monotonic()
        if model is None:
            if found and limits.left < longest:
                continue
            model = _fitted(judge, one.candidate)
        elif refit and one.trained == _trained(judge) and limits.left > 1.5 * one.seconds:
            model = judge.fitted(one.candidate, one.kernel, np.arange(len(judge.task)))
        longest = max(longest, time.monotonic() - start)
        found.append(_member(one, weight, model))
    total = sum(member.weight for member in found)
    return tuple(replace(member, weight=member.weight / total) for member in found)


def _trained(judge: Judge) -> int:
    return len(judge.splits.parts[0][0])


def _member(one: Judged, weight: float, model: BaseEstimator) -> Member:
    return Member(
        name=one.name,
        weight=weight,
        view=one.candidate.view,
        target=one.candidate.target,
        link=one.link,
        model=model,
    )


def _fitted(judge: Judge, candidate: Candidate) -> BaseEstimator:
    """Return the model of a candidate, fitted to all rows, with a metric learnt from them."""
    rows = np.arange(len(judge.task))
    kernel = judge.kernel_of(candidate)
    if candidate.learner == "rfm":
        sample = judge.sample_of(candidate, rows)
        kernel = judge.recursion_of(candidate).learn(sample, candidate.steps, judge.monitor)
    return judge.fitted(candidate, kernel, rows)
