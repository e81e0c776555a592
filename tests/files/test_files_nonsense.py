"""Model files whose digests are right and whose content makes no sense."""

import json

import numpy as np
import pytest
from forgery import LABELS, X, content, forge, small_file

from mercer import KernelPrototypeClassifier
from mercer.checks import FileError
from mercer.files import load, save
from mercer.files.columns import unpack_column
from mercer.files.context import LoadContext
from mercer.files.values import unpack_value
from mercer.kernels import Gaussian, Linear

BYTES = np.frombuffer(b"ab\xff", np.uint8)
NUMBERS = {
    "b": BYTES,
    "o": np.array([0, 1, 3]),
    "one": np.array([0, 1]),
    "falling": np.array([0, 2, 1, 3]),
    "late": np.array([1, 3]),
    "beyond": np.array([0, 2**62, 3]),
    "none": np.zeros(0, np.int64),
    "short": np.array([0, 1], np.int32),
    "f": np.array([0.5, 1.5, 2.5]),
    "flat": np.zeros((2, 0), np.int64),
    "many": np.zeros((2**40, 0), np.int64),
    "wide": np.zeros((1, 40), np.int64),
    "minus": np.array([[-1, -3]]),
    "large": np.array([[2**62, 4]]),
    "codes": np.array([0, 1, 1], np.uint8),
    "letters": np.array([[0x110000]], np.uint32),
    "zero": np.zeros((2**40, 0), np.uint32),
    "columns": np.array([0, 5], np.int32),
    "before": np.array([0, -1], np.int32),
    "starts": np.array([0, 1, 2], np.int32),
    "two": np.ones(2),
    "matrix": np.ones((2, 2)),
    "truth": np.array([True, False]),
    "four": np.arange(4.0),
    "pair": np.array([[1, 2]]),
    "digits": np.frombuffer(b"1_0", np.uint8),
    "whole": np.array([0, 3]),
    "farther": np.array([0, 1, 3], np.int32),
    "hollow": np.zeros((2**40, 0)),
    "a": np.frombuffer(b"a", np.uint8),
    "aa": np.frombuffer(b"aa", np.uint8),
    "ab": np.frombuffer(b"ab", np.uint8),
    "each": np.array([0, 1, 2]),
}
INT = {"kind": "int", "values": "o"}
TRUTH = {"kind": "bool", "values": "truth"}
FLOAT = {"kind": "float", "values": "f"}
ARRAY = {"type": "array", "tensor": "f"}


def column(**fields):
    return {"type": "sequence", "items": fields}


def csr(**changes):
    parts = {"columns": 6, "values": {"tensor": "two"}, "indices": "columns", "starts": "starts"}
    return {"type": "csr"} | parts | changes


def gram(**changes):
    parts = {"columns": {"type": "array", "tensor": "o"}, "width": 4, "dtype": "float64"}
    return {"type": "gram rows"} | parts | changes


def named(word):
    return {"kind": "str", "offsets": "one" if len(word) == 1 else "each", "bytes": word}


def frame(*columns, **changes):
    names = named("ab"[: len(columns)] or "ab")
    return {"type": "frame", "library": "polars", "names": names, "columns": [*columns]} | changes


