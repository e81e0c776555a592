"""The text format of SVMlight: read as scikit-learn reads it, by the core."""

import bz2
import contextlib
import gzip
import hashlib
import io

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from mercer import _native
from mercer.checks import DataError
from mercer.data import read, read_blocks
from mercer.data.plain import svmlight

pytestmark = pytest.mark.native

NUMBERS = ["1", "-1", "+1", "0", "2.5", ".5", "5.", "1e3", "1E-3", "-2.25e+2", "1e-320", "3e-5"]
NUMBERS += ["0.1", "123456789012345678901234567890", "9007199254740993", "1e22", "1e23", "1e-22"]
NUMBERS += ["0.000000000000000000000000000001", "179769313486231570e291", "1e-999", "-0.0"]


def random_text(seed):
    """Rows as others may write them: blanks, comments, queries, numbers of every form."""
    draw = np.random.default_rng(seed)
    base, lines = int(draw.integers(2)), []
    for _ in range(draw.integers(1, 60)):
        width = int(draw.integers(0, 12))
        indices = np.sort(draw.choice(np.arange(base, 40), width, replace=False))
        query = f" qid:{draw.integers(5)}" if draw.random() < 0.2 else ""
        pairs = "".join(
            f"{draw.choice([' ', '  ', chr(9)])}{index}:{draw.choice(NUMBERS)}" for index in indices
        )
        comment = draw.choice(["", " # 7:7", "#x", "  "])
        lines.append(f"{draw.choice([' ', ''])}{draw.choice(NUMBERS)}{query}{pairs}{comment}")
        if draw.random() < 0.2:
            lines.append(draw.choice(["", "   ", "# a comment 1:2", "\t"]))
    end = str(draw.choice(["\n", "\r\n"]))
    return end.join(lines) + draw.choice(["", end])


def same(data, X, y):
    assert np.array_equal(data.y, y)
    assert data.X.shape == X.shape
    for one, other in ((data.X.data, X.data), (data.X.indices, X.indices)):
        assert np.array_equal(one, other)
    assert np.array_equal(data.X.indptr, X.indptr)


@pytest.mark.parametrize("seed", range(150))
def test_what_scikit_learn_reads(seed):
    text = random_text(seed).encode()
    X, y = load_svmlight_file(io.BytesIO(text))
    same(read(io.BytesIO(text), format="svmlight", n_features=X.shape[1]), X, y)


@pytest.mark.parametrize("seed", range(30))
def test_random_matrices_come_back(seed, put):
    draw = np.random.default_rng(seed)
    shape = (int(draw.integers(1, 80)), int(draw.integers(1, 50)))
    X = scipy.sparse.random(*shape, density=0.2, format="csr", random_state=seed)
    X.data = draw.integers(0, 2**64, X.nnz, dtype=np.uint64).view(np.float64)
    X.data[~np.isfinite(X.data)] = 1.0
    y = draw.normal(size=shape[0])
    buffer = io.BytesIO()
    dump_svmlight_file(X, y, buffer, zero_based=False)
    path = put("a.svm", buffer.getvalue())
    data = read(path, n_features=shape[1], zero_based=False)
    expected, labels = load_svmlight_file(
        io.BytesIO(buffer.getvalue()), n_features=shape[1], zero_based=False
    )
    same(data, expected, labels)
    assert data.X.indices.dtype == data.X.indptr.dtype == np.int32


def test_a_text_of_many_pieces(put):
    draw = np.random.default_rng(3)
    X = scipy.sparse.random(9000, 300, density=0.1, format="csr", random_state=3)
    y = draw.normal(size=9000)
    buffer = io.BytesIO()
    dump_svmlight_file(X, y, buffer)
    assert len(buffer.getvalue()) > 4 * 2**20  # the core reads a megabyte per task
    data = read(put("a.svm", buffer.getvalue()), n_features=300)
    same(data, *load_svmlight_file(io.BytesIO(buffer.getvalue()), n_features=300))
    wrong = buffer.getvalue() + b"1 3:x\n"
    with pytest.raises(DataError, match="got '3:x' in line 9001"):
        read(put("b.svm", wrong))


def test_what_is_known_of_the_file(put):
    content = b"1 qid:3 1:2 4:0.5\n-1 2:1\n"
    data = read(put("a.svm", content))
    assert (data.kind, data.format, data.target, data.columns) == (
        "matrix",
        "svmlight",
        "label",
        (),
    )
    assert data.sha256 == hashlib.sha256(content).hexdigest()
    assert data.notes == ("Indices count from 1.", "Query numbers (qid) are left out.")
    assert data.X.toarray().tolist() == [[2, 0, 0, 0.5], [0, 1, 0, 0]]
    assert data.describe() == (
        f"{data.source}: svmlight, 2 rows, 4 columns, 3 stored numbers\n"
        "target label: 2 classes, -1 (1), 1 (1)\n"
        "note: Indices count from 1.\nnote: Query numbers (qid) are left out."
    )


