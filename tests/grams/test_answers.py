"""Quick answers for a few rows: the same numbers as the Gram of these rows, or none."""

import copy
import pickle
import threading

import numpy as np
import pytest
import scipy.sparse

from mercer import _native
from mercer.checks import InputError, MemoryLimitError
from mercer.grams import TopK, prepare
from mercer.grams.answers import MOST_PRODUCTS, answers_of
from mercer.grams.finite import constant_diagonal
from mercer.inputs import Matrix
from mercer.kernels import (
    Categorical,
    Chi2,
    Constant,
    ExpDot,
    FunctionKernel,
    Gaussian,
    Intersection,
    Laplacian,
    Linear,
    Matern,
    NormalizedIntersection,
    Periodic,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
)

random = np.random.default_rng(0)
POINTS = random.random((700, 5)) + 0.1
NEW = random.random((37, 5)) + 0.1
V = random.normal(size=(700, 3))

ELIGIBLE = [
    Linear(),
    Polynomial(3, 0.5, 1.0),
    ExpDot(0.3),
    Sigmoid(0.5, -0.3),
    Gaussian(0.7),
    Gaussian((1.0, 0.0, 2.0, 0.5, 1.0)),
    Laplacian(0.4),
    Laplacian((1.0, 0.0, 2.0, 0.5, 1.0)),
    Matern(0.5, 1.0),
    Matern(1.5, 1.0),
    RationalQuadratic(2.0, 1.0),
    Intersection(),
    NormalizedIntersection(),
    Chi2(0.5),
    Categorical(),
    Gaussian(0.7) + 2.0 * Linear(),
    Gaussian(0.1) * Laplacian(0.2) + 3.0,
    Polynomial(2, 1.0, 1.0).normalized(),
    Gaussian(0.5).rescaled(lambda X: X[:, 0] + 1.0),
    Linear() ** 3,
]
OTHERS = [
    Gaussian(0.7).on([0, 2]),
    Matern(0.8, 1.0),  # a Bessel function is left to SciPy
    Constant(2.0),
    FunctionKernel(lambda X, Y: X @ Y.T),
]
PRECISIONS = [("f8", "f8"), ("f8", "f4"), ("f4", "f8"), ("f4", "f4")]


def ready(prepared, rows, limit="auto", part=None):
    return answers_of(prepared.kernel, prepared.view, rows.dtype, limit, part)


@pytest.mark.parametrize("precisions", PRECISIONS)
@pytest.mark.parametrize("kernel", ELIGIBLE, ids=repr)
def test_the_numbers_are_those_of_the_gram(kernel, precisions):
    fitted, new = precisions
    prepared, rows = prepare(kernel, POINTS.astype(fitted)), Matrix(NEW.astype(new))
    quick = ready(prepared, rows)
    for count in (1, 7, min(37, quick.most_rows)):
        some = rows.take(slice(0, count))
        K = prepared.gram(some, use="rows")
        assert quick.dtype == K.dtype
        assert np.array_equal(quick.multiply(some, V), K @ V)
        assert np.array_equal(quick.multiply(some, V[:, 0]), K @ V[:, 0])
        for shift in (None, np.linspace(0, 1, 700)):
            found, wanted = quick.top(some, 6, shift), K.reduce(TopK(6, shift))
            assert np.array_equal(found[0], wanted[0])
            assert np.array_equal(found[1], wanted[1])
    some = rows.take(slice(0, 2))
    definition = kernel.formula(some.values, POINTS.astype(fitted)) @ V
    close = 1e-10 if K.dtype == np.float64 else 1e-4
    assert np.allclose(prepared.times(some, V), definition, rtol=close, atol=close * 100)


@pytest.mark.parametrize("kernel", OTHERS, ids=repr)
def test_what_needs_more_than_rows_is_left_to_the_gram(kernel):
    prepared, rows = prepare(kernel, POINTS), Matrix(NEW)
    assert ready(prepared, rows) is None
    assert np.array_equal(prepared.times(rows, V), prepared.gram(rows, use="once") @ V)


def test_parts_of_the_points():
    prepared, rows = prepare(Gaussian(0.7), POINTS), Matrix(NEW)
    parts = [slice(0, 100), slice(100, 101), slice(101, 700)]
    Vs = [V[part] for part in parts]
    assert all(ready(prepared, rows, part=part) is not None for part in parts)
    cells = prepared.gram(rows, use="once").cells([slice(None)], parts)[0]
    for found, cell, own in zip(prepared.times_parts(rows, parts, Vs), cells, Vs, strict=True):
        assert np.array_equal(found, cell @ own)
    turned = Matrix(np.asfortranarray(NEW))  # not row after row: the Gram of all parts
    for found, cell, own in zip(prepared.times_parts(turned, parts, Vs), cells, Vs, strict=True):
        assert np.array_equal(found, cell @ own)