NONSENSE = [
    {},
    {"type": "pickle"},
    {"type": ["array"]},
    {"type": "array"},
    {"type": "array", "tensor": {"type": "dict", "items": {}}},
    {"type": "array", "tensor": "nowhere"},
    {"type": "array", "tensor": "f", "text": "U"},
    {"type": "array", "tensor": "letters", "text": "U"},
    {"type": "array", "tensor": "letters", "text": "O"},
    {"type": "array", "tensor": "letters", "text": "S"},
    {"type": "array", "tensor": "zero", "text": "U"},
    {"type": "array", "tensor": "matrix", "text": "O"},
    {"type": "array", "tensor": "o", "time": "datetime64"},
    {"type": "array", "tensor": "o", "time": "object"},
    {"type": "array", "tensor": "f", "time": "datetime64[ns]"},
    {"type": "tuple", "items": "text"},
    {"type": "dict", "items": [1]},
    {"type": "tuple", "items": [ARRAY, ARRAY]},
    {"type": "objects", "shape": [2], "items": INT},
    {"type": "objects", "shape": [3, True], "items": INT},
    {"type": "objects", "shape": [-1, -3], "items": INT},
    {"type": "objects", "shape": [3] + [1] * 40, "items": INT},
    {"type": "objects", "shape": 3, "items": INT},
    {"type": "item"},
    {"type": "item", "column": INT},
    {"type": "item", "column": {"kind": "int", "values": "none"}},
    column(kind="int", values="f"),
    column(kind="int", values="matrix"),
    column(kind="bool", values="codes"),
    column(kind="none"),
    column(kind="nothing"),
    column(kind="str", offsets="one", bytes="f"),
    column(kind="str", offsets="short", bytes="b"),
    column(kind="str", offsets="o", bytes="b"),
    column(kind="str", offsets="falling", bytes="b"),
    column(kind="bytes", offsets="late", bytes="b"),
    column(kind="bytes", offsets="beyond", bytes="b"),
    column(kind="bytes", offsets="none", bytes="b"),
    column(kind="hex", offsets="one", bytes="codes"),
    column(kind="hex", offsets="whole", bytes="digits"),
    column(kind="bytes", offsets="falling", bytes="b"),
    column(kind="list", offsets="one", items=INT),
    column(kind="list", offsets="one", items=None),
    column(kind="set", offsets="o", items={"kind": "list", "offsets": "falling", "items": INT}),
    column(kind="dict", offsets="o", keys=FLOAT, values={"kind": "float", "values": "two"}),
    column(kind="dict", offsets="o", keys=FLOAT, values={"kind": "float", "values": "four"}),
    column(kind="array", shapes="pair", values={"tensor": "f"}),
    column(kind="union", codes="codes", parts=[{"kind": "none"}, FLOAT]),
    column(kind="array", shapes="many", values={"tensor": "f"}),
    column(kind="array", shapes="flat", values={"tensor": "f"}),
    column(kind="array", shapes="wide", values={"tensor": "f"}),
    column(kind="array", shapes="minus", values={"tensor": "f"}),
    column(kind="array", shapes="large", values={"tensor": "f"}),
    column(kind="array", shapes="o", values={"tensor": "f"}),
    column(kind="array", shapes="flat", values={"tensor": "matrix"}),
    column(kind="scalar", values={"tensor": "matrix"}),
    column(kind="union", codes="o", parts=[]),
    column(kind="union", codes="codes", parts=[]),
    column(kind="union", codes="codes", parts=[{"kind": "none"}]),
    column(kind="union", codes="codes", parts=[{"kind": "none"}, INT]),
    column(kind="union", codes="codes", parts=["none", "none"]),
    csr(columns=5),
    csr(columns=-1),
    csr(columns=2**70),
    csr(indices="before"),
    csr(indices="two"),
    csr(indices="one"),
    csr(values={"tensor": "f"}),
    csr(values={"tensor": "matrix"}),
    csr(values={"tensor": "f"}, starts="farther"),
    csr(starts="short"),
    csr(values=[1.0]),
    {"type": "kernel", "spec": "Gaussian()"},
    {"type": "kernel", "spec": {"kernel": "Unheard"}},
    {"type": "kernel", "spec": {"kernel": "Gaussian", "gamma": -1}},
    {"type": "kernel", "spec": {"kernel": "Gaussian", "gamma": {}}},
    {"type": "kernel", "spec": {"kernel": "Sum", "terms": "ab"}},
    {"type": "kernel", "spec": {"kernel": "Sum", "terms": [{"kernel": "Linear"}, {}]}},
    {"type": "kernel", "spec": {"kernel": "FunctionKernel", "fn": "print"}},
    {"type": "kernel", "spec": {"kernel": "On", "inner": {"kernel": "Linear"}, "columns": {}}},
    {"type": "function", "name": "print"},
    {"type": "function", "name": ["print"]},
    {"type": "record", "name": "Path", "fields": {}},
    {"type": "record", "name": "Basis", "fields": {"width": 1, "code": 2}},
    {"type": "record", "name": "Basis", "fields": {}},
    {"type": "record", "name": "Basis", "fields": 3},
    {"type": "prepared", "kernel": None, "points": None},
    {"type": "prepared", "kernel": {"type": "kernel", "spec": {"kernel": "Linear"}}, "points": 3},
    {"type": "matrix", "values": ARRAY, "names": None},
    {"type": "matrix", "values": {"type": "array", "tensor": "zero"}, "names": None},
    {"type": "matrix", "values": {"type": "array", "tensor": "flat"}, "names": None},
    {"type": "matrix", "values": {"type": "array", "tensor": "letters"}, "names": None},
    {"type": "matrix", "values": {"type": "array", "tensor": "hollow"}, "names": None},
    {"type": "matrix", "values": {"type": "array", "tensor": "matrix"}, "names": ["a"]},
    {"type": "matrix", "values": {"type": "array", "tensor": "matrix"}, "names": ["a", 2]},
    {"type": "matrix", "values": {"type": "array", "tensor": "matrix"}, "names": "ab"},
    {"type": "sequence", "items": 3},
    gram(width=3),
    gram(width=0),
    gram(width=2**31),
    gram(width=4.0),
    gram(dtype="object"),
    gram(columns=ARRAY),
    gram(columns={"type": "array", "tensor": "matrix"}),
    gram(columns=[0, 1]),
    {"type": "row blocks", "blocks": []},
    {"type": "row blocks", "blocks": [3]},
    {"type": "row blocks", "blocks": [gram()]},
    frame(),
    frame({"values": ARRAY}, {"values": {"type": "array", "tensor": "two"}}),
    frame({"values": ARRAY}, {"values": {"type": "array", "tensor": "two"}}, library="pandas"),
    frame({"values": {"type": "array", "tensor": "two"}, "missing": "codes"}),
    frame({"values": ARRAY, "missing": "truth"}),
    frame({"values": {"type": "array", "tensor": "matrix"}}),
    frame({"values": 3}),
    frame(3),
    frame({"items": {"kind": "none"}}),
    frame({"values": ARRAY}, {"values": {"type": "array", "tensor": "o"}}, names=named("aa")),
    frame({"values": ARRAY}, {"values": {"type": "array", "tensor": "o"}}, names=named("a")),
    frame({"values": ARRAY}, {"values": {"type": "array", "tensor": "o"}}, names=TRUTH),
    frame({"values": ARRAY}, library=3),
    {"type": "estimator", "estimator": "Path", "parameters": {}, "state": {}},
]


