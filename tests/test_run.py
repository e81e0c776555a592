"""What a computation is told beside its problem."""

import time
import warnings

import pytest

from mercer.models import KernelPCA, KernelRidge
from mercer.models.contract.parameters import run_of
from mercer.monitor import Monitor
from mercer.run import Run


def test_a_run_has_no_limits_unless_it_is_given_some():
    run = Run(who="test")
    assert (run.seed, run.memory_limit, run.n_jobs, run.monitor.time_limit) == (
        0,
        "auto",
        None,
        None,
    )
    assert run.part(0.5).monitor.time_limit is None
    assert run.rest().monitor.time_limit is None


def test_the_clock_starts_with_the_run():
    run = Run(who="test")
    time.sleep(0.01)
    assert 0.01 <= run.seconds < 5


def test_shares_of_the_time():
    seen = []
    run = Run(who="test", seed=3, monitor=Monitor(100.0, None, seen.append))
    search = run.part(0.8)
    assert search.monitor.time_limit == 80
    assert (search.who, search.seed, search.monitor.callback) == ("test", 3, seen.append)
    assert search.seconds < run.seconds + 1e-9
    assert 99 < run.rest().monitor.time_limit <= 100
    run.monitor._started -= 99  # as if 99 s had passed
    assert run.rest().monitor.time_limit == 10  # a tenth is always left


def test_a_run_warns_at_the_line_of_the_user():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Run(who="test").warn("test: told", RuntimeWarning)
    assert [(one.category, one.filename) for one in caught] == [(RuntimeWarning, __file__)]


def test_the_run_of_a_model_is_what_its_parameters_say():
    model = KernelRidge(memory_limit="1GB", time_limit=3, n_jobs=2, random_state=7, callback=print)
    run = run_of(model)
    assert (run.who, run.memory_limit, run.n_jobs, run.seed) == ("KernelRidge", "1GB", 2, 7)
    assert (run.monitor.time_limit, run.monitor.callback) == (3, print)
    assert run.monitor.progress is None
    assert run_of(KernelPCA(verbose=True)).monitor.progress is not None


def test_a_time_limit_that_is_not_one_is_refused():
    with pytest.raises(ValueError, match="KernelRidge: time_limit must be"):
        run_of(KernelRidge(time_limit="soon"))
