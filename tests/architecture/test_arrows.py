"""Who may import whom: every file is parsed, and a wrong arrow fails.

A room is a module or package directly under `mercer`. The arrows are those of
docs/architecture.md; `mercer/__init__.py` itself names everything and loads it lazily.
"""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import mercer

SOURCE = Path(mercer.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))

# The order of the house: a room may use those before it, with the exceptions below.
ORDER = (
    "typing",
    "checks",
    "status",
    "stages",
    "monitor",
    "run",
    "storage",
    "checkpoints",
    "_native",
    "linalg",
    "inputs",
    "kernels",
    "losses",
    "grams",
    "jobs",
    "solvers",
    "diagnostics",
    "testing",
    "fitting",
    "postfit",
    "models",
    "features",
    "selection",
    "tables",
    "files",
)
TOP = ("sklearn", "data", "convert", "plots", "report", "distributed", "cli", "studio")
# Low rooms are kept apart from what they have no business with.
ONLY: dict[str, set[str]] = {
    "typing": set(),
    "checks": {"typing"},
    "status": set(),
    "stages": {"typing", "checks"},
    "monitor": {"typing", "checks", "status", "stages"},
    "run": {"typing", "checks", "status", "stages", "monitor"},
    "storage": {"typing", "checks"},
    "checkpoints": {"typing", "checks", "stages", "storage"},
    "_native": {"_core"},
    "linalg": {"typing", "checks", "status", "stages", "monitor"},
    "inputs": {"typing", "checks"},
    "kernels": {"typing", "checks", "inputs", "linalg", "_native"},
    "losses": {"typing", "checks"},
    "grams": {
        "typing",
        "checks",
        "status",
        "stages",
        "monitor",
        "run",
        "_native",
        "linalg",
        "inputs",
        "kernels",
    },
    "jobs": {"grams"},
    "solvers": {
        "typing",
        "checks",
        "status",
        "stages",
        "monitor",
        "run",
        "_native",
        "linalg",
        "losses",
        "grams",
    },
}
ALLOWED: dict[str, set[str]] = {
    room: ONLY.get(room, set(ORDER[:place]) - {"_native", "testing"})
    for place, room in enumerate(ORDER)
}
ALLOWED |= {room: {*ORDER, *TOP[:place]} for place, room in enumerate(TOP)}

# Outside packages that a room may use; the standard library is free.
OUTSIDE = {
    "typing": {"numpy"},
    "checks": {"numpy"},
    "status": set(),
    "stages": set(),
    "monitor": set(),
    "run": set(),
    "storage": {"numpy"},
    "checkpoints": {"numpy"},
    "_native": set(),
    "linalg": {"numpy", "scipy", "threadpoolctl"},
    "inputs": {"numpy", "scipy", "narwhals"},
    "kernels": {"numpy", "scipy"},
    "losses": {"numpy", "scipy"},
    "grams": {"numpy", "scipy"},
    "jobs": {"joblib"},
    "solvers": {"numpy", "scipy"},
    "diagnostics": {"numpy", "scipy"},
    "testing": {"numpy", "scipy"},
    "files": {"numpy", "scipy", "sklearn", "narwhals"},
}

# kernel(X, Y) takes the fast path that `grams` registers, and loads that room by name to do so.
BY_NAME = {("kernels/base.py", "grams")}


def room_of(file):
    """The room of a file given relative to the package; None for what belongs to the package."""
    name = Path(file).parts[0].removesuffix(".py")
    return None if name in ("__init__", "__main__") else name


def imported(file, text):
    """Every module that a file imports, wherever it does, and whether it is named in a text."""
    package = ["mercer", *Path(file).parent.parts]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, False) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            # `from mercer import x` and `from . import x` may mean the module mercer.x.
            yield from ((f"{module}.{alias.name}", False) for alias in node.names)
        elif isinstance(node, ast.Call) and node.args:
            called = node.func.attr if isinstance(node.func, ast.Attribute) else node.func
            called = called.id if isinstance(called, ast.Name) else called
            first = node.args[0]
            if called in ("import_module", "__import__") and isinstance(first, ast.Constant):
                yield first.value, True


def wrong_arrows(file, text):
    """What a file imports and may not, in words."""
    room = room_of(file)
    if room is None:
        return []
    if room not in ALLOWED:
        return [f"{file}: the room {room!r} has no arrows yet; add it to test_arrows.py"]
    found = []
    for name, by_name in imported(file, text):
        first, _, rest = name.partition(".")
        if first != "mercer":
            outside = first not in sys.stdlib_module_names and room in OUTSIDE
            if outside and first not in OUTSIDE[room]:
                found.append(f"{file}: {room} must not import the package {first}")
            continue
        target = rest.partition(".")[0] or "mercer"
        excused = by_name and (file, target) in BY_NAME
        if not (target == room or target in ALLOWED[room] or excused):
            found.append(f"{file}: {room} must not import {target} ({name})")
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_arrows(path):
    assert wrong_arrows(path.relative_to(SOURCE).as_posix(), path.read_text()) == []