def test_where_indices_count_from(put):
    ones, zeros = put("a.svm", "1 1:2 3:4\n"), put("b.svm", "1 0:2 3:4\n")
    assert read(ones).X.toarray().tolist() == [[2, 0, 4]]
    assert read(zeros).X.toarray().tolist() == [[2, 0, 0, 4]]
    assert read(ones, zero_based=True).X.toarray().tolist() == [[0, 2, 0, 4]]
    with pytest.raises(DataError, match=r"must count from 1; got 0 in line 1. Say zero_based=True"):
        read(zeros, zero_based=False)


def test_the_width_can_be_said(put):
    path = put("a.svm", "1 1:2 3:4\n2\n")
    assert read(path, n_features=5).X.shape == (2, 5)
    with pytest.raises(DataError, match="must be those of 2 columns; got one of column 2, count"):
        read(path, n_features=2)
    assert read(put("b.svm", "1\n2\n")).X.shape == (2, 1)


@pytest.mark.parametrize("at_once", [40, 1000, 2**23])
def test_blocks_are_the_whole(put, monkeypatch, at_once):
    text = "".join(f"{row} {1 + row % 7}:{row}.5 {9 + row % 3}:1\n" for row in range(200))
    path = put("a.svm", text)
    whole = read(path)
    monkeypatch.setattr(svmlight, "AT_ONCE", at_once)
    blocks = list(read_blocks(path, rows=37, n_features=11))
    assert [len(block) for block in blocks] == [37] * 5 + [15]
    assert np.array_equal(np.vstack([block.X.toarray() for block in blocks]), whole.X.toarray())
    assert np.array_equal(np.concatenate([block.y for block in blocks]), whole.y)
    assert blocks[-1].sha256 == whole.sha256


def test_an_index_zero_in_a_later_block(put):
    path = put("a.svm", "1 1:1\n" * 20 + "1 0:1\n")
    with pytest.raises(DataError, match="indices must count from 1; got 0 in line 21"):
        list(read_blocks(path, rows=10))
    assert read(path).X.shape == (21, 2)


def test_packed_text(put):
    text = b"1 1:2\n-1 2:3\n"
    for name, packed in (("a.svm.gz", gzip.compress(text)), ("a.svm.bz2", bz2.compress(text))):
        assert read(put(name, packed)).X.toarray().tolist() == [[2, 0], [0, 3]]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("x 1:2", "a line must start with a number, the label; got 'x' in line 3."),
        ("1,2 1:2", "a line must start with a number, the label; got '1,2' in line 3."),
        ("1 qid:a 1:2", "qid: must be followed by a whole number; got 'qid:a' in line 3."),
        ("1 2", "a label must be followed by pairs index:value; got '2' in line 3."),
        ("1 1.5:2", "an index must be a whole number from 0 to 2147483646; got '1.5:2' in line 3."),
        ("1 -1:2", "an index must be a whole number from 0 to 2147483646; got '-1:2' in line 3."),
        ("1 a:2", "an index must be a whole number from 0 to 2147483646; got 'a:2' in line 3."),
        (
            "1 2147483647:2",
            "an index must be a whole number from 0 to 2147483646; got '2147483647:2' in line 3.",
        ),
        (
            "1 3:1 2:1",
            "indices must ascend within a line, each once; got '2:1' in line 3. "
            "Sort the pairs of the line, and leave out repeated ones.",
        ),
        (
            "1 3:1 3:1",
            "indices must ascend within a line, each once; got '3:1' in line 3. "
            "Sort the pairs of the line, and leave out repeated ones.",
        ),
        ("1 1:", "a value must be a number; got '1:' in line 3."),
        ("1 1:2:3", "a value must be a number; got '1:2:3' in line 3."),
        ("1 1:0x3", "a value must be a number; got '1:0x3' in line 3."),
        ("1 1:1e", "a value must be a number; got '1:1e' in line 3."),
        (
            "1 1:NaN",
            "numbers must be finite; got '1:NaN' in line 3. "
            "Leave out what is missing: it counts as 0.",
        ),
        (
            "-inf 1:2",
            "numbers must be finite; got '-inf' in line 3. "
            "Leave out what is missing: it counts as 0.",
        ),
        (
            "1 1:1e999",
            "numbers must be finite; got '1:1e999' in line 3. "
            "Leave out what is missing: it counts as 0.",
        ),
    ],
)
def test_bad_lines_are_named(refusal, line, said):
    assert refusal("a.svm", f"1 1:2\n# comment\n{line}\n1 1:2\n") == said


def test_files_without_rows_and_other_targets(refusal):
    assert refusal("a.svm", "# nothing\n\n") == "there must be rows of data; got none."
    assert refusal("a.svm", "1 1:2\n", target="y") == (
        "the target of this format is 'label'; got 'y'. Leave target out."
    )
    assert refusal("a.svm", "1 1:2\n", types={"a": "number"}).startswith("types are said of the")


