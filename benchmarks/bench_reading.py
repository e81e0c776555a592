"""Reading SVMlight text, mercer against scikit-learn: python benchmarks/bench_reading.py [CASE].

A generated file of 200,000 rows, and a9a and ijcnn1 of MERCER_DATA where that is set. What both
read is compared in the same run, to the last bit. mercer's time includes the SHA-256 of the file.
"""

import bz2
import os
import tempfile
from pathlib import Path

import numpy as np
from machine import run_cases, timed
from sklearn.datasets import load_svmlight_file

from mercer import num_threads, set_num_threads
from mercer.data import read, read_blocks

TIMES = 3


def generated_text(rows=200_000, width=300, seed=0):
    """Return rows of about 20 entries, half of them with few digits and half with all of them."""
    random = np.random.default_rng(seed)
    lines = []
    for row in range(rows):
        indices = np.flatnonzero(random.random(width) < 20 / width) + 1
        values = random.normal(size=len(indices))
        shown = [f"{value:.4g}" if row % 2 else repr(float(value)) for value in values]
        pairs = " ".join(f"{index}:{value}" for index, value in zip(indices, shown, strict=True))
        lines.append(f"{row % 3 - 1} {pairs}\n")
    return "".join(lines).encode()


def compare(content):
    """Yield a line for each number of threads, after a check that both read the same."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.svm"
        path.write_bytes(content)
        theirs, (X, y) = timed(lambda: load_svmlight_file(str(path)), TIMES)
        size = len(content) / 1e6
        yield f"{X.shape[0]:,} rows, {X.nnz:,} entries, {size:.1f} MB"
        yield f"scikit-learn {theirs:.3f} s, {size / theirs:.0f} MB/s"
        before = num_threads()
        for threads in dict.fromkeys((1, before)):
            set_num_threads(threads)
            ours, data = timed(lambda: read(path), TIMES)
            check_same(data, X, y)
            yield (
                f"mercer, threads {threads}: {ours:.3f} s, {size / ours:.0f} MB/s, "
                f"{theirs / ours:.1f} x, same"
            )
        ours, rows = timed(lambda: sum(map(len, read_blocks(path, n_features=X.shape[1]))), TIMES)
        if rows != X.shape[0]:
            raise SystemExit("the blocks do not have all rows")
        yield f"mercer in blocks: {ours:.3f} s, {theirs / ours:.1f} x"


def check_same(data, X, y):
    """End with what differs, if anything does."""
    pairs = {
        "labels": (data.y, y),
        "values": (data.X.data, X.data),
        "columns": (data.X.indices, X.indices),
        "rows": (data.X.indptr, X.indptr),
    }
    wrong = [name for name, (ours, theirs) in pairs.items() if not np.array_equal(ours, theirs)]
    if wrong or data.X.shape != X.shape:
        raise SystemExit(f"what was read differs in {', '.join(wrong) or 'shape'}")


def case_generated():
    """Return the lines of a generated file."""
    return compare(generated_text())


def case_real():
    """Yield the lines of a9a and ijcnn1."""
    folder = os.environ.get("MERCER_DATA")
    if not folder:
        yield "MERCER_DATA is not set"
        return
    for name in ("a9a", "ijcnn1"):
        content = bz2.decompress((Path(folder) / "libsvm" / f"{name}.trn.bz2").read_bytes())
        yield name
        yield from compare(content)


if __name__ == "__main__":
    run_cases(globals())
