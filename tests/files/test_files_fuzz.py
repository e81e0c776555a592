"""A short run of the mutations of model files; `make fuzz-files` is the long one."""

import random
import warnings

import fuzz_files
import pytest
from mutants import BLIND

from mercer.files import load


@pytest.fixture(scope="module")
def known():
    return fuzz_files.cases(short=True)


# What some methods ask for, and say so.
ASKED = ("inverse_transform returns dense rows", "known for training points only", "is not fitted")


def test_every_file_can_be_used_as_it_is(known):
    for case in known:
        model = load(case.data, fuzz_files.FUNCTIONS)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            told = fuzz_files.use(model, case.few)
        others = [text for text in told if not any(word in text for word in ASKED)]
        assert others in ([], ["predict"]), case.name  # no score without a prediction


def test_mutations_are_refused_or_used_but_never_end_in_a_raw_error(known):
    counts, failures = fuzz_files.run(800, seed=0, known=known)
    assert failures == []
    assert counts["blind, refused"] + counts["blind, nothing changed"] == 400
    assert counts["forged, refused"] > 100
    assert counts["forged, used"] > 20


def test_the_run_would_notice(known, monkeypatch):
    """A raw error, a file that loads although its bytes changed, a hang."""
    monkeypatch.setattr(fuzz_files, "METHODS", ("no_such_method",))
    monkeypatch.setattr(fuzz_files, "load", lambda data, functions: Careless())
    counts, failures = fuzz_files.run(4, seed=0, known=known)
    blind = counts["blind, silent"], counts["blind, nothing changed"]
    assert blind[0] > 0
    assert (sum(blind), counts["forged, raw"]) == (2, 2)
    assert any("it loads" in failure for failure in failures)
    assert any("ZeroDivisionError" in failure for failure in failures)
    monkeypatch.setattr(fuzz_files, "SECONDS", 0.05)
    monkeypatch.setattr(fuzz_files, "use", Careless.hang)
    counts, failures = fuzz_files.run(2, seed=0, known=known)
    assert counts["forged, slow"] == 1


class Careless:
    """A model that fails in its own way."""

    def __repr__(self):
        return str(1 / 0)

    def hang(self, few=None):
        while True:
            pass


def test_every_kind_of_blind_mutation_changes_something(known):
    data, other = known[0].data, known[1].data
    for change in BLIND:
        results = set()
        for seed in range(20):
            altered = bytearray(data)
            change(altered, random.Random(seed), other)
            results.add(bytes(altered))
        assert results - {data}, change.__name__
