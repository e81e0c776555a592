"""The algebra: the lectures' identities, expressions kept as they are written, and refusals."""

import math

import numpy as np
import pandas
import polars
import pytest
import samples
import scipy.sparse
from numpy.testing import assert_allclose
from sklearn.decomposition import PCA
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from mercer import check_kernel
from mercer.checks import InputError, InputTypeError, KernelError
from mercer.kernels import (
    Constant,
    ExpDot,
    Gaussian,
    Intersection,
    Laplacian,
    Linear,
    Normalized,
    Polynomial,
    Power,
    Product,
    Scaled,
    SetIntersection,
    Spectrum,
    Sum,
)

X, Y = samples.rows(8, 3), samples.rows(5, 3, seed=4)
DOT = X @ Y.T


def same(kernel, wanted, rtol=1e-12):
    """K(X, Y), dense and sparse and by the definition, is the wanted matrix."""
    assert_allclose(kernel(X, Y), wanted, rtol=rtol)
    assert_allclose(kernel(scipy.sparse.csr_array(X), scipy.sparse.csr_array(Y)), wanted, rtol=rtol)
    assert_allclose(kernel.formula(X, Y), wanted, rtol=rtol)


# --- the lectures' rules and identities -----------------------------------------------------------


def first(X):
    return np.asarray(X[:, [0]].todense() if scipy.sparse.issparse(X) else X[:, [0]])[:, 0]


def second(X):
    return first(X[:, [1]])


def third(X):
    return first(X[:, [2]])


def bell(X):
    """exp(-||x||**2 / 2) of every row."""
    squares = X.power(2) if scipy.sparse.issparse(X) else X**2
    return np.exp(-np.asarray(squares.sum(axis=1)).ravel() / 2)


def test_the_four_rules():
    """Lecture A6: a constant; f(x) K f(x'); a sum; a product."""
    f, g = bell(X)[:, None], bell(Y)[None, :]
    K, L = Gaussian(0.3).formula(X, Y), Laplacian(0.2).formula(X, Y)
    same(Constant(2.5), np.full((8, 5), 2.5))
    same(Gaussian(0.3).rescaled(bell), f * K * g)
    same(Gaussian(0.3) + Laplacian(0.2), K + L)
    same(Gaussian(0.3) * Laplacian(0.2), K * L)


def test_the_dot_product_from_the_rules():
    """Lecture A7: x.x' = sum_j x_j 1 x'_j, from the constant, f and the sum."""
    one = Constant(1.0)
    same(one.rescaled(first) + one.rescaled(second) + one.rescaled(third), DOT)


def test_identities_of_the_dot_product():
    """Lecture A7."""
    same(Linear() + Linear() ** 2, DOT + DOT**2)
    same(Linear().exp(), np.exp(DOT))
    same(ExpDot(1.0), np.exp(DOT))
    same((2.0 * Linear()).exp(), ExpDot(2.0).formula(X, Y))


def test_the_gaussian_from_the_rules():
    """Lecture A7: exp(-||x - x'||**2 / 2) = f(x) exp(x.x') f(x')."""
    same(Linear().exp().rescaled(bell), Gaussian(gamma=0.5).formula(X, Y), rtol=1e-11)
    same(ExpDot(1.0).normalized(), Gaussian(gamma=0.5).formula(X, Y), rtol=1e-11)


def test_combining_kernels():
    """Lecture B8: c1 K1 + c2 K2, K1 K2, and the cosine K / sqrt(K(x,x) K(y,y))."""
    K, L = DOT, Gaussian(0.3).formula(X, Y)
    same(2.0 * Linear() + 0.5 * Gaussian(0.3), 2.0 * K + 0.5 * L)
    same(Linear() * Gaussian(0.3), K * L)
    lengths = np.sqrt(np.outer((X**2).sum(axis=1), (Y**2).sum(axis=1)))
    same(Linear().normalized(), K / lengths)
    same(0.0 * Linear() + Gaussian(0.3), L)