def test_every_file_was_seen():
    rooms = {room_of(path.relative_to(SOURCE)) for path in FILES}
    assert rooms >= {*ORDER, None}
    assert len(FILES) > 30


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("typing.py", "from .kernels import Kernel"),
        ("checks.py", "from . import inputs"),
        ("checks.py", "import scipy.sparse"),
        ("inputs/kinds.py", "from ..kernels import Kernel"),
        ("inputs/kinds.py", "def f():\n    from mercer.grams import gram"),
        ("kernels/base.py", "from ..grams import gram"),
        ("kernels/radial.py", "import importlib\nimportlib.import_module('mercer.grams')"),
        ("kernels/dot.py", "from importlib import import_module\nimport_module('mercer.models')"),
        ("kernels/dot.py", "from .. import gram"),
        ("kernels/dot.py", "from mercer import gram"),
        ("kernels/dot.py", "import mercer"),
        ("kernels/dot.py", "import sklearn"),
        (
            "kernels/dot.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import mercer.grams",
        ),
        ("grams/plan.py", "from ..diagnostics import check_kernel"),
        ("grams/tile.py", "from mercer import _core"),
        ("grams/tile.py", "from mercer._core import tile"),
        ("monitor.py", "from .grams import Gram"),
        ("losses.py", "import mercer.kernels"),
        ("solvers/cg.py", "from ..kernels import Gaussian"),
        ("solvers/cg.py", "from ..inputs import Matrix"),
        ("solvers/cg.py", "from ..models import base"),
        ("models/base.py", "from .. import _native"),
        ("models/base.py", "from ..files import save"),
        ("models/base.py", "from ..plots import draw"),
        ("files/values.py", "from ..cli import main"),
        ("files/values.py", "import pickletools, torch"),
        ("testing.py", "from .models import KernelPrototypeClassifier"),
        ("studio/app.py", "from mercer._core import isa"),
        ("cellar/wine.py", "import numpy"),
    ],
)
def test_a_wrong_arrow_is_caught(file, text):
    assert len(wrong_arrows(file, text)) == 1


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("__init__.py", "from .models import KernelPrototypeClassifier"),
        ("checks.py", "import math\nimport numpy as np\nfrom numpy.typing import NDArray"),
        (
            "inputs/kinds.py",
            "from .. import checks\nfrom ..checks import Array\nfrom . import convert",
        ),
        ("inputs/kinds.py", "import narwhals.stable.v2 as narwhals\nimport scipy.sparse"),
        ("kernels/base.py", "import importlib\nimportlib.import_module('mercer.grams')"),
        ("kernels/dot.py", "from .base import Kernel\nfrom mercer.kernels import base"),
        ("_native.py", "from mercer import _core\nfrom mercer._core import isa"),
        ("grams/tile.py", "from .. import _native\nfrom ..monitor import Monitor"),
        ("solvers/cg.py", "from ..grams import Gram\nfrom .. import losses, _native"),
        (
            "models/svm.py",
            "import sklearn\nfrom ..solvers import smo\nfrom ..kernels import Gaussian",
        ),
        ("files/points.py", "from ..models import base\nimport narwhals.stable.v2"),
        ("cli.py", "import click\nfrom . import files, plots, report, _native"),
    ],
)
def test_a_right_arrow_passes(file, text):
    assert wrong_arrows(file, text) == []


# --- what an import loads ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "module", ["mercer", "mercer.typing", "mercer.kernels", "mercer.checks", "mercer.grams"]
)
def test_import_does_not_load_scikit_learn(module):
    code = (
        f"import sys, {module}; print(sorted({{name.partition('.')[0] for name in sys.modules}}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(ast.literal_eval(done.stdout))
    assert "mercer" in loaded
    heavy = {"sklearn", "pandas", "polars", "narwhals", "matplotlib", "dask"}
    assert not loaded & heavy
    if module == "mercer":
        assert not loaded & {"numpy", "scipy"}


def test_every_public_name_resolves():
    assert len(mercer.__all__) == len(set(mercer.__all__))
    for name in mercer.__all__:
        assert getattr(mercer, name) is not None
    assert set(mercer.__all__) <= set(dir(mercer))
    namespace: dict[str, object] = {}
    exec("from mercer import *", namespace)
    assert set(mercer.__all__) <= set(namespace)


def test_names_for_type_checkers_are_the_names_loaded():
    tree = ast.parse((SOURCE / "__init__.py").read_text())
    typed = {
        alias.name: node.module
        for guard in tree.body
        if isinstance(guard, ast.If)
        for node in guard.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert typed == mercer._HOME


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'mercer' has no attribute 'grom'"):
        mercer.grom  # noqa: B018


def test_a_missing_package_is_named_and_not_hidden(tmp_path, monkeypatch):
    # A room that is there but lacks a package it needs says which one.
    (tmp_path / "needy.py").write_text("import a_package_that_is_not_installed\n")
    monkeypatch.setattr(mercer, "__path__", [*mercer.__path__, str(tmp_path)])
    with pytest.raises(ModuleNotFoundError, match="a_package_that_is_not_installed"):
        mercer.needy  # noqa: B018
