"""Searches spread over a cluster by joblib."""

import os

import dask.array as da
import joblib
import numpy as np
import pytest
from searches import NAMES, SEARCHES, X, Y, are_equal

from mercer import KernelRidge, tune
from mercer.features import RandomFourier
from mercer.grams.threads import threads
from mercer.inputs import RowBlocks
from mercer.jobs import each, processes
from mercer.kernels import Gaussian


@pytest.mark.parametrize("search", SEARCHES, ids=NAMES)
def test_searches_find_the_same(client, search):
    wanted = search()
    with joblib.parallel_config("dask"):
        found = search()
    assert are_equal(found, wanted)


def test_candidates_are_fitted_where_the_points_are(client):
    model = KernelRidge(0.1, approximation=RandomFourier(Gaussian(0.5), 16, random_state=0))
    found = tune(model, da.from_array(X, chunks=(30, 2)), Y, {"alpha": [0.01, 1.0]}, cv=3)
    wanted = tune(model, RowBlocks.split(X, 30), Y, {"alpha": [0.01, 1.0]}, cv=3)
    scores = [one.table["mean_test_score"] for one in (found, wanted)]
    assert np.allclose(*scores, rtol=0, atol=1e-8)
    assert found.params == wanted.params


def where(item):
    return os.getpid(), threads(), processes()


def test_a_task_has_one_native_thread_and_spreads_none(client):
    with joblib.parallel_config("dask"):
        assert processes() == 2
        found = list(each(where, range(4)))
    pids = set(client.run(os.getpid).values())
    assert {one[0] for one in found} <= pids
    assert {one[1:] for one in found} == {(1, 1)}
