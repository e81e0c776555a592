"""The data of the benchmarks: files in the directory that MERCER_DATA names."""

from __future__ import annotations

import gzip
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file

from mercer.inputs import Graph


def directory() -> Path:
    """Return the directory, or end with what to do."""
    found = os.environ.get("MERCER_DATA")
    if not found or not Path(found).is_dir():
        sys.exit("Set MERCER_DATA to the directory that holds mnist/ and libsvm/.")
    return Path(found)


def _idx(path: Path) -> Any:
    """Return the array in a file of MNIST's format."""
    with gzip.open(path) as stream:
        raw = stream.read()
    dimensions = raw[3]
    shape = np.frombuffer(raw, ">i4", dimensions, 4)
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * dimensions).reshape(shape)


def mnist(name: str = "mnist") -> tuple[Any, Any, Any, Any]:
    """Return training pixels / 255 (float32), digits, and the same of the test set."""
    folder = directory() / name
    parts = []
    for part in ("train", "t10k"):
        pixels = _idx(folder / f"{part}-images-idx3-ubyte.gz")
        parts += [pixels.reshape(len(pixels), -1).astype(np.float32) / 255]
        parts += [_idx(folder / f"{part}-labels-idx1-ubyte.gz")]
    return parts[0], parts[1], parts[2], parts[3]


def abalone(n: int = 2500) -> tuple[Any, Any]:
    """Return the first rows, eight columns between -1 and 1, and the numbers of rings."""
    X, y = load_svmlight_file(str(directory() / "libsvm" / "abalone.trn.bz2"))
    return X.toarray()[:n], y[:n]


def two_classes(name: str, part: str = "trn") -> tuple[Any, Any]:
    """Return a9a or ijcnn1 as float32 rows, and labels -1 and 1; part: "trn" or "tst"."""
    columns = {"a9a": 123, "ijcnn1": 22}[name]
    path = directory() / "libsvm" / f"{name}.{part}.bz2"
    X, y = load_svmlight_file(str(path), n_features=columns)
    return X.toarray().astype(np.float32), np.where(y > 0, 1, -1)


def questions() -> tuple[list[str], list[str]]:
    """Return the 5,452 questions of TREC, and what kind of answer each asks for."""
    path = directory() / "text" / "train_5500_coarse.label.gz"
    with gzip.open(path, "rt", encoding="latin-1") as stream:
        pairs = [line.rstrip("\n").split("\t", 1) for line in stream]
    return [text for _, text in pairs], [label for label, _ in pairs]


def tu_graphs(name: str) -> tuple[list[Graph], Any]:
    """Return the graphs of MUTAG or NCI1 and their classes."""
    return Graph.read_tu(directory() / "graphs" / name)
