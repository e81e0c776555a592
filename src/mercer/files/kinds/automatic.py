"""Rules about what fitted automatic learners are made of."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels import Kernel
from ...models import SVC, SVR, KernelMachineClassifier, KernelRidge
from ...tables import (
    AutoCertificate,
    Leaderboard,
    Member,
    OutOfSample,
    Placed,
    TableEncoder,
)
from ...tables.auto.intervals import Intervals
from ...tables.race.tasks import CHANCES, LOG, PLAIN, Units
from ..fitted import FLAT, JOBS, record
from ..rules import Context, Rule, Schema, count, instance, labels, numbers, optional, real, whole


def _encoders(value: Any, context: Context) -> bool:
    """Return whether these are fitted encoders of one table."""
    if not isinstance(value, dict) or not value:
        return False
    kinds = all(type(one) is TableEncoder and "columns_" in vars(one) for one in value.values())
    return kinds and len({_names_of(one) for one in value.values()}) == 1


def _names_of(encoder: TableEncoder) -> tuple[str, ...]:
    return tuple(column.name for column in encoder.columns_)


def _first(context: Context) -> TableEncoder:
    found: TableEncoder = next(iter(context.model.encoders_.values()))
    return found


def _table_width(value: Any, context: Context) -> bool:
    return count(1).holds(value, context) and bool(value == _first(context).n_features_in_)


def _table_names(value: Any, context: Context) -> bool:
    plain = isinstance(value, np.ndarray) and value.ndim == 1
    return plain and tuple(value.tolist()) == _names_of(_first(context))


def _outputs(model: Any) -> int | None:
    """Return how many scores a row gets from a member; None: this cannot be one, or is not fitted.

    A classifier of two classes has one.
    """
    if type(model) not in (KernelRidge, SVC, SVR, KernelMachineClassifier):
        return None
    if "_prepared" not in vars(model):
        return None
    if isinstance(model, SVC) and model.decision_function_shape != "ovr":
        return None
    if isinstance(model, SVC | KernelMachineClassifier):
        return 1 if len(model.classes_) == 2 else len(model.classes_)
    return int(np.size(model.intercept_))


def _member(value: Any, context: Context) -> bool:
    """Return whether a member takes what an encoder gives, and scores what is to be predicted."""
    encoders, kinds = context.model.encoders_, {PLAIN}
    if not isinstance(value, Member) or value.view not in encoders:
        return False
    if isinstance(getattr(context.model, "units_", None), Units):
        kinds = set(context.model.units_.means)
    elif len(getattr(context.model, "classes_", ())) > 2:
        kinds = {PLAIN, CHANCES}
    columns = encoders[value.view].columns_[-1].stop
    outputs = _outputs(value.model)
    return (
        isinstance(value.name, str)
        and value.target in kinds
        and real().holds(value.link, context)
        and real(0).holds(value.weight, context)
        and outputs is not None
        and context.has("scores", outputs)
        and getattr(value.model, "n_features_in_", None) == columns
    )


def _members(value: Any, context: Context) -> bool:
    plain = isinstance(value, tuple) and len(value) > 0
    whole_sum = plain and all(_member(one, context) for one in value)
    return whole_sum and abs(sum(one.weight for one in value) - 1.0) < 1e-6


def _leaderboard(value: Any, context: Context) -> bool:
    line = record(Placed)
    plain = isinstance(value, Leaderboard) and isinstance(value.measure, str)
    return (
        plain and isinstance(value.lines, tuple) and all(line(one, context) for one in value.lines)
    )


def _losses(value: Any, context: Context) -> bool:
    number = real(finite=False)
    return isinstance(value, dict) and all(number.holds(one, context) for one in value.values())


def _sentences(value: Any, context: Context) -> bool:
    """Return whether these are sentences, those of the encoders among them."""
    plain = isinstance(value, tuple) and all(isinstance(one, str) for one in value)
    return plain and set(_first(context).notes_) <= set(value)


def _units(value: Any, context: Context) -> bool:
    if not isinstance(value, Units):
        return False
    ends = all(numbers("outputs").holds(end, context) for end in (value.low, value.high))
    if not ends or bool((value.low > value.high).any()):
        return False
    kinds = set(value.means)
    if set(value.spreads) != kinds or not {PLAIN} <= kinds <= {PLAIN, LOG}:
        return False
    known = all(numbers("outputs").holds(one, context) for one in value.means.values())
    above = all(numbers("outputs", above=0).holds(one, context) for one in value.spreads.values())
    return known and above and (LOG not in kinds or bool((value.low > 0).all()))


def _intervals(value: Any, context: Context) -> bool:
    if not isinstance(value, Intervals) or not isinstance(value.ratio, tuple):
        return False
    fits = numbers("judged", "outputs").holds(value.errors, context)
    ratio = all(isinstance(one, bool) for one in value.ratio)
    rising = fits and len(value.errors) > 0 and bool((np.diff(value.errors, axis=0) >= 0).all())
    return rising and ratio and context.has("outputs", len(value.ratio))


def _out_of_sample(value: Any, context: Context) -> bool:
    """Return whether these are predictions of rows, as many by each baseline as by the ensemble."""
    if not isinstance(value, OutOfSample) or not isinstance(value.baselines, dict):
        return False
    known = all(isinstance(name, str) for name in value.baselines)
    tables = [value.values, *value.baselines.values()]
    outputs = "classes" if hasattr(context.model, "classes_") else "outputs"
    return (
        known
        and whole("judged").holds(value.rows, context)
        and all(numbers("judged", outputs).holds(one, context) for one in tables)
    )


_AUTOMATIC: dict[str, Rule] = {
    "encoders_": Rule("fitted encoders of one table, by name", _encoders),
    "n_features_in_": Rule("the number of columns", _table_width),
    "feature_names_in_": optional(Rule("the names of the columns", _table_names)),
    "members_": Rule("fitted models that fit the encoders, with weights of sum 1", _members),
    "leaderboard_": Rule("a Leaderboard", _leaderboard),
    "baselines_": Rule("a loss by name", _losses),
    "out_of_sample_": optional(Rule("honest predictions of judged rows", _out_of_sample)),
    "notes_": Rule("sentences", _sentences),
    "kernel_": instance(Kernel),
    "certificate_": Rule("an AutoCertificate", record(AutoCertificate)),
}
AUTO_CLASSES = Schema(
    attributes={"classes_": labels("classes")} | _AUTOMATIC,
    agree=(("scores", "class outputs"),),
    derived={"class outputs": lambda sizes: 1 if sizes["classes"] == 2 else sizes["classes"]},
    parameters=JOBS,
)
AUTO_NUMBERS = Schema(
    attributes={
        "units_": Rule("what turns scores into the units of y", _units),
        "intervals_": Rule("ascending errors of each output", _intervals),
        "_flat": FLAT,
        **_AUTOMATIC,
    },
    agree=(("scores", "outputs"),),
    parameters=JOBS,
)
