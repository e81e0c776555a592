"""Model files: kernels, functions, parameters, what is refused, what other programs see."""

import hashlib
import json
import logging
import math
import os
import re
import stat
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
from forgery import LABELS, X, content, forge, prototype, round_trip, same, small_file
from samples import halved, letter_counts, row_product, shared_letters, shrinking, strings
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

from mercer import KernelPrototypeClassifier
from mercer.checks import FileError, InputTypeError
from mercer.files import load, save
from mercer.files.records import records
from mercer.kernels import FunctionKernel, Gaussian, Kernel, Laplacian, Linear, Spectrum
from mercer.kernels.base import registry
from mercer.models import Certificate

PAGE = Path(__file__).parent.parent.parent / "docs" / "model-files.md"

# --- kernels and functions ---------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [None, "linear", "rbf", Gaussian((0.1, 0.2, 0.0))], ids=repr)
def test_kernel_parameters(kernel, tmp_path):
    prototype(kernel, X, tmp_path)


def test_kernel_algebra(tmp_path):
    kernel = 0.7 * Gaussian() + 0.3 * (Linear() + 1) ** 2 * Laplacian(0.1).normalized()
    assert prototype((kernel + kernel.exp()).on([0, 2]), X, tmp_path).kernel.children()


FUNCTIONS = {f.__name__: f for f in (halved, letter_counts, row_product, shared_letters, shrinking)}


@pytest.mark.parametrize(
    ("kernel", "points"),
    [
        (Gaussian(1.0).of(halved) + Linear().rescaled(shrinking), X),
        (FunctionKernel(row_product) + FunctionKernel(row_product), X),
        (row_product, X),
        (FunctionKernel(shared_letters, pairwise=True) + 1, strings()),
        (Gaussian(1.0).of(letter_counts), strings()),
    ],
)
def test_functions_come_back_by_name(kernel, points, tmp_path):
    prototype(kernel, points, tmp_path, functions=FUNCTIONS)
    with pytest.raises(FileError, match=r"functions of the model must be handed in; got none\. "):
        load(tmp_path / "model.mercer")


def test_all_missing_functions_are_named(tmp_path):
    kernel = Gaussian(1.0).of(halved) + Linear().rescaled(shrinking)
    prototype(kernel, X, tmp_path, functions=FUNCTIONS)
    wanted = r"got row_product\. Write load\(path, functions=\{'halved': …, 'shrinking': …\}\)"
    with pytest.raises(FileError, match=wanted):
        load(tmp_path / "model.mercer", {"row_product": row_product})
    with pytest.raises(InputTypeError, match=r"functions must be a mapping such as"):
        load(tmp_path / "model.mercer", [halved])
    with pytest.raises(FileError, match=r"its kernel must be valid.*rescaled: f must be"):
        load(tmp_path / "model.mercer", {"halved": halved, "shrinking": 3})


def test_a_file_that_names_a_transformer_wants_it_handed_in(tmp_path):
    # Format 1.0 had no preprocessors: a transformer went by the name of its class.
    scaler = StandardScaler().fit(X)
    model = KernelPrototypeClassifier(Gaussian(1.0).of(scaler)).fit(X, LABELS)
    save(model, tmp_path / "model.mercer")
    manifest, tensors = content(tmp_path / "model.mercer")
    tensors = {key: one for key, one in tensors.items() if not key.startswith("transformers")}
    old = json.loads(json.dumps(manifest).replace('"#0"', '"StandardScaler"'))
    old |= {"transformers": [], "functions": ["StandardScaler"], "min_reader": "1.0"}
    path = forge(tmp_path / "old.mercer", old, tensors)
    found = load(path, {"StandardScaler": scaler})
    assert same(found.decision_function(X), model.decision_function(X))
    with pytest.raises(FileError, match=r"functions=\{'StandardScaler': …\}"):
        load(path)


def test_functions_without_a_name_are_refused(tmp_path):
    for kernel in (lambda X, Y: X @ Y.T, Linear().of(lambda X: X)):
        model = KernelPrototypeClassifier(kernel).fit(X, LABELS)
        with pytest.raises(FileError, match=r"saved by its name, so parameters\.kernel must have"):
            save(model, tmp_path / "model.mercer")


def test_two_functions_of_one_name_are_refused(tmp_path):
    def other(X, Y):
        return X @ Y.T

    other.__name__ = "row_product"
    model = KernelPrototypeClassifier(FunctionKernel(other) + FunctionKernel(row_product))
    with pytest.raises(FileError, match="a name of its own; got two called 'row_product'"):
        save(model, tmp_path / "model.mercer")


