"""What puts preprocessors together: pipelines, and transformers of some columns each.

Both are written as a list of steps. What scikit-learn notes besides, such as which columns of the
result come from where, is worked out again from the steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from ...checks import show
from ..context import LoadContext, SaveContext
from ..records import estimators
from ..rules import Context, Fail, Rule, Schema, check, or_none, real, truth
from ..values import Fields, pack_value, unpack_value
from .preprocessing import BY_KIND, COMMON

Step = tuple[str, Any, list[str] | list[int] | slice]

_WORDS = ("drop", "passthrough")


def columns_of(model: Any, attribute: str = "n_features_in_") -> Any:
    """Return how many columns a step takes, or another attribute of it; None: it is not known."""
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    known = [step for step in steps if not _is_nothing(step)]
    if known and isinstance(known[0], Pipeline):
        return columns_of(known[0], attribute)
    return vars(known[0]).get(attribute) if known else None


def width_of(model: Any) -> int | None:
    """Return how many columns a step makes; None where nothing is known."""
    if isinstance(model, Pipeline):
        known = [step for _, step in model.steps if not _is_nothing(step)]
        return width_of(known[-1]) if known else None
    if isinstance(model, ColumnTransformer):
        return _width_of_parts(model.transformers_) if hasattr(model, "transformers_") else None
    if type(model) in BY_KIND:
        return BY_KIND[type(model)].width(model) if hasattr(model, "n_features_in_") else None
    fitted = hasattr(model, "_prepared") and hasattr(type(model), "_n_features_out")
    return int(model._n_features_out) if fitted else None


def _width_of_parts(parts: Sequence[Step]) -> int:
    return sum(_width(part) for part in parts)


def _width(part: Step) -> int:
    _, model, columns = part
    if _is_word(model, "drop") or not columns:
        return 0
    if isinstance(model, FunctionTransformer):
        return int(model.n_features_in_)
    return width_of(model) or 0


def _is_nothing(step: Any) -> bool:
    return step is None or _is_word(step, "passthrough")


def _is_word(value: Any, *words: str) -> bool:
    return isinstance(value, str) and value in (words or _WORDS)


# --- pipelines ---------------------------------------------------------------------------------


def pack_pipeline(model: Pipeline, packing: SaveContext, where: str) -> Fields:
    """Return a pipeline as its steps."""
    left_out = [key for key in ("memory", "transform_input") if getattr(model, key) is not None]
    packing.left_out += [f"{where}parameters.{key}" for key in left_out]
    steps = [
        [name, pack_value(step, packing, f"{where}steps.{name}")] for name, step in model.steps
    ]
    check_chain(model, packing.fail)
    return {"estimator": "Pipeline", "steps": steps, "verbose": bool(model.verbose)}


def unpack_pipeline(data: Fields, unpacking: LoadContext) -> Pipeline:
    """Return the pipeline of its steps, which must fit each other."""
    steps = []
    for one in unpacking.get(data, "steps", list):
        if not isinstance(one, list) or len(one) != 2 or type(one[0]) is not str:
            raise unpacking.fail("a step must be a name and a transformer", show(one))
        steps.append((one[0], unpack_value(one[1], unpacking)))
    names = [name for name, _ in steps]
    if not steps or len(set(names)) < len(names) or not all(map(_is_name, names)):
        raise unpacking.fail("the steps of a pipeline must have names of their own", show(names))
    for _, step in steps[:-1]:
        if not (_is_nothing(step) or (_is_known(step) and hasattr(step, "transform"))):
            raise unpacking.fail("the first steps of a pipeline must be transformers", show(step))
    if not (_is_nothing(steps[-1][1]) or _is_known(steps[-1][1])):
        raise unpacking.fail("the last step of a pipeline must be an estimator", show(steps[-1][1]))
    model = Pipeline(steps, verbose=unpacking.get(data, "verbose", bool))
    check_chain(model, unpacking.fail)
    return model


def _is_name(name: str) -> bool:
    return "__" not in name and name not in ("steps", "memory", "verbose", "transform_input")


def _is_known(step: Any) -> bool:
    known = (*estimators().values(), *BY_KIND, Pipeline, ColumnTransformer)
    return type(step) in known


def check_chain(model: Pipeline, fail: Fail) -> None:
    """Refuse steps that do not take what the step before them makes."""
    steps = [(name, step) for name, step in model.steps if not _is_nothing(step)]
    fitted = [columns_of(step) is not None or hasattr(step, "_prepared") for _, step in steps]
    if any(fitted) and not all(fitted):
        raise fail("the steps of a pipeline must be fitted all, or none of them", "some")
    for (first, before), (second, after) in pairwise(steps):
        made, taken = width_of(before), columns_of(after)
        if made is not None and taken is not None and made != taken:
            must = f"step {second!r} must take the columns that step {first!r} makes, {made}"
            raise fail(must, str(taken))


# --- transformers of some columns each ----------------------------------------------------------


def pack_column_transformer(model: ColumnTransformer, packing: SaveContext, where: str) -> Fields:
    """Return a transformer of columns as its parts: what is fitted, with the columns it is for."""
    given = {key: getattr(model, key) for key in _PARAMETERS}
    if model.n_jobs is not None:  # it belongs to a machine, and no file is to start processes
        packing.left_out.append(f"{where}parameters.n_jobs")
    fitted = hasattr(model, "transformers_")
    listed = [
        _pack_part(model, part, packing, f"{where}transformers.{part[0]}", fitted)
        for part in model.transformers
    ]
    found: Fields = {
        "estimator": "ColumnTransformer",
        "parameters": {
            key: pack_value(value, packing, f"{where}parameters.{key}")
            for key, value in given.items()
        },
        "transformers": listed,
    }
    if fitted:
        state = {key: vars(model)[key] for key in _STATE if key in vars(model)}
        found["state"] = {
            key: pack_value(value, packing, f"{where}state.{key}") for key, value in state.items()
        }
        found["fitted"] = [
            _pack_part(model, part, packing, f"{where}fitted.{part[0]}", fitted)
            for part in model.transformers_
        ]
        check(model, _SCHEMA, state, packing.fail)
    return found


def _pack_part(
    model: ColumnTransformer, part: Any, packing: SaveContext, where: str, fitted: bool
) -> list[Any]:
    name, step, columns = part
    if isinstance(step, FunctionTransformer) and step.func is step.inverse_func is None:
        step = "passthrough"
    plain = isinstance(columns, list) and (
        all(type(one) is str for one in columns) or all(type(one) is int for one in columns)
    )
    if not plain and fitted and not isinstance(columns, str | int):
        places = [int(one) for one in model._transformer_to_input_indices[name]]
        # A part cut out as a slice lies in memory otherwise than chosen columns, and rounds so.
        columns = _span(places) if isinstance(columns, slice) else places
    return [
        name,
        pack_value(step, packing, where),
        pack_value(columns, packing, f"{where}.columns"),
    ]


def _span(places: list[int]) -> dict[str, int] | list[int]:
    """Return where neighbouring columns begin and end; of others, which they are."""
    first = places[0] if places else 0
    alike = places and places == list(range(first, first + len(places)))
    return {"start": first, "stop": first + len(places)} if alike else places


def unpack_column_transformer(data: Fields, unpacking: LoadContext) -> ColumnTransformer:
    """Return the transformer of its parts, which must be for columns that there are."""
    parameters = {
        key: unpack_value(value, unpacking)
        for key, value in unpacking.get(data, "parameters", dict).items()
    }
    if set(parameters) != set(_PARAMETERS):
        must = f"the parameters of ColumnTransformer are {', '.join(_PARAMETERS)}"
        raise unpacking.fail(must, ", ".join(map(str, parameters)))
    listed = [_unpack_part(one, unpacking) for one in unpacking.get(data, "transformers", list)]
    model = ColumnTransformer(listed, **parameters)
    context = Context(model)
    for key, rule in _PARAMETERS.items():
        if not rule.holds(parameters[key], context):
            must = f"parameter {key} of ColumnTransformer must be {rule.words}"
            raise unpacking.fail(must, show(parameters[key]))
    if "fitted" in data:
        state = {
            key: unpack_value(value, unpacking)
            for key, value in unpacking.get(data, "state", dict).items()
        }
        if not set(state) <= set(_STATE):
            raise unpacking.fail("the state of ColumnTransformer must be its own", show(state))
        check(model, _SCHEMA, state, unpacking.fail)
        vars(model).update(state)
        parts = [_unpack_part(one, unpacking) for one in unpacking.get(data, "fitted", list)]
        _restore(model, parts, unpacking)
    return model


def _unpack_part(data: Any, unpacking: LoadContext) -> Step:
    if not isinstance(data, list) or len(data) != 3 or type(data[0]) is not str:
        raise unpacking.fail("a part must be a name, a transformer and columns", show(data))
    name, step, columns = data[0], *(unpack_value(one, unpacking) for one in data[1:])
    if not (_is_word(step) or (_is_known(step) and hasattr(step, "transform"))):
        raise unpacking.fail("the parts must be transformers", show(step))
    if isinstance(columns, dict) and {(key, type(columns[key])) for key in columns} == _SPAN:
        return name, step, slice(columns["start"], columns["stop"])
    plain = isinstance(columns, list) and {type(one) for one in columns} in ({str}, {int}, set())
    if not plain:
        raise unpacking.fail("columns must be names or numbers", show(columns))
    return name, step, columns


def _restore(model: ColumnTransformer, parts: list[Step], unpacking: LoadContext) -> None:
    """Set what scikit-learn notes in `fit`, worked out from the fitted parts."""
    places = {name: _places(model, columns, unpacking) for name, _, columns in parts}
    names = [name for name, _, _ in parts]
    if len(places) < len(parts) or names[: len(model.transformers)] != [
        name for name, _, _ in model.transformers
    ]:
        raise unpacking.fail("the fitted parts must be those that were given", show(names))
    model.transformers_ = [
        (name, _fitted_part(model, step, places[name], columns, unpacking), columns)
        for name, step, columns in parts
    ]
    given = [columns for name, _, columns in parts if name != "remainder"]
    used = {place for name, found in places.items() if name != "remainder" for place in found}
    rest = sorted(set(range(model.n_features_in_)) - used)
    if len(names) - ("remainder" in names) != len(model.transformers):
        raise unpacking.fail("the fitted parts must be those that were given", show(names))
    if places.get("remainder", rest) != rest:
        raise unpacking.fail("the remainder must be all other columns", show(places["remainder"]))
    model._columns = given
    model._transformer_to_input_indices = places | {"remainder": rest}
    model._remainder = ("remainder", model.remainder, rest)
    start, model.output_indices_ = 0, {}
    for part in model.transformers_:
        stop = start + _width(part)
        model.output_indices_[part[0]] = slice(start, stop) if stop > start else slice(0, 0)
        start = stop
    model.output_indices_.setdefault("remainder", slice(0, 0))
    if start == 0:
        raise unpacking.fail("a ColumnTransformer must make at least one column", "none")


def _places(model: ColumnTransformer, columns: Any, unpacking: LoadContext) -> list[int]:
    """Return the numbers of columns given by name, by number or as a slice."""
    must = "columns must be among those that the ColumnTransformer was fitted on"
    if isinstance(columns, slice):
        if not 0 <= columns.start < columns.stop <= model.n_features_in_:
            raise unpacking.fail(must, show(columns))
        return list(range(columns.start, columns.stop))
    known = getattr(model, "feature_names_in_", np.zeros(0, object)).tolist()
    found = [known.index(one) if one in known else -1 for one in columns]
    if columns and isinstance(columns[0], int):
        found = [one + model.n_features_in_ if one < 0 else one for one in columns]
    if not all(0 <= one < model.n_features_in_ for one in found):
        raise unpacking.fail(must, show(columns))
    return found


def _fitted_part(
    model: ColumnTransformer, step: Any, places: list[int], columns: Any, unpacking: LoadContext
) -> Any:
    if _is_word(step, "drop"):
        return step
    if _is_word(step):
        made = FunctionTransformer(
            accept_sparse=True, check_inverse=False, feature_names_out="one-to-one"
        )
        made.n_features_in_ = len(places)
        if hasattr(model, "feature_names_in_"):
            made.feature_names_in_ = model.feature_names_in_[places]
        return made
    if places and columns_of(step) != len(places):
        must = f"a transformer of {len(places)} columns must be fitted on as many"
        raise unpacking.fail(must, f"{type(step).__name__} of {columns_of(step)}")
    names = columns_of(step, "feature_names_in_")
    if places and names is not None and hasattr(model, "feature_names_in_"):
        wanted = model.feature_names_in_[places].tolist()
        if names.tolist() != wanted:
            must = f"a transformer must know its columns by their names, {show(wanted)}"
            raise unpacking.fail(must, show(names.tolist()))
    return step


def _weights(value: Any, context: Context) -> bool:
    return isinstance(value, dict) and all(
        type(key) is str and real().holds(one, context) for key, one in value.items()
    )


_SPAN = {("start", int), ("stop", int)}
_REMAINDER = Rule(
    "'drop', 'passthrough' or a transformer",
    lambda value, context: _is_word(value) or (_is_known(value) and hasattr(value, "transform")),
)
_PARAMETERS: dict[str, Rule] = {
    "remainder": _REMAINDER,
    "sparse_threshold": real(0),
    "transformer_weights": or_none(Rule("a number for each part", _weights)),
    "verbose": truth(),
    "verbose_feature_names_out": truth(),
}
_STATE: dict[str, Rule] = COMMON | {"sparse_output_": truth()}
_SCHEMA = Schema(attributes=_STATE)
