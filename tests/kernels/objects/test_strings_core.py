"""The compiled side of kernels of strings: what it refuses, and the other instruction set."""

import gc
import os
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mercer import _native
from mercer.kernels import Subsequence, Substring
from mercer.kernels.objects.tokens import sequences

pytestmark = pytest.mark.native

OTHER = """
import sys
import numpy as np
from mercer import _native
from mercer.kernels import Subsequence, Substring
items = [line.rstrip("\\n") for line in sys.stdin]
kernels = [Subsequence(n, 0.6) for n in (1, 2, 4, 8)]
kernels += [Subsequence(3, 0.9, (1, 2, 3)), Substring(0.5)]
assert _native.isa() == "baseline"
np.save(sys.argv[1], [kernel(items) for kernel in kernels])
"""


def test_the_other_instruction_set_gives_the_same_values(tmp_path):
    random = np.random.default_rng(5)
    items = ["".join(random.choice(list("abcde"), random.integers(41))) for _ in range(20)]
    subprocess.run(
        [sys.executable, "-c", OTHER, str(tmp_path / "K.npy")],
        input="\n".join(items).encode(),
        env={**os.environ, "MERCER_ISA": "baseline", "MERCER_NUM_THREADS": "1"},
        check=True,
    )
    kernels = [Subsequence(n, 0.6) for n in (1, 2, 4, 8)]
    kernels += [Subsequence(3, 0.9, (1, 2, 3)), Substring(0.5)]
    for found, kernel in zip(np.load(tmp_path / "K.npy"), kernels, strict=True):
        assert_allclose(found, kernel(items), rtol=1e-13)


def token_sequences(*items):
    text = sequences(items)
    return _native.TokenSequences(text.codes, text.ends)


@pytest.mark.parametrize("ends", [[], [1, 2], [0, 1], [0, 3], [0, 3, 2], [0, -1, 2], [0, 2**62, 2]])
def test_sequences_must_hold_together(ends):
    codes, places = np.zeros(2, dtype=np.uint64), np.array(ends, dtype=np.int64)
    with pytest.raises(ValueError, match="ends must ascend from 0 to the last code"):
        _native.TokenSequences(codes, places)
    with pytest.raises(ValueError, match="ends must ascend from 0 to the last code"):
        _native.Automata(codes, places, 0.5)


def test_the_code_that_fills_short_sequences_is_no_token():
    last = 2**64 - 1
    codes = np.array([last, last, last - 1, 5], dtype=np.uint64)
    made = _native.TokenSequences(codes, np.array([0, 2, 3, 4]))
    assert len(made) == 3
    out = np.empty((3, 3))
    job = _native.SubsequenceJob(made, made, 1.0, [1.0])
    assert job.store(np.arange(3), np.arange(3), False, 0, 3, out, None)
    assert_array_equal(out, [[4, 2, 0], [2, 1, 0], [0, 0, 1]])


def test_programs_refuse_wrong_numbers():
    side = token_sequences("ab")
    for decay in (0.0, 1.5, float("nan")):
        with pytest.raises(ValueError, match="decay must be above 0 and at most 1"):
            _native.SubsequenceJob(side, side, decay, [1.0])
    with pytest.raises(ValueError, match="a weight for each length"):
        _native.SubsequenceJob(side, side, 0.5, [])
    for decay in (0.0, float("inf"), float("nan")):
        with pytest.raises(ValueError, match="decay must be a finite number above 0"):
            _native.Automata(np.zeros(0, dtype=np.uint64), np.zeros(1, dtype=np.int64), decay)


def test_a_program_keeps_its_sides():
    text = sequences(["ab", "ba"])
    out = np.empty((2, 2))
    jobs = [
        _native.SubsequenceJob(
            token_sequences("ab", "ba"), token_sequences("ab", "ba"), 0.5, [1.0]
        ),
        _native.SubstringJob(
            _native.Automata(text.codes, text.ends, 0.5),
            _native.Automata(text.codes, text.ends, 0.5),
        ),
    ]
    gc.collect()
    for job, diagonal in zip(jobs, (0.5, 1.25), strict=True):
        assert (job.lefts, job.rights) == (2, 2)
        assert job.store(np.arange(2), np.arange(2), False, 0, 2, out, None)
        assert_array_equal(np.diag(out), [diagonal] * 2)
        with pytest.raises(IndexError, match="no such object"):
            job.store(np.arange(1, 3), np.arange(2), False, 0, 2, out, None)
