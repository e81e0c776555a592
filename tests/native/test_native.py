"""The compiled module: what it says of itself and of the machine, and how it is told otherwise."""

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

from mercer import _core, _native

pytestmark = pytest.mark.native

SETTINGS = ("MERCER_ISA", "MERCER_NUM_THREADS", "OMP_NUM_THREADS")


def run(*arguments, **settings):
    """Run Python in a fresh process that has these settings and no other."""
    environment = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    return subprocess.run(
        [sys.executable, *arguments], env=environment | settings, capture_output=True, text=True
    )


def answer(call, **settings):
    """The value of a call in a fresh process, or the error's sentence."""
    done = run("-c", f"from mercer import _native; print(_native.{call})", **settings)
    return done.stdout.strip() if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


@pytest.fixture
def threads():
    """Give the thread count back as it was."""
    before = _native.num_threads()
    yield before
    _native.set_num_threads(before)


def test_version_is_the_package_version():
    assert _native.version() == version("mercer")


def test_isa_is_chosen_by_the_machine():
    assert answer("isa()") in {"baseline", "avx2", "avx512"}
    assert answer("isa()", MERCER_ISA="") == answer("isa()")


def test_isa_is_forced_by_the_environment():
    names = ["baseline", "avx2", "avx512"]
    widest = names.index(answer("isa()"))
    for place, name in enumerate(names):
        forced = answer("isa()", MERCER_ISA=name)
        if place <= widest:
            assert forced == name
        else:
            allowed = " or ".join(names[: widest + 1])
            assert f"ValueError: mercer: MERCER_ISA must be {allowed} on this machine" in forced


def test_unknown_isa_names_the_allowed_ones():
    message = answer("isa()", MERCER_ISA="sse9")
    assert message.startswith("ValueError: mercer: MERCER_ISA must be baseline")
    assert "got 'sse9'" in message


@pytest.mark.parametrize(
    ("settings", "count"),
    [
        ({"MERCER_NUM_THREADS": "3", "OMP_NUM_THREADS": "5"}, "3"),
        ({"OMP_NUM_THREADS": "5"}, "5"),
        ({"OMP_NUM_THREADS": " 7 , 2"}, "7"),
        ({"MERCER_NUM_THREADS": "", "OMP_NUM_THREADS": "5"}, "5"),
        ({"MERCER_NUM_THREADS": "1024"}, "1024"),
    ],
)
def test_thread_count_comes_from_the_environment(settings, count):
    assert answer("num_threads()", **settings) == count


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="no affinity mask here")
def test_thread_count_respects_the_affinity_mask():
    assert answer("num_threads()") == str(len(os.sched_getaffinity(0)))
    one = min(os.sched_getaffinity(0))
    pinned = f"import os; os.sched_setaffinity(0, [{one}]); from mercer import _native as n"
    assert run("-c", f"{pinned}; print(n.num_threads())").stdout.strip() == "1"


@pytest.mark.parametrize("variable", ["MERCER_NUM_THREADS", "OMP_NUM_THREADS"])
@pytest.mark.parametrize(
    "value", ["many", "0", "-2", "2.5", "4x", " ", "1025", "99999999999", ",2"]
)
def test_bad_thread_variable_is_refused(variable, value):
    message = answer("num_threads()", **{variable: value})
    assert message == (
        f"ValueError: mercer: {variable} must be a whole number from 1 to 1024; got '{value}'. "
        "Unset it to use every processor available."
    )


def test_only_openmp_takes_a_list():
    assert "got '4,2'" in answer("num_threads()", MERCER_NUM_THREADS="4,2")


def test_set_num_threads_round_trip(threads):
    for count in (1, threads + 1, np.int64(2), 1024):
        _native.set_num_threads(count)
        assert _native.num_threads() == count


def test_set_num_threads_outranks_the_environment():
    call = "set_num_threads(2), _native.num_threads()"
    assert answer(call, MERCER_NUM_THREADS="5") == "None 2"


@pytest.mark.parametrize("count", [0, -1, 1025, 10**30])
def test_set_num_threads_refuses_a_count_out_of_range(threads, count):
    with pytest.raises(ValueError, match=rf"^set_num_threads: .* from 1 to 1024; got {count}\.$"):
        _native.set_num_threads(count)
    assert _native.num_threads() == threads


@pytest.mark.parametrize("count", [2.0, "2", None, np.array([2, 3])])
def test_set_num_threads_refuses_what_is_no_whole_number(threads, count):
    with pytest.raises(TypeError, match=r"^set_num_threads: count must be a whole number; got "):
        _native.set_num_threads(count)
    assert _native.num_threads() == threads


def test_the_core_checks_for_itself(threads):
    with pytest.raises(ValueError, match="from 1 to 1024; got 0"):
        _core.set_num_threads(0)
    with pytest.raises(TypeError):
        _core.set_num_threads(2.0)
    assert _native.num_threads() == threads


def test_stub_is_fresh(tmp_path):
    made = tmp_path / "_core.pyi"
    done = run("-m", "nanobind.stubgen", "-q", "-m", "mercer._core", "-o", str(made))
    assert done.returncode == 0, done.stderr
    kept = Path(_native.__file__).with_name("_core.pyi")
    assert made.read_text() == kept.read_text(), "stale: run `make native`"