def test_an_old_kernel_on_a_new_representation():
    """Lecture B8, with any function or any fitted transformer."""
    scaler, pca = StandardScaler().fit(X), PCA(2).fit(X)
    for phi, change in ((scaler, scaler.transform), (pca, pca.transform), (np.abs, np.abs)):
        kernel = Gaussian(0.4).of(phi)
        wanted = Gaussian(0.4).formula(change(X), change(Y))
        assert_allclose(kernel(X, Y), wanted, rtol=1e-12)
        assert_allclose(kernel.formula(X, Y), wanted, rtol=1e-12)
    words = Linear().of(lambda texts: [[len(t), t.count("a")] for t in texts])
    assert_allclose(words(["abab", ""], ["aa"]), [[4 * 2 + 2 * 2], [0]])
    nested = Intersection().of(np.abs).of(lambda X: X - 1)
    assert_allclose(nested(X, Y), Intersection().formula(abs(X - 1), abs(Y - 1)), rtol=1e-12)


@pytest.mark.parametrize("library", [pandas, polars])
def test_a_transformer_that_knows_columns_by_name(library):
    frame = library.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    only_b = FunctionTransformer(lambda table: table[["b"]]).fit(frame)
    wanted = np.outer(X[:, 1], X[:, 1])
    assert_allclose(Linear().of(only_b)(frame), wanted, rtol=1e-12)
    assert_allclose((2 * Linear().of(only_b) ** 2 + 1)(frame), 2 * wanted**2 + 1, rtol=1e-12)
    scaler = StandardScaler().fit(frame)  # it warns when names are missing, and warnings are errors
    wanted = Gaussian(0.4).formula(StandardScaler().fit_transform(X[:, :2]))
    assert_allclose(Gaussian(0.4).of(scaler)(frame), wanted, rtol=1e-12)


def test_squared_dot_product_and_sigma():
    """Lecture C3: (u'v)**2, and exp(-||u-v||**2 / (2 sigma**2))."""
    same(Polynomial(2, coef0=0.0), DOT**2)
    same(Linear() ** 2, DOT**2)
    squares = ((X[:, None] - Y[None]) ** 2).sum(axis=2)
    same(Gaussian(sigma=1.7), np.exp(-squares / (2 * 1.7**2)))


def test_entrywise_products_stay_mercer_and_matrix_products_need_not():
    """Lecture D2: on the points (1, 0) and (0, 1), k1 = x_1 y_1 and k2 = 1."""
    points = np.eye(2)
    one, two = Linear().on([0]), Constant(1.0)
    K, L = one(points), two(points)
    assert check_kernel(one, points).is_psd
    assert check_kernel(two, points).is_psd
    assert_allclose((one * two)(points), K * L, atol=0)
    assert check_kernel(one * two, points).is_psd
    assert_allclose(K @ L, [[1, 1], [0, 0]])
    assert not check_kernel(K @ L).is_symmetric
    found = check_kernel((K @ L + L @ K) / 2)
    assert not found.is_psd
    assert found.min_eigenvalue == pytest.approx((1 - math.sqrt(2)) / 2, rel=1e-14)


def test_entrywise_products_of_random_kernels_are_mercer():
    kernels = [Linear(), Polynomial(2), Gaussian(0.3), Laplacian(0.5), ExpDot(0.1)]
    for one in kernels:
        for two in kernels:
            assert check_kernel(one * two, X).is_psd, (one, two)


def test_a_narrow_gaussian_tends_to_the_identity():
    """Lecture D3: K -> I as gamma grows, by exp(-gamma) for points at distance 1 and more."""
    grid = np.array([[i, j] for i in range(4) for j in range(4)], dtype=float)
    gaps = [np.abs(Gaussian(gamma)(grid) - np.eye(16)).max() for gamma in (1.0, 5.0, 25.0, 800.0)]
    assert_allclose(gaps, np.exp([-1.0, -5.0, -25.0, -800.0]), rtol=1e-12)
    assert gaps[-1] == 0.0


def test_a_wide_gaussian_is_linear_in_the_squared_distance():
    """Lecture D3: (1 - K) / gamma -> ||x - y||**2, with an error proportional to gamma."""
    squares = ((X[:, None] - Y[None]) ** 2).sum(axis=2)
    for gamma in (1e-3, 1e-5):
        found = (1.0 - Gaussian(gamma)(X, Y)) / gamma
        assert_allclose(found, squares, atol=gamma * float((squares**2).max()))