def test_kernels_that_their_spec_does_not_describe_are_refused(tmp_path):
    @dataclass(frozen=True, repr=False)
    class _Private(Kernel):  # its name is not registered
        width: float = 1.0

    @dataclass(frozen=True, repr=False)
    class Odd(Kernel):  # its field is no JSON
        field: object = None

    kernels = (_Private(), Odd(1j), Odd([[1], (2,)]), Odd(float("nan")), Odd({1: 2}), Kernel())
    for kernel in kernels:
        with pytest.raises(FileError, match=r"parameters\.kernel must be a kernel that from_spec"):
            save(KernelPrototypeClassifier(kernel), tmp_path / "model.mercer")


def test_a_kernel_class_that_is_not_imported_is_asked_for(tmp_path, monkeypatch):
    @dataclass(frozen=True, repr=False)
    class Overlaps(Kernel):
        def pair(self, x, y):
            return float(len(set(x) & set(y)))

    model = KernelPrototypeClassifier(Overlaps() + Spectrum(2)).fit(strings(), [0, 1, 0] * 3)
    save(model, tmp_path / "model.mercer")
    assert same(load(tmp_path / "model.mercer").predict(strings()), model.predict(strings()))
    monkeypatch.delitem(registry, "Overlaps")
    wanted = (
        r"the classes of its kernel must be known; got 'Overlaps', which no module imported so "
        rf"far defines\. Import the module that defines it, '{__name__}', and load again\."
    )
    with pytest.raises(FileError, match=wanted):
        load(tmp_path / "model.mercer")
    manifest, tensors = content(tmp_path / "model.mercer")
    text = json.dumps(manifest).replace(f'"Overlaps": "{__name__}"', '"Overlaps": "this"')
    hostile = forge(tmp_path / "hostile.mercer", json.loads(text), tensors)
    with pytest.raises(FileError, match="defines it, 'this', and load again"):
        load(hostile)
    assert "this" not in sys.modules  # a module that writes when it is imported
    without = json.loads(text.replace('"modules": {"Overlaps": "this"}', '"modules": 3'))
    with pytest.raises(FileError, match=r"Import the module that defines it, and load again\."):
        load(forge(tmp_path / "odd.mercer", without, tensors))


def test_a_kernel_nested_too_deep_is_refused(tmp_path):
    kernel = Linear()
    for _ in range(40):
        kernel = (kernel + 1.0).exp()
    with pytest.raises(FileError, match="nested at most 64 deep"):
        save(KernelPrototypeClassifier(kernel), tmp_path / "model.mercer")
    assert os.listdir(tmp_path) == []


# --- parameters and state ----------------------------------------------------------------------


def test_what_only_fitting_uses_is_left_out(tmp_path):
    given = [print, np.random.default_rng(0), np.random.RandomState(0), KFold(3)]
    for value in given:
        model = KernelPrototypeClassifier(Gaussian(), memory_limit=value)
        save(model, tmp_path / "model.mercer")
        assert load(tmp_path / "model.mercer").memory_limit is None
        assert content(tmp_path / "model.mercer")[0]["left_out"] == ["parameters.memory_limit"]


def test_the_session_is_not_saved(tmp_path):
    from mercer import gram
    from mercer.monitor import Monitor

    model = KernelPrototypeClassifier(Gaussian(1.0)).fit(X, LABELS)
    before = set(vars(model))
    model._monitor, model._gram = Monitor(), gram(Gaussian(1.0), X)
    model._skl_callbacks = [logging.getLogger()]
    model._metadata_request = object()
    save(model, tmp_path / "model.mercer")
    assert set(vars(load(tmp_path / "model.mercer"))) == before


def test_the_state_is_in_one_order(tmp_path):
    state = list(content(small_file(tmp_path / "model.mercer"))[0]["state"])
    assert state == sorted(state)
    assert len(state) > 5


def test_records_of_the_user_are_refused(tmp_path):
    @dataclass(frozen=True)
    class MyCertificate(Certificate):
        grade: int = 1

    model = KernelPrototypeClassifier()
    model.certificate_ = MyCertificate(
        status="exact", plan="", kernel_entries=0, bytes=0, seconds=0.0
    )
    with pytest.raises(FileError, match=r"state\.certificate_ must be something that a model file"):
        save(model, tmp_path / "model.mercer")
    assert "MyCertificate" not in records()
    assert {"Basis", "Certificate", "PrototypeCertificate"} <= set(records())


