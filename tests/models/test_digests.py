"""Digests: the same content gives the same one in every process, other content another."""

import os
import subprocess
import sys
from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.model_selection import KFold

from mercer.data import row_blocks
from mercer.features import Nystrom
from mercer.inputs import Frame, Matrix, Objects, RowBlocks
from mercer.kernels import FunctionKernel, Gaussian, Graph, Tree
from mercer.models.contract.digests import digest, told, told_points


def closeness(x, z):
    return -np.abs(x[:, None, 0] - z[None, :, 0])


def distance(x, z):
    return -2.0 * np.abs(x[:, None, 0] - z[None, :, 0])


PAIRS = {
    "numbers": (1.0, 1),
    "texts": ("ab", "abc"),
    "texts cut elsewhere": (["ab", "c"], ["a", "bc"]),
    "arrays": (np.zeros(4), np.zeros((2, 2))),
    "precisions": (np.zeros(4), np.zeros(4, np.float32)),
    "one digit": (np.array([1.0, 2.0]), np.array([1.0, np.nextafter(2.0, 3.0)])),
    "sparse rows": (sp.csr_array(np.eye(3)), sp.csr_array(np.eye(3)[::-1])),
    "sets": ({"a", "b"}, {"a", "c"}),
    "mappings": ({"a": 1, "b": 2}, {"a": 2, "b": 1}),
    "nothing": (None, False),
    "functions": (closeness, distance),
    "parts of functions": (partial(closeness, z=1), partial(closeness, z=2)),
    "splitters": (KFold(3), KFold(4)),
    "estimators": (Nystrom(n_components=3), Nystrom(n_components=4)),
    "kernels": (FunctionKernel(closeness), FunctionKernel(distance)),
    "matrices": (Matrix(np.eye(2)), Matrix(np.eye(2), ["a", "b"])),
    "words": (Objects(["a", "b"]), Objects(["b", "a"])),
    "trees": (Objects([Tree.parse("(S (A a))")]), Objects([Tree.parse("(S (A b))")])),
    "graphs": (Objects([Graph(3, [(0, 1)])]), Objects([Graph(3, [(0, 2)])])),
    "frames": (
        Frame(pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})),
        Frame(pd.DataFrame({"a": [1, 2], "b": ["x", "z"]})),
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_other_content_has_another_digest(name):
    first, second = PAIRS[name]
    assert digest(first) == digest(first)
    assert digest(first) != digest(second)


def test_the_order_of_sets_and_mappings_does_not_count():
    assert digest({"a": 1, "b": {3, 1, 2}}) == digest({"b": {2, 3, 1}, "a": 1})


def test_the_order_in_memory_does_not_count():
    X = np.arange(6.0).reshape(2, 3)
    assert digest(X) == digest(np.asfortranarray(X))


def test_every_process_finds_the_same():
    script = (
        "import test_digests as t; print([t.digest(a) for pair in t.PAIRS.values() for a in pair])"
    )
    here = os.path.dirname(__file__)
    found = {
        subprocess.run(
            [sys.executable, "-c", script],
            env=os.environ | {"PYTHONHASHSEED": seed},
            cwd=here,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1


def test_values_are_told_in_words():
    assert told(0.1) == "0.1"
    assert told(np.float64(0.1)) == "0.1"
    assert told(Gaussian(gamma=0.5)) == "Gaussian(gamma=0.5)"
    assert told("x" * 200).startswith("'" + "x" * 99 + "… with digest ")
    assert told("x" * 200) != told("x" * 201)


def test_blocks_of_files_are_known_by_their_files(tmp_path):
    for part in range(2):
        np.save(tmp_path / f"{part}.npy", np.full((5, 2), part, float))
    before = told_points(row_blocks(tmp_path / "*.npy")[0])
    assert before.startswith("10 rows in 2 blocks with digest")
    assert told_points(row_blocks(tmp_path / "*.npy")[0]) == before
    np.save(tmp_path / "1.npy", np.full((5, 2), 7.0))
    os.utime(tmp_path / "1.npy", (1, 1))
    assert told_points(row_blocks(tmp_path / "*.npy")[0]) != before


def test_other_blocks_are_known_by_some_rows_of_each():
    X = np.random.default_rng(0).normal(size=(100, 2))
    changed = X.copy()
    changed[99] += 1
    blocks = [RowBlocks.split(values, rows) for values, rows in ((X, 30), (changed, 30), (X, 50))]
    assert len({told_points(one) for one in blocks}) == 3
    assert told_points(RowBlocks.split(X, 30)) == told_points(blocks[0])