def test_many_rows_and_small_limits_are_left_to_the_gram():
    prepared = prepare(Gaussian(0.7), POINTS)
    many = Matrix(np.tile(NEW, (40, 1)))
    assert len(many) * 700 * 21 > MOST_PRODUCTS
    quick = ready(prepared, many)
    assert quick.multiply(many, V) is None
    assert quick.top(many, 1, None) is None
    assert quick.multiply(many.take(slice(0, quick.most_rows)), V) is not None
    assert np.array_equal(prepared.times(many, V)[:37], prepared.times(many.take(slice(0, 37)), V))
    with pytest.raises(MemoryLimitError, match="Raise memory_limit"):
        prepared.times(many.take(slice(0, 1)), V, 1000)
    least = prepared.gram(many.take(slice(0, 1)), use="rows").plan.bytes
    tight = ready(prepared, many, least + 1000)
    assert 0 < tight.most_rows < 30
    assert ready(prepared, many, "auto").most_rows == quick.most_rows


def test_rows_for_which_a_map_pays_are_left_to_it():
    prepared = prepare(Linear(), POINTS)
    for count in (1, 10, 11, 37):
        some = Matrix(NEW[:count])
        planned = prepared.gram(some, use="once").plan.kind
        assert (planned == "on the fly") == (count <= ready(prepared, some).most_rows)


@pytest.mark.parametrize(
    "rows",
    [
        np.full((2, 5), np.nan),
        np.array([[0.1, 0.2, np.inf, 0.3, 0.4]]),
        np.zeros((0, 5)),
        np.zeros((1, 4)),
        np.asfortranarray(NEW),
        NEW[:, ::-1],
        np.full((1, 5), 1e200),
    ],
    ids=["nan", "infinity", "none", "width", "turned", "reversed", "large"],
)
def test_unusual_rows_are_left_to_the_gram(rows):
    assert ready(prepare(Gaussian(0.7), POINTS), Matrix(rows)).multiply(Matrix(rows), V) is None


def test_single_precision_without_room():
    prepared = prepare(Polynomial(3, 1.0, 1.0), POINTS.astype("f4"))
    for size in (1e5, 1e12, 1e16):
        rows = Matrix(np.full((1, 5), size, dtype="f4"))
        wide = prepared.gram(rows).dtype == np.float64
        assert (ready(prepared, rows).multiply(rows, V) is None) == wide
        assert np.array_equal(prepared.times(rows, V), prepared.gram(rows, use="once") @ V)
    huge = prepare(Gaussian(1e-30), POINTS.astype("f4") * np.float32(1e18))
    rows = Matrix(NEW.astype("f4"))
    assert ready(huge, rows).dtype == np.float64
    assert np.array_equal(huge.times(rows, V), huge.gram(rows, use="once") @ V)


def test_negative_entries_and_overflow_are_refused():
    with pytest.raises(InputError, match="no negative entries"):
        prepare(Chi2(), POINTS).times(Matrix(-NEW), V)
    with pytest.raises(InputError, match="overflow of ExpDot"):
        prepare(ExpDot(1.0), POINTS).times(Matrix(NEW * 1e4), V)
    with pytest.raises(InputError, match="sums of kernel values"):
        prepare(Gaussian(0.7), POINTS).times(Matrix(NEW), np.full((700, 1), 1e308))


def test_coefficients_that_do_not_fit_are_refused_by_the_gram():
    prepared, rows = prepare(Gaussian(0.7), POINTS), Matrix(NEW)
    with pytest.raises(InputError, match="it must have 700 rows"):
        prepared.times(rows, V[:699])
    single = V.astype("f4")
    assert np.array_equal(prepared.times(rows, single), prepared.gram(rows, use="once") @ single)


def test_sparse_points_have_no_quick_answers():
    prepared = prepare(Gaussian(0.7), scipy.sparse.csr_array(POINTS))
    assert ready(prepared, Matrix(NEW)) is None
    dense, sparse = prepare(Gaussian(0.7), POINTS), Matrix(scipy.sparse.csr_array(NEW))
    wanted = dense.times(Matrix(NEW), V)
    assert np.allclose(prepared.times(Matrix(NEW), V), wanted, rtol=0, atol=1e-10)
    assert np.allclose(dense.times(sparse, V), wanted, rtol=0, atol=1e-10)


def test_answers_are_kept_and_made_anew_where_something_changed():
    prepared, rows = prepare(Gaussian(0.7), POINTS), Matrix(NEW)
    first = ready(prepared, rows)
    assert ready(prepared, rows) is first
    assert ready(prepared, Matrix(NEW[:1])) is first
    other = ready(prepared, rows, 10**9)
    assert other is not first
    assert ready(prepared, rows, 10**9) is other
    assert answers_of(Linear(), prepared.view, rows.dtype, 10**9).kernel == Linear()
    for made in (copy.deepcopy(prepared), pickle.loads(pickle.dumps(prepared))):
        assert np.array_equal(made.times(rows, V), prepared.times(rows, V))


