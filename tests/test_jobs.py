"""Independent computations in other processes, as joblib is told."""

import os
import pickle

import joblib
import numpy as np
import pytest
from searches import KERNELS, NAMES, SEARCHES, X, Y, are_equal

from mercer import KernelRidgeCV, set_num_threads
from mercer.checks import InputError
from mercer.grams.threads import processors, threads
from mercer.jobs import each, processes
from mercer.monitor import Stopped
from mercer.status import Status


def where(item, *shared):
    return item, os.getpid(), threads(), processes(), sum(shared)


@pytest.mark.parametrize("options", [{}, {"backend": "threading", "n_jobs": 2}, {"n_jobs": 1}])
def test_without_processes_all_is_done_here_when_it_is_asked_for(options):
    seen = []
    with joblib.parallel_config(**options) if options else joblib.parallel_config("sequential"):
        assert processes() == 1
        found = each(lambda item: seen.append(item) or item, [3, 1, 2])
        assert next(found) == 3
        assert seen == [3]
        assert list(found) == [1, 2]


@pytest.mark.parametrize("in_waves", [False, True])
def test_processes_share_the_cores_and_answer_in_order(in_waves):
    with joblib.parallel_config("loky", n_jobs=2):
        assert processes() == 2
        found = list(each(where, list(range(5)), (10, 20), in_waves))
    assert [one[0] for one in found] == list(range(5))
    assert os.getpid() not in {one[1] for one in found}
    assert {one[2] for one in found} == {max(processors() // 2, 1)}
    assert {one[3] for one in found} == {1}  # a task does not spread its own tasks
    assert {one[4] for one in found} == {30}


def test_one_item_is_done_here():
    with joblib.parallel_config("loky", n_jobs=2):
        assert next(each(where, [0]))[1] == os.getpid()


def test_waves_end_where_nobody_goes_on(tmp_path):
    with joblib.parallel_config("loky", n_jobs=2):
        found = each(lambda item: (tmp_path / str(item)).touch(), range(6), in_waves=True)
        next(found)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0", "1"]


def test_threads_here_stay_as_they_are():
    before = threads()
    set_num_threads(1)
    try:
        with joblib.parallel_config("loky", n_jobs=2):
            list(each(where, [0, 1]))
        assert threads() == 1
    finally:
        set_num_threads(before)


def refuse(item):
    raise InputError(f"item {item} is refused")


def test_errors_come_back():
    with joblib.parallel_config("loky", n_jobs=2), pytest.raises(InputError, match=r"item . is"):
        list(each(refuse, [0, 1]))
    known = pickle.loads(pickle.dumps(Stopped(Status.TIME_LIMIT)))
    assert (known.reason, str(known)) == (Status.TIME_LIMIT, "stopped: time limit")


@pytest.mark.parametrize("search", SEARCHES, ids=NAMES)
def test_searches_find_the_same(search, monkeypatch):
    wanted, spread = search(), []
    monkeypatch.setattr("mercer.jobs.Parallel", lambda: spread.append(1) or joblib.Parallel())
    with joblib.parallel_config("loky", n_jobs=2):
        found = search()
    assert are_equal(found, wanted)
    assert spread or search.__name__ == "folds"  # which scikit-learn spreads


def test_a_callback_ends_a_search_in_several_processes():
    records = []

    def enough(record):
        records.append(record)
        return record.get("kernel") == KERNELS[0]

    model = KernelRidgeCV([0.1, 1.0], kernel=KERNELS, callback=enough, cv=3)
    with joblib.parallel_config("loky", n_jobs=2), pytest.warns(match=r"1 of 8 pairs .*cancelled"):
        model.fit(X, Y)
    assert np.array_equal(model.cv_results_["param_alpha"], [0.1])
