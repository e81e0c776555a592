"""Types of the public interface: few parameters are `Any`, and mypy catches what cannot work."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import mercer

SOURCE = Path(mercer.__file__).parent
PUBLIC = (
    "models",
    "features",
    "selection",
    "tables",
    "files",
    "data",
    "diagnostics",
    "losses.py",
    "testing.py",
)
FUNCTIONS = ("_native.py", "grams/prepared.py", "kernels/grammar.py", "kernels/names.py")
MOST = 0.05  # of the parameters of public functions and methods may be `Any`


def public_functions(tree):
    """Public functions, and the constructors and public methods of classes."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield node.name, node
        if isinstance(node, ast.ClassDef):  # also private ones, whose methods are inherited
            for inner in node.body:
                named = isinstance(inner, ast.FunctionDef)
                if named and (inner.name == "__init__" or not inner.name.startswith("_")):
                    yield f"{node.name}.{inner.name}", inner


def parameters(function):
    """The parameters of a function with their annotations, but for `self`."""
    given = function.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    return [one for one in every if one is not None and one.arg not in ("self", "cls")]


def is_anything(annotation):
    """Whether an annotation says nothing: none at all, `Any`, or a union with it."""
    if annotation is None or (isinstance(annotation, ast.Name) and annotation.id == "Any"):
        return True
    if isinstance(annotation, ast.BinOp):
        return is_anything(annotation.left) or is_anything(annotation.right)
    return False


def untyped(text):
    """How many parameters a text has, and those that may be anything."""
    found, total = [], 0
    for name, function in public_functions(ast.parse(text)):
        for parameter in parameters(function):
            total += 1
            if is_anything(parameter.annotation):
                found.append(f"{name}({parameter.arg})")
    return total, found


def exported():
    """The files of the rooms that users import from, without what only the rooms use."""
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        inner = name.startswith("files/") and name != "files/__init__.py"
        helpers = path.name in ("parameters.py", "targets.py", "records.py", "columns.py")
        if name in FUNCTIONS or (name.split("/")[0] in PUBLIC and not inner and not helpers):
            yield path


def test_few_public_parameters_are_any():
    total, found = 0, []
    for path in exported():
        count, names = untyped(path.read_text())
        total += count
        found += [f"{path.relative_to(SOURCE)}: {name}" for name in names]
    assert total > 300
    assert len(found) <= MOST * total, "\n".join(found)


def test_parameters_without_a_type_are_counted():
    text = """
class Model:
    def __init__(self, kernel: Any, C: float = 1.0, *, alpha=2) -> None: ...
    def fit(self, X: PointsLike, y: Any | None = None) -> Self: ...
    def _solve(self, anything: Any) -> None: ...

def tune(model: Estimator, **options: Any) -> None: ...
def _folds(cv: Any) -> None: ...
"""
    total, found = untyped(text)
    assert total == 7
    wanted = ["Model.__init__(kernel)", "Model.__init__(alpha)", "Model.fit(y)", "tune(options)"]
    assert found == wanted


def test_mypy_catches_what_cannot_work(tmp_path):
    uses = Path(__file__).parent.parent / "support" / "typed_uses.py"
    config = tmp_path / "mypy.ini"
    config.write_text(
        "[mypy]\n[mypy-pandas.*,scipy.*,sklearn.*,threadpoolctl]\nignore_missing_imports = True\n"
    )
    options = ["--config-file", config, "--cache-dir", tmp_path / "cache", "--no-error-summary"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, uses],
        capture_output=True,
        text=True,
        env={**os.environ, "MYPYPATH": str(SOURCE.parent)},
    )
    assert done.returncode in (0, 1), done.stderr
    said = [line for line in done.stdout.splitlines() if ": error:" in line]
    found = {int(line.split(":")[1]) for line in said if uses.name in line}
    lines = enumerate(uses.read_text().splitlines(), 1)
    wanted = {number for number, line in lines if line.endswith("# wrong")}
    assert len(wanted) > 30
    assert found == wanted, done.stdout
