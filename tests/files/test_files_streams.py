"""Model files as bytes and through file objects of every sort."""

import gzip
import io
import os
import pathlib
import socket
import threading

import numpy as np
import pytest
from forgery import LABELS, X, same_model

from mercer import SVC
from mercer.checks import FileError, InputTypeError
from mercer.files import load, save

MODEL = SVC().fit(X, LABELS)


def content():
    buffer = io.BytesIO()
    save(MODEL, buffer)
    return buffer.getvalue()


class Trickle:
    """A file object that can only be read, a few bytes at a time."""

    def __init__(self, data, step=7):
        self.data, self.step, self.place = data, step, 0

    def read(self, size=-1):
        count = self.step if size < 0 else min(size, self.step)
        piece = self.data[self.place : self.place + count]
        self.place += len(piece)
        return piece


class Sip:
    """A raw file object that takes a few bytes at a time, and says how many."""

    def __init__(self, says=True):
        self.data, self.says = bytearray(), says

    def write(self, data):
        taken = bytes(data)[:5] if self.says else bytes(data)
        self.data += taken
        return len(taken) if self.says else None


@pytest.mark.parametrize("change", [bytes, bytearray, memoryview, io.BytesIO, Trickle])
def test_bytes_and_objects_that_give_them(change):
    found = load(change(content()))
    assert same_model(found, MODEL)
    assert found.dual_coef_.flags.writeable


def test_a_path_and_an_object_get_the_same_bytes(tmp_path):
    for path in (tmp_path / "a.mercer", str(tmp_path / "b.mercer")):
        save(MODEL, path)
        assert pathlib.Path(path).read_bytes() == content()
        with open(path, "rb") as file:
            assert same_model(load(file), MODEL)
            assert file.read() == b""
        with open(path, "rb", buffering=0) as raw:
            assert same_model(load(raw), MODEL)


@pytest.mark.parametrize("says", [True, False])
def test_an_object_that_takes_less_than_it_is_given(says):
    target = Sip(says)
    save(MODEL, target)
    assert bytes(target.data) == content()


def test_a_compressed_file_and_a_socket(tmp_path):
    with gzip.open(tmp_path / "model.gz", "wb") as file:
        save(MODEL, file)
    with gzip.open(tmp_path / "model.gz", "rb") as file:
        assert same_model(load(file), MODEL)
    here, there = socket.socketpair()
    with here, there:
        with here.makefile("wb") as file:
            sender = threading.Thread(target=lambda: (save(MODEL, file), file.close()))
            sender.start()
            sender.join()
        here.shutdown(socket.SHUT_WR)
        with there.makefile("rb") as file:
            assert same_model(load(file), MODEL)


def test_an_object_is_read_from_where_it_stands_to_its_end():
    file = io.BytesIO(b"before" + content())
    file.seek(6)
    assert same_model(load(file), MODEL)
    for more in (io.BytesIO(content() + b"more"), Trickle(content() + b"more"), content() + b"m"):
        with pytest.raises(FileError, match=r"there must be \d+ bytes of tensors"):
            load(more)
    for less in (content()[:-1], io.BytesIO(content()[:500]), Trickle(b""), b"", b"model"):
        with pytest.raises(FileError):
            load(less)


def test_messages_name_what_was_loaded(tmp_path):
    with pytest.raises(FileError, match=r"^load\(5 bytes\): it must be a model file of mercer"):
        load(b"model")
    with pytest.raises(FileError, match=r"^load\(BytesIO\): "):
        load(io.BytesIO(b"model"))
    (tmp_path / "x").write_bytes(b"model")
    with open(tmp_path / "x", "rb") as file, pytest.raises(FileError, match=r"^load\('.*x'\): "):
        load(file)


def test_text_files_and_other_things_are_refused(tmp_path):
    advice = r"Open the file in binary mode: open\(path, \"rb\"\) to load"
    with pytest.raises(InputTypeError, match=rf"got a text file\. {advice}"):
        load(io.StringIO("model"))
    with pytest.raises(InputTypeError, match=rf"got a text file\. {advice}"):
        save(MODEL, io.StringIO())
    with pytest.raises(InputTypeError, match=rf"a file object must give bytes; got str\. {advice}"):
        load(Trickle("model" * 100))
    with pytest.raises(InputTypeError, match=r"For bytes hand in io\.BytesIO\(\)"):
        save(MODEL, bytearray())
    assert os.listdir(tmp_path) == []


def test_a_claim_of_more_than_a_stream_has_takes_no_memory():
    data = bytearray(content())
    data[:8] = (9_000_000).to_bytes(8, "little")
    for source in (bytes(data), io.BytesIO(data), Trickle(bytes(data), 1000)):
        with pytest.raises(FileError, match="lie within the file"):
            load(source)


def test_a_model_that_cannot_be_saved_writes_nothing():
    buffer, model = io.BytesIO(), SVC().fit(X, LABELS)
    model.extra_ = object()
    with pytest.raises(FileError):
        save(model, buffer)
    assert buffer.getvalue() == b""
    assert np.array_equal(load(content()).predict(X), MODEL.predict(X))
