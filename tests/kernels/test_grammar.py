"""Text and back: what `repr` and `spec` write is read again, and nothing else is."""

import dataclasses
import json
import pickle

import pytest
import samples

from mercer import parse
from mercer.checks import InputError, InputTypeError, KernelError, MercerError, ParseError
from mercer.kernels import (
    Categorical,
    Chi2,
    Constant,
    ExpDot,
    FunctionKernel,
    Gaussian,
    HashGraph,
    Intersection,
    Laplacian,
    Linear,
    Matern,
    NormalizedIntersection,
    Periodic,
    Polynomial,
    Precomputed,
    RandomWalk,
    RationalQuadratic,
    SetIntersection,
    ShortestPath,
    Sigmoid,
    Spectrum,
    Tanimoto,
    WeisfeilerLehman,
    from_spec,
)
from mercer.kernels.grammar import constructors

FUNCTIONS = {
    "halved": samples.halved,
    "shrinking": samples.shrinking,
    "row_product": samples.row_product,
}

# --- round trips ----------------------------------------------------------------------------------

TEXTS = [
    (Constant(), "Constant()"),
    (Constant(2.5), "Constant(c=2.5)"),
    (Linear(), "Linear()"),
    (Polynomial(), "Polynomial()"),
    (Polynomial(2, "scale", 0), "Polynomial(degree=2, gamma='scale', coef0=0.0)"),
    (ExpDot(0.1), "ExpDot(gamma=0.1)"),
    (Sigmoid(1e-7, -1.5), "Sigmoid(gamma=1e-07, coef0=-1.5)"),
    (Gaussian(), "Gaussian()"),
    (Gaussian(0.05), "Gaussian(gamma=0.05)"),
    (Gaussian("auto"), "Gaussian(gamma='auto')"),
    (Gaussian([1, 0.25]), "Gaussian(gamma=(1.0, 0.25))"),
    (Gaussian([3]), "Gaussian(gamma=(3.0,))"),
    (Laplacian(1e300), "Laplacian(gamma=1e+300)"),
    (Matern(0.5, [1, 2]), "Matern(nu=0.5, length_scale=(1.0, 2.0))"),
    (RationalQuadratic(2), "RationalQuadratic(alpha=2.0)"),
    (Periodic(7, 0.5), "Periodic(period=7.0, length_scale=0.5)"),
    (Intersection(), "Intersection()"),
    (NormalizedIntersection(), "NormalizedIntersection()"),
    (Chi2(2), "Chi2(gamma=2.0)"),
    (Categorical(0.5), "Categorical(gamma=0.5)"),
    (SetIntersection(), "SetIntersection()"),
    (Tanimoto(), "Tanimoto()"),
    (Spectrum(3), "Spectrum(3)"),
    (Spectrum(3, blended=True), "Spectrum(3, blended=True)"),
    (Precomputed(), "Precomputed()"),
    (FunctionKernel(samples.row_product), "FunctionKernel(row_product)"),
    (
        FunctionKernel(samples.row_product, pairwise=True),
        "FunctionKernel(row_product, pairwise=True)",
    ),
    (ShortestPath(), "ShortestPath()"),
    (ShortestPath(Gaussian(0.5)), "ShortestPath(node_kernel=Gaussian(gamma=0.5))"),
    (
        RandomWalk(0.5, 2, 0.5 * Linear() + 1),
        "RandomWalk(0.5, steps=2, node_kernel=0.5*Linear() + 1.0)",
    ),
    (
        RandomWalk(0.5, node_kernel=(Linear() + 1) ** 2),
        "RandomWalk(0.5, node_kernel=(Linear() + 1.0)**2)",
    ),
    (
        ShortestPath(FunctionKernel(samples.row_product).normalized().on([1, 0])),
        "ShortestPath(node_kernel=FunctionKernel(row_product).normalized().on([1, 0]))",
    ),
    (
        HashGraph(WeisfeilerLehman(1), (0.5, 1.0), 5, 7),
        "HashGraph(base=WeisfeilerLehman(rounds=1), gamma=(0.5, 1.0), n_hashes=5, seed=7)",
    ),
    (2 * Linear(), "2.0*Linear()"),
    (Linear() ** 3, "Linear()**3"),
    (Linear().exp(), "Linear().exp()"),
    (Linear().normalized(), "Linear().normalized()"),
    (Linear().on("it's"), 'Linear().on("it\'s")'),
    (Linear().on("both ' and \"\n\\"), "Linear().on('both \\' and \"\\n\\\\')"),
    (Linear().on([0, -1]), "Linear().on([0, -1])"),
    (Linear().on(2), "Linear().on(2)"),
    (Linear().on(["größe", "価格"]), "Linear().on(['größe', '価格'])"),
    (Linear().of(samples.halved), "Linear().of(halved)"),
    (Linear().rescaled(samples.shrinking), "Linear().rescaled(shrinking)"),
    (
        0.7 * Gaussian(gamma=0.05) + 0.3 * (Linear() + 1) ** 2,
        "0.7*Gaussian(gamma=0.05) + 0.3*(Linear() + 1.0)**2",
    ),
    (1 + Linear() + 2, "Constant() + Linear() + 2.0"),
    (Linear() * (Linear() + 1), "Linear()*(Linear() + 1.0)"),
    ((Linear() + 1) * Linear(), "(Linear() + 1.0)*Linear()"),
    (Linear() * Linear() + 1, "Linear()*Linear() + 1.0"),
    (2 * (Linear() * Linear()), "2.0*(Linear()*Linear())"),
    (2 * Linear() * Linear(), "2.0*Linear()*Linear()"),
    (Linear() * (2 * Linear()), "Linear()*(2.0*Linear())"),
    (2 * Linear() ** 2, "2.0*Linear()**2"),
    (Linear() * Linear() ** 2, "Linear()*Linear()**2"),
    ((2 * Linear()) ** 2, "(2.0*Linear())**2"),
    ((Linear() * Linear()) ** 2, "(Linear()*Linear())**2"),
    ((Linear() + 1).exp().normalized(), "(Linear() + 1.0).exp().normalized()"),
    ((Linear() ** 2).exp() ** 2, "(Linear()**2).exp()**2"),
    (2 * (Linear() + 1), "2.0*(Linear() + 1.0)"),
    (Constant(2) * Linear(), "Constant(c=2.0)*Linear()"),
    (Constant(2) + Constant(3), "Constant(c=2.0) + 3.0"),
    (Constant(2) ** 2, "Constant(c=2.0)**2"),
    (
        (Spectrum(3).on("dna") + Gaussian().on(["age", "dose"])).normalized() ** 2,
        "(Spectrum(3).on('dna') + Gaussian().on(['age', 'dose'])).normalized()**2",
    ),
    (
        2 * (Linear() + 3 * (Linear() * (Gaussian(1.0) + 1)).exp()).on([0, 1]),
        "2.0*(Linear() + 3.0*(Linear()*(Gaussian(gamma=1.0) + 1.0)).exp()).on([0, 1])",
    ),
]


