"""Where bytes come from: paths, standard input, file objects, packed files; and their digest."""

import bz2
import gzip
import hashlib
import io
import lzma
import sys
import types

import numpy as np
import pytest

from mercer.checks import DataError, InputError
from mercer.data import read, read_blocks, sources

TEXT = b"a,b\n" + b"".join(b"%d,%d\n" % (row, row * row) for row in range(500))
PACKERS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def test_the_digest_is_that_of_the_bytes(put):
    path = put("a.csv", TEXT)
    assert read(path).sha256 == hashlib.sha256(TEXT).hexdigest()
    assert read(path, max_rows=3).sha256 == hashlib.sha256(TEXT).hexdigest()


@pytest.mark.parametrize("suffix", PACKERS)
def test_packed_text(put, suffix):
    packed = PACKERS[suffix](TEXT)
    data = read(put(f"a.csv{suffix}", packed))
    assert data.format == "csv"
    assert data.sha256 == hashlib.sha256(packed).hexdigest()
    assert data.X.equals(read(put("a.csv", TEXT)).X)


def test_packed_text_is_known_by_its_bytes(put):
    assert len(read(put("a.csv", gzip.compress(TEXT)))) == 500
    several = gzip.compress(TEXT[:100]) + gzip.compress(TEXT[100:])
    assert len(read(put("b.csv.gz", several))) == 500


@pytest.mark.parametrize("suffix", PACKERS)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.95])
def test_a_packed_file_that_was_cut(refusal, suffix, share):
    packed = PACKERS[suffix](TEXT)
    said = refusal(f"a.csv{suffix}", packed[: int(share * len(packed))])
    name = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz"}[suffix]
    assert said.startswith(f"the {name} file must be whole; got ")
    assert said.endswith("It may have been cut short: copy it again.")


def test_a_packed_file_that_was_altered(refusal):
    packed = bytearray(gzip.compress(TEXT))
    packed[-6] ^= 255
    assert "the gzip file must be whole; got CRC check failed" in refusal("a.csv.gz", packed)


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(TEXT)))
    data = read("-", target="b")
    assert data.source == "-"
    assert data.y.tolist() == [row * row for row in range(500)]
    assert data.sha256 == hashlib.sha256(TEXT).hexdigest()


class Slow(io.RawIOBase):
    """A pipe that gives a few bytes at a time."""

    def __init__(self, content):
        self.content = io.BytesIO(content)

    def readable(self):
        return True

    def read(self, size=-1):
        return self.content.read(min(size, 7))


@pytest.mark.parametrize("content", [TEXT, gzip.compress(TEXT)])
def test_a_pipe_gives_less_than_it_is_asked_for(content):
    data = read(Slow(content))
    assert data.X["b"].to_list() == [float(row * row) for row in range(500)]
    assert data.sha256 == hashlib.sha256(content).hexdigest()


def test_blocks_know_the_digest_with_the_last(put):
    blocks = list(read_blocks(put("a.csv", TEXT), rows=100))
    assert [len(block) for block in blocks] == [100] * 5
    assert blocks[-1].sha256 == hashlib.sha256(TEXT).hexdigest()


def test_a_missing_file_has_neighbours(put, tmp_path):
    put("houses.csv", TEXT)
    with pytest.raises(DataError, match=r"there must be such a file; got none. Did you mean 'hou"):
        read(tmp_path / "house.csv")
    with pytest.raises(DataError, match=r"got none. It is looked for in "):
        read(tmp_path / "zzzzzzzz.parquet")
    with pytest.raises(DataError, match="There is no folder"):
        read(tmp_path / "nowhere" / "houses.csv")
    with pytest.raises(DataError, match="the file must be readable; got embedded null byte"):
        read(str(tmp_path / "a\0b.csv"))


def test_a_folder_is_not_a_file(tmp_path):
    with pytest.raises(DataError, match=r"it must be a file; got a folder. A folder is read as gr"):
        read(tmp_path)


@pytest.mark.parametrize("source", [3, None, io.StringIO("a,b\n1,2\n"), b"a,b\n1,2\n"])
def test_what_is_no_source(source):
    with pytest.raises(InputError, match="read: source must be a path, '-' or a binary file obj"):
        read(source)


def test_a_file_object_must_give_bytes():
    class Letters:
        def read(self, size):
            return "a,b\n1,2\n"

    with pytest.raises(InputError, match=r"must give bytes; got str. Open the file in binary"):
        read(Letters())


@pytest.mark.parametrize("encoding", ["utf-8", "utf8", "utf-8-sig", "ascii"])
def test_a_byte_order_mark_is_no_part_of_a_name(put, encoding):
    path = put("a.csv", b"\xef\xbb\xbf" + TEXT)
    assert read(path, encoding=encoding).X.columns == ["a", "b"]


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-16-le", "utf-32"])
def test_other_encodings(put, encoding):
    text = "straße,größe\nÖlmühle,1.5\nÄcker,2\n"
    data = read(put("a.csv", text.encode(encoding)), encoding=encoding)
    assert data.X.to_dict(as_series=False) == {"straße": ["Ölmühle", "Äcker"], "größe": [1.5, 2.0]}


def test_a_wrong_encoding_is_named_with_its_line(refusal):
    text = "a,b\nx,1\nÖl,2\n".encode("latin-1")
    said = refusal("a.csv", text)
    assert said == (
        "the text must be UTF-8; got the byte 0xd6 in line 3. "
        'Say encoding="cp1252" if the file comes from Windows, or encoding="latin-1".'
    )
    said = refusal("a.csv", "a,b\nx,1\n".encode("utf-16"))
    assert 'got the byte order mark of UTF-16. Say encoding="utf-16".' in said
    said = refusal("a.csv", b"a,b\nx,1\nx,\xff\n", encoding="shift_jis")
    assert said == (
        "the text must be shift_jis; got something else about line 3. Try another encoding."
    )
    assert refusal("a.csv", TEXT, encoding="klingon").startswith("encoding must be one that Python")


def test_a_character_may_lie_across_chunks(put, monkeypatch):
    monkeypatch.setattr(sources, "AT_ONCE", 5)
    monkeypatch.setattr(sources, "HEAD", 5)
    names = [f"Ölmühle {row} ßß" for row in range(50)]
    text = "name,row\n" + "".join(f"{name},{row}\n" for row, name in enumerate(names))
    assert read(put("a.csv", text), format="csv").X["name"].to_list() == names
    for encoding in ("utf-16", "latin-1"):
        path = put("b.csv", text.encode(encoding))
        assert read(path, format="csv", encoding=encoding).X["name"].to_list() == names


def test_binary_files_are_no_text(refusal):
    said = refusal("a.csv", b"a,b\n1,2\n3,\0\n")
    assert said == "the file must be text; got a zero byte in line 3."
    buffer = io.BytesIO()
    np.save(buffer, np.ones((2, 2)))
    assert refusal("a.csv", buffer.getvalue()).endswith("begins like npy: say format='npy'.")
