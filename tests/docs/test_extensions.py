"""Formulas, indices, links and members, as the site shows them."""

import formulas
import indices
import mathml
import members
import pytest
import repository
from docutils import nodes

from mercer.kernels import Kernel

# --- indices --------------------------------------------------------------------------------------


def marked(text):
    """A text with its indices in square brackets and its powers in braces."""
    frame = {"subscript": "[{}]", "superscript": "{{{}}}"}
    pieces = indices.pieces(text)
    return "".join(frame.get(one.tagname, "{}").format(one.astext()) for one in pieces)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Σ_i w_i ‖φ(x_i)‖²", "Σ[i] w[i] ‖φ(x[i])‖²"),
        ("K_zz⁻¹, λ_min, slope_j, beta_ic", "K[zz]⁻¹, λ[min], slope[j], beta[ic]"),
        ("2γ_c − 2K_ij", "2γ[c] − 2K[ij]"),
        ("Σ_{j in c} w_j", "Σ[j in c] w[j]"),
        ("2^−L, 2^−(i+1), d^(1/p), W^½1", "2{−L}, 2{−(i+1)}, d{1/p}, W{½}1"),
        ("||x - y||**2 and L**-1", "||x - y||{2} and L{-1}"),
        ("decay^|u|, x_1**a_1", "decay{|u|}, x[1]{a_1}"),
        ("NAME_A.txt", "NAME_A.txt"),
        ("n_jobs, max_iter, n_features_in_, coef_", "n_jobs, max_iter, n_features_in_, coef_"),
    ],
)
def test_indices_and_powers(text, expected):
    assert marked(text) == expected


# --- formulas in docstrings -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("|A ∩ B| / |A ∪ B|", r"\|A ∩ B\| / \|A ∪ B\|"),
        ("with coef_ and `coef_`", r"with coef\_ and `coef_`"),
        ("``a | b`` and x_i", "``a | b`` and x_i"),
        ('.. [1] B. Schölkopf, "Learning"', r'.. [1] B\. Schölkopf, "Learning"'),
    ],
)
def test_what_is_meant_as_it_stands(line, expected):
    assert formulas.plain(line) == expected


def test_code_in_a_docstring_stays():
    lines = ["|x|", "::", "", "    |x|", "", "|x|", ">>> a | b", "|c|", "", "|x|"]
    escaped = [r"\|x\|", "::", "", "    |x|", "", r"\|x\|", ">>> a | b", "|c|", "", r"\|x\|"]
    assert formulas.protect(lines) == escaped


# --- MathML ---------------------------------------------------------------------------------------


def test_a_formula_becomes_mathml():
    found = mathml.mathml(r"\frac{1}{2} \|f\|^2", nodes.math(), block=True)
    assert found.startswith("<math ")
    assert "<mfrac>" in found
    assert found.count('<mo stretchy="false">‖</mo>') + found.count("<mo>‖</mo>") == 2


def test_bars_grow_where_they_are_told_to():
    found = mathml.mathml(r"a + \left\| f \right\| + \|g\|", nodes.math(), block=True)
    assert found.count("<mo>‖</mo>") == 2
    assert found.count('<mo stretchy="false">‖</mo>') == 2


def test_a_formula_that_is_not_understood_is_a_warning(monkeypatch):
    told = []
    monkeypatch.setattr(mathml.logger, "warning", lambda text, *args, **more: told.append(args))
    found = mathml.mathml(r"\nosuchcommand{x} < 1", nodes.math(), block=False)
    assert found == r"<code>\nosuchcommand{x} &lt; 1</code>"
    assert len(told) == 1


# --- links ----------------------------------------------------------------------------------------

DOCS, ROOT = repository.DOCS, repository.ROOT


@pytest.mark.parametrize(
    ("written", "shown", "link", "expected"),
    [
        ("docs/svm.md", "docs/svm.md", "ridge.md#cost", "ridge.md#cost"),
        ("docs/svm.md", "docs/svm.md", "../CHANGELOG.md", "changelog.md"),
        ("docs/how-to/a.md", "docs/how-to/a.md", "../svm.md", "../svm.md"),
        ("docs/svm.md", "docs/svm.md", "../README.md", "index.md"),
        ("docs/svm.md", "docs/svm.md", "decisions/", "decisions/index.md"),
        ("docs/svm.md", "docs/svm.md", "../examples/a/b.py", "gallery/a/b.rst"),
        ("SECURITY.md", "docs/security.md", "docs/model-files.md", "model-files.md"),
        ("SECURITY.md", "docs/security.md", "CHANGELOG.md", "changelog.md"),
        ("docs/svm.md", "docs/svm.md", "https://no.such.host/a.md", "https://no.such.host/a.md"),
    ],
)
def test_links(written, shown, link, expected):
    found = repository.rewrite(f"see [this]({link}).", ROOT / written, ROOT / shown)
    assert found == f"see [this]({expected})."


def test_links_called_by_their_file_are_called_by_the_title():
    page = DOCS / "svm.md"
    assert repository.rewrite("[ridge.md](ridge.md#cost)", page, page) == "[](ridge.md#cost)"


def test_links_in_code_stay():
    text = "```python\nx = f[1](a.md)\n```\n"
    assert repository.rewrite(text, ROOT / "a.md", DOCS / "b.md") == text


# --- members --------------------------------------------------------------------------------------

SHOWN = members.Shown()


def test_a_learner_shows_its_methods_and_those_of_its_parents_here():
    assert {"fit", "predict", "predict_proba"} <= set(SHOWN.methods("mercer.SVC"))
    assert "coef_" in SHOWN.properties("mercer.SVC")
    assert "get_params" not in SHOWN.methods("mercer.SVC")
    assert "get_params" in SHOWN.from_scikit_learn("mercer.SVC")


def test_a_kernel_shows_what_it_adds():
    assert SHOWN.methods("mercer.kernels.Gaussian") == []
    assert SHOWN.is_kernel("mercer.kernels.Gaussian")
    assert "distance" in SHOWN.methods("mercer.kernels.Kernel")
    assert not SHOWN.is_kernel("mercer.kernels.Kernel")
    assert members.find("mercer.kernels.Kernel") is Kernel