# --- any bytes ----------------------------------------------------------------------------------


def read_natively(data):
    """Arrays of a text, or None where it is wrong; what the core says of itself must hold."""
    rows = _native.SvmlightRows()
    assert rows.read(np.frombuffer(data, dtype=np.uint8))
    if rows.mistake is not None:
        problem, line, start, end = rows.mistake
        assert isinstance(problem, str)
        assert 0 <= line <= data.count(b"\n")
        assert 0 <= start <= end <= len(data)
        assert line == data.count(b"\n", 0, start)
        return None
    labels, ends = np.full(rows.rows, np.nan), np.empty(rows.rows + 1, dtype=np.int64)
    indices, values = np.full(rows.entries, -1, dtype=np.int32), np.full(rows.entries, np.nan)
    assert rows.lines == data.count(b"\n") + (len(data) > 0 and not data.endswith(b"\n"))
    highest = rows.highest
    assert rows.take(labels, ends, indices, values, 0)
    assert (rows.rows, rows.entries) == (0, 0)
    assert ends[0] == 0
    assert ends[-1] == len(values)
    assert np.all(np.diff(ends) >= 0)
    assert np.isfinite(labels).all()
    assert np.isfinite(values).all()
    assert len(indices) == 0 or (indices.min() >= 0 and indices.max() == highest)
    return labels, ends, indices, values


def mutated(draw, text):
    """A text with a few bytes replaced, removed, repeated or put in."""
    data = bytearray(text)
    for _ in range(draw.integers(1, 6)):
        place = int(draw.integers(len(data) + 1))
        kind = draw.integers(4)
        if kind == 0:
            data[place : place + 1] = bytes([draw.integers(256)])
        elif kind == 1:
            del data[place : place + int(draw.integers(8))]
        elif kind == 2:
            data[place:place] = data[place : place + int(draw.integers(40))]
        else:
            piece = draw.choice([":", " ", "\n", "#", "qid:", "-", "e", "nan", "9" * 25, ".", "\r"])
            data[place:place] = str(piece).encode()
    return bytes(data)


@pytest.mark.parametrize("seed", range(40))
def test_mutations_never_crash(seed):
    draw = np.random.default_rng(seed)
    text = random_text(seed).encode()
    for _ in range(50):
        data = mutated(draw, text)
        found = read_natively(data)
        if found is not None and found[0].size:
            X, y = load_svmlight_file(io.BytesIO(data), zero_based=True)
            assert np.array_equal(found[0], y)
            assert np.array_equal(found[3], X.data)
            assert np.array_equal(found[2], X.indices)
        with contextlib.suppress(DataError):
            assert found is not None or read(io.BytesIO(data), format="svmlight") is None


@pytest.mark.parametrize("seed", range(20))
def test_random_bytes_never_crash(seed):
    draw = np.random.default_rng(seed)
    for size in (0, 1, 2, 3, 10, 100, 5000):
        read_natively(draw.integers(0, 256, size, dtype=np.uint8).tobytes())
        letters = np.frombuffer(b"0123456789:. \n\r\t#-+eqidnaf\0\xff", dtype=np.uint8)
        read_natively(draw.choice(letters, size).tobytes())


def test_lines_across_the_pieces_of_the_core():
    # A megabyte per task: lines that end just before, at and after the border.
    for length in range(2**20 - 3, 2**20 + 4):
        text = b"1 1:2" + b" " * (length - 6) + b"\n" + b"2 3:4\n" * 10
        labels, ends, indices, _ = read_natively(text)
        assert labels.tolist() == [1] + [2] * 10
        assert ends.tolist() == list(range(12))
        assert indices.tolist() == [1] + [3] * 10
    assert read_natively(b"1 1:2" + b" " * (3 * 2**20) + b"3:4")[3].tolist() == [2, 4]


def test_the_border_of_the_core_is_checked():
    rows = _native.SvmlightRows()
    assert rows.read(np.frombuffer(b"1 0:2 3:4\n", dtype=np.uint8))
    good = (np.empty(1), np.empty(2, np.int64), np.empty(2, np.int32), np.empty(2))
    with pytest.raises(ValueError, match="take: there must be room for what was read"):
        rows.take(np.empty(0), *good[1:], 0)
    with pytest.raises(ValueError, match="take: there must be room for what was read"):
        rows.take(*good[:3], np.empty(3), 0)
    with pytest.raises(ValueError, match="take: base must be 0, or 1 where no index is 0"):
        rows.take(*good, 1)
    with pytest.raises(TypeError):
        rows.take(*good[:2], np.empty(2, np.int64), good[3], 0)
    with pytest.raises(TypeError):
        rows.read(np.ones(3))
    assert rows.take(*good, 0)
    assert rows.read(np.frombuffer(b"x", dtype=np.uint8))
    with pytest.raises(ValueError, match="take: the text must be right"):
        rows.take(np.empty(0), np.empty(1, np.int64), np.empty(0, np.int32), np.empty(0), 0)
