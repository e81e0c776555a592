"""Every script: its form, that it draws without a warning, and that none is left without a test."""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

import mercer.kernels
from mercer.kernels import CountKernel, Kernel, PairKernel

EXAMPLES = Path(__file__).parents[2] / "examples"
SCRIPTS = sorted(path.relative_to(EXAMPLES).as_posix()[:-3] for path in EXAMPLES.rglob("*.py"))
DRAWN = [name for name in SCRIPTS if name != "lectures/lecture_identities"]

# Smaller sizes than those of the pictures, where these take long.
SMALL = {
    "lectures/polynomial_regressions": {"draws": 1},
    "lectures/principal_components": {"n": 80},
    "lectures/neighbors_and_prototypes": {"new": 50},
    "lectures/gamma_contours": {"steps": 30},
    "lectures/random_features": {"points": 20, "repeats": 2, "n": 100, "widths": (8, 16)},
    "lectures/risk_tradeoff": {"n": 300, "steps": 5},
    "lectures/kernel_weights": {"n": 60, "gap": 0.1},
    "lectures/mnist_full_kernel": {"rows": 150},
    "objects/trees": {"each": 6},
    "objects/images": {"each": 8},
    "objects/series": {"each": 6},
    "objects/fisher": {"each": 8},
    "models/clusters": {"n": 60},
    "models/relevant_columns": {"n": 40},
    "models/tuning_surface": {"n": 40, "steps": 3},
    "models/digits_embedding": {"n": 80},
    "models/probabilities": {"n": 60},
    "models/uncertainty": {"n": 40, "new": 50},
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_form(name):
    text = (EXAMPLES / f"{name}.py").read_text()
    title, underline = ast.get_docstring(ast.parse(text)).splitlines()[:2]
    assert re.fullmatch("=+", underline)
    assert len(underline) >= len(title)
    assert 'if __name__ == "__main__":' in text
    if name in DRAWN:
        assert "\n# %%\n" in text
        assert f'/ "{Path(name).name}.png")' in text


@pytest.mark.parametrize("folder", ["", "lectures", "objects", "models"])
def test_folders_have_a_header(folder):
    text = (EXAMPLES / folder / "GALLERY_HEADER.rst").read_text()
    assert re.match(r".+\n[=-]+\n\n", text)


@pytest.mark.parametrize("name", DRAWN)
def test_it_draws(name, load, request):
    script = load(name)
    request.addfinalizer(lambda: plt.close("all"))
    figure = script.draw(script.numbers(**SMALL.get(name, {})))
    assert figure.number in plt.get_fignums()  # where the gallery finds it
    assert all(ax.has_data() or not ax.axison or ax.texts for ax in figure.axes)


def test_every_script_has_a_test_of_its_numbers():
    tested = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    assert [name for name in SCRIPTS if f'load("{name}")' not in tested] == []


def test_every_kernel_of_objects_is_shown():
    found = {
        name
        for name in mercer.kernels.__all__
        if inspect.isclass(kind := getattr(mercer.kernels, name))
        and issubclass(kind, Kernel)
        and kind not in (CountKernel, PairKernel)
        and {"objects", "graphs", "fisher"} & set(kind.__module__.split("."))
    }
    assert len(found) >= 18
    shown = "".join(path.read_text() for path in (EXAMPLES / "objects").glob("*.py"))
    assert [name for name in found if not re.search(rf"\b{name}\(", shown)] == []


def test_a_script_writes_its_picture(tmp_path):
    script = EXAMPLES / "models" / "validity.py"
    command = [sys.executable, script, tmp_path / "new"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "not positive semi-definite" in done.stdout
    assert (tmp_path / "new" / "validity.png").read_bytes().startswith(b"\x89PNG")
