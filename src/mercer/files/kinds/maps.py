"""Rules about what fitted feature maps, encoders and feature machines are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ...checks import Array
from ...features.additive import required_kind
from ...features.draws import METHODS
from ...features.sketch import polynomial_factors
from ...features.taylor import HIGHEST
from ...fitting.rfm.tree import Tree
from ...grams.maps.waves import PlainWaves, RotatedWaves, Waves
from ...kernels import Basis, Gaussian, Kernel, Laplacian, Metric
from ...models import Certificate, MetricChoice, RFMRegressor
from ...tables import TableColumn
from ..fitted import is_kernel, record
from ..rules import (
    Context,
    Rule,
    Schema,
    count,
    instance,
    numbers,
    only_if,
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


# --- recursive feature machines -------------------------------------------------------------------

_OF_LEAVES = ("leaves_", "tree_", "temperature_")
_OF_FUNCTION = ("support_", "dual_coef_", "intercept_", "n_iter_", "_posterior", "coef_")


def _has_leaves(context: Context) -> bool:
    return any(name in vars(context.model) for name in _OF_LEAVES)


def without_leaves(rules: Mapping[str, Rule]) -> dict[str, Rule]:
    """Return the rules of a function of all points, for a machine that may have leaves instead."""
    return {
        name: replace(rule, needed=_unless_leaves(rule)) if name in _OF_FUNCTION else rule
        for name, rule in rules.items()
    }


def _unless_leaves(rule: Rule) -> Callable[[Context], bool]:
    needed = rule.needed

    def is_needed(context: Context) -> bool:
        return not _has_leaves(context) and (needed(context) if callable(needed) else needed)

    return is_needed


def _metric(value: Any, context: Context) -> bool:
    kernel = context.model.kernel_
    return isinstance(kernel, Metric) and np.array_equal(kernel.matrix.values, value)


def _tree(value: Any, context: Context) -> bool:
    """Return whether this is a tree: every split but the first, and every leaf, has one parent."""
    if type(value) is not Tree:
        return False
    n, children = len(value.thresholds), value.children
    plain = (
        numbers("splits", "columns").holds(value.directions, context)
        and numbers("splits").holds(value.thresholds, context)
        and numbers("splits", above=0).holds(value.spreads, context)
        and isinstance(children, np.ndarray)
        and children.dtype.kind == "i"
        and children.shape == (n, 2)
    )
    if not plain:
        return False
    later = (children < 0) | (children > np.arange(n)[:, None])
    return bool(later.all()) and sorted(children.flat) == [*range(-n - 1, 0), *range(1, n)]


def _leaves(value: Any, context: Context) -> bool:
    """Return whether every leaf has a machine of its own, for as many columns and outputs."""
    if not isinstance(value, tuple) or not context.has("leaves", len(value)):
        return False
    return all(
        type(leaf) is RFMRegressor
        and hasattr(leaf, "_prepared")
        and not hasattr(leaf, "leaves_")
        and leaf.n_features_in_ == context.sizes["columns"]
        and leaf._flat is False
        and context.has("outputs", len(leaf.intercept_))
        for leaf in value
    )


METRIC: dict[str, Rule] = {
    "metric_": Rule("the metric of the kernel", _metric),
    "feature_importances_": numbers("columns", least=0),
    "choice_": Rule("a MetricChoice", record(MetricChoice)),
    "alpha_": real(0),
}
LEAVES: dict[str, Rule] = {
    "tree_": only_if(_has_leaves, Rule("a tree of splits", _tree)),
    "leaves_": only_if(_has_leaves, Rule("a fitted RFMRegressor for each leaf", _leaves)),
    "temperature_": only_if(_has_leaves, real(0)),
}