@pytest.mark.parametrize(("kernel", "text"), TEXTS, ids=[text for _, text in TEXTS])
def test_repr_reads_like_the_formula_and_is_read_back(kernel, text):
    assert repr(kernel) == text
    again = parse(text, FUNCTIONS)
    assert again == kernel
    assert hash(again) == hash(kernel)
    assert repr(again) == text


def test_defaults_are_left_out():
    for name, kind in constructors().items():
        ours = kind.__module__.startswith("mercer.")
        if ours and all(f.default is not dataclasses.MISSING for f in dataclasses.fields(kind)):
            assert repr(kind()) == f"{name}()"
            assert parse(f"{name}()") == kind()


@pytest.mark.parametrize(("kernel", "text"), TEXTS, ids=[text for _, text in TEXTS])
def test_spec_is_json_and_is_read_back(kernel, text):
    data = json.loads(json.dumps(kernel.spec()))
    assert data["kernel"] == kernel.name
    again = from_spec(data, FUNCTIONS)
    assert again == kernel
    assert hash(again) == hash(kernel)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("  Linear ( )  ", Linear()),
        ("Gaussian(1)", Gaussian(1.0)),
        ("Gaussian(.5)", Gaussian(0.5)),
        ("Gaussian(gamma=[1, 2,],)", Gaussian((1.0, 2.0))),
        ('Gaussian("auto")', Gaussian("auto")),
        ("Gaussian(sigma=2)", Gaussian(0.125)),
        ("Polynomial(2, coef0=0)", Polynomial(2, coef0=0.0)),
        ("3e-1*Linear()", 0.3 * Linear()),
        ("Linear()*2", 2 * Linear()),
        ("Linear()*2*3", 6 * Linear()),
        ("Linear()*Linear()*2", 2 * (Linear() * Linear())),
        ("1 + Linear() + 2 + Linear()", 1 + Linear() + 2 + Linear()),
        ("((Linear()))", Linear()),
        ("(Linear() + 1) + (Linear() + 2)", Linear() + 1 + Linear() + 2),
        ("Linear()\n  + 1\n", Linear() + 1),
        ("Linear().on('a').on(0)", Linear().on("a").on(0)),
        ("Spectrum(n=2, blended=False)", Spectrum(2)),
    ],
)
def test_other_ways_to_write_it(text, wanted):
    assert parse(text) == wanted


