"""What models are made of: kernels, functions by name, and records such as certificates."""

from __future__ import annotations

import inspect
import json
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from ..checks import FileError, sentence, show
from ..kernels import Kernel, from_spec
from .parcel import Packing, Unpacking
from .records import is_record, name_of, records
from .values import Fields, pack_value, register, unpack_value


def _pack_kernel(kernel: Kernel, packing: Packing, where: str) -> Fields:
    nodes = [kernel]
    for node in nodes:
        nodes += node.children()
    for node in nodes:
        for name in ("f", "phi", "fn"):  # as `from_spec` knows them
            found = getattr(node, name, None)
            if callable(found) or hasattr(found, "transform"):
                packing.function(found, where)
    try:
        spec = json.loads(json.dumps(kernel.spec(), allow_nan=False))
        same = bool(from_spec(spec, packing.functions) == kernel)
    except (TypeError, ValueError):  # a field that is no JSON, a class that is not registered
        same = False
    if not same:
        must = f"{where} must be a kernel that from_spec(kernel.spec()) gives back"
        raise FileError(sentence("save", must, f"a {kernel.name} that it does not"))
    return {"spec": spec}


def _unpack_kernel(data: Fields, unpacking: Unpacking) -> Kernel:
    spec = unpacking.get(data, "spec", dict)
    try:
        return from_spec(spec, unpacking.functions)
    except Exception as error:  # a kernel checks its parameters, and may be anyone's
        raise unpacking.fail("its kernel must be valid", f"{show(spec)} ({error})") from error


def _unpack_function(data: Fields, unpacking: Unpacking) -> Any:
    name = unpacking.get(data, "name", str)
    if name not in unpacking.functions:
        raise unpacking.fail(f"functions must have {show(name)}", "none of that name")
    return unpacking.functions[name]


def _is_function(value: Any) -> bool:
    return callable(value) and not isinstance(value, type)


register("kernel", lambda value: isinstance(value, Kernel), _pack_kernel, _unpack_kernel)
register(
    "function",
    _is_function,
    lambda value, packing, where: {"name": packing.function(value, where)},
    _unpack_function,
)


# --- records -----------------------------------------------------------------------------------


def _pack_record(value: Any, packing: Packing, where: str) -> Fields:
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


def _unpack_record(data: Fields, unpacking: Unpacking) -> Any:
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


def set_attribute(target: Any, key: str, value: Any, unpacking: Unpacking) -> None:
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