def test_an_estimator_inside_an_estimator(tmp_path):
    model = KernelPrototypeClassifier(Gaussian(1.0)).fit(X, LABELS)
    model.parts_ = [KernelPrototypeClassifier(Linear()).fit(X, LABELS)]
    found = round_trip(model, tmp_path, X)
    assert same(found.parts_[0].predict(X), model.parts_[0].predict(X))


@pytest.mark.parametrize("value", [object(), 1 + 2j, {1: logging}, np.ma.array([1.0]), complex])
def test_what_cannot_be_saved_is_named(value, tmp_path):
    model = KernelPrototypeClassifier(Gaussian(1.0)).fit(X, LABELS)
    model.extra_ = value
    with pytest.raises(FileError, match=r"save: state\.extra_\S* must be something") as caught:
        save(model, tmp_path / "model.mercer")
    inner = logging if isinstance(value, dict) else value
    assert type(inner).__name__ in str(caught.value)
    assert os.listdir(tmp_path) == []


def test_classes_of_the_user_are_refused(tmp_path):
    class Mine(KernelPrototypeClassifier):
        pass

    impostor = type("KernelPrototypeClassifier", (Mine,), {})
    for model in (Mine(), impostor(), StandardScaler(), "model", None):
        with pytest.raises(InputTypeError, match="the model must be an estimator of mercer itself"):
            save(model, tmp_path / "model.mercer")


def test_a_model_that_contains_itself_is_refused(tmp_path):
    model = KernelPrototypeClassifier()
    model.circle_ = [model]
    with pytest.raises(FileError, match="a model must not contain itself"):
        save(model, tmp_path / "model.mercer")


# --- what other programs see -------------------------------------------------------------------


def test_any_reader_of_safetensors_can_open_it(tmp_path):
    model = KernelPrototypeClassifier(Spectrum(2)).fit(strings(), [0, 1, 0] * 3)
    save(model, tmp_path / "model.mercer")
    found = safetensors.numpy.load_file(tmp_path / "model.mercer")
    assert same(found["state.dual_coef_"], model.dual_coef_)
    assert found.keys() == content(tmp_path / "model.mercer")[1].keys()
    with safetensors.safe_open(tmp_path / "model.mercer", "numpy") as file:
        assert set(file.metadata()) == {"mercer", "sha256"}


def test_the_example_in_the_documentation_reads_it(tmp_path, monkeypatch):
    model = KernelPrototypeClassifier(Gaussian(0.25)).fit(X, LABELS)
    save(model, tmp_path / "model.mercer")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python[^\n]*\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    names = {}
    exec(blocks[-1], names)
    squares = ((X[:, None] - names["rows"]) ** 2).sum(axis=-1)
    found = np.exp(-names["gamma"] * squares) @ names["weights"]
    scores = found - model.squared_norms_ / 2
    assert np.allclose(scores[:, 1] - scores[:, 0], model.decision_function(X), rtol=1e-12)
    assert len(names["data"]) == os.path.getsize("model.mercer")


def test_the_digests_are_as_documented(tmp_path):
    data = small_file(tmp_path / "model.mercer").read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    blank = data[:35] + b"0" * 64 + data[99 : 8 + length]
    assert data[35:99].decode() == hashlib.sha256(blank).hexdigest()
    assert header.pop("__metadata__")["sha256"] == data[35:99].decode()
    digests = content(tmp_path / "model.mercer")[0]["tensors"]
    for name, entry in header.items():
        start, stop = (8 + length + offset for offset in entry["data_offsets"])
        assert digests[name] == hashlib.sha256(data[start:stop]).hexdigest()
        width = (stop - start) // max(math.prod(entry["shape"]), 1)
        assert width == 0 or start % width == 0  # aligned
    assert (8 + length) % 8 == 0


GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.mercer"))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.name)
def test_files_of_earlier_releases(path):
    model = load(path, FUNCTIONS)
    wanted = json.loads(path.with_suffix(".json").read_text())
    found = model.decision_function(wanted["points"])
    assert np.allclose(found, wanted["scores"], rtol=1e-12)
    assert model.predict(wanted["points"]).tolist() == wanted["labels"]
    assert len(GOLDEN) >= 2


def test_a_new_file_obeys_the_umask_and_an_old_one_keeps_its_permissions(tmp_path):
    path = tmp_path / "model.mercer"
    before = os.umask(0o027)
    try:
        save(KernelPrototypeClassifier(), path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o600)
    save(KernelPrototypeClassifier(Linear()), path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    link = tmp_path / "link.mercer"
    link.symlink_to(path)
    save(KernelPrototypeClassifier(Spectrum(2)), link)
    assert link.is_symlink()
    assert load(str(path)).kernel == Spectrum(2)
