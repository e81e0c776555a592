"""Kernels of images: spatial pyramids of visual words, pyramid matches of sets of vectors."""

import numpy as np
import oracles
import oracles_images
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from mercer import KernelRidgeClassifier
from mercer.checks import InputError, InputTypeError
from mercer.inputs import VECTOR_SETS, as_input
from mercer.kernels import Intersection, PyramidMatch, SpatialPyramid, parse
from mercer.kernels.objects import images

pytestmark = pytest.mark.native

SEED = np.random.default_rng(7)


def quadrants(*numbers):
    """A 4 x 4 map whose quadrants have so many places with word 0, and no word elsewhere."""
    upper_left, upper_right, lower_left, lower_right = (
        np.where(np.arange(4).reshape(2, 2) < number, 0, -1) for number in numbers
    )
    return np.block([[upper_left, upper_right], [lower_left, lower_right]])


maps = st.lists(
    st_numpy.arrays(
        np.int64, st.tuples(st.integers(0, 7), st.integers(0, 7)), elements=st.integers(-1, 3)
    ),
    min_size=2,
    max_size=5,
)


@st.composite
def vector_sets(draw):
    width = draw(st.integers(1, 3))
    value = st.one_of(st.integers(-9, 9).map(float), st.floats(-20, 20), st.just(-0.0))
    one = st.integers(0, 6).flatmap(
        lambda size: st_numpy.arrays(np.float64, (size, width), elements=value)
    )
    return draw(st.lists(one, min_size=2, max_size=5))


def least(K):
    """The least eigenvalue, by the largest."""
    values = np.linalg.eigvalsh(K)
    return values[0] / max(values[-1], 1e-300)


# --- spatial pyramid ----------------------------------------------------------------------------


def test_the_spatial_pyramid_by_hand():
    """One word, two levels, quadrants (2, 0, 1, 0) and (1, 1, 0, 1): 3/2 + 1/2."""
    K = SpatialPyramid(1)([quadrants(2, 0, 1, 0), quadrants(1, 1, 0, 1)])
    np.testing.assert_array_equal(K, [[3, 2], [2, 3]])
    cosine = SpatialPyramid(1).normalized()([quadrants(2, 0, 1, 0), quadrants(1, 1, 0, 1)])
    np.testing.assert_allclose(cosine, [[1, 2 / 3], [2 / 3, 1]], rtol=1e-15)


def test_level_zero_is_a_bag_of_words():
    first, second = np.array([[1, 2], [2, -1]]), np.array([[2, 2, 2], [1, 1, 5]])
    np.testing.assert_array_equal(SpatialPyramid(0)([first, second]), [[3, 3], [3, 6]])


@settings(max_examples=60, deadline=None)
@given(maps, st.integers(0, 3))
def test_cell_by_cell(items, levels):
    kernel = SpatialPyramid(levels)

    def slow(x, y):
        return oracles_images.spatial_pyramid(x.tolist(), y.tolist(), levels)

    wanted = oracles.gram(slow, items)
    np.testing.assert_array_equal(kernel(items), wanted)
    np.testing.assert_array_equal(kernel.formula(items), wanted)
    np.testing.assert_array_equal(kernel.diag(items), np.diag(wanted))
    np.testing.assert_array_equal(kernel(items[:1], items[1:]), wanted[:1, 1:])
    assert least(wanted) >= -1e-10


def test_it_is_one_intersection_of_concatenated_histograms():
    """Weighted histograms of all cells of all levels, side by side."""
    levels, words = 2, 3
    items = [SEED.integers(-1, words, size=shape) for shape in ((8, 8), (5, 7), (8, 8), (1, 3))]

    def dense(image):
        parts = []
        for level in range(levels + 1):
            weight = 2.0 ** -(levels if level == 0 else levels - level + 1)
            for row in range(2**level):
                for column in range(2**level):
                    found = oracles_images.cell_histogram(image, level, row, column)
                    parts += [weight * found.get(word, 0) for word in range(words)]
        return parts

    rows = np.array([dense(image.tolist()) for image in items])
    assert rows.shape[1] == words * (4 ** (levels + 1) - 1) // 3
    np.testing.assert_array_equal(SpatialPyramid(levels)(items), Intersection()(rows))


