"""The sizes that CONTRIBUTING.md states: of folders, files, functions and classes.

Lines of docstrings do not count: a class may be explained at length. What is above a limit is
listed with its size, which may fall but not rise; an entry that is no longer needed fails as well.
"""

import ast
from collections import Counter
from pathlib import Path

import mercer

SOURCE = Path(mercer.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
NAMES = {path: path.relative_to(SOURCE).as_posix() for path in FILES}

FILES_OF_A_FOLDER, LINES_OF_A_FILE, LINES_OF_A_FUNCTION, METHODS_OF_A_CLASS = 13, 400, 40, 12

LARGE_FOLDERS = {"files": 14}  # one file per kind of thing that a model file holds
LARGE_FILES: dict[str, int] = {}
LONG_FUNCTIONS = {
    "kernels/grammar.py from_spec": 45,
    "models/svm/base.py _certify": 47,
}
LARGE_CLASSES = {
    "grams/blocks/numpy.py BlockPairs": 17,
    "grams/matrix.py Gram": 15,
    "kernels/base.py Kernel": 14,
    "kernels/expression.py Expression": 18,
    "kernels/fisher/mixture.py Mixture": 14,
    "kernels/grammar.py _Reader": 22,  # one method per rule of the grammar
    "models/base.py KernelEstimator": 14,
    "models/svm/base.py SupportVectorEstimator": 13,
    "models/svm/classes.py SupportVectorClassifier": 20,
    "solvers/box/active_set.py ActiveSet": 22,
    "solvers/ridge/features.py FeatureRidge": 13,
    "solvers/ridge/path.py RidgePath": 15,
}


def docstring_lines(node):
    """How many lines the docstring of a module, class or function has."""
    first = node.body[0] if node.body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        return first.end_lineno - first.lineno + 1 if isinstance(first.value.value, str) else 0
    return 0


def parsed():
    return [(NAMES[path], ast.parse(path.read_text())) for path in FILES]


def above(sizes, limit):
    return {name: size for name, size in sizes.items() if size > limit}


def test_folders():
    sizes = Counter(Path(name).parent.as_posix() for name in NAMES.values())
    assert above(sizes, FILES_OF_A_FOLDER) == LARGE_FOLDERS


def test_files():
    sizes = {}
    for path, (name, tree) in zip(FILES, parsed(), strict=True):
        documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
        text = sum(docstring_lines(node) for node in ast.walk(tree) if isinstance(node, documented))
        sizes[name] = len(path.read_text().splitlines()) - text
    assert above(sizes, LINES_OF_A_FILE) == LARGE_FILES


def test_functions():
    sizes = {
        f"{name} {node.name}": node.end_lineno - node.lineno + 1 - docstring_lines(node)
        for name, tree in parsed()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name != "__init__"  # a list of parameters
    }
    assert above(sizes, LINES_OF_A_FUNCTION) == LONG_FUNCTIONS


def test_classes():
    sizes = {
        f"{name} {node.name}": sum(
            isinstance(one, ast.FunctionDef) and not one.name.startswith("__") for one in node.body
        )
        for name, tree in parsed()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    assert above(sizes, METHODS_OF_A_CLASS) == LARGE_CLASSES


def test_files_of_tests_have_names_of_their_own():
    """pytest cannot tell two files of one name apart, and stops."""
    names = [path.name for path in (SOURCE.parents[1] / "tests").rglob("test_*.py")]
    assert sorted(set(names)) == sorted(names)