# --- what cannot be read --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "position", "match"),
    [
        ("", 0, "expected a kernel, found the end"),
        ("   ", 3, "expected a kernel, found the end"),
        ("Linear", 6, r"expected '\(', found the end"),
        ("Linear(", 7, "expected a value"),
        ("Linear(3)", 0, "wrong arguments of Linear: it takes none"),
        ("Linear())", 8, r"unexpected '\)'"),
        ("Linear() Linear()", 9, "unexpected 'Linear'"),
        ("Linear() +", 10, "expected a kernel, found the end"),
        ("Linear() + + 1", 11, r"expected a kernel, found '\+'"),
        ("(Linear() + 1", 13, r"expected '\)', found the end"),
        ("Linear() - 1", 9, "unexpected '-'"),
        ("-1*Linear()", 0, "a negative coefficient breaks the Mercer property"),
        ("Linear() + -1", 11, "a negative coefficient breaks the Mercer property"),
        ("3", 0, "expected a kernel, found a number"),
        ("2*3*Linear()", 2, "expected a kernel, found a number"),
        ("2**2", 3, "expected a kernel, found a number"),
        ("(2).exp()", 4, "expected a kernel, found a number"),
        ("2.exp()", 2, "unexpected 'exp'"),
        ("Linear()**2**2", 11, r"unexpected '\*\*'"),
        ("Linear()**", 10, "expected a value"),
        ("Gausian(1)", 0, "unknown kernel 'Gausian'. Did you mean 'Gaussian'"),
        ("gaussian()", 0, "unknown kernel 'gaussian'. Did you mean 'Gaussian'"),
        ("Linear() + Spektrum(3)", 11, "unknown kernel 'Spektrum'. Did you mean 'Spectrum'"),
        ("Sum(1, 2)", 0, "unknown kernel 'Sum'"),
        ("CountKernel()", 0, "unknown kernel 'CountKernel'"),
        ("Kernel()", 0, "unknown kernel 'Kernel'"),
        ("Linear().normalised()", 9, "unknown method 'normalised'. Did you mean 'normalized'"),
        ("Linear().replace()", 9, "unknown method 'replace'"),
        ("Linear().__class__", 9, "unknown method '__class__'"),
        ("Linear().spec()", 9, "unknown method 'spec'"),
        ("Linear().exp(2)", 9, "wrong arguments of exp"),
        ("Gaussian(gama=1)", 0, "wrong arguments of Gaussian: it takes gamma"),
        ("Gaussian(gamma=1, gamma=2)", 18, "gamma is given twice"),
        ("Gaussian(1 2)", 11, "expected ',', found '2'"),
        ("Gaussian(gamma=)", 15, "expected a value"),
        ("Gaussian(gamma=-)", 16, "expected a number"),
        ("Gaussian([1, 2)", 14, r"expected ',', found '\)'"),
        ("Gaussian(Linear)", 9, "unknown name 'Linear'; hand it in"),
        ("Linear().of(Linear())", 12, "unknown name 'Linear'; hand it in"),
        ("ShortestPath(node_kernel=Gaussian(1)", 36, r"expected ',', found the end"),
        ("ShortestPath(node_kernel=2*Gausian(1))", 26, r"expected ',', found '\*'"),
        ("ShortestPath(node_kernel=Linear() + )", 36, r"expected a kernel, found '\)'"),
        ("Linear() & Linear()", 9, "unexpected '&'"),
        ("Linear() @ 2", 9, "unexpected '@'"),
        ("Linear().on('a)", 12, r"unexpected \"'\""),
        (r"Linear().on('\x')", 12, "a text must be a Python string"),
        (r"Linear().on('\d')", 12, "a text must be a Python string"),
        ("Linear().on('a\nb')", 12, "a text must be a Python string"),
        ("Linear().on(f'a')", 12, "unknown name 'f'"),
        (
            "Linear().of(halved)",
            12,
            r"unknown name 'halved'; hand it in: functions=\{'halved': …\}",
        ),
        ("Linear(); Linear()", 8, "unexpected ';'"),
        ("Linear() # comment", 9, "unexpected '#'"),
    ],
)
def test_a_syntax_error_marks_its_position(text, position, match):
    with pytest.raises(ParseError, match=match) as caught:
        parse(text)
    assert caught.value.position == position
    assert caught.value.text == text
    *_, shown, mark = str(caught.value).splitlines()
    assert mark == " " * (2 + position) + "^"
    assert shown[2:] == text.replace("\n", " ")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.position) == (str(caught.value), position)