def test_length_distance_and_cosine_from_dot_products():
    """Lecture E1: in the plain space, and the same in H through an explicit map."""
    for kernel, phi, psi in (
        (Linear(), X, Y),
        (Polynomial(2), Polynomial(2).features(X), Polynomial(2).features(Y)),
    ):
        lengths, others = np.linalg.norm(phi, axis=1), np.linalg.norm(psi, axis=1)
        assert_allclose(np.sqrt(kernel.diag(X)), lengths, rtol=1e-13)
        gaps = np.linalg.norm(phi[:, None] - psi[None], axis=2)
        assert_allclose(kernel.distance(X, Y), gaps, rtol=1e-11)
        assert_allclose(kernel.distance(X, Y, squared=True), gaps**2, rtol=1e-11)
        cosines = phi @ psi.T / np.outer(lengths, others)
        assert_allclose(kernel.normalized()(X, Y), cosines, rtol=1e-12)


# --- expressions stay as they are written ---------------------------------------------------------

A, B, C = Linear(), Gaussian(0.3), Polynomial(2, 0.5)
EXPRESSIONS = [
    lambda a, b, c: a + b + c,
    lambda a, b, c: a * b * c,
    lambda a, b, c: a * b + c,
    lambda a, b, c: a * (b + c),
    lambda a, b, c: (a + b) * c,
    lambda a, b, c: (a + b) * (b + c),
    lambda a, b, c: a + b * c + a * b,
    lambda a, b, c: 2 * (a + b) * 3 + 1,
    lambda a, b, c: 2 * (a + 3 * (b + 0.5 * c)),
    lambda a, b, c: (a + 1) ** 2 * b + c,
    lambda a, b, c: (2 * a) ** 3 + (b * c) ** 2,
    lambda a, b, c: ((a + b) ** 2 + c) ** 2,
    lambda a, b, c: (a * (b + c * (a + b))) / 4,
    lambda a, b, c: 1 + a + 1 + b,
    lambda a, b, c: a + a * a + a,
    lambda a, b, c: 0.5 * a * b + c * 0.25,
]


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=lambda build: repr(build(A, B, C)))
def test_an_expression_of_kernels_is_the_expression_of_their_matrices(expression):
    kernel = expression(A, B, C)
    wanted = expression(*(k.formula(X, Y) for k in (A, B, C)))
    same(kernel, wanted)
    assert_allclose(kernel.diag(X), expression(*(k.diag(X) for k in (A, B, C))), rtol=1e-12)


def test_sums_and_products_are_flat_and_ordered():
    for kind, join in ((Sum, lambda a, b: a + b), (Product, lambda a, b: a * b)):
        flat = kind((A, B, C))
        assert join(join(A, B), C) == join(A, join(B, C)) == flat
        assert flat.terms == (A, B, C)
        assert join(B, A) != join(A, B)
        assert kind((kind((A, B)), kind((C, A)))).terms == (A, B, C, A)
    assert (1 + A).terms == (Constant(1.0), A)
    assert (A + 1 + B).terms == (A, Constant(1.0), B)


def test_the_sum_of_a_list():
    assert sum([A, B, C]) == A + B + C
    assert sum([A]) == A


def test_a_sum_in_a_product_and_a_product_in_a_sum_keep_their_place():
    assert (A * (B + C)).terms == (A, B + C)
    assert (A + B * C).terms == (A, B * C)
    assert Scaled(A + B, 2.0) == (2 * (A + B))
    assert Scaled(A * B, 2.0) == (A * B * 2)
    assert (2 * A * B).terms == (2 * A, B)


def test_what_may_be_simplified_is():
    assert 2 * (3 * A) == 6 * A == A * 6
    assert (A**2) ** 3 == A**6
    assert A / 4 == 0.25 * A
    assert A**2.0 == A**2
    assert isinstance(A.normalized(), Normalized)
    assert isinstance(A**1, Power)


@pytest.mark.parametrize("number", [2, 2.0, np.float64(2), np.float32(2), np.int64(2), np.uint8(2)])
def test_numbers_of_any_kind_on_either_side(number):
    assert number * A == A * number == Scaled(A, 2.0)
    assert number + A == Sum((Constant(2.0), A))
    assert A + number == Sum((A, Constant(2.0)))
    assert A / number == Scaled(A, 0.5)
    assert type((number * A).coef) is float


# --- what is no kernel is refused, with the reason ------------------------------------------------