def test_what_a_map_may_be():
    kernel = SpatialPyramid(2)
    pile = SEED.integers(-1, 4, size=(5, 6, 6))
    wanted = kernel(list(pile))
    np.testing.assert_array_equal(kernel(pile), wanted)
    np.testing.assert_array_equal(kernel(pile.astype(np.int8)), wanted)
    np.testing.assert_array_equal(kernel(np.asfortranarray(pile)), wanted)
    # Words are names: no more than equality matters, below 0 nothing does.
    renamed = np.where(pile >= 0, 2**62 - pile, -5)
    np.testing.assert_array_equal(kernel(renamed), wanted)
    huge = np.array([[2**64 - 1, 2**63], [2**63, 0]], dtype=np.uint64)
    np.testing.assert_array_equal(kernel([huge]), kernel.formula([huge]))
    assert kernel([huge], [np.full((2, 2), -1)])[0, 0] == 0.0


def test_maps_without_words():
    kernel = SpatialPyramid(2)
    items = [np.zeros((0, 4), int), np.full((3, 3), -1), np.array([[4]]), np.zeros((2, 0), int)]
    wanted = np.zeros((4, 4))
    wanted[2, 2] = 1.0
    np.testing.assert_array_equal(kernel(items), wanted)
    np.testing.assert_array_equal(kernel.formula(items), wanted)
    np.testing.assert_array_equal(kernel.normalized()(items), wanted)
    assert kernel([], items).shape == (0, 4)


@pytest.mark.parametrize(
    ("items", "said"),
    [
        ([np.zeros((2, 2), int), np.zeros((2, 2))], "(?s)whole numbers.*at index 1"),
        ([np.zeros(4, int)], "at index 0"),
        ([np.zeros((2, 2), int), [[1, 2], [3]]], "list\\) at index 1"),
        ([np.zeros((2, 2), int), None], "None.*at index 1"),
    ],
)
def test_what_is_no_map_is_refused(items, said):
    with pytest.raises(InputTypeError, match=said):
        SpatialPyramid(1)(items)


# --- pyramid match ------------------------------------------------------------------------------


def column(*numbers):
    return np.array(numbers, dtype=float).reshape(-1, 1)


def test_the_pyramid_match_by_hand():
    """X = {0, 3}, Y = {1, 6}: one pair meets on level 1, the other on level 3."""
    X, Y = column(0, 3), column(1, 6)
    assert oracles_images.meetings(X, Y, 3) == [0, 1, 1, 2]
    np.testing.assert_array_equal(PyramidMatch(3)([X, Y]), [[2, 0.625], [0.625, 2]])
    cosine = PyramidMatch(3).normalized()([X, Y])
    np.testing.assert_allclose(cosine, [[1, 0.3125], [0.3125, 1]], rtol=1e-15)


@settings(max_examples=60, deadline=None)
@given(vector_sets(), st.integers(0, 5), st.sampled_from([1.0, 0.1, 3.0]))
def test_level_by_level(items, levels, side):
    kernel = PyramidMatch(levels, side)

    def slow(x, y):
        return oracles_images.pyramid_match(x.tolist(), y.tolist(), levels, side)

    wanted = oracles.gram(slow, items)
    np.testing.assert_allclose(kernel(items), wanted, rtol=1e-14)
    np.testing.assert_allclose(kernel.formula(items), wanted, rtol=1e-14)
    np.testing.assert_array_equal(kernel.diag(items), [len(item) for item in items])
    np.testing.assert_array_equal(kernel(items[:1], items[1:]), kernel(items)[:1, 1:])
    shuffled = [item[::-1] for item in items]
    np.testing.assert_array_equal(kernel(shuffled), kernel(items))
    assert least(wanted) >= -1e-10


