"""Searches spread over a cluster by joblib."""

import os

import joblib
import pytest
from searches import NAMES, SEARCHES, are_equal

from mercer.grams.threads import threads
from mercer.jobs import each, processes


@pytest.mark.parametrize("search", SEARCHES, ids=NAMES)
def test_searches_find_the_same(client, search):
    wanted = search()
    with joblib.parallel_config("dask"):
        found = search()
    assert are_equal(found, wanted)


def where(item):
    return os.getpid(), threads(), processes()


def test_a_task_has_one_native_thread_and_spreads_none(client):
    with joblib.parallel_config("dask"):
        assert processes() == 2
        found = list(each(where, range(4)))
    pids = set(client.run(os.getpid).values())
    assert {one[0] for one in found} <= pids
    assert {one[1:] for one in found} == {(1, 1)}
