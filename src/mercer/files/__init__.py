"""Model files: `save` writes a model, `load` reads it back; the format is in docs/model-files.md.

A file holds arrays and JSON and nothing that could be executed. It may come from anyone: `load`
checks every size before it allocates and every byte against a digest, and knows a closed list of
estimators, kernels and types.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from ..checks import FileError, InputTypeError, sentence, show
from . import container, points, structures  # noqa: F401  (they add words to the table)
from .estimators import pack_estimator, unpack_estimator
from .parcel import Packing, Unpacking

__all__ = ["load", "save"]


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a model to a file, by custom `name.mercer`: whole, or not at all.

    The file holds what predictions need, which for a kernel model includes training points:
    whoever has the file has those points. Functions inside a kernel are saved by name, and `load`
    wants them again; a callback, scorer, splitter or random generator among the parameters is None
    afterwards. Saving the same model twice gives the same bytes.
    """
    target = _path("save", path)
    folder = os.path.dirname(os.path.abspath(target))
    if os.path.isdir(target) or not os.path.isdir(folder):
        must = "the path must be that of a file in a directory that exists"
        raise FileError(sentence("save", must, repr(target)))
    packing = Packing()
    try:
        parts = pack_estimator(model, packing)
    except RecursionError:
        must = "a model must not contain itself"
        raise FileError(sentence("save", must, show(type(model)))) from None
    text = ".".join(map(str, container.FORMAT))
    manifest = {"format": text, "min_reader": text, "writer": f"mercer {version('mercer')}"}
    extra = {"functions": sorted(packing.functions), "left_out": packing.left_out}
    container.write(target, manifest | parts | extra, packing.tensors)


def load(path: str | os.PathLike[str], functions: Mapping[str, Any] | None = None) -> Any:
    """Return the model of a file that `save` wrote; nothing in the file is executed.

    functions: by name, those that the model's kernel was made with, such as
    `functions={"overlap": overlap}` for `FunctionKernel(overlap)`.
    """
    source = _path("load", path)
    who = f"load({source!r})"
    if os.path.isdir(source):
        raise FileError(sentence(who, "it must be a file", "a directory"))
    if functions is not None and not isinstance(functions, Mapping):
        must = 'functions must be a mapping such as {"name": function}'
        raise InputTypeError(sentence("load", must, show(functions)))
    manifest, tensors = container.read(source, who)
    unpacking = Unpacking(who, tensors, functions or {})
    _check_functions(manifest, unpacking)
    model = unpack_estimator(manifest, unpacking)
    unpacking.finish()
    return model


def _path(who: str, path: Any) -> str:
    if not isinstance(path, str | os.PathLike):
        raise InputTypeError(sentence(who, "path must be a path", show(path)))
    return os.fsdecode(path)


def _check_functions(manifest: dict[str, Any], unpacking: Unpacking) -> None:
    """Ask for all missing functions at once."""
    names = map(str, unpacking.get(manifest, "functions", list))
    missing = [name for name in names if name not in unpacking.functions]
    if missing:
        wanted = ", ".join(f"{name!r}: …" for name in missing)
        must = "the functions of its kernel must be handed in"
        advice = f"Write load(path, functions={{{wanted}}})."
        got = ", ".join(map(str, unpacking.functions)) or "none"
        raise FileError(sentence(unpacking.who, must, got, advice))
