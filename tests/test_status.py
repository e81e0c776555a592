"""How computations end: plain words, each with its advice."""

import pickle
from typing import get_args

import pytest

from mercer import SVC
from mercer.models import Certificate
from mercer.status import Status, Work, first_bad


def test_a_status_is_a_plain_text():
    status = Status("time limit")
    assert status is Status.TIME_LIMIT
    assert status == "time limit"
    assert f"{status}" == str(status) == "time limit"
    assert repr(status) == "'time limit'"
    assert type(str(status)) is str
    assert pickle.loads(pickle.dumps(status)) is status


def test_every_end_that_is_not_good_has_advice_for_every_work():
    for status in Status:
        for work in get_args(Work):
            assert bool(status.advice(work)) == (not status.is_good)
            assert status.is_good or status.advice(work).endswith((".", "?"))


def test_advice_is_in_the_words_of_the_work():
    assert "max_iter" in Status.ITERATION_LIMIT.advice("components")
    assert "lower C" in Status.ITERATION_LIMIT.advice("machines")
    assert "n_init" in Status.TIME_LIMIT.advice("clusters")
    assert "float64" in Status.STAGNATED.advice("ridge")


def test_several_ends_are_the_first_bad_one():
    assert first_bad([]) is Status.CONVERGED
    assert first_bad([Status.CONVERGED, Status.CANCELLED, Status.ROUNDING]) is Status.CANCELLED


def test_a_certificate_takes_the_words_of_the_list_only():
    of = {"plan": "", "kernel_entries": 0, "bytes": 0, "seconds": 0.0}
    assert Certificate(status="exact", **of).status is Status.EXACT
    assert "status='exact'" in repr(Certificate(status="exact", **of))
    with pytest.raises(ValueError, match="'magic' is not a valid Status"):
        Certificate(status="magic", **of)
    fitted = SVC().fit([[0.0], [1.0]], [0, 1]).certificate_
    assert fitted.status is Status.CONVERGED
