"""The preprocessors of scikit-learn that a model file may hold, and what each must have.

A transformer is its name, its parameters and its arrays, as an estimator is; nothing is pickled.
What has no line in the table is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from ..rules import (
    Context,
    Fail,
    Rule,
    Schema,
    check,
    check_parameters,
    count,
    either,
    instance,
    numbers,
    only_if,
    optional,
    or_none,
    output_config,
    real,
    scalar,
    truth,
    whole,
    word,
)
from .encoders import ENCODED, GROUPED, dropped, missing_places, outputs_of_categories

MOST_FEATURES = 2**20  # of polynomials: their number is not bounded by the size of the file
MOST_DEGREES = 64


@dataclass(frozen=True)
class Preprocessor:
    """A class of scikit-learn, what it must have, and how many columns it makes."""

    kind: type[Any]
    schema: Schema
    width: Callable[[Any], int]


def _names(value: Any, context: Context) -> bool:
    texts = isinstance(value, np.ndarray) and all(isinstance(one, str) for one in value.tolist())
    return texts and context.has_shape(value.shape, ("columns",))


COMMON: dict[str, Rule] = {
    "n_features_in_": count(1, "columns"),
    "feature_names_in_": optional(Rule("a name for each column", _names)),
    "_sklearn_output_config": optional(Rule("what set_output was told", output_config)),
}
_SEEN = either(count(), either(real(0), either(numbers("columns"), whole("columns"))))


def _is_on(*names: str) -> Callable[[Context], bool]:
    """Return whether a switch among the parameters is on."""
    return lambda context: any(bool(getattr(context.model, name)) for name in names)


def _columns(least: float | None = None, above: float | None = None) -> Rule:
    return numbers("columns", least=least, above=above)


def _pair(value: Any, context: Context) -> bool:
    two = isinstance(value, list | tuple) and len(value) == 2
    return two and all(real().holds(one, context) for one in value)


_PAIR = Rule("two numbers", _pair)


def _line(
    kind: type[Any],
    attributes: Mapping[str, Rule],
    parameters: Mapping[str, Rule],
    width: Callable[[Any], int] | None = None,
) -> Preprocessor:
    schema = Schema(
        attributes=COMMON | dict(attributes), agree=(), derived={}, parameters=parameters
    )
    return Preprocessor(kind, schema, width or (lambda model: int(model.n_features_in_)))


# --- rules of single classes --------------------------------------------------------------------


def _scaler(value: Any, context: Context) -> bool:
    right = type(value) is StandardScaler and hasattr(value, "n_features_in_")
    return right and context.has("columns", value.n_features_in_)


def _statistics(value: Any, context: Context) -> bool:
    plain = isinstance(value, np.ndarray) and value.dtype.kind in "biufO"
    if not plain or not context.has_shape(value.shape, ("columns",)):
        return False
    return not np.isinf(value).any() if value.dtype.kind == "f" else True


def _indicator(value: Any, context: Context) -> bool:
    right = type(value) is MissingIndicator and hasattr(value, "n_features_in_")
    right = right and value._precomputed  # it is given a mask, not the data
    return right and context.has("columns", value.n_features_in_)


def _distinct(value: Any, context: Context) -> bool:
    numbered = whole("features", below="columns").holds(value, context)
    return numbered and len(np.unique(value)) == len(value)


def _fill_type(value: Any, context: Context) -> bool:
    """Return whether what is filled in is of the type that it will be cast to."""
    if not isinstance(value, np.dtype) or value.kind not in "biufOU":
        return False
    statistics = context.model.statistics_
    present = statistics[[one == one for one in statistics.tolist()]]
    present.astype(value)
    return True


def _imputed(model: Any) -> int:
    gone = [one != one for one in model.statistics_.tolist()]
    kept = len(gone) if model.keep_empty_features else len(gone) - sum(gone)
    return kept + (len(model.indicator_.features_) if model.add_indicator else 0)


def _degrees(value: Any, context: Context) -> bool:
    return count().holds(value, context) and value <= MOST_DEGREES


def _polynomials(value: Any, context: Context) -> bool:
    """Return whether the number of features is that of the degrees."""
    model = context.model
    if not count(1).holds(value, context) or value > MOST_FEATURES:
        return False
    degrees = range(model._min_degree, model._max_degree + 1)
    choose = math.comb if model.interaction_only else lambda n, d: math.comb(n + d - 1, d)
    made = sum(choose(model.n_features_in_, degree) for degree in degrees if degree > 0)
    return bool(made + bool(model.include_bias) == value)


def _all_polynomials(value: Any, context: Context) -> bool:
    return count(1).holds(value, context) and value <= MOST_FEATURES


_DTYPE = Rule(
    "a type of numbers",
    lambda value, context: isinstance(value, type) and np.dtype(value).kind in "biuf",
)
_ON = truth()

TABLE: tuple[Preprocessor, ...] = (
    _line(
        StandardScaler,
        {
            "mean_": only_if(_is_on("with_mean"), _columns()),
            "var_": only_if(_is_on("with_std"), _columns(least=0)),
            "scale_": only_if(_is_on("with_std"), _columns(above=0)),
            "n_samples_seen_": _SEEN,
        },
        {"with_mean": _ON, "with_std": _ON, "copy": _ON},
    ),
    _line(
        MinMaxScaler,
        {
            "min_": _columns(),
            "scale_": _columns(),
            "data_min_": _columns(),
            "data_max_": _columns(),
            "data_range_": _columns(),
            "n_samples_seen_": _SEEN,
        },
        {"feature_range": _PAIR, "clip": _ON, "copy": _ON},
    ),
    _line(
        MaxAbsScaler,
        {"scale_": _columns(above=0), "max_abs_": _columns(least=0), "n_samples_seen_": _SEEN},
        {"copy": _ON, "clip": optional(_ON)},
    ),
    _line(
        RobustScaler,
        {
            "center_": only_if(_is_on("with_centering"), _columns()),
            "scale_": only_if(_is_on("with_scaling"), _columns(above=0)),
        },
        {"with_centering": _ON, "with_scaling": _ON, "copy": _ON},
    ),
    _line(Normalizer, {}, {"norm": word("l1", "l2", "max"), "copy": _ON}),
    _line(
        QuantileTransformer,
        {
            "references_": numbers("quantiles", least=0),
            "quantiles_": numbers("quantiles", "columns"),
            "n_quantiles_": count(1, "quantiles"),
        },
        {
            "output_distribution": word("uniform", "normal"),
            "ignore_implicit_zeros": _ON,
            "copy": _ON,
        },
    ),
    _line(
        PowerTransformer,
        {
            "lambdas_": _columns(),
            "_scaler": only_if(_is_on("standardize"), Rule("a StandardScaler", _scaler)),
        },
        {"method": word("yeo-johnson", "box-cox"), "standardize": _ON, "copy": _ON},
    ),
    _line(
        PCA,
        {
            "components_": numbers("components", "columns"),
            "mean_": _columns(),
            "explained_variance_": numbers("components", least=0),
            "explained_variance_ratio_": numbers("components"),
            "singular_values_": numbers("components", least=0),
            "noise_variance_": real(),
            "n_components_": count(1, "components"),
            "n_samples_": count(1),
            "_fit_svd_solver": instance(str),
        },
        {"whiten": _ON},
        lambda model: int(model.n_components_),
    ),
    _line(
        PolynomialFeatures,
        {
            "_min_degree": Rule(f"a degree of at most {MOST_DEGREES}", _degrees),
            "_max_degree": Rule(f"a degree of at most {MOST_DEGREES}", _degrees),
            "_n_out_full": Rule(f"at most {MOST_FEATURES}", _all_polynomials),
            "n_output_features_": Rule("the number of its features", _polynomials),
        },
        {"interaction_only": _ON, "include_bias": _ON, "order": word("C", "F")},
        lambda model: int(model.n_output_features_),
    ),
    _line(
        OneHotEncoder,
        {
            **ENCODED,
            **GROUPED,
            "drop_idx_": instance(type(None), np.ndarray),
            "_drop_idx_after_grouping": Rule("None or what is dropped, by column", dropped),
            "_n_features_outs": Rule(
                "the number of features of each column", outputs_of_categories
            ),
        },
        {
            "handle_unknown": word("error", "ignore", "infrequent_if_exist", "warn"),
            "dtype": _DTYPE,
            "sparse_output": _ON,
            "drop": instance(type(None), str, list, tuple, np.ndarray),
        },
        lambda model: sum(model._n_features_outs),
    ),
    _line(
        OrdinalEncoder,
        {
            **ENCODED,
            **GROUPED,
            "_missing_indices": Rule("where the missing category is, by column", missing_places),
        },
        {
            "handle_unknown": word("error", "use_encoded_value"),
            "dtype": _DTYPE,
            "unknown_value": or_none(real(finite=False)),
            "encoded_missing_value": real(finite=False),
        },
    ),
    _line(
        SimpleImputer,
        {
            "statistics_": Rule("a value for each column", _statistics),
            "indicator_": only_if(_is_on("add_indicator"), Rule("a MissingIndicator", _indicator)),
            "_fit_dtype": instance(np.dtype),
            "_fill_dtype": Rule("the type of the values", _fill_type),
        },
        {
            "missing_values": scalar(),
            "strategy": word("mean", "median", "most_frequent", "constant"),
            "keep_empty_features": _ON,
            "add_indicator": _ON,
            "copy": _ON,
        },
        _imputed,
    ),
    _line(
        MissingIndicator,
        {
            "features_": Rule("distinct numbers of columns", _distinct),
            "_n_features": count(1, "columns"),
            "_precomputed": _ON,
        },
        {
            "missing_values": scalar(),
            "features": word("missing-only", "all"),
            "sparse": either(_ON, word("auto")),
            "error_on_new": _ON,
        },
        lambda model: len(model.features_),
    ),
)
BY_KIND: dict[type[Any], Preprocessor] = {line.kind: line for line in TABLE}
BY_NAME: dict[str, Preprocessor] = {line.kind.__name__: line for line in TABLE}


def check_preprocessor(
    model: BaseEstimator, parameters: Mapping[str, Any], state: Mapping[str, Any], fail: Fail
) -> None:
    """Refuse a transformer that has other attributes than its line says, or a part that is wrong.

    One that was not fitted has no state.
    """
    schema = BY_KIND[type(model)].schema
    strange = sorted(set(state) - set(schema.attributes))
    if strange:
        must = f"the attributes of {type(model).__name__} must be those that its fit sets"
        raise fail(must, strange[0])
    if set(state) - {"_sklearn_output_config"}:
        check_parameters(model, schema, parameters, fail)
        check(model, schema, state, fail)
