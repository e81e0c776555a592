"""Model files that were cut, altered or made to deceive, and writing that is interrupted."""

import json
import os
import pickle
import tracemalloc

import numpy as np
import pytest
from forgery import content, forge, header_of, raw, small_file

from mercer import KernelPrototypeClassifier
from mercer.checks import FileError
from mercer.files import load, save
from mercer.kernels import Gaussian, Spectrum
from mercer.storage import container, strict

VERSIONS = {"format": "1.0", "min_reader": "1.0", "writer": "mercer 0.1.0"}


@pytest.fixture
def good(tmp_path):
    return small_file(tmp_path / "good.mercer")


# --- damage ------------------------------------------------------------------------------------


def test_no_byte_can_change_unnoticed(good, tmp_path):
    data = good.read_bytes()
    altered = tmp_path / "altered.mercer"
    for place in range(len(data)):
        changed = bytearray(data)
        changed[place] ^= 1 << place % 8
        altered.write_bytes(changed)
        with pytest.raises(FileError):
            load(altered)


def test_no_end_can_be_missing(good, tmp_path):
    data = good.read_bytes()
    cut = tmp_path / "cut.mercer"
    step = max(len(data) // 300, 1)
    for length in {*range(0, len(data), step), *range(120), *range(len(data) - 50, len(data))}:
        cut.write_bytes(data[:length])
        with pytest.raises(FileError):
            load(cut)
    cut.write_bytes(data + b"\0")
    with pytest.raises(FileError, match=r"there must be \d+ bytes of tensors; got"):
        load(cut)


def test_damage_is_told_from_another_kind_of_file(good, tmp_path):
    data = bytearray(good.read_bytes())
    data[-1] ^= 1
    good.write_bytes(data)
    with pytest.raises(FileError, match=r"must agree with its SHA-256.*take a fresh copy"):
        load(good)
    others = {
        "a pickle, which mercer never opens": pickle.dumps(KernelPrototypeClassifier()),
        "a zip archive": b"PK\x03\x04" + b"\0" * 200,
        "a safetensors file without a model of mercer": b"\x02\0\0\0\0\0\0\0{}",
        "an empty file": b"",
        "one that starts with b'once upo'": b"once upon a time",
    }
    for got, text in others.items():
        other = tmp_path / "other"
        other.write_bytes(text)
        with pytest.raises(FileError) as caught:
            load(other)
        wanted = f"load({str(other)!r}): it must be a model file of mercer; got {got}."
        assert str(caught.value) == wanted


# --- paths -------------------------------------------------------------------------------------


def test_paths_that_are_no_files(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nowhere.mercer")
    with pytest.raises(FileError, match="it must be a file; got a directory"):
        load(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileError, match="it must be a file; got a pipe or a device"):
        load(tmp_path / "pipe")
    with pytest.raises(FileError, match="got a pipe or a device"):
        load("/dev/zero")
    for path in (tmp_path, tmp_path / "none" / "model.mercer"):
        with pytest.raises(FileError, match="a file in a directory that exists"):
            save(KernelPrototypeClassifier(), path)
    for wrong in (3, None, ["model"]):
        with pytest.raises(TypeError, match="it must be a path, bytes or a binary file object"):
            load(wrong)
    for wrong in (3, None, b"model"):
        with pytest.raises(TypeError, match="the target must be a path or a binary file object"):
            save(KernelPrototypeClassifier(), wrong)


# --- headers made to deceive -------------------------------------------------------------------


def entry(dtype="F64", shape=(2,), offsets=(0, 16)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


def manifest(**tensors):
    return VERSIONS | {"tensors": dict.fromkeys(tensors, "0" * 64)}


BOMBS = {
    "too large": {"a": entry(shape=[2**40], offsets=[0, 2**43])},
    "too large for the bytes": {"a": entry(shape=[2**40], offsets=[0, 16])},
    "overflow to zero": {"a": entry(shape=[2**32, 2**32], offsets=[0, 0])},
    "overflow to something": {"a": entry(shape=[2**61 + 2], offsets=[0, 16])},
    "huge and empty": {"a": entry(shape=[2**60, 0], offsets=[0, 0])},
    "too many dimensions": {"a": entry(shape=[1] * 40, offsets=[0, 8])},
    "negative": {"a": entry(shape=[-2, -1], offsets=[0, 16])},
    "negative offsets": {"a": entry(offsets=[-16, 0])},
    "backwards": {"a": entry(offsets=[16, 0])},
    "not a number": {"a": entry(shape=["2"])},
    "truth for a number": {"a": entry("U8", [True], [0, 1])},
    "float for a number": {"a": entry(shape=[2.0])},
    "three offsets": {"a": entry(offsets=[0, 8, 16])},
    "no list": {"a": entry() | {"shape": None}},
    "no such dtype": {"a": entry("O64")},
    "list as dtype": {"a": entry() | {"dtype": []}},
    "a field missing": {"a": {"dtype": "F64", "shape": [2]}},
    "a field too many": {"a": entry() | {"code": "x"}},
    "no entry at all": {"a": 3},
    "a gap": {"a": entry(), "b": entry(offsets=[24, 40])},
    "an overlap": {"a": entry(), "b": entry(offsets=[8, 24])},
    "twice the same": {"a": entry(), "b": entry()},
}


@pytest.mark.parametrize("name", BOMBS)
def test_what_a_header_announces_is_checked_before_it_is_believed(name, tmp_path):
    entries = BOMBS[name]
    path = raw(tmp_path / "bomb.mercer", header_of(manifest(**entries), entries))
    path.write_bytes(path.read_bytes() + b"\0" * 64)
    tracemalloc.start()
    try:
        with pytest.raises(FileError, match=r"must (have a dtype|lie end to end)"):
            load(path)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_the_length_of_the_header_is_checked_before_it_is_read(good):
    data = good.read_bytes()
    for length in (2**63, 2**40, len(data), 50_000_001, 5, 0):
        good.write_bytes(length.to_bytes(8, "little") + data[8:])
        with pytest.raises(FileError, match=r"lie within the file; got \d+ bytes in a file of"):
            load(good)
    start = b'{"__metadata__":{"sha256":"'
    with open(good, "wb") as file:
        file.write((50_000_001).to_bytes(8, "little") + start)
        file.truncate(2**34)  # a hole: large, and without a byte on the disk
    with pytest.raises(FileError, match="at most 50000000 bytes"):
        load(good)


def test_a_tensor_needs_a_digest_and_a_digest_a_tensor(tmp_path):
    entries = {"a": entry("U8", [1], [0, 1])}
    for digests in ({}, {"b": "0" * 64}, {"a": 3}, {"a": "0" * 64, "b": "0" * 64}, None):
        header = header_of(VERSIONS | {"tensors": digests}, entries)
        with pytest.raises(FileError, match=r"must list the tensors|its SHA-256"):
            load(raw(tmp_path / "odd.mercer", header, {"a": np.zeros(1, np.uint8)}))


def test_too_many_tensors(tmp_path):
    tensors = {f"t{i}": np.zeros(0) for i in range(container.TENSOR_LIMIT + 1)}
    with pytest.raises(FileError, match="it must have at most 65536 tensors; got 65537"):
        load(forge(tmp_path / "many.mercer", VERSIONS, tensors))


def test_truth_values_are_0_or_1(tmp_path):
    odd = np.array([0, 2], np.uint8).view(np.bool_)
    with pytest.raises(FileError, match="must hold truth values, 0 or 1"):
        load(forge(tmp_path / "odd.mercer", VERSIONS, {"a": odd}))


def test_a_header_too_large_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(container, "HEADER_LIMIT", 1000)
    with pytest.raises(FileError, match=r"save\(.*at most 1000 bytes"):
        save(KernelPrototypeClassifier(Gaussian((0.5,) * 1000)), tmp_path / "model.mercer")
    assert os.listdir(tmp_path) == []


# --- JSON --------------------------------------------------------------------------------------

NOT_STRICT = {
    '{"a": 1, "a": 1}': "a key given twice",
    '{"a": {"b": NaN}}': "the constant NaN",
    "[Infinity]": "the constant Infinity",
    "[-Infinity]": "the constant -Infinity",
    "[1e999]": "the number 1e999",
    "[" * 65 + "]" * 65: "nested more than 64 deep",
    "[" * 100_000 + "]" * 100_000: "nested more than 64 deep",
    '{"a":' * 65 + "1" + "}" * 65: "nested more than 64 deep",
    "[" + "0," * strict.MARK_LIMIT + "0]": "too many values",
    "[1": "",
    "": "",
    "{'a': 1}": "",
    '{"a": 1} x': "",
    "[" + "9" * 5000 + "]": "",
}


@pytest.mark.parametrize(("text", "problem"), NOT_STRICT.items(), ids=lambda text: text[:16])
def test_json_is_strict(text, problem, tmp_path):
    for header in (header_of(text), header_of(VERSIONS)[:-1] + f',"a":{text}}}'.encode()):
        with pytest.raises(FileError, match=f"must be strict JSON.*{problem}"):
            load(raw(tmp_path / "odd.mercer", header))


def test_json_that_is_strict():
    text = '{"a": [1, -2.5, true, null, "é\\u00e9"], "b": {"a": {}}}'
    assert strict.loads(text, "test") == json.loads(text)
    assert strict.loads("[" * 63 + "]" * 63, "test")
    with pytest.raises(FileError, match="utf-8"):
        strict.loads(b'["\xff"]', "test")


@pytest.mark.parametrize("text", ["[]", "3", "null", '"text"'])
def test_a_manifest_is_an_object(text, tmp_path):
    with pytest.raises(FileError, match="its manifest must be an object"):
        load(raw(tmp_path / "odd.mercer", header_of(text)))
    header = b'{"__metadata__":{"sha256":"' + b"0" * 64 + b'"}}'
    with pytest.raises(FileError, match="its header must hold a manifest"):
        load(raw(tmp_path / "odd.mercer", header))


# --- versions and names ------------------------------------------------------------------------


def test_a_file_of_a_newer_format_names_who_wrote_it(good):
    for needed in ("1.3", "2.0", "10.0"):
        parts, tensors = content(good)
        newer = {"format": needed, "min_reader": needed, "writer": "mercer 7.2.0"}
        with pytest.raises(FileError, match=f"readers of '{needed}', written by 'mercer 7.2.0'"):
            load(forge(good.parent / "newer.mercer", parts | newer, tensors))
    for needed in ("0.9", "1", "one", None, 1.0, "1.0\n", ["1.0"], "٠.٠"):
        with pytest.raises(FileError, match=r"readable by format 1\.2"):
            load(forge(good.parent / "odd.mercer", parts | {"min_reader": needed}, tensors))


def test_a_newer_file_that_old_readers_may_read_is_read(good):
    parts, tensors = content(good)
    parts |= {"format": "1.7", "licence": "any", "card": {"author": "someone"}}
    assert load(forge(good.parent / "newer.mercer", parts, tensors)).kernel == Spectrum(1)


@pytest.mark.parametrize("name", ["KernelPrototypeClasifier", "os.system", "KernelEstimator", ""])
def test_an_unknown_estimator(name, good):
    parts, tensors = content(good)
    with pytest.raises(FileError, match=r"its estimator must be one that this mercer has") as found:
        load(forge(good.parent / "odd.mercer", parts | {"estimator": name}, tensors))
    wanted = f"got {name!r}, written by 'mercer 0.1.0'. Did you mean 'KernelPrototypeClassifier'?"
    assert name != "KernelPrototypeClasifier" or wanted in str(found.value)
