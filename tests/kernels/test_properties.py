"""Random expressions of kernels on rows: every way to compute one agrees with its definition."""

import json

import numpy as np
import samples
import scipy.linalg
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.kernels import (
    Categorical,
    Chi2,
    Constant,
    ExpDot,
    Exponential,
    Gaussian,
    Intersection,
    Laplacian,
    Linear,
    LpNorm,
    Matern,
    NormalizedIntersection,
    Periodic,
    Polynomial,
    RationalQuadratic,
    SumPower,
    Tanimoto,
    from_spec,
    parse,
)
from mercer.testing import FLOAT32, FLOAT64

FUNCTIONS = {"halved": samples.halved, "shrinking": samples.shrinking}
WIDTH = 3

numbers = st.integers(1, 30).map(lambda n: n / 10)
small = numbers.map(lambda n: n / 10)


def each(width):
    """One number for all columns, or one for each."""
    return numbers | st.lists(numbers, min_size=width, max_size=width).map(tuple)


def leaves(width):
    """A kernel on rows of the given width, with parameters of modest size."""
    return st.one_of(
        st.builds(Constant, numbers),
        st.just(Linear()),
        st.builds(Polynomial, st.integers(1, 3), small, numbers),
        st.builds(ExpDot, small),
        st.builds(Gaussian, each(width)),
        st.builds(Laplacian, each(width)),
        st.builds(Matern, st.sampled_from([0.5, 1.5, 2.5, 0.8]), each(width)),
        st.builds(RationalQuadratic, numbers, each(width)),
        st.builds(Exponential, each(width)),
        st.builds(LpNorm, st.sampled_from([1.0, 1.5, 2.0]), st.just(1.0), each(width)),
        st.builds(
            SumPower, st.sampled_from([0.5, 1.0, 2.0]), st.integers(1, 3), st.just(0.2), each(width)
        ),
        st.builds(Periodic, each(width), numbers),
        st.builds(Categorical, each(width)),
        st.sampled_from([Intersection(), NormalizedIntersection(), Tanimoto()]),
        st.builds(Chi2, numbers),
    )


def expressions(width=WIDTH, depth=3):
    """An expression tree of bounded depth."""
    if depth == 0:
        return leaves(width)
    inner = expressions(width, depth - 1)
    columns = st.lists(st.integers(0, width - 1), min_size=1, max_size=width)
    return st.one_of(
        leaves(width),
        st.builds(lambda a, b: a + b, inner, inner),
        st.builds(lambda a, b: a * b, inner, inner),
        st.builds(lambda a, b, c: (a + b) * c, inner, inner, inner),
        st.builds(lambda c, a: c * a, numbers, inner),
        st.builds(lambda a, c: a + c, inner, numbers),
        st.builds(lambda a, n: a**n, inner, st.integers(1, 2)),
        inner.map(lambda a: a.normalized().exp()),
        inner.map(lambda a: a.normalized()),
        inner.map(lambda a: a.of(samples.halved)),
        inner.map(lambda a: a.rescaled(samples.shrinking)),
        columns.flatmap(lambda c: expressions(len(c), depth - 1).map(lambda a: a.on(c))),
    )


def rows():
    """Non-negative rows with zeros and repeats."""
    entry = st.sampled_from([0.0, 0.0, 0.1, 0.2, 0.5, 1.0, 1.1, 1.9])
    row = st.lists(entry, min_size=WIDTH, max_size=WIDTH)
    return st.lists(row, min_size=4, max_size=7).map(np.array)


def check_close(found, wanted, tolerance):
    size = max(1.0, float(np.abs(wanted).max()))
    assert found.shape == wanted.shape
    assert np.abs(found - wanted).max() <= tolerance * size


@given(expressions(), rows())
def test_every_way_to_compute_it_is_the_definition(kernel, X):
    wanted = kernel.formula(X)
    check_close(kernel(X), wanted, FLOAT64)
    check_close(kernel(X, X[1:3]), wanted[:, 1:3], FLOAT64)
    check_close(kernel(X[1:3], X), wanted[1:3], FLOAT64)
    check_close(kernel.diag(X), np.diag(wanted), FLOAT64)
    check_close(kernel(scipy.sparse.csr_array(X)), wanted, FLOAT64)
    single = X.astype(np.float32)
    assert kernel(single).dtype == np.float32
    check_close(kernel(single), kernel.formula(single.astype(np.float64)), FLOAT32)


@given(expressions(), rows())
def test_it_is_mercer(kernel, X):
    K = kernel.formula(X)
    check_close(K, K.T, FLOAT64)
    values = scipy.linalg.eigvalsh((K + K.T) / 2)
    assert values[0] >= -1e-12 * len(K) * max(1.0, values[-1])


@settings(max_examples=500)
@given(expressions())
def test_it_is_read_back_from_text_and_from_json(kernel):
    for again in (
        parse(repr(kernel), FUNCTIONS),
        from_spec(json.loads(json.dumps(kernel.spec())), FUNCTIONS),
        kernel.replace(**kernel.get_params()),
    ):
        assert again == kernel
        assert hash(again) == hash(kernel)
        assert repr(again) == repr(kernel)


@given(expressions(depth=1), expressions(depth=1), expressions(depth=1), rows())
def test_expressions_of_kernels_are_expressions_of_matrices(a, b, c, X):
    K, L, M = a.formula(X), b.formula(X), c.formula(X)
    check_close((a * (b + c))(X), K * (L + M), FLOAT64)
    check_close((a * b + 2 * c)(X), K * L + 2 * M, FLOAT64)
    check_close(((a + b) ** 2 * c + 1)(X), (K + L) ** 2 * M + 1, FLOAT64)


@given(expressions(depth=2), rows())
def test_explicit_features_give_the_kernel(kernel, X):
    if not kernel.has_map():
        assert kernel.basis(X) is None
        return
    basis = kernel.basis(X[:2])
    if basis.width > 5000:
        return
    old, new = kernel.features(X[:2], basis), kernel.features(X, basis)
    check_close(np.asarray(new @ old.T), kernel.formula(X, X[:2]), FLOAT64)
