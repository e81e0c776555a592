"""Estimators on collections of Dask, with a cluster of two processes on this machine."""

import os
import signal

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster

from mercer import (
    KernelMachineClassifier,
    KernelRidge,
)
from mercer.checks import InputError, InputTypeError
from mercer.distributed import row_blocks, sums
from mercer.distributed.blocks import DaskBlocks
from mercer.inputs import RowBlocks
from mercer.kernels import Gaussian

random = np.random.default_rng(0)
X = random.normal(size=(1000, 3))
Y = np.sin(2 * X[:, 0]) + X[:, 1]
CLASSES = (Y > 0).astype(int)
NEW = random.normal(size=(40, 3))
BLOCKS = RowBlocks.split(X, 300)  # as the chunks


def chunks():
    return da.from_array(X, chunks=(300, 3))


def test_points_without_weight_are_left_out_where_they_are(client):
    weight = np.where(np.arange(len(X)) < 350, 0.0, 1.0)  # all of the first chunk
    model = KernelRidge(0.1, kernel=Gaussian(), n_centers=60, random_state=0)
    found = model.fit(chunks(), Y, weight).predict(NEW)
    assert np.allclose(found, model.fit(BLOCKS, Y, weight).predict(NEW), rtol=0, atol=1e-8)


def test_weights_and_targets_may_lie_there_too(client):
    weight = random.uniform(0.5, 2, len(X))
    model = KernelRidge(0.1, kernel=Gaussian(), n_centers=60, random_state=0)
    there = model.fit(chunks(), da.from_array(Y, chunks=300), da.from_array(weight, chunks=300))
    found = there.predict(NEW)
    assert np.allclose(found, model.fit(BLOCKS, Y, weight).predict(NEW), rtol=0, atol=1e-8)


def test_many_centres_by_conjugate_gradients(client, monkeypatch):
    monkeypatch.setattr("mercer.solvers.ridge.nystrom.DIRECT", 20)
    model = KernelRidge(0.1, kernel=Gaussian(), solver="nystrom", n_centers=80, random_state=0)
    there = model.fit(chunks(), Y).predict(NEW)
    assert model.certificate_.status == "converged"
    assert np.allclose(there, model.fit(BLOCKS, Y).predict(NEW), rtol=0, atol=1e-8)


def test_predictions_are_lazy(client):
    model = KernelMachineClassifier(kernel=Gaussian(), n_centers=60, random_state=0)
    model.fit(X, CLASSES)
    for method in ("predict", "predict_proba", "decision_function"):
        found, wanted = getattr(model, method)(chunks()), getattr(model, method)(X)
        assert isinstance(found, da.Array)
        assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
        assert np.allclose(found.compute(), wanted, rtol=0, atol=1e-12)


def test_data_frames(client):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    parts = dd.from_pandas(frame, npartitions=3)
    model = KernelRidge(0.1, kernel=Gaussian(0.5).on(["a", "b"]), n_centers=60, random_state=0)
    found = model.fit(parts, Y).predict(parts)
    assert isinstance(found, dd.Series)
    wanted = model.predict(frame)
    assert found.dtype == wanted.dtype
    computed = found.compute()
    assert np.allclose(computed, wanted, rtol=0, atol=1e-12)
    assert computed.index.equals(frame.index)


def test_unknown_and_empty_chunks(client):
    lazy = chunks()
    kept = lazy[lazy[:, 0] < 5.0]  # all of them, which Dask does not know
    empty = da.from_array(X[:0], chunks=(1, 3))
    gaps = da.concatenate([empty, kept, empty])
    model = KernelRidge(0.1, kernel=Gaussian(), n_centers=60, random_state=0)
    found = model.fit(gaps, Y).predict(NEW)
    assert np.allclose(found, model.fit(BLOCKS, Y).predict(NEW), rtol=0, atol=1e-8)
    assert np.allclose(model.predict(gaps).compute(), model.predict(X), rtol=0, atol=1e-12)


def test_columns_in_several_chunks(client):
    split = da.from_array(X, chunks=(300, 2))
    model = KernelRidge(0.1, kernel=Gaussian(), n_centers=60, random_state=0)
    found = model.fit(split, Y).predict(split)
    assert np.allclose(found.compute(), model.predict(X), rtol=0, atol=1e-12)


def test_errors_come_back_with_the_block(client):
    bad = X.copy()
    bad[700, 1] = np.nan
    with pytest.raises(InputError, match=r"block 2.*NaN"):
        KernelRidge(0.1, kernel=Gaussian(), n_centers=60).fit(
            da.from_array(bad, chunks=(300, 3)), Y
        )


def test_a_client_without_workers():
    model, told = KernelRidge(0.1, kernel=Gaussian()), "the client must have a worker; got none"
    with (
        LocalCluster(n_workers=0, dashboard_address=":0") as empty,
        Client(empty),
        pytest.raises(InputError, match=told),
    ):
        model.fit(chunks(), Y)


def test_without_a_client_chunks_are_computed_here():
    blocks = row_blocks(chunks())
    assert not blocks.is_remote
    model = KernelRidge(0.1, kernel=Gaussian(), n_centers=60, random_state=0)
    found = model.fit(chunks(), Y).predict(NEW)
    assert np.array_equal(found, model.fit(BLOCKS, Y).predict(NEW))


def test_what_is_no_table_is_refused(client):
    with pytest.raises(InputTypeError, match="a Dask array or frame of rows; got Array with 1"):
        row_blocks(da.ones(5))


def test_a_lost_worker_costs_time_only(monkeypatch):
    monkeypatch.setattr(sums, "MOST_HERE", 2)  # so that sums are lost, too
    rows = da.from_array(X, chunks=(100, 3))
    model = KernelRidge(0.1, kernel=Gaussian(), n_centers=60, random_state=0)
    add, added = DaskBlocks._add, []
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as own,
        Client(own) as client,
    ):
        pid = next(iter(client.run(os.getpid).values()))

        def kill_first(self, futures):
            """Kill a worker in the middle of a pass."""
            added.append(len(futures))
            if len(added) == 1:
                os.kill(pid, signal.SIGKILL)
            return add(self, futures)

        monkeypatch.setattr(DaskBlocks, "_add", kill_first)
        fits = [model.fit(rows, Y).predict(NEW) for _ in range(2)]
    assert len(added) >= 4
    wanted = model.fit(RowBlocks.split(X, 100), Y).predict(NEW)
    assert all(np.allclose(found, wanted, rtol=0, atol=1e-8) for found in fits)
