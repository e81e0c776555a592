"""Examples are loaded as modules, so that nothing is computed before a test asks for it."""

import importlib.util
from functools import cache
from pathlib import Path

import matplotlib
import pytest

matplotlib.use("Agg")
EXAMPLES = Path(__file__).parents[2] / "examples"


@cache
def load(name):
    """The script of this name, such as "lectures/perceptron"."""
    spec = importlib.util.spec_from_file_location(
        f"example_{name.replace('/', '_')}", EXAMPLES / f"{name}.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(name="load")
def load_fixture():
    return load
