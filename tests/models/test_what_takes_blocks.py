"""Every line of the table in docs/how-to/large-data.md, for every form that blocks have."""

import gc
import weakref

import dask.array
import dask.dataframe
import numpy as np
import pandas as pd
import pytest
from passing_models import BLOCK, LEARNERS, NEW, ROWS, X, answers, differences, state

from mercer.data import row_blocks
from mercer.fitting.costs import Costs
from mercer.inputs import RowBlocks

STARTS = range(0, ROWS, BLOCK)
NAMES = ["a", "b", "c"]
MOST_ALIVE = 3  # blocks: worked on, read ahead and, for a moment, the one before


def parts(values):
    return [values[start : start + BLOCK] for start in STARTS if start < len(values)]


def memory_map(values, folder):
    np.save(folder / "whole.npy", values)
    return RowBlocks.split(np.load(folder / "whole.npy", mmap_mode="r"), BLOCK)


def npy_files(values, folder):
    for place, part in enumerate(parts(values)):
        np.save(folder / f"{place}.npy", part)
    return row_blocks(folder / "*.npy")[0]


def parquet_files(values, folder):
    for place, part in enumerate(parts(values)):
        pd.DataFrame(part, columns=NAMES).to_parquet(folder / f"{place}.parquet")
    return row_blocks(folder / "*.parquet")[0]


def csv_file(values, folder):
    pd.DataFrame(values, columns=NAMES).to_csv(folder / "table.csv", index=False)
    return row_blocks(folder / "table.csv", rows=BLOCK)[0]


def factory(values, folder):
    return RowBlocks(lambda: iter(parts(values)))


def dask_array(values, folder):
    return dask.array.from_array(values, chunks=(BLOCK, 3))


def dask_frame(values, folder):
    return dask.dataframe.from_pandas(pd.DataFrame(values, columns=NAMES), chunksize=BLOCK)


FORMS = [memory_map, npy_files, parquet_files, csv_file, factory, dask_array, dask_frame]


@pytest.fixture(autouse=True)
def _searches_in_passes(monkeypatch):
    """As of many points: otherwise a search would take the few points of a test together."""
    monkeypatch.setitem(Costs.__init__.__kwdefaults__, "search_rows", 50)


_known = {}


def in_memory(name):
    """Return the answers and scores of a fit to all points at once."""
    if name not in _known:
        model, y = LEARNERS[name]
        _known[name] = state(model.fit(X, y), NEW)
    return _known[name]


@pytest.mark.parametrize("form", FORMS, ids=[form.__name__ for form in FORMS])
@pytest.mark.parametrize("name", LEARNERS)
def test_blocks_of_every_form(name, form, tmp_path):
    (tmp_path / "new").mkdir()
    model, y = LEARNERS[name]
    wanted = in_memory(name)
    model.fit(form(X, tmp_path), y)
    assert differences(model, wanted, form(NEW, tmp_path / "new")) < 1e-8


class Counted:
    """A source of blocks that counts how many of them are in memory at a time."""

    def __init__(self, values):
        self.values, self.alive, self.most, self.passes = values, 0, 0, 0

    def __call__(self):
        self.passes += 1
        return map(self.block, parts(self.values))

    def block(self, part):
        made = part.copy()
        weakref.finalize(made, self.gone)
        self.alive += 1
        self.most = max(self.most, self.alive)
        return made

    def gone(self):
        self.alive -= 1


@pytest.mark.parametrize("name", LEARNERS)
def test_few_blocks_are_in_memory(name):
    model, y = LEARNERS[name]
    source, new = Counted(X), Counted(NEW)
    gc.collect()
    model.fit(RowBlocks(source), y)
    answers(model, RowBlocks(new))
    assert source.passes >= 2
    assert source.most <= MOST_ALIVE < len(STARTS)
    assert new.most <= MOST_ALIVE
    assert source.alive == new.alive == 0  # nor does a fitted model keep one
