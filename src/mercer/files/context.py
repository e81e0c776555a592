"""What goes along while a model is taken apart or put together: tensors, functions, complaints."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..checks import Array, FileError, sentence, show


def reference(index: int) -> str:
    """Return how a kernel names a transformer of the file: as no function can be named."""
    return f"#{index}"


class SaveContext:
    """The tensors and functions of a model that is being saved, and what was left out of it."""

    def __init__(self) -> None:
        self.tensors: dict[str, Array] = {}
        self.functions: dict[str, Any] = {}
        self.left_out: list[str] = []
        self.transformers: list[tuple[Any, Any]] = []  # those within kernels, and as JSON data
        self.uses_scikit_learn = False

    def tensor(self, where: str, array: Array) -> str:
        """Keep an array for the file and return the name it has there."""
        name, count = self.text(where, where), 1
        while name in self.tensors:
            count += 1
            name = f"{where}~{count}"
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        self.tensors[name] = np.asarray(little, order="C")
        return name

    def function(self, function: Any, where: str) -> str:
        """Return the name of a function, under which `load` wants it again."""
        name = getattr(function, "__name__", type(function).__name__)
        if not name.isidentifier():
            must = f"a function is saved by its name, so {where} must have one"
            advice = "Define it with def, and hand it to load in functions={…}."
            raise FileError(sentence("save", must, show(function), advice))
        known = self.functions.setdefault(name, function)
        if known is not function and known != function:
            must = "every function of a model must have a name of its own"
            raise FileError(sentence("save", must, f"two called {name!r}"))
        return str(name)

    def transformer(self, transformer: Any, pack: Callable[[Any, SaveContext, str], Any]) -> str:
        """Return the name of a fitted transformer within a kernel, kept once for the file.

        It is numbered when its own parts are, so that it refers to those before it.
        """
        for index, (known, _) in enumerate(self.transformers):
            if known is transformer:
                return reference(index)
        packed = pack(transformer, self, "transformers")
        self.transformers.append((transformer, packed))
        return reference(len(self.transformers) - 1)

    def references(self) -> dict[str, Any]:
        """Return the transformers by the names under which kernels refer to them."""
        return {reference(index): one for index, (one, _) in enumerate(self.transformers)}

    def text(self, text: str, where: str) -> str:
        """Return the text, if every reader can decode it."""
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            must = f"texts must be valid Unicode, also in {where!a}"
            raise FileError(sentence("save", must, ascii(text))) from None
        return text

    def fail(self, must: str, got: Any) -> FileError:
        """Return the error for a model that `load` would refuse."""
        shown = got if isinstance(got, str) else show(got)
        return FileError(sentence("save", must, shown, "Fit the model again."))

    def refusal(self, value: Any, where: str) -> FileError:
        """Return the error for a value that a model file cannot hold."""
        kind = f"{type(value).__module__}.{type(value).__qualname__}"
        return FileError(
            sentence(
                "save",
                f"{where} must be something that a model file can hold",
                f"{show(value)} ({kind.removeprefix('builtins.')})",
                "docs/model-files.md lists what it can.",
            )
        )


class LoadContext:
    """The tensors of a file and the functions handed in, while a model is put together.

    Every tensor is used once, so that a small file cannot become a large model.
    """

    def __init__(self, who: str, tensors: Mapping[str, Array], functions: Mapping[str, Any]):
        self.who, self.functions = who, functions
        self.transformers: dict[str, Any] = {}
        self._tensors = dict(tensors)

    def fail(self, must: str, got: Any, advice: str = "") -> FileError:
        """Return the error for a file whose content makes no sense."""
        shown = got if isinstance(got, str) else show(got)
        return FileError(sentence(self.who, must, shown, advice))

    def get(self, data: Any, key: str, kind: type) -> Any:
        """Return a field of the manifest that must be there and be of this type."""
        value = data.get(key) if isinstance(data, dict) else None
        if type(value) is not kind:
            raise self.fail(f"a {kind.__name__} must be given as {key!r}", show(data))
        return value

    def tensor(self, data: Any, key: str, dtype: Any = None, dimensions: int = 1) -> Array:
        """Return the tensor that a field names, of this type and number of dimensions if given."""
        name = self.get(data, key, str)
        if name not in self._tensors:
            raise self.fail("every tensor must be there and be used once", name)
        array = self._tensors.pop(name)
        if dtype is not None and (array.dtype != dtype or array.ndim != dimensions):
            must = f"tensor {show(name)} must be {np.dtype(dtype)} with {dimensions} dimension(s)"
            raise self.fail(must, f"{array.dtype} of shape {array.shape}")
        return array

    def finish(self) -> None:
        """Refuse tensors that belong to nothing."""
        if self._tensors:
            raise self.fail(
                "every tensor must be there and be used once", next(iter(self._tensors))
            )
