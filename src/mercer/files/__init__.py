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

import sklearn
from sklearn.exceptions import InconsistentVersionWarning

from ..checks import FileError, InputTypeError, sentence, show
from ..monitor import warn
from ..storage import container, streams
from ..storage.streams import Readable, Writable
from ..typing import Estimator
from . import points, structures  # noqa: F401  (they add words to the table)
from .cards import CardColumn, CardScore, ModelCard, Outside, card_of_json, make_card
from .context import LoadContext, SaveContext, reference
from .estimators import pack_model, unpack_model
from .values import unpack_value

__all__ = [
    "CardColumn",
    "CardScore",
    "ModelCard",
    "Outside",
    "load",
    "make_card",
    "read_card",
    "save",
]


def save(
    model: Estimator,
    target: str | os.PathLike[str] | Writable,
    card: ModelCard | None = None,
) -> None:
    """Write a model to a file, by custom `name.mercer`: whole, or not at all.

    The file holds what predictions need, which for a kernel model includes training points: whoever
    has the file has those points. Functions inside a kernel are saved by name, and `load` wants
    them again. A callback, scorer, splitter or random generator among the parameters is None
    afterwards. Saving the same model twice gives the same bytes.

    Parameters
    ----------
    model : estimator
        An estimator of mercer, fitted or not, or a pipeline that ends in one.
    target : str, path or binary file object
        Where to write. What is written to a file object is not whole before the call returns.
    card : ModelCard, default=None
        What the model learnt from and how good it is, which the file then says as well.

    Raises
    ------
    FileError
        If the model has a part that a file cannot hold.

    See Also
    --------
    load : The way back.
    read_card : The card alone.

    References
    ----------
    .. [1] docs/model-files.md describes the format, which is one of safetensors.

    Examples
    --------
    >>> import io
    >>> from mercer import SVC, load, save
    >>> buffer = io.BytesIO()
    >>> save(SVC(C=2.0).fit([[0.0], [1.0]], ["no", "yes"]), buffer)
    >>> load(buffer.getvalue()).predict([[0.9]]).tolist()
    ['yes']
    """
    streams.check_target(target, "save")
    if card is not None and not isinstance(card, ModelCard):
        must = "card must be a ModelCard"
        advice = "mercer.files.make_card makes one of a model and its data."
        raise InputTypeError(sentence("save", must, show(card), advice))
    packing = SaveContext()
    try:
        parts = pack_model(model, packing)
    except RecursionError:
        must = "a model must not contain itself"
        raise FileError(sentence("save", must, show(type(model)))) from None
    manifest = _versions(packing) | parts
    manifest |= {"functions": sorted(packing.functions), "left_out": packing.left_out}
    if card is not None:
        manifest["card"] = card.as_dict()
    who = f"save({streams.name_of(target)})"
    streams.write(target, container.content(who, manifest, packing.tensors))


def load(
    source: str | os.PathLike[str] | bytes | bytearray | memoryview | Readable,
    functions: Mapping[str, Any] | None = None,
) -> Any:
    """Read the model of a file that `save` wrote; nothing in the file is executed.

    Parameters
    ----------
    source : str, path, bytes or binary file object
        Where to read. A file object is read to its end.
    functions : dict, default=None
        By name, the functions that the model's kernel was made with, such as
        `functions={"overlap": overlap}` for `FunctionKernel(overlap)`.

    Returns
    -------
    estimator
        The model, which answers as the one that was saved.

    Raises
    ------
    FileError
        If the file is damaged, was not written by `save`, or needs functions that are missing.

    See Also
    --------
    save : The way there.

    References
    ----------
    .. [1] docs/model-files.md says what is checked, and what a file may hold.

    Examples
    --------
    >>> import os, tempfile
    >>> from mercer import KernelRidge, load, save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "line.mercer")
    ...     save(KernelRidge(kernel="linear").fit([[1.0], [2.0]], [1.0, 2.0]), path)
    ...     model = load(path)
    >>> model.predict([[6.0]]).round(6)
    array([5.])
    """
    who = f"load({streams.name_of(source)})"
    if functions is not None and not isinstance(functions, Mapping):
        must = 'functions must be a mapping such as {"name": function}'
        raise InputTypeError(sentence("load", must, show(functions)))
    with streams.opened(source, who) as bytes_of_model:
        manifest, tensors = container.read(bytes_of_model, who)
    if "checkpoint" in manifest:
        advice = "Fit again with the same checkpoint, which goes on from there."
        raise FileError(sentence(who, "it must be a model file", "the checkpoint of a fit", advice))
    unpacking = LoadContext(who, tensors, functions or {})
    _check_functions(manifest, unpacking)
    _unpack_transformers(manifest, unpacking)
    model = unpack_model(manifest, unpacking)
    unpacking.finish()
    return model