@pytest.mark.parametrize(
    ("text", "error", "match"),
    [
        ("Gaussian(-1)", InputError, "Gaussian: gamma must be a finite number above 0; got -1"),
        ("Gaussian(Linear())", InputTypeError, r"Gaussian: gamma must be .*; got Linear\(\)"),
        ("ShortestPath(0.5)", InputTypeError, "ShortestPath: node_kernel must be a kernel of rows"),
        ("ShortestPath(Spectrum(2))", KernelError, "node_kernel must be a kernel of rows"),
        ("1e999*Linear()", InputError, "a coefficient must be a finite number"),
        ("Linear()**0.5", InputTypeError, "an exponent must be a whole number"),
        ("Polynomial(coef0=-1)", InputError, "negative coef0 breaks the Mercer property"),
        ("Spectrum(2) + Linear()", KernelError, "Sum: its terms must take the same points"),
        ("Polynomial(" + "9" * 5000 + ")", MercerError, "Polynomial: degree must be"),
    ],
)
def test_values_are_checked_as_everywhere(text, error, match):
    with pytest.raises(error, match=match):
        parse(text)


def test_text_must_be_text():
    with pytest.raises(InputTypeError, match=r"parse: text must be a string; got Linear\(\)"):
        parse(Linear())


ATTACKS = [
    "__import__('os').system('touch broken')",
    "Linear().__class__.__mro__",
    "eval('1')",
    "Linear().on(__import__('os').system('touch broken'))",
    "Linear().of(print('broken'))",
    "(lambda: 0)()",
    "[k for k in ()]",
    "Linear() if True else Linear()",
    "Gaussian(gamma=open('broken', 'w'))",
    "Linear().of(print)",
]


