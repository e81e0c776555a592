"""Files that are read anew in every pass of a fit."""

import numpy as np
import polars as pl
import pytest

from mercer import KernelRidge
from mercer.checks import DataError, InputError
from mercer.data import row_blocks
from mercer.kernels import Gaussian

random = np.random.default_rng(0)
X = random.normal(size=(90, 2))
Y = np.sin(X[:, 0]) + X[:, 1]
CUTS = (slice(0, 40), slice(40, 90))
MODEL = KernelRidge(0.1, kernel=Gaussian(), solver="nystrom", n_centers=30, random_state=0)


def frame(rows):
    return pl.DataFrame({"a": X[rows, 0], "y": Y[rows], "b": X[rows, 1]})


WRITERS = {
    "csv": pl.DataFrame.write_csv,
    "parquet": pl.DataFrame.write_parquet,
    "jsonl": pl.DataFrame.write_ndjson,
}


@pytest.mark.parametrize("ending", WRITERS)
def test_a_fit_to_files_is_a_fit_to_their_rows(tmp_path, ending):
    for part, rows in enumerate(CUTS):
        WRITERS[ending](frame(rows), tmp_path / f"{part}.{ending}")
    blocks, y = row_blocks(tmp_path / f"*.{ending}", target="y", rows=30)
    assert blocks.lengths == (30, 10, 30, 20)
    assert np.allclose(y, Y, rtol=1e-15)
    model = MODEL.fit(blocks, y)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    found = model.predict(frame(slice(None)).drop("y"))
    assert np.allclose(found, MODEL.fit(X, Y).predict(X), rtol=0, atol=1e-8)


def test_memory_maps(tmp_path):
    for part, rows in enumerate(CUTS):
        np.save(tmp_path / f"{part}.npy", X[rows])
    blocks, y = row_blocks([tmp_path / "0.npy", tmp_path / "1.npy"], rows=25)
    assert y is None
    assert blocks.lengths == (25, 15, 25, 25)
    assert np.array_equal(np.concatenate([block.dense() for block in blocks.blocks()]), X)


def test_types_are_those_of_the_first_file(tmp_path):
    (tmp_path / "0.csv").write_text("a,b\n1,x\n2,y\n")
    (tmp_path / "1.csv").write_text("a,b\n3,7\n4,8\n")
    blocks, _ = row_blocks(tmp_path / "*.csv", types={"a": "number"})
    first, second = blocks.source()
    assert first.schema["b"] == second.schema["b"]
    assert second["b"].to_list() == ["7", "8"]


def test_a_file_that_changes_is_noticed(tmp_path):
    path = tmp_path / "rows.csv"
    frame(slice(None)).write_csv(path)
    blocks, y = row_blocks(path, target="y")
    frame(slice(0, 50)).write_csv(path)
    with pytest.raises(InputError, match="the files must stay as they are until the end of a fit"):
        MODEL.fit(blocks, y)


def test_what_cannot_be_read_is_said(tmp_path):
    with pytest.raises(DataError, match="must match a file; got none"):
        row_blocks(tmp_path / "*.csv")
    with pytest.raises(InputError, match="paths must name a file"):
        row_blocks([])
    (tmp_path / "0.csv").write_text("a,b\n1,2\n")
    (tmp_path / "1.csv").write_text("a,c\n1,2\n")
    with pytest.raises(DataError, match=r"1.csv.*every file must have the columns a, b; got a, c"):
        row_blocks(tmp_path / "*.csv")
    np.save(tmp_path / "rows.npy", X)
    with pytest.raises(InputError, match="target must be None for npy files"):
        row_blocks(tmp_path / "rows.npy", target="y")
    (tmp_path / "broken.npy").write_bytes(b"\x93NUMPY")
    with pytest.raises(DataError, match=r"broken.npy.*must be an array of npy"):
        row_blocks(tmp_path / "broken.npy")
