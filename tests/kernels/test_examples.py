"""Examples in the docstrings of kernels, inputs, Grams and checks run, and print what they say."""

import doctest
import importlib
import pkgutil

import pytest

import mercer
from mercer.kernels.base import registry

ROOMS = ("mercer.kernels", "mercer.inputs", "mercer.grams")


def names():
    found = ["mercer.testing"]
    for room in ROOMS:
        package = importlib.import_module(room)
        found += [room, *(one.name for one in pkgutil.walk_packages(package.__path__, f"{room}."))]
    return found


def examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = [test for name in names() for test in finder.find(importlib.import_module(name), name)]
    return [pytest.param(test, id=test.name) for test in found if test.examples]


@pytest.mark.parametrize("test", examples())
def test_an_example_prints_what_it_says(test):
    known = set(registry)
    test.globs = {"__name__": "example"}
    said = []
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(test, out=said.append)
    for name in set(registry) - known:  # a kernel that the example defined
        del registry[name]
    assert runner.failures == 0, "".join(said)


@pytest.mark.parametrize("name", sorted(set(mercer.kernels.__all__)))
def test_every_public_kernel_shows_an_example(name):
    value = getattr(mercer.kernels, name)
    if isinstance(value, type) and name != "PairKernel":  # that needs native code
        assert ">>>" in (value.__doc__ or ""), f"{name} has no example"
