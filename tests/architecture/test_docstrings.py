"""Docstrings are numpydoc and complete: every public name is validated, every example runs."""

import dataclasses
import doctest
import importlib
import inspect
import pkgutil

import numpydoc.docscrape
import pytest
from estimators import ESTIMATORS, X, target
from numpydoc.validate import validate

import mercer
from mercer.kernels.base import registry
from mercer.sklearn.patching import ESTIMATORS as DROP_IN

# What numpydoc asks for and we do not do.
NOT_FOLLOWED = {
    "GL01": "the summary starts on the line of the quotes",
    "ES01": "a summary that says it all needs no more text",
    "SA01": "See Also only where there is something to see",
}
# Methods are shown by the example of their class.
NOT_OF_METHODS = {"EX01"}
EXCUSED = {
    "mercer.kernels.objects.paired.PairKernel": {"EX01"},  # one would need native code
}

ROOMS = [
    "mercer",
    "mercer.cli",
    "mercer.convert",
    "mercer.data",
    "mercer.diagnostics",
    "mercer.features",
    "mercer.files",
    "mercer.kernels",
    "mercer.losses",
    "mercer.models",
    "mercer.plots",
    "mercer.report",
    "mercer.selection",
    "mercer.tables",
    "mercer.testing",
]
# The methods that `Loss` describes; the losses only implement them.
DESCRIBED_ELSEWHERE = {"value", "gradient", "curvature"}


def public(room):
    """The public names of a room: those it lists, else the functions and classes it defines."""
    module = importlib.import_module(room)
    own = [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == room
    ]
    return getattr(module, "__all__", own)


def is_documented(value):
    """Whether a docstring belongs to a value: functions and classes of ours, not constants."""
    ours = getattr(value, "__module__", "").partition(".")[0] == "mercer"
    return ours and (inspect.isclass(value) or inspect.isfunction(value))


def methods(kind):
    """The public methods and properties of a class, each under the class that wrote it.

    One without a docstring that overrides one with a docstring has that of its parent.
    """
    for name, _ in inspect.getmembers_static(kind):
        owners = [base for base in kind.__mro__ if name in vars(base)]
        for owner in owners[:0] if name.startswith("_") else owners:
            value = vars(owner)[name]
            value = getattr(value, "fn", value)  # of one that is there for some parameters only
            value = value.fget if isinstance(value, property) else value
            function = getattr(value, "__func__", value)
            if not inspect.isfunction(function) or not owner.__module__.startswith("mercer"):
                break
            if function.__doc__ is not None or owner is owners[-1]:
                yield f"{owner.__module__}.{owner.__qualname__}.{name}"
                break


def names():
    """Every public name once, under the module that defines it, with its methods."""
    found = {}
    for room in ROOMS:
        for name in public(room):
            value = getattr(importlib.import_module(room), name)
            if not is_documented(value):
                continue
            found[f"{value.__module__}.{value.__qualname__}"] = value
            if inspect.isclass(value) and not issubclass(value, Exception):
                found |= dict.fromkeys(methods(value))
    return found


NAMES = names()


def is_record(value):
    """Whether users read a value and do not make it: its fields are attributes."""
    return dataclasses.is_dataclass(value) and "Attributes\n" in (value.__doc__ or "")


def is_protocol(value):
    """Whether a class only says what others must have."""
    return getattr(value, "_is_protocol", False)


def problems(path):
    """What is wrong with the docstring of a name, in words."""
    value, method = NAMES[path], path.rpartition(".")[2]
    excused = set(NOT_FOLLOWED) | EXCUSED.get(path, set())
    if value is None:
        excused |= NOT_OF_METHODS
        if ".losses." in path and method in DESCRIBED_ELSEWHERE and "Loss." not in path:
            return []
    if is_record(value):
        excused |= {"PR01", "EX01"}  # its fields stand under Attributes; users do not make it
    if inspect.isclass(value) and (issubclass(value, Exception) or is_protocol(value)):
        excused |= {"PR01", "EX01"}  # users catch it, or write one of their own
    errors = validate(path)["errors"]
    found = [f"{code}: {text}" for code, text in errors if code not in excused]
    return found + (wrong_attributes(value) if inspect.isclass(value) else [])


def wrong_attributes(kind):
    """Attributes that lack a type or a description, and fields of records that are missing."""
    entries = numpydoc.docscrape.ClassDoc(kind, config={"show_class_members": False})["Attributes"]
    found = [f"attribute {one.name} has no type" for one in entries if not one.type]
    found += [f"attribute {one.name} has no description" for one in entries if not one.desc]
    if is_record(kind):
        known = [field.name for field in dataclasses.fields(kind)]
        if [one.name for one in entries] != known:
            found.append(f"the attributes must be the fields {', '.join(known)}, in this order")
    return found


def test_the_names_were_found():
    assert "mercer.models.svm.classifier.SVC" in NAMES
    assert "mercer.models.svm.classes.SupportVectorClassifier.predict_proba" in NAMES
    assert "mercer.kernels.base.Kernel.diag" in NAMES
    assert len(NAMES) > 200


@pytest.mark.parametrize("path", NAMES)
def test_docstring(path):
    assert problems(path) == []


# --- attributes -----------------------------------------------------------------------------------

OF_SCIKIT_LEARN = {"n_features_in_", "feature_names_in_"}  # every estimator there has them
# Of a primal solution or the linear kernel, of approximations, and of many points.
OF_SOME_FITS = {"coef_", "approximation_", "approximation_error_"}
OF_SOME_FITS |= {"leaves_", "tree_", "temperature_"}


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_attributes_are_those_of_a_fit(kind):
    model = kind()
    if "probability" in model.get_params():
        model.set_params(probability=True)
    model.fit(X, target(kind))
    found = {name for name in vars(model) if not name.startswith("_") and name.endswith("_")}
    for name, value in inspect.getmembers_static(kind):
        if isinstance(value, property) and not name.startswith("_"):
            found.add(name)
    page = numpydoc.docscrape.ClassDoc(kind, config={"show_class_members": False})
    described = {one.name for one in page["Attributes"]}
    assert described - OF_SOME_FITS == found - OF_SCIKIT_LEARN - OF_SOME_FITS


# --- examples -------------------------------------------------------------------------------------


def examples():
    """Every docstring of the package with an example."""
    walk = pkgutil.walk_packages(mercer.__path__, "mercer.")
    modules = ["mercer", *(found.name for found in walk if not found.name.endswith("._core"))]
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = [one for name in modules for one in finder.find(importlib.import_module(name), name)]
    # The drop-in estimators have the docstrings of scikit-learn, whose own tests run them.
    theirs = {f"mercer.sklearn.{home}.{name}" for name, (_, home) in DROP_IN.items()}
    found = [one for one in found if one.name not in theirs]
    return [pytest.param(one, id=one.name) for one in found if one.examples]


@pytest.mark.parametrize("test", examples())
def test_example(test):
    known = set(registry)
    test.globs = {"__name__": "example"}
    said = []
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(test, out=said.append)
    for name in set(registry) - known:  # a kernel that the example defined
        del registry[name]
    assert runner.failures == 0, "".join(said)
