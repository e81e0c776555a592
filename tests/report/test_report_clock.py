"""Parts of a report within a time limit."""

import warnings

import numpy as np
import pytest

from mercer.checks import InputError
from mercer.monitor import Monitor, warn
from mercer.report.clock import NO_TIME, Clock, LeftOut, NotShown


def refuse(error):
    raise error


def test_a_part_that_ends_is_returned_and_told():
    told = []
    clock = Clock(monitor=Monitor(None, lambda what, done: told.append((what, done))), parts=2)
    assert clock.attempt("first", lambda: 1) == 1
    assert clock.attempt("second", lambda: 2) == 2
    assert told == [("first", 0.0), ("second", 0.5)]
    assert clock.left_out == []


@pytest.mark.parametrize("error", [NotShown("no"), InputError("no"), np.linalg.LinAlgError("no")])
def test_a_part_that_cannot_be_shown_is_noted(error):
    clock = Clock(monitor=Monitor(), parts=1)
    assert clock.attempt("it", lambda: refuse(error)) is None
    assert clock.left_out == [LeftOut(part="it", why="no")]


def test_an_error_of_ours_is_not_hidden():
    with pytest.raises(ZeroDivisionError):
        Clock(monitor=Monitor(), parts=1).attempt("it", lambda: 1 / 0)


def test_without_time_nothing_begins():
    clock = Clock(monitor=Monitor(1e-9), parts=1)
    assert clock.attempt("it", lambda: 1) is None
    assert clock.left_out == [LeftOut(part="it", why=NO_TIME)]


def test_a_part_has_its_share_of_what_is_left():
    clock = Clock(monitor=Monitor(100.0), parts=1)
    assert 20 < clock.attempt("it", lambda: clock.left, 0.25) < 25.001
    assert clock.left > 99
    assert Clock(monitor=Monitor(), parts=1).left == np.inf


def test_fits_of_a_part_do_not_warn():
    def noisy():
        warn("ours")
        warnings.warn("others", stacklevel=1)
        return 3

    assert Clock(monitor=Monitor(), parts=1).attempt("it", noisy) == 3
