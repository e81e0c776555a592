"""Arrays of NumPy: npy and npz."""

import hashlib
import io
import zipfile

import numpy as np
import pytest
import scipy.sparse

from mercer.data import read, read_blocks, sources

X = np.arange(12.0).reshape(4, 3)


def npy(array, **options):
    buffer = io.BytesIO()
    np.save(buffer, array, **options)
    return buffer.getvalue()


def npz(*arrays, **named):
    buffer = io.BytesIO()
    np.savez(buffer, *arrays, **named)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "array",
    [
        X,
        X.astype(np.float32),
        X.astype(np.int16),
        X > 3,
        np.asfortranarray(X),
        X[:, :1],
        X.astype(">f8"),
        X[:, 0],
    ],
)
@pytest.mark.parametrize("at_once", [16, 2**23])
def test_rows_come_back(put, monkeypatch, array, at_once):
    content = npy(array)
    monkeypatch.setattr(sources, "AT_ONCE", at_once)
    monkeypatch.setattr("mercer.data.plain.arrays.AT_ONCE", at_once)
    data = read(put("a.npy", content))
    assert np.array_equal(data.X, array.reshape(4, -1))
    assert data.X.dtype == (np.float32 if array.dtype == np.float32 else np.float64)
    assert (data.kind, data.y, data.target) == ("matrix", None, None)
    assert data.sha256 == hashlib.sha256(content).hexdigest()
    blocks = list(read_blocks(io.BytesIO(content), rows=3))
    assert np.array_equal(np.vstack([block.X for block in blocks]), data.X)
    assert blocks[-1].sha256 == data.sha256


def test_columns_of_a_matrix(put):
    data = read(put("a.npy", npy(np.array([[1.0, np.nan], [3.0, 4.0]]))))
    kinds = [(one.name, one.type, one.missing, one.low, one.high) for one in data.columns]
    assert kinds == [("x0", "number", 0, 1.0, 3.0), ("x1", "number", 1, 4.0, 4.0)]


def test_a_column_is_the_target(put, refusal):
    data = read(put("a.npy", npy(X)), target="x1")
    assert data.y.tolist() == X[:, 1].tolist()
    assert data.X.tolist() == X[:, [0, 2]].tolist()
    said = refusal("a.npy", npy(X), target="y")
    assert said == "the target must be a column, from 'x0' to 'x2'; got 'y'."
    assert refusal("a.npy", npy(X[:, :1]), target="x0").startswith("there must be a column besi")
    hole = np.array([[1.0, 2.0], [3.0, np.nan]])
    assert "'x1' must be known in every row; got no value in row 1." in refusal(
        "a.npy", npy(hole), target="x1"
    )


def test_texts_are_strings(put):
    data = read(put("a.npy", npy(np.array(["ab", "c"]))))
    assert (data.kind, data.X) == ("strings", ["ab", "c"])
    data = read(put("a.npz", npz(X=np.array(["ab", "c"]), y=np.array([1, 2]))))
    assert (data.X, data.y.tolist(), data.target) == (["ab", "c"], [1, 2], "y")


def test_objects_are_never_unpickled(refusal):
    objects = np.array([{"a": 1}, None], dtype=object)
    assert refusal("a.npy", npy(objects, allow_pickle=True)) == (
        "pickled objects are never read; got the array of objects. "
        "Save numbers: numpy.save(path, array.astype(float))."
    )
    assert refusal("a.npz", npz(X=objects)) == (
        "pickled objects are never read; got the array 'X' of objects. "
        "Save numbers: numpy.save(path, array.astype(float))."
    )


@pytest.mark.parametrize(
    ("array", "got"),
    [
        (np.ones((2, 2, 2)), "an array of float64, shape (2, 2, 2)"),
        (np.ones((2, 2), dtype=complex), "an array of complex numbers, shape (2, 2)"),
        (np.zeros(2, dtype=[("a", float)]), "an array of records, shape (2,)"),
        (np.array([["a"]]), "an array of texts, shape (1, 1)"),
        (np.array(["2024-01-01"], dtype="M8[D]"), "an array of datetime64[D], shape (1,)"),
    ],
)
def test_arrays_that_are_no_rows_of_numbers(refusal, array, got):
    assert refusal("a.npy", npy(array)) == f"it must hold rows of numbers; got {got}."


