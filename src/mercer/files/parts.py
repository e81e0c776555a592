"""What models are made of: kernels, functions by name, and records such as certificates."""

from __future__ import annotations

import inspect
import json
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ..checks import FileError, MercerError, nearest, sentence, show
from ..kernels import Kernel, Metric, MetricMatrix, from_spec
from ..kernels.base import registry
from .context import LoadContext, SaveContext
from .records import is_record, name_of, records
from .values import Fields, pack_value, register, unpack_field, unpack_value


def _pack_kernel(kernel: Kernel, packing: SaveContext, where: str) -> Fields:
    nodes = [kernel]
    for node in nodes:
        nodes += node.children()
    for node in nodes:
        for name in ("f", "phi", "fn"):  # as `from_spec` knows them
            found = getattr(node, name, None)
            if _is_transformer(found):
                packing.transformer(found, pack_value)
            elif callable(found) or hasattr(found, "transform"):
                packing.function(found, where)
        if isinstance(node, Metric):
            packing.transformer(node.matrix, pack_value)
    try:
        spec = json.loads(json.dumps(_spec(kernel, packing), allow_nan=False))
        same = bool(from_spec(spec, packing.functions | packing.references()) == kernel)
    except (TypeError, ValueError):  # a field that is no JSON, a class that is not registered
        same = False
    if not same:
        must = f"{where} must be a kernel that from_spec(kernel.spec()) gives back"
        raise FileError(sentence("save", must, f"a {kernel.name} that it does not"))
    modules = {node.name: type(node).__module__ for node in nodes}
    foreign = {name: module for name, module in modules.items() if not _is_ours(module)}
    return {"spec": spec} | ({"modules": foreign} if foreign else {})


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == "mercer"


def _is_transformer(value: Any) -> bool:
    """Return whether this is an object that a file holds, or must refuse to."""
    fitted = isinstance(value, BaseEstimator) and hasattr(value, "transform")
    return fitted and type(value).__module__.partition(".")[0] in ("sklearn", "mercer")


def _spec(kernel: Kernel, packing: SaveContext) -> Fields:
    """Return the spec of a kernel with transformers and metrics by their names in the file."""
    spec = kernel.spec()
    for name in ("phi", "M"):
        part = getattr(kernel, name, None)
        if _is_transformer(part) or isinstance(part, MetricMatrix):
            known = {id(one): reference for reference, one in packing.references().items()}
            spec[name] = known[id(part)]
    children = [_spec(child, packing) for child in kernel.children()]
    if "terms" in spec:
        spec["terms"] = children
    elif "inner" in spec:
        spec["inner"] = children[0]
    return spec


def _unpack_kernel(data: Fields, unpacking: LoadContext) -> Kernel:
    spec = unpacking.get(data, "spec", dict)
    _check_known(spec, data.get("modules"), unpacking)
    try:
        return from_spec(spec, {**unpacking.functions, **unpacking.transformers})
    except Exception as error:  # a kernel checks its parameters, and may be anyone's
        raise unpacking.fail("its kernel must be valid", f"{show(spec)} ({error})") from error


def _check_known(spec: Any, modules: Any, unpacking: LoadContext) -> None:
    """Ask for the module of a kernel class that is not known; it is never imported from here."""
    names = [name for name in _names(spec) if name not in registry]
    if names:
        module = modules.get(names[0]) if isinstance(modules, dict) else None
        got = f"{show(names[0])}, which no module imported so far defines"
        where = f", {show(module)}" if isinstance(module, str) else ""
        advice = f"Import the module that defines it{where}, and load again."
        guess = nearest(names[0], registry)
        raise unpacking.fail(
            "the classes of its kernel must be known", got, f"{advice} {guess}".rstrip()
        )


def _names(spec: Any) -> list[str]:
    """Return the classes of all parts of a spec."""
    found = []
    level = [spec]
    while level:
        one = level.pop()
        if isinstance(one, dict):
            found += [one["kernel"]] if isinstance(one.get("kernel"), str) else []
            terms = one.get("terms")
            level += [one.get("inner"), *(terms if isinstance(terms, list) else [])]
    return found


def _unpack_function(data: Fields, unpacking: LoadContext) -> Any:
    name = unpacking.get(data, "name", str)
    if name not in unpacking.functions:
        raise unpacking.fail(f"functions must have {show(name)}", "none of that name")
    return unpacking.functions[name]


def _unpack_metric(data: Fields, unpacking: LoadContext) -> MetricMatrix:
    try:
        return MetricMatrix(unpack_field(data, "values", np.ndarray, unpacking))
    except MercerError as error:
        raise unpacking.fail("a metric must be valid", str(error)) from error


def _is_function(value: Any) -> bool:
    return callable(value) and not isinstance(value, type)


register("kernel", lambda value: isinstance(value, Kernel), _pack_kernel, _unpack_kernel)
register(
    "function",
    _is_function,
    lambda value, packing, where: {"name": packing.function(value, where)},
    _unpack_function,
)

register(
    "metric",
    lambda value: isinstance(value, MetricMatrix),
    lambda value, packing, where: {"values": pack_value(value.values, packing, where)},
    _unpack_metric,
)


# --- records -----------------------------------------------------------------------------------


def _pack_record(value: Any, packing: SaveContext, where: str) -> Fields:
    if is_dataclass(value):
        content = {f.name: getattr(value, f.name) for f in fields(value)}
    else:
        content = value.__getstate__()
    return {
        "name": name_of(type(value)),
        "fields": {
            name: pack_value(one, packing, f"{where}.{name}") for name, one in content.items()
        },
    }


def _unpack_record(data: Fields, unpacking: LoadContext) -> Any:
    name = unpacking.get(data, "name", str)
    kind = records().get(name)
    if kind is None:
        raise unpacking.fail(f"a record must be one of {', '.join(records())}", name)
    packed = unpacking.get(data, "fields", dict)
    content = {key: unpack_value(one, unpacking) for key, one in packed.items()}
    if not is_dataclass(kind):
        made = object.__new__(kind)
        for key, value in content.items():
            set_attribute(made, key, value, unpacking)
        return made
    known = {f.name: f.default is MISSING and f.default_factory is MISSING for f in fields(kind)}
    if set(content) - set(known) or any(known[key] for key in set(known) - set(content)):
        raise unpacking.fail(f"the fields of {name} are {', '.join(known)}", ", ".join(content))
    try:
        return kind(**content)
    except (TypeError, ValueError) as error:  # a loss checks its parameters
        raise unpacking.fail(f"the fields of {name} must be valid", str(error)) from error


def set_attribute(target: Any, key: str, value: Any, unpacking: LoadContext) -> None:
    """Set an attribute that is data: no file may put something in the place of a method."""
    there = inspect.getattr_static(type(target), key, None)
    free = not hasattr(there, "__get__") and key not in vars(target)
    if not key.isidentifier() or key.startswith("__") or not free:
        raise unpacking.fail("attributes must be those that hold data", key)
    setattr(target, key, value)


register(
    "record",
    is_record,
    _pack_record,
    _unpack_record,
)
