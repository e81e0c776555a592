"""Model files: the round trip that must change nothing, and files made to deceive."""

import dataclasses
import json
import math
import os

import numpy as np
import scipy.sparse
from samples import rows, strings

from mercer import KernelPrototypeClassifier
from mercer.files import load, save
from mercer.grams import Prepared
from mercer.inputs import Input
from mercer.kernels import Spectrum
from mercer.storage import container, streams

X, LABELS = rows(n=12), np.array(["no", "yes"] * 6)
METHODS = ("predict", "decision_function", "predict_proba", "transform", "score_samples")


def round_trip(model, folder, points, functions=None):
    """Save, load, and check that nothing that can be seen has changed; return what was loaded."""
    path = folder / "model.mercer"
    save(model, path)
    found = load(path, functions)
    assert type(found) is type(model)
    assert same(found.get_params(deep=False), model.get_params(deep=False))
    assert same_model(found, model)
    for name in METHODS:
        if hasattr(model, name):
            assert same(getattr(found, name)(points), getattr(model, name)(points)), name
    save(found, folder / "again.mercer")
    assert (folder / "again.mercer").read_bytes() == path.read_bytes()
    assert sorted(os.listdir(folder)) == ["again.mercer", "model.mercer"]
    return found


def prototype(kernel, points, folder, labels=None, functions=None):
    labels = LABELS[: len(points)] if labels is None else labels
    model = KernelPrototypeClassifier(kernel).fit(points, labels)
    return round_trip(model, folder, points, functions)


# --- files taken apart and put together ----------------------------------------------------------


def small_file(path):
    """Write a small file with numbers, whole numbers, truth values, text and offsets."""
    model = KernelPrototypeClassifier(Spectrum(1)).fit(strings()[:4], [True, False, True, False])
    save(model, path)
    return path


def content(path):
    """The manifest and the tensors of a good file."""
    with streams.opened(path, "test") as source:
        return container.read(source, "test")


def forge(path, manifest, tensors):
    """Write any manifest and tensors as a file whose digests are right, unchecked."""
    rest = {key: value for key, value in manifest.items() if key != "tensors"}
    return raw(path, container.make_header(rest, tensors), tensors)


def raw(path, header, tensors=None):
    """Write a header as it is, with its digest put right, and the tensors."""
    header = container.sealed(header)
    parts = [container.as_bytes(array).tobytes() for array in (tensors or {}).values()]
    path.write_bytes(len(header).to_bytes(8, "little") + header + b"".join(parts))
    return path


def header_of(manifest, entries=None):
    """A header as JSON, its digest still zeros; the manifest is JSON data or a text."""
    text = manifest if isinstance(manifest, str) else json.dumps(manifest)
    metadata = {"sha256": "0" * 64, "mercer": text}
    entries = {"__metadata__": metadata, **(entries or {})}
    return json.dumps(entries, separators=(",", ":")).encode()


# --- equality ------------------------------------------------------------------------------------


def same(left, right):
    """Whether two values are the same in content and in type, NaN and order included."""
    if type(left) is not type(right):
        return False
    if isinstance(left, np.ndarray):
        return (
            left.dtype == right.dtype and left.shape == right.shape and _same_entries(left, right)
        )
    if scipy.sparse.issparse(left):
        parts = ("data", "indices", "indptr")
        return left.shape == right.shape and all(
            same(getattr(left, part), getattr(right, part)) for part in parts
        )
    if isinstance(left, dict):
        return same(list(left), list(right)) and same(list(left.values()), list(right.values()))
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, set | frozenset):
        return canonical(left) == canonical(right)
    if isinstance(left, float | np.floating) and math.isnan(left):
        return math.isnan(right)
    if isinstance(left, float):
        return (left, math.copysign(1, left)) == (right, math.copysign(1, right))
    if isinstance(left, Prepared):
        return left.kernel == right.kernel and same(left.points, right.points)
    if isinstance(left, Input):
        return _same_points(left, right)
    if dataclasses.is_dataclass(left) and not hasattr(left, "spec"):
        names = [one.name for one in dataclasses.fields(left)]  # not what was computed since
        return type(left) is type(right) and all(
            same(getattr(left, name), getattr(right, name)) for name in names
        )
    if hasattr(left, "get_params") and not hasattr(left, "spec"):
        return same_model(left, right)
    if hasattr(left, "spec"):  # a kernel, which tells transformers apart though they are the same
        return left.spec() == right.spec() and same(transformers(left), transformers(right))
    if "__getstate__" in vars(type(left)):
        return same(left.__getstate__(), right.__getstate__())
    return bool(left == right)


def transformers(kernel):
    """The transformers within a kernel, and its functions."""
    own = [value for name in ("phi", "f", "fn") if (value := getattr(kernel, name, None))]
    return own + [one for child in kernel.children() for one in transformers(child)]


def canonical(item):
    """A text of a hashable item that does not depend on the order of sets."""
    if isinstance(item, set | frozenset):
        return f"{type(item).__name__} {sorted(map(canonical, item))}"
    if isinstance(item, tuple):
        return f"tuple {[canonical(one) for one in item]}"
    return f"{type(item).__name__} {item!r}"


def _same_entries(left, right):
    if left.dtype.kind == "O":
        return same(left.ravel().tolist(), right.ravel().tolist())
    return left.tobytes() == right.tobytes()


def _same_points(left, right):
    if left.kind == "rows of a Gram matrix":  # the entries themselves are not kept
        alike = left.values.shape == right.values.shape and left.values.dtype == right.values.dtype
        return alike and same(left.columns, right.columns)
    if left.kind == "a data frame":
        lists = [[one.frame.get_column(n).to_list() for n in one.names] for one in (left, right)]
        return type(left.raw) is type(right.raw) and left.names == right.names and same(*lists)
    if left.kind == "row blocks":
        return same(list(left.blocks()), list(right.blocks()))
    return same(left.raw, right.raw) and getattr(left, "names", 0) == getattr(right, "names", 0)


def same_model(left, right):
    """Whether two estimators have the same parameters and the same state."""
    names = sorted(vars(left))
    return names == sorted(vars(right)) and all(
        same(vars(left)[name], vars(right)[name]) for name in names
    )