def read_card(
    source: str | os.PathLike[str] | bytes | bytearray | memoryview | Readable,
) -> ModelCard | None:
    """Read the card of a model file, without the model.

    Only the head of the file is read, so that it is quick for a large model too. The card is
    checked as strictly as a model is: a closed set of names, finite numbers, limited sizes.

    Parameters
    ----------
    source : str, path, bytes or binary file object
        Where to read.

    Returns
    -------
    ModelCard or None
        The card; None for a model that was saved without one.

    Raises
    ------
    FileError
        If the file is not a model file, its head is damaged, or its card is not a card.

    See Also
    --------
    save : Writes a model with its card.

    Examples
    --------
    >>> import io
    >>> from mercer import SVC, read_card, save
    >>> from mercer.files import make_card
    >>> X, y = [[0.0], [1.0], [3.0]], ["no", "yes", "yes"]
    >>> model, buffer = SVC().fit(X, y), io.BytesIO()
    >>> save(model, buffer, card=make_card(model, X, y, target="sold"))
    >>> read_card(buffer.getvalue()).target
    'sold'
    """
    who = f"read_card({streams.name_of(source)})"
    with streams.opened(source, who) as bytes_of_model:
        manifest = container.read_manifest(bytes_of_model, who)
    card = manifest.get("card")
    return None if card is None else card_of_json(card, who)


def _versions(packing: SaveContext) -> dict[str, Any]:
    """Return who wrote the file and who can read it; one without preprocessors every reader can.

    A card is no hindrance: a reader that does not know cards passes over it.
    """
    text = ".".join(map(str, container.FORMAT))
    manifest: dict[str, Any] = {"format": text, "min_reader": "1.0"}
    manifest["writer"] = f"mercer {version('mercer')}"
    if packing.uses_scikit_learn:
        manifest |= {"min_reader": "1.1", "scikit-learn": sklearn.__version__}
    if packing.transformers:
        manifest["transformers"] = [packed for _, packed in packing.transformers]
    return manifest


def _unpack_transformers(manifest: dict[str, Any], unpacking: LoadContext) -> None:
    """Put together the transformers within kernels, each of which may use those before it."""
    packed = manifest.get("transformers", [])
    if not isinstance(packed, list):
        raise unpacking.fail("transformers must be a list", show(packed))
    for index, one in enumerate(packed):
        unpacking.transformers[reference(index)] = unpack_value(one, unpacking)
    written, current = manifest.get("scikit-learn", sklearn.__version__), sklearn.__version__
    if written != current:
        warn(
            InconsistentVersionWarning(
                estimator_name="a preprocessor",
                current_sklearn_version=current,
                original_sklearn_version=str(written),
            )
        )


def _check_functions(manifest: dict[str, Any], unpacking: LoadContext) -> None:
    """Ask for all missing functions at once."""
    names = map(str, unpacking.get(manifest, "functions", list))
    missing = [name for name in names if name not in unpacking.functions]
    if missing:
        wanted = ", ".join(f"{name!r}: …" for name in missing)
        must = "the functions of the model must be handed in"
        advice = f"Write load(path, functions={{{wanted}}})."
        got = ", ".join(map(str, unpacking.functions)) or "none"
        raise FileError(sentence(unpacking.who, must, got, advice))