def test_it_is_one_intersection_of_histograms_of_all_levels():
    """sum_i 2**-i (I_i - I_(i-1)) is sum_i w_i I_i with w = 1/2, 1/4, ..., and twice the last."""
    levels, weights = 3, (0.5, 0.25, 0.125, 0.125)
    items = [SEED.integers(0, 8, size=(size, 2)).astype(float) for size in (5, 1, 9, 0, 4)]

    def dense(vectors):
        parts = []
        for level, weight in enumerate(weights):
            found = oracles_images.bin_histogram(vectors, 2**level)
            cells = 8 >> level
            parts += [weight * found.get((i, j), 0) for i in range(cells) for j in range(cells)]
        return parts

    rows = np.array([dense(item.tolist()) for item in items])
    np.testing.assert_array_equal(PyramidMatch(levels)(items), Intersection()(rows))


def test_borders_of_bins():
    """A bin has its lower border; 0 and -0 are one number; -1e-9 is in another bin than 0."""
    kernel = PyramidMatch(0)
    assert kernel([column(1.0)], [column(np.nextafter(2.0, 0))])[0, 0] == 1.0
    assert kernel([column(1.0)], [column(2.0)])[0, 0] == 0.0
    assert kernel([column(0.0)], [column(-0.0)])[0, 0] == 1.0
    assert kernel([column(0.0)], [column(-1e-9)])[0, 0] == 0.0
    # The double 0.1 is above a tenth, so 1 is below ten times it; the rounded quotient is 10.
    fine = PyramidMatch(0, side=0.1)
    for kernel in (fine, fine.formula):
        np.testing.assert_array_equal(kernel([column(1.0)], [column(0.95), column(1.05)]), [[1, 0]])
    # On no level do numbers of different sign meet.
    np.testing.assert_array_equal(PyramidMatch(60)([column(-1)], [column(1)]), [[0.0]])


def test_huge_numbers_have_bins():
    """Where neighbouring doubles are further apart than bins, equal numbers still meet."""
    X, Y = column(1e300, -3e200), column(1e300, 5.0)
    kernel = PyramidMatch(2)
    np.testing.assert_array_equal(kernel([X, Y]), [[2, 1], [1, 2]])
    np.testing.assert_array_equal(kernel.formula([X, Y]), [[2, 1], [1, 2]])
    with pytest.raises(InputError, match="bins from 0; got 1e\\+300 at index 1, with side 1e-10"):
        PyramidMatch(2, side=1e-10)([Y[1:], X])


def test_what_a_set_of_vectors_may_be():
    kernel = PyramidMatch(3)
    pile = SEED.integers(-9, 9, size=(4, 5, 2))
    wanted = kernel(list(pile))
    for same in (pile, pile.astype(np.float32), np.asfortranarray(pile), pile.astype(np.int16)):
        np.testing.assert_array_equal(kernel(same), wanted)
    mixed = [pile[0], pile[1].astype(np.float32), pile[2].astype(np.int8), pile[3].astype(float)]
    np.testing.assert_array_equal(kernel(mixed), wanted)


def test_sets_without_vectors_or_coordinates():
    kernel = PyramidMatch(2)
    items = [np.zeros((0, 2)), np.ones((3, 2)), np.zeros((0, 2))]
    wanted = np.diag([0.0, 3.0, 0.0])
    np.testing.assert_array_equal(kernel(items), wanted)
    np.testing.assert_array_equal(kernel.formula(items), wanted)
    np.testing.assert_allclose(kernel.normalized()(items), np.diag([0, 1, 0]), rtol=1e-15)
    np.testing.assert_array_equal(kernel([np.zeros((3, 0)), np.zeros((2, 0))]), [[3, 2], [2, 2]])
    assert kernel([], items).shape == (0, 3)


@pytest.mark.parametrize(
    ("items", "error", "said"),
    [
        ([column(1), np.array([[np.nan]])], InputTypeError, "(?s)finite.*at index 1"),
        ([np.zeros(3)], InputTypeError, "(?s)2-D array.*at index 0"),
        ([column(1), column(2), np.zeros((1, 2))], InputError, "1 numbers.*got 2 at index 2"),
        ([column(1), np.zeros((0, 2))], InputError, "got 2 at index 1"),
    ],
)
def test_what_is_no_set_of_vectors_is_refused(items, error, said):
    with pytest.raises(error, match=said):
        PyramidMatch(1)(items)


