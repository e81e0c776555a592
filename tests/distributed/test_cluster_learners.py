"""Every line of the table in docs/how-to/large-data.md on a cluster, and what it leaves behind."""

import pickle

import dask.array as da
import numpy as np
import pytest
from passing_models import BLOCK, KERNEL, LEARNERS, NEW, X, Y, differences, state

from mercer import KernelRidge, load, save
from mercer.distributed import sums
from mercer.distributed.blocks import DaskBlocks
from mercer.fitting.costs import Costs
from mercer.inputs import RowBlocks


def chunks():
    return da.from_array(X, chunks=(BLOCK, 3))


@pytest.fixture
def brought(monkeypatch):
    """Count the blocks that are brought here instead of work going there."""
    found, blocks = [], DaskBlocks.blocks

    def counted(self):
        for block in blocks(self):
            found.append(len(block))
            yield block

    monkeypatch.setattr(DaskBlocks, "blocks", counted)
    return found


@pytest.fixture(autouse=True)
def _as_of_many_points(monkeypatch):
    """Searches in passes, and sums on the workers: both are for more points than a test has."""
    monkeypatch.setitem(Costs.__init__.__kwdefaults__, "search_rows", 50)
    monkeypatch.setattr(sums, "MOST_HERE", 1)
    monkeypatch.setattr(sums, "AT_A_TIME", 2)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_cluster_finds_what_one_machine_finds(client, name, brought, tmp_path):
    model, y = LEARNERS[name]
    wanted = state(model.fit(RowBlocks.split(X, BLOCK), y), NEW)
    model.fit(chunks(), y)
    client.close()
    assert len(brought) <= 1  # by which random features are placed
    assert differences(model, wanted, NEW) < 1e-8
    kept = pickle.dumps(model)
    assert b"distributed" not in kept
    assert b"dask" not in kept
    assert differences(pickle.loads(kept), wanted, NEW) < 1e-8
    save(model, tmp_path / "model.mercer")
    assert differences(load(tmp_path / "model.mercer"), wanted, NEW) < 1e-8


def test_all_points_that_a_model_needs_come_here(client):
    model = KernelRidge(0.1, kernel=KERNEL, solver="cg", tol=1e-10)
    wanted = model.fit(RowBlocks.split(X, BLOCK), Y).predict(NEW)
    model.fit(chunks(), Y)
    client.close()
    assert b"distributed" not in pickle.dumps(model)
    assert np.allclose(model.predict(NEW), wanted, rtol=0, atol=1e-8)


@pytest.mark.parametrize("name", [name for name, (_, y) in LEARNERS.items() if y is None])
def test_what_transforms_answers_lazily(client, name):
    model, _ = LEARNERS[name]
    found = model.fit_transform(chunks())
    wanted = model.transform(X)
    assert isinstance(found, da.Array)
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    assert np.allclose(found.compute(), wanted, rtol=0, atol=1e-12)


# --- sums on the workers -------------------------------------------------------------------------


class Done:
    """A future that is done: the blocks whose results it has, and how they were put together."""

    def __init__(self, blocks, text):
        self.blocks, self.text = blocks, text


def put_together(futures):
    blocks = [place for one in futures for place in one.blocks]
    return Done(blocks, f"({'+'.join(one.text for one in futures)})")


@pytest.mark.parametrize(
    ("blocks", "texts"),
    [
        (2, ["0", "1"]),
        (3, ["(0+1)", "2"]),
        (4, ["(0+1)", "(2+3)"]),
        (5, ["((0+1)+(2+3))", "4"]),
        (7, ["((0+1)+(2+3))", "((4+5)+6)"]),
    ],
)
def test_results_are_added_up_in_the_order_of_the_blocks(monkeypatch, blocks, texts):
    monkeypatch.setattr(sums, "MOST_HERE", 2)
    found = []
    for group in sums.groups(blocks, True, lambda i: Done([i], str(i)), put_together):
        for place in group.blocks:
            group.send(place)
        assert len(group.running) == len(group.blocks)
        found.append(group.result())
    assert [one.text for one in found] == texts
    assert [place for one in found for place in one.blocks] == list(range(blocks))


def test_of_what_is_no_sum_all_results_come_here():
    made = sums.groups(3, False, lambda i: Done([i], str(i)), put_together)
    assert [list(group.blocks) for group in made] == [[0], [1], [2]]


def test_sums_of_what_sinks_return():
    one, two = np.array([1.0, 2.0]), np.array([[3.0]])
    found = sums.added_up(None, [(one, two), (two, one)], None, [(2 * one, two), (two, 4 * one)])
    assert isinstance(found[0], tuple)
    assert [part.tolist() for part in found[0]] == [[3.0, 6.0], [[6.0]]]
    assert [part.tolist() for part in found[1]] == [[[6.0]], [5.0, 10.0]]
    assert sums.added_up(None, None) is None
    assert one.tolist() == [1.0, 2.0]  # a worker may still need it