@pytest.mark.parametrize("data", NONSENSE, ids=lambda data: json.dumps(data)[:60])
def test_nonsense_is_refused(data):
    unpacking = LoadContext("test", NUMBERS, {})
    with pytest.raises(FileError, match=r"^test: .*; got .*"):
        unpack_value(data, unpacking)


def test_a_frame_that_makes_sense():
    data = frame({"values": ARRAY}, {"values": {"type": "array", "tensor": "o"}})
    assert unpack_value(data, LoadContext("test", NUMBERS, {})).raw.to_dict(as_series=False) == {
        "a": [0.5, 1.5, 2.5],
        "b": [0, 1, 3],
    }


def test_a_field_is_of_the_type_and_no_other():
    unpacking = LoadContext("test", {}, {})
    for value, kind in ((True, int), (1, bool), (1, float), (1.0, int), ({}, list), (None, str)):
        with pytest.raises(FileError, match=f"a {kind.__name__} must be given as 'a'"):
            unpacking.get({"a": value}, "a", kind)
    with pytest.raises(FileError, match="a int must be given as 'a'"):
        unpacking.get([1], "a", int)


def test_sets_must_be_of_what_can_be_in_a_set():
    lists = {"kind": "list", "offsets": "o", "items": {"kind": "float", "values": "f"}}
    for kind in ({"kind": "set", "items": lists}, {"kind": "dict", "keys": lists, "values": lists}):
        tensors = NUMBERS | {"two": np.array([0, 2])}
        with pytest.raises(FileError, match=r"items of its kind|used once"):
            unpack_column(kind | {"offsets": "two"}, LoadContext("test", tensors, {}))


# --- models that make no sense -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("predict", 1),
        ("_kernel", {"type": "tuple", "items": []}),
        ("__class__", 1),
        ("__module__", "os"),
        ("__doc__", "text"),
        ("__dict__", {"type": "dict", "items": {}}),
        ("_repr_html_", 1),
        ("a b", 1),
        ("", 1),
        ("kernel", 1),
        ("_prepared", {"type": "dict", "items": {}}),
        ("dual_coef_", {"type": "dict", "items": {}}),
        ("kernel_", "linear"),
        ("certificate_", None),
    ],
)
def test_state_is_data_of_the_right_type(key, value, tmp_path):
    save(KernelPrototypeClassifier(Linear()), tmp_path / "new.mercer")
    parts, tensors = content(tmp_path / "new.mercer")
    assert parts["state"] == tensors == {}
    with pytest.raises(
        FileError,
        match=r"attributes must be those that hold data|must be a |must have the attribute",
    ):
        load(forge(tmp_path / "odd.mercer", parts | {"state": {key: value}}, {}))


def test_the_parts_of_a_manifest_must_be_there(tmp_path):
    parts, tensors = content(small_file(tmp_path / "good.mercer"))
    for key in ("estimator", "parameters", "state", "functions"):
        for rest in ({}, {key: 3}, {key: None}):
            other = {name: value for name, value in parts.items() if name != key} | rest
            with pytest.raises(FileError, match=f"must be given as '{key}'"):
                load(forge(tmp_path / "odd.mercer", other, tensors))
    with pytest.raises(FileError, match="the parameters of KernelPrototypeClassifier are"):
        load(forge(tmp_path / "odd.mercer", parts | {"parameters": {"code": 1}}, tensors))
    with pytest.raises(FileError, match="handed in"):
        load(forge(tmp_path / "odd.mercer", parts | {"functions": [["a"]]}, tensors))


def test_a_parameter_that_an_older_mercer_did_not_know_has_its_default(tmp_path):
    parts, tensors = content(small_file(tmp_path / "good.mercer"))
    fewer = {key: value for key, value in parts["parameters"].items() if key == "kernel"}
    found = load(forge(tmp_path / "old.mercer", parts | {"parameters": fewer}, tensors))
    assert found.memory_limit == "auto"


def test_every_tensor_is_used_once(tmp_path):
    model = KernelPrototypeClassifier(Gaussian(1.0)).fit(X, LABELS)
    save(model, tmp_path / "good.mercer")
    parts, tensors = content(tmp_path / "good.mercer")
    with pytest.raises(FileError, match="every tensor must be there and be used once; got extra"):
        load(forge(tmp_path / "odd.mercer", parts, tensors | {"extra": np.ones(3)}))
    twice = parts["state"] | {"again_": parts["state"]["dual_coef_"]}
    with pytest.raises(FileError, match=r"be used once; got state\.dual_coef_"):
        load(forge(tmp_path / "odd.mercer", parts | {"state": twice}, tensors))