# --- both ---------------------------------------------------------------------------------------


def test_many_objects_are_counted_in_portions(monkeypatch):
    pile = [SEED.integers(-1, 5, size=shape) for shape in ((6, 6), (9, 2), (0, 3), (20, 20))]
    sets = [SEED.normal(size=(size, 2)) * 9 for size in (4, 0, 30, 2, 5)]
    wanted = SpatialPyramid(2)(pile), PyramidMatch(3)(sets)
    for tokens in (1, 60, 200):
        monkeypatch.setattr(images, "_TOKENS", tokens)
        np.testing.assert_array_equal(SpatialPyramid(2)(pile), wanted[0])
        np.testing.assert_array_equal(PyramidMatch(3)(sets), wanted[1])


def test_vectors_of_two_collections_must_have_one_width():
    kernel, wide, narrow = PyramidMatch(2), [np.zeros((2, 3)), np.ones((1, 3))], [column(1)]
    said = "vectors of X and of Y must have equally many numbers; got 3 and 1"
    for evaluate in (kernel, kernel.formula, kernel.normalized() + 1):
        with pytest.raises(InputError, match=said):
            evaluate(wide, narrow)
        assert evaluate(wide, []).shape == (2, 0)
    with pytest.raises(InputError, match=said):
        kernel.pair(wide[0], narrow[0])
    with pytest.raises(InputError, match=said):
        kernel.matched(as_input(wide[:1], VECTOR_SETS), as_input(narrow, VECTOR_SETS))
    model = KernelRidgeClassifier(kernel=kernel).fit(narrow * 2, [0, 1])
    with pytest.raises(InputError, match="got 3 and 1"):
        model.predict(wide)


def test_tokens_differ_where_places_do():
    """Levels, cells and words of no two tokens share an id: 87,381 cells of two words."""
    kernel = SpatialPyramid(8)
    table = kernel.tabulate([np.zeros((256, 256), int), np.ones((256, 256), int)])
    assert len(np.unique(table.ids)) == 2 * (4**9 - 1) // 3
    each = 2.0**-8 + sum(2.0 ** -(9 - level) for level in range(1, 9))
    assert table.values.sum() == 2 * 256 * 256 * each


def test_text_and_parameters():
    for kernel in (SpatialPyramid(2), PyramidMatch(4), PyramidMatch(4, side=0.5)):
        assert parse(repr(kernel)) == kernel
    assert repr(PyramidMatch(4, 0.5)) == "PyramidMatch(4, side=0.5)"
    with pytest.raises(InputError, match="levels must be a whole number at least 0 and at most 16"):
        SpatialPyramid(17)
    with pytest.raises(InputError, match="levels must be a whole number at least 0 and at most 60"):
        PyramidMatch(-1)
    with pytest.raises(InputError, match="side must be a finite number above 0; got 0"):
        PyramidMatch(2, side=0)
    with pytest.raises(InputTypeError, match="levels must be a whole number"):
        SpatialPyramid(1.5)


def test_where_a_word_is_tells_images_apart():
    """Two kinds of image with the same words at different places: a bag of words sees nothing."""
    random = np.random.default_rng(0)
    labels = np.arange(60) % 2
    items = []
    for label in labels:
        image = random.integers(0, 4, size=(8, 8))
        half = np.s_[:4] if label else np.s_[4:]
        image[half] = np.where(random.random((4, 8)) < 0.5, 4, image[half])
        items.append(image)
    scores = []
    for levels in (0, 1):
        model = KernelRidgeClassifier(kernel=SpatialPyramid(levels).normalized(), alpha=0.1)
        scores.append(model.fit(items[:40], labels[:40]).score(items[40:], labels[40:]))
    assert scores[0] < 0.8
    assert scores[1] == 1.0