@pytest.mark.parametrize("text", ATTACKS)
def test_nothing_is_executed(text, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParseError):
        parse(text)
    assert list(tmp_path.iterdir()) == []
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "text",
    [
        "(" * 50_000,
        "(" * 101 + "Linear()" + ")" * 101,
        "Gaussian(" + "[" * 50_000,
        "Linear()" + ".exp()" * 5_000,
        "Linear()*Linear()" + "*2*Linear()" * 5_000,
        "(" * 60 + "Linear()" + ".exp())" * 60 + ".exp()" * 60,
    ],
    ids=["brackets", "closed", "lists", "methods", "products", "mixed"],
)
def test_deep_nesting_is_refused(text):
    with pytest.raises(ParseError, match="nested 100 deep at most") as caught:
        parse(text)
    assert len(str(caught.value)) < 400


def test_nesting_up_to_the_limit_is_read():
    text = "(" * 99 + "Linear()" + " + 1)" * 99
    assert len(parse(text).terms) == 100
    kernel = Linear()
    for _ in range(98):
        kernel = kernel.exp()
    assert parse(repr(kernel)) == kernel
    assert from_spec(kernel.spec()) == kernel


def test_long_text_is_read_or_refused():
    with pytest.raises(
        KernelError, match="parse: text must have at most 100000 characters; got 12"
    ):
        parse("Linear() + " * 11_000)
    assert len(parse(" + ".join(["Linear()"] * 5_000)).terms) == 5_000
    assert len(parse("*".join(["Linear()"] * 5_000)).terms) == 5_000
    with pytest.raises(ParseError, match="unexpected '!' at position 60000"):
        parse(" " * 60_000 + "!")


# --- functions and specs --------------------------------------------------------------------------


def test_functions_are_handed_in_by_name():
    kernel = parse("Linear().of(f).rescaled(g) + FunctionKernel(h)", {"f": abs, "g": len, "h": max})
    assert kernel == Linear().of(abs).rescaled(len) + FunctionKernel(max)
    spec = {"kernel": "Of", "inner": {"kernel": "Linear"}, "phi": "f"}
    assert from_spec(spec, {"f": abs}) == Linear().of(abs)
    with pytest.raises(
        KernelError, match=r"from_spec: functions must be given; got 'f'. Hand it in"
    ):
        from_spec(spec)


@pytest.mark.parametrize(
    ("spec", "match"),
    [
        ("Linear()", "a spec must be a mapping with 'kernel'; got 'Linear"),
        ({}, "a spec must be a mapping with 'kernel'"),
        ({"kernel": 3}, "a spec must be a mapping with 'kernel'"),
        ({"kernel": "Gausian"}, "the kernel must be known; got 'Gausian'. Did you mean 'Gaussian'"),
        ({"kernel": "Around", "inner": {"kernel": "Linear"}}, "the kernel must be known"),
        ({"kernel": "CountKernel"}, "the kernel must be known; got 'CountKernel'"),
        ({"kernel": "Gaussian", "gama": 1}, "fields of Gaussian are gamma; got gama"),
        ({"kernel": "Gaussian", "gamma": -1}, "Gaussian: gamma must be"),
        ({"kernel": "Spectrum"}, "Spectrum needs n, blended"),
        ({"kernel": "Scaled", "coef": 2.0}, "Scaled needs inner, coef"),
        ({"kernel": "Scaled", "inner": 3}, "a spec must be a mapping"),
        ({"kernel": "Sum"}, "Sum needs terms"),
        ({"kernel": "Sum", "terms": None}, "Sum needs terms"),
        ({"kernel": "Sum", "terms": []}, "Sum: it must have two terms or more"),
        ({"kernel": "Sum", "terms": [1, 2]}, "a spec must be a mapping"),
        ({"kernel": "FunctionKernel", "fn": 3}, "functions must be given; got 3"),
        ({"kernel": "FunctionKernel", "fn": ["f"]}, "fn must be a function"),
    ],
)
def test_a_bad_spec_is_refused(spec, match):
    with pytest.raises(MercerError, match=match):
        from_spec(spec)


def test_a_deep_spec_is_refused():
    spec = {"kernel": "Linear"}
    for _ in range(150):
        spec = {"kernel": "Exp", "inner": spec}
    with pytest.raises(KernelError, match="nested 100 deep at most"):
        from_spec(spec)