def test_programs_are_kept_with_the_training_side():
    prepared = prepare(Gaussian(0.7).on([0, 1]) + Linear(), POINTS)
    prepared.gram(Matrix(NEW)).dense()
    known = {key for key in prepared.view.side._known if key[0] == "program"}
    assert len(known) == 1
    prepared.gram(Matrix(NEW[:3])).dense()
    assert {key for key in prepared.view.side._known if key[0] == "program"} == known


def test_several_threads_ask_at_once():
    prepared, rows = prepare(Gaussian(0.7), POINTS), [Matrix(NEW[i : i + 3]) for i in range(30)]
    wanted = [prepared.gram(some, use="rows") @ V for some in rows]
    wrong = []

    def ask(start):
        for turn in range(60):
            i = (start + turn) % len(rows)
            if not np.array_equal(prepared.times(rows[i], V), wanted[i]):
                wrong.append(i)

    fresh = [threading.Thread(target=ask, args=(start,)) for start in range(6)]
    for thread in fresh:
        thread.start()
    for thread in fresh:
        thread.join()
    assert not wrong


def test_the_number_of_threads_changes_nothing_between_both_ways():
    before = _native.num_threads()
    try:
        for count in (1, 2, 5):
            _native.set_num_threads(count)
            prepared, rows = prepare(Gaussian(0.7), POINTS), Matrix(NEW[:2])
            quick = ready(prepared, rows).multiply(rows, V)
            assert np.array_equal(quick, prepared.gram(rows, use="rows") @ V)
    finally:
        _native.set_num_threads(before)


@pytest.mark.parametrize(
    ("kernel", "wanted"),
    [
        (Gaussian(0.7), 1.0),
        (3.0 * Laplacian(0.2) + 2.0, 5.0),
        (Gaussian(0.7) * Matern(1.5, 1.0), 1.0),
        (Periodic(1.0, 2.0), 1.0),
        (Chi2(), 1.0),
        (Linear(), None),
        (Gaussian(0.7) + Linear(), None),
        (Polynomial().normalized(), None),
        (Gaussian(0.5).rescaled(lambda X: X[:, 0]), None),
        (FunctionKernel(lambda X, Y: X @ Y.T), None),
    ],
    ids=repr,
)
def test_a_diagonal_that_all_points_share(kernel, wanted):
    assert constant_diagonal(kernel) == wanted
    if wanted is not None:
        assert np.allclose(kernel.diag(POINTS), wanted, rtol=1e-12)


def test_the_native_part_refuses_what_does_not_fit():
    quick = ready(prepare(Gaussian(0.7), POINTS), Matrix(NEW)).native
    out, right = np.empty((37, 3)), np.ascontiguousarray(V)
    with pytest.raises(ValueError, match="v and out must fit"):
        quick.multiply(NEW, [], right[:5].copy(), out)
    with pytest.raises(ValueError, match="v and out must fit"):
        quick.multiply(NEW, [], right, out[:3].copy())
    with pytest.raises(ValueError, match="both sides must have the same columns"):
        quick.multiply(NEW[:, :4].copy(), [], right, out)
    with pytest.raises(ValueError, match="adjacent"):
        quick.multiply(NEW[:, ::-1], [], right, out)
    places, keys = np.empty((37, 2), dtype=np.int64), np.empty((37, 2))
    with pytest.raises(ValueError, match="a row for each of x"):
        quick.top(NEW[:3], [], None, places, keys)
    with pytest.raises(ValueError, match="one number a column"):
        quick.top(NEW, [], np.zeros(3), places, keys)
    with pytest.raises(ValueError, match="from 1 to the number of columns"):
        quick.top(NEW, [], None, np.empty((37, 701), dtype=np.int64), np.empty((37, 701)))
    with pytest.raises(ValueError, match="centres come with scales"):
        _native.Answers64(_job(), [None], [])
    with pytest.raises(ValueError, match="every statistic needs its frame"):
        _native.Answers64(_job(), [], [])
    with pytest.raises(ValueError, match="one number for each column"):
        _native.Answers64(_job(), [np.zeros(4)], [None])


def _job():
    points = _native.Panels64.pack(POINTS, None, None)
    codes, numbers = np.array([[0, 0, 0, 0]], dtype=np.int32), np.zeros((1, 2))
    none = np.zeros(0)
    return _native.Job64(
        700, 700, True, [0], [points], [points], [none], [0.0], [codes], [numbers], [], [], []
    )