REFUSED = [
    (lambda: -A, KernelError, r"a kernel has no negative .*not Mercer.*; got -\(Linear\(\)\)"),
    (lambda: A - B, KernelError, r"added, not subtracted .*; got Linear\(\) - Gaussian"),
    (lambda: A - 1, KernelError, r"added, not subtracted .*need not be Mercer"),
    (lambda: 1 - A, KernelError, r"added, not subtracted .*; got 1 - Linear\(\)"),
    (lambda: -0.5 * A, InputError, r"a coefficient must be .* at least 0; got -0.5. A negative"),
    (lambda: A * -1, InputError, r"negative coefficient breaks the Mercer property"),
    (lambda: np.float64(-1) * A, InputError, r"negative coefficient breaks the Mercer property"),
    (
        lambda: A + -1,
        InputError,
        r"Constant: c must be .* at least 0; got -1.*negative eigenvalues",
    ),
    (lambda: math.nan * A, InputError, r"a coefficient must be a finite number"),
    (lambda: A / 0, InputError, r"Linear: divisor must be a finite number above 0; got 0"),
    (lambda: A / -2, InputError, r"Linear: divisor must be a finite number above 0; got -2"),
    (lambda: A**0.5, InputTypeError, r"an exponent must be a whole number.*K\*\*0.5 can have neg"),
    (lambda: A**-1, InputError, r"an exponent must be .* at least 1; got -1. Other powers break"),
    (lambda: A**0, InputError, r"an exponent must be a whole number at least 1; got 0"),
    (lambda: A**B, InputTypeError, r"an exponent must be a whole number"),
    (lambda: A**1001, InputError, r"an exponent must be .* at most 1000; got 1001"),
    (lambda: (A**100) ** 11, InputError, r"an exponent must be .* at most 1000; got 1100"),
    (lambda: Polynomial(2, coef0=-1), InputError, r"negative coef0 breaks the Mercer property"),
    (lambda: A + "1", InputTypeError, r"kernels combine with kernels and numbers; got '1'"),
    (lambda: A + True, InputTypeError, r"Constant: c must be a finite number"),
    (lambda: [1, 2] * A, InputTypeError, r"a coefficient must be a finite number .*; got \[1, 2\]"),
    (lambda: np.ones(2) * A, InputTypeError, r"a coefficient must be a finite number"),
    (lambda: A + Spectrum(2), KernelError, r"Sum: its terms must take the same points; got rows"),
    (lambda: Spectrum(2) * SetIntersection(), KernelError, r"Product: its terms must take the sam"),
    (lambda: A.on("a") + A, KernelError, r"a data frame with named columns and rows of numbers"),
]


@pytest.mark.parametrize(("make", "error", "match"), REFUSED, ids=[match for *_, match in REFUSED])
def test_what_breaks_the_mercer_property_is_refused(make, error, match):
    with pytest.raises(error, match=match) as caught:
        make()
    assert isinstance(caught.value, ValueError)


def test_functions_must_return_one_value_a_point():
    with pytest.raises(
        KernelError, match=r"rescaled: f\(X\) must return one number per point.*\(8,\)"
    ):
        A.rescaled(lambda X: X)(X)
    with pytest.raises(KernelError, match=r"of: phi\(X\) must keep the 8 points; got 1"):
        A.of(lambda X: X[:1])(X)
    with pytest.raises(InputError, match=r"Linear.of: .*NaN in row 0"):
        A.of(lambda X: X * np.nan)(X)


def test_columns_must_exist():
    with pytest.raises(InputError, match=r"Linear: X must have the column 3; got 3 columns"):
        A.on([0, 3])(X)
    with pytest.raises(
        InputError, match=r"column 'agee'; got columns age, dose. Did you mean 'age'"
    ):
        A.on("agee")(pandas.DataFrame({"age": [1.0], "dose": [2.0]}))
    with pytest.raises(InputTypeError, match=r"Linear|On"):
        A.on("age")(X)
    with pytest.raises(InputTypeError, match=r"On: X must be"):
        Spectrum(2).on(0)(["ab", "cd"])
    assert_allclose(A.on(-1)(X, Y), np.outer(X[:, 2], Y[:, 2]), rtol=1e-12)
    # The outer choice comes first: column 1 of columns (2, 0) is column 0.
    assert_allclose(A.on([1]).on([2, 0])(X, Y), np.outer(X[:, 0], Y[:, 0]), rtol=1e-12)
