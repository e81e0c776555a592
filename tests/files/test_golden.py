"""Files of the last release load, and their models answer what they answered then."""

import numpy as np
import pytest
from file_models import FUNCTIONS
from golden_models import FOLDER, answers, few_of, known_models

from mercer.files import load
from mercer.files.records import estimators

FILES = sorted(path.stem for path in FOLDER.glob("*.mercer"))


@pytest.fixture(scope="module")
def points():
    return {name: few_of(points) for name, _, points in known_models()}


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_the_last_release_answers_as_it_did(name, points):
    model = load(FOLDER / f"{name}.mercer", FUNCTIONS)
    found = answers(model, points[name])
    with np.load(FOLDER / f"{name}.npz") as wanted:
        assert set(found) == set(wanted.files)
        for method, answer in found.items():
            if answer.dtype.kind == "f":
                single = name.endswith("single") or "AutoKernel" in name  # points in that precision
                rtol = 1e-5 if single else 1e-9
                np.testing.assert_allclose(answer, wanted[method], rtol=rtol, atol=rtol / 100)
            else:
                assert (answer == wanted[method]).all()


def test_every_estimator_has_a_file():
    assert {name.split("-")[0] for name in FILES} >= set(estimators())