def test_arrays_without_rows_and_infinity(refusal):
    said = refusal("a.npy", npy(np.ones((0, 3))))
    assert said == "there must be rows of data; got an array of shape (0, 3)."
    assert "got an array of shape ()" in refusal("a.npy", npy(np.float64(3)))
    assert refusal("a.npz", npz(X=np.ones((0, 3)))).endswith("got an array without rows.")
    infinite = X.copy()
    infinite[2, 1] = -np.inf
    assert refusal("a.npy", npy(infinite)) == (
        "numbers must be finite or NaN; got infinity in row 2, column 'x1'."
    )


def test_files_that_were_cut_or_altered(refusal):
    content = npy(X)
    for size in (3, 8, 20, 100):
        assert refusal("a.npy", content[:size]).startswith("it must be a file of numpy.save; got ")
    assert refusal("a.npy", content[:-5]) == (
        "the array must be whole; got its end within the rows from 0 on. Copy the file again."
    )
    for altered in (b"\x93NUMPX" + content[6:], content.replace(b"'shape'", b"'shade'")):
        assert refusal("a.npy", altered).startswith("it must be a file of numpy.save; got ")
    newer = content[:6] + b"\x07" + content[7:]
    assert refusal("a.npy", newer).endswith("got version 7.0 of the format.")
    for cut in (npz(X=X)[:-30], npz(X=X)[:50], b"PK\x03\x04"):
        assert refusal("a.npz", cut).startswith("it must be a whole file of numpy.savez; got ")


def test_a_header_that_claims_too_much(refusal):
    content = npy(X).replace(b"(4, 3)", b"(9, 9)")
    assert refusal("a.npy", content).startswith("the array must be whole")
    huge = npy(X).replace(b"'shape': (4, 3), }            ", b"'shape': (4611686018427, 3), }")
    assert huge != npy(X)
    assert refusal("a.npy", huge).startswith("the array must be whole")


def test_archives(put, refusal):
    y = np.array([1, 0, 1, 0])
    data = read(put("a.npz", npz(X=X, y=y)))
    assert np.array_equal(data.X, X)
    assert (data.y.tolist(), data.target) == ([1, 0, 1, 0], "y")
    data = read(put("a.npz", npz(X=X, price=y)), target="price")
    assert (data.y.tolist(), data.target, len(data.columns)) == ([1, 0, 1, 0], "price", 3)
    assert read(put("a.npz", npz(X))).X.shape == (4, 3)
    assert read(put("a.npz", npz(X)), target="x0").X.shape == (4, 2)
    assert read(put("a.npz", npz(y=X))).y is None
    assert [len(block) for block in read_blocks(put("a.npz", npz(X=X, y=y)), rows=3)] == [3, 1]
    said = refusal("a.npz", npz(train=X, test=X))
    assert said == "an array must be called X; got train, test."
    said = refusal("a.npz", npz(X=X, y=y[:2]))
    assert said == ("y must be 4 numbers or classes, one for each row of X; got int64, shape (2,).")


def test_archives_that_are_others(refusal):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("hello.txt", "hello")
    assert refusal("a.npz", buffer.getvalue()) == "an array must be called X; got none."


def test_sparse_matrices(put, refusal):
    sparse = scipy.sparse.random(5, 4, density=0.5, format="csr", random_state=0)
    for matrix in (sparse, sparse.tocsc()):
        buffer = io.BytesIO()
        scipy.sparse.save_npz(buffer, matrix)
        data = read(put("a.npz", buffer.getvalue()))
        assert isinstance(data.X, scipy.sparse.csr_array)
        assert np.array_equal(data.X.toarray(), sparse.toarray())
        target = read(put("a.npz", buffer.getvalue()), target="x2")
        assert np.array_equal(target.y, sparse.toarray()[:, 2])
    parts = {"data": sparse.data, "indices": sparse.indices, "indptr": sparse.indptr}
    parts |= {"shape": np.array(sparse.shape), "format": np.array("csr")}
    for wrong in ({"indices": sparse.indices + 9}, {"format": np.array("dia")}):
        said = refusal("a.npz", npz(**(parts | wrong)))
        assert said.startswith("it must be a matrix of scipy.sparse.save_npz, csr or csc; got ")
    infinite = npz(**(parts | {"data": sparse.data * np.inf}))
    assert refusal("a.npz", infinite) == "numbers must be finite; got infinity or NaN."


def test_types_are_of_tables(refusal):
    assert refusal("a.npy", npy(X), types={"x0": "number"}).startswith("types are said of the col")
