"""Rules about what fitted feature maps, encoders and automatic learners are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..checks import Array
from ..features.additive import required_kind
from ..features.draws import METHODS
from ..features.sketch import polynomial_factors
from ..features.taylor import HIGHEST
from ..grams.maps.waves import PlainWaves, RotatedWaves, Waves
from ..kernels import Basis, Gaussian, Kernel, Laplacian
from ..models import SVC, SVR, Certificate, KernelMachineClassifier, KernelRidge
from ..tables import AutoCertificate, Leaderboard, Member, Placed, TableColumn, TableEncoder
from ..tables.auto.intervals import Intervals
from ..tables.race.tasks import LOG, PLAIN, Units
from .fitted import FLAT, JOBS, is_kernel, record
from .rules import (
    Context,
    Rule,
    Schema,
    count,
    instance,
    labels,
    numbers,
    optional,
    or_none,
    output_config,
    real,
    whole,
    word,
)


def kernel_of(words: str, fits: Callable[[Kernel], bool]) -> Rule:
    """Return the rule of the kernel of a map that is made for some kernels only."""

    def holds(value: Any, context: Context) -> bool:
        return is_kernel(value, context) and fits(value)

    return Rule(f"the kernel of the points, {words}", holds)


def lower(value: Any, context: Context) -> bool:
    """Return whether this is a Cholesky factor of the kernel values between the points."""
    square = numbers("points", "points").holds(value, context)
    return square and bool((np.diag(value) > 0).all() and not np.triu(value, 1).any())


def map_basis(value: Any, context: Context) -> bool:
    """Return whether a basis is one of the kernel, by the features that it gives to a point."""
    prepared = context.model._prepared
    if type(value) is not Basis or not _alike(value, prepared.kernel.basis(prepared.points)):
        return False
    width = prepared.kernel.expand(prepared.points, value).shape[1]
    return count(1).holds(value.width, context) and bool(width == value.width)


def _alike(basis: Any, other: Any) -> bool:
    """Return whether two bases differ in nothing but what they count."""
    if type(basis) is not Basis or len(basis.parts) != len(other.parts):
        return False
    if not all(map(_alike, basis.parts, other.parts)):
        return False
    if other.ids is None or basis.ids is None:
        fixed = not other.is_sparse
        return other.ids is basis.ids and (not fixed or basis.width == other.width)
    plain = isinstance(basis.ids, np.ndarray) and basis.ids.dtype == other.ids.dtype
    return plain and basis.ids.shape == (basis.width,) and _ascending(basis.ids)


def _ascending(values: Array) -> bool:
    return bool((values[1:] > values[:-1]).all())


def hashes(value: Any, context: Context) -> bool:
    """Return whether there is a place for every factor of the kernel and every column."""
    found = polynomial_factors(context.model.kernel_)
    shape = (len(found[0]) if found else 0, context.sizes["columns"] + 1)
    return whole(*shape, below="features").holds(value, context)


def knots(value: Any, context: Context) -> bool:
    """Return whether every column has knots from 0 on."""
    plain = numbers("columns", "knots", least=0).holds(value, context)
    return plain and value.shape[1] > 1 and bool((np.diff(value, axis=1) >= 0).all())


def bits(size: str, more: int = 0) -> Callable[[Any, Context], bool]:
    """Return the test of 64 bits for each of a number of things, and some more.

    Those of which any number may be are in ascending order.
    """

    def holds(value: Any, context: Context) -> bool:
        plain = isinstance(value, np.ndarray) and value.dtype == np.uint64 and value.ndim == 1
        if not plain or len(value) <= more or not context.has(size, len(value) - more):
            return False
        return more > 0 or _ascending(value)

    return holds


def _waves(value: Any, context: Context) -> bool:
    if type(value) not in (PlainWaves, RotatedWaves):
        return False
    count = numbers("frequencies")
    phases = value.phases.shape == (0,) or count.holds(value.phases, context)
    common = (
        count.holds(value.amplitudes, context)
        and len(value.amplitudes) > 0
        and numbers("columns").holds(value.centre, context)
        and phases
        and value.phases.dtype == np.float64
    )
    return common and _frequencies(value, context)


def _frequencies(value: Waves, context: Context) -> bool:
    if not isinstance(value, RotatedWaves):
        return numbers("frequencies", "columns").holds(value.frequencies, context)
    signs, size = value.signs, value.signs.shape[2]
    groups = -(-len(value.radii) // size)
    return (
        numbers("frequencies").holds(value.radii, context)
        and numbers("columns").holds(value.scale, context)
        and signs.dtype == np.int8
        and signs.shape == (groups, 3, size)
        and bool((np.abs(signs) == 1).all())
        and size & (size - 1) == 0
        and size >= 8
        and size >= context.sizes["columns"]
    )


def _degree(value: Any, context: Context) -> bool:
    return count(0).holds(value, context) and value <= HIGHEST


def _signs(value: Any, context: Context) -> bool:
    shape = context.model.indices_.shape
    return numbers(*shape).holds(value, context) and set(np.unique(value)) <= {-1.0, 1.0}


def _gamma(value: Any, context: Context) -> bool:
    return isinstance(value, str | float | int | np.number | np.ndarray | list | tuple)


OF_GAMMA: dict[str, Rule] = {"gamma": Rule("a number, one per column, or a rule", _gamma)}
CENTERS: dict[str, Rule] = {
    "_lower": Rule("a lower factor with a row for each point", lower),
    "center_indices_": or_none(whole("points")),
    "trace_error_": real(0),
}
SERIES: dict[str, Rule] = {
    "kernel_": kernel_of("a Gaussian", lambda kernel: isinstance(kernel, Gaussian)),
    "_degree": Rule("a degree", _degree),
    "truncation_bound_": real(0),
}
SKETCH: dict[str, Rule] = {
    "kernel_": kernel_of("a polynomial", lambda kernel: polynomial_factors(kernel) is not None),
    "_size": count(1, "features"),
    "indices_": Rule("a feature for each factor of the kernel and each column", hashes),
    "signs_": Rule("1 or -1 for each factor of the kernel and each column", _signs),
}
KNOTS: dict[str, Rule] = {
    "kernel_": kernel_of("an intersection", lambda kernel: bool(required_kind(kernel, "kernel_"))),
    "knots_": Rule("ascending knots from 0 on for each column", knots),
    "error_bound_": real(0),
}
GRIDS: dict[str, Rule] = {
    "kernel_": kernel_of("a Laplacian", lambda kernel: isinstance(kernel, Laplacian)),
    "pitches_": numbers("grids", "columns", above=0),
    "shifts_": numbers("grids", "columns"),
    "cells_": Rule("numbers of cells in ascending order", bits("cells")),
    "_multipliers": Rule("a factor for each column and one more", bits("columns", more=1)),
}
BASIS: dict[str, Rule] = {"basis_": Rule("the features of the kernel", map_basis)}
WAVES: dict[str, Rule] = {
    "method_": word(*METHODS[1:]),
    "expected_error_": real(0),
    "measured_error_": real(0),
    "_waves": Rule("waves whose frequencies fit the columns of the points", _waves),
}


# --- tables ------------------------------------------------------------------------------------


def _columns(value: Any, context: Context) -> bool:
    """Return whether columns follow one another; what is in each is checked as it is made."""
    plain = isinstance(value, tuple) and all(isinstance(one, TableColumn) for one in value)
    if not plain or len({one.name for one in value}) < len(value):
        return False
    stops = [0, *(one.stop for one in value)]
    return len(value) > 0 and all(map(lambda one, stop: one.start == stop, value, stops))


def _notes(value: Any, context: Context) -> bool:
    return bool(value == tuple(one.note for one in context.model.columns_ if one.note))


def _column_count(value: Any, context: Context) -> bool:
    return count(1).holds(value, context) and bool(value == len(context.model.columns_))


def _column_names(value: Any, context: Context) -> bool:
    plain = isinstance(value, np.ndarray) and value.ndim == 1
    return plain and bool(value.tolist() == [one.name for one in context.model.columns_])


TABLE = Schema(
    attributes={
        "columns_": Rule("what was learnt of each column, one after another", _columns),
        "notes_": Rule("the notes of the columns", _notes),
        "n_features_in_": Rule("the number of columns", _column_count),
        "feature_names_in_": optional(Rule("the names of the columns", _column_names)),
        "certificate_": Rule("a Certificate", record(Certificate)),
        "kernel_": optional(instance(Kernel)),  # an encoder within a kernel has none
        "_sklearn_output_config": optional(Rule("what set_output was told", output_config)),
    }
)


# --- automatic learners ------------------------------------------------------------------------


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


_AUTOMATIC: dict[str, Rule] = {
    "encoders_": Rule("fitted encoders of one table, by name", _encoders),
    "n_features_in_": Rule("the number of columns", _table_width),
    "feature_names_in_": optional(Rule("the names of the columns", _table_names)),
    "members_": Rule("fitted models that fit the encoders, with weights of sum 1", _members),
    "leaderboard_": Rule("a Leaderboard", _leaderboard),
    "baselines_": Rule("a loss by name", _losses),
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
