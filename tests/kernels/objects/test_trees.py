"""Kernels of trees: known values, every fragment written out, and trees that go wrong."""

import math
import re

import numpy as np
import oracles_trees as oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import SVC, _native, gram
from mercer.checks import InputError, InputTypeError
from mercer.inputs import Tree
from mercer.kernels import PartialTree, SubsetTree, Subtree

pytestmark = pytest.mark.native

KERNELS = [Subtree(), SubsetTree(), PartialTree(), PartialTree(0.7, 0.9), SubsetTree(1.0)]
LABELS = st.sampled_from("abcd")
NESTED = st.recursive(
    LABELS.map(lambda label: (label,)),
    lambda inner: st.tuples(LABELS, st.lists(inner, min_size=1, max_size=3)).map(
        lambda node: (node[0], *node[1])
    ),
    max_leaves=5,
) | st.just(())
COLLECTIONS = st.lists(NESTED, min_size=1, max_size=6)


def trees(*texts):
    return [Tree.parse(text) for text in texts]


def nested_trees(collection):
    return [Tree.from_nested(nested) for nested in collection]


T1, T2, T3 = trees("(S (A a)(B b))", "(S (A a)(B c))", "(S (A (C c))(B b))")


def values(kernel, x, y):
    """k(x, y) by every way there is, which must agree."""
    found = [kernel(*sides)[0, 0] for sides in (([x], [y]), ([y], [x]))]
    found += [kernel.pair(x, y), kernel([x, y])[0, 1], gram(kernel, [x, y]).dense()[1, 0]]
    np.testing.assert_allclose(found, found[0], rtol=1e-14)
    return found[0]


# --- known values ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kernel", "cross", "self_1", "self_3"),
    [
        (SubsetTree(1.0), 3, 6, 10),
        (SubsetTree(0.4), 0.96, 1.584, 2.2336),
        (Subtree(1.0), 1, 3, 4),
        (Subtree(0.4), 0.4, 0.864, 0.9856),
    ],
    ids=repr,
)
def test_values_of_the_literature(kernel, cross, self_1, self_3):
    assert values(kernel, T1, T2) == pytest.approx(cross, rel=1e-14)
    assert values(kernel, T1, T1) == pytest.approx(self_1, rel=1e-14)
    assert values(kernel, T3, T3) == pytest.approx(self_3, rel=1e-14)


@pytest.mark.parametrize("decay", [0.1, 0.4, 0.75, 1.0])
def test_values_as_polynomials_of_the_decay(decay):
    assert values(SubsetTree(decay), T1, T2) == pytest.approx(2 * decay + decay**2, rel=1e-14)
    wanted = 2 * decay + decay * (1 + decay) ** 2
    assert values(SubsetTree(decay), T1, T1) == pytest.approx(wanted, rel=1e-14)
    assert values(Subtree(decay), T1, T1) == pytest.approx(2 * decay + decay**3, rel=1e-14)


def test_values_of_partial_trees():
    plain, gap = trees("(a b c)", "(a b x c)")
    assert values(PartialTree(0.4, 0.4), plain, plain) == pytest.approx(0.2448384, rel=1e-14)
    assert values(PartialTree(0.4, 0.4), plain, gap) == pytest.approx(0.24385536, rel=1e-14)
    assert values(PartialTree(1.0, 1.0), plain, plain) == 6
    assert values(PartialTree(1.0, 1.0), plain, gap) == 6


def test_the_two_decays_are_told_apart():
    """mu (lambda^2 + sum) with one leaf below: mu (lambda^2 + mu lambda^2) + mu lambda^2."""
    (tree,) = trees("(a b)")
    decay, depth = 0.5, 0.25
    wanted = depth * (decay**2 + depth * decay**2) + depth * decay**2
    assert values(PartialTree(decay, depth), tree, tree) == pytest.approx(wanted, rel=1e-14)


def test_a_star_has_a_closed_form():
    """Pairs of subsequences of n equal children: sum_k C(n, k)^2 = C(2n, n)."""
    for n in (1, 5, 12):
        (star,) = trees("(s" + " x" * n + ")")
        wanted = math.comb(2 * n, n) + n * n
        assert PartialTree(1.0, 1.0)([star])[0, 0] == pytest.approx(wanted, rel=1e-14)


def test_a_full_binary_tree_has_a_closed_form():
    """delta_h = decay (1 + delta_{h-1})^2 for each of 4^(levels - h) pairs of nodes of height h."""
    levels, decay = 6, 0.3
    nested, delta, wanted = "x", 0.0, 0.0
    for height in range(1, levels + 1):
        nested = (f"b{height}", nested, nested)
        delta = decay * (1 + delta) ** 2 if height > 1 else decay
        wanted += delta * 4 ** (levels - height)
    found = SubsetTree(decay)(nested_trees([nested]))[0, 0]
    assert found == pytest.approx(wanted, rel=1e-13)


# --- every fragment written out ----------------------------------------------------------------


@settings(deadline=None)
@given(NESTED, NESTED, st.sampled_from([0.2, 0.4, 1.0]), st.sampled_from([0.3, 1.0]))
def test_common_fragments(x, y, decay, depth_decay):
    pair = nested_trees([x, y])
    close = {"rel": 1e-12, "abs": 0.0}
    assert values(Subtree(decay), *pair) == pytest.approx(oracles.subtree(x, y, decay), **close)
    wanted = oracles.subset_tree(x, y, decay)
    assert values(SubsetTree(decay), *pair) == pytest.approx(wanted, **close)
    wanted = oracles.partial_tree(x, y, decay, depth_decay)
    assert values(PartialTree(decay, depth_decay), *pair) == pytest.approx(wanted, **close)


@settings(deadline=None)
@given(NESTED, st.sampled_from([0.4, 1.0]))
def test_common_fragments_of_a_tree_with_itself(x, decay):
    """Two random trees have little in common."""
    tree = Tree.from_nested(x)
    found = [kernel([tree])[0, 0] for kernel in (SubsetTree(decay), PartialTree(decay, decay))]
    wanted = oracles.subset_tree(x, x, decay), oracles.partial_tree(x, x, decay, decay)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    assert Subtree(decay)([tree])[0, 0] == pytest.approx(oracles.subtree(x, x, decay), rel=1e-12)


def test_larger_trees_agree_with_the_definition():
    random = np.random.default_rng(0)

    def grow(levels):
        if levels == 0 or random.random() < 0.3:
            return (f"w{random.integers(5)}",)
        children = [grow(levels - 1) for _ in range(random.integers(1, 5))]
        return (f"N{random.integers(3)}", *children)

    points = nested_trees([grow(4) for _ in range(12)])
    assert max(tree.n_nodes for tree in points) > 50
    for kernel in KERNELS:
        np.testing.assert_allclose(kernel(points), kernel.formula(points), rtol=1e-12)


# --- properties --------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@settings(deadline=None, max_examples=40)
@given(COLLECTIONS, COLLECTIONS)
def test_properties(kernel, first, second):
    X, Y = nested_trees(first), nested_trees(second)
    whole = kernel(X + Y)
    assert np.linalg.eigvalsh(whole)[0] >= -1e-10 * max(1.0, whole.max())
    np.testing.assert_allclose(kernel(X, Y), whole[: len(X), len(X) :], rtol=1e-13)
    np.testing.assert_allclose(kernel.diag(X + Y), np.diag(whole), rtol=1e-13)
    cosine = kernel.normalized()(X)
    own = np.diag(kernel(X)) > 0
    np.testing.assert_allclose(np.diag(cosine), own.astype(float), rtol=1e-13)


@given(COLLECTIONS, COLLECTIONS)
def test_complete_subtrees_are_explicit_features(train, test):
    X, Y = nested_trees(train), nested_trees(test)
    basis = Subtree().basis(X)
    product = Subtree().features(Y, basis) @ Subtree().features(X, basis).T
    np.testing.assert_allclose(product.toarray(), Subtree()(Y, X), rtol=1e-13)
    wanted = {str(node) for tree in X for node in tree.subtrees() if node.n_nodes > 1}
    assert basis.width == len(wanted)


def test_a_hash_depends_on_nothing_but_the_subtree():
    alone = Subtree().basis([T1]).ids
    among = Subtree().basis([T3, T2, T1]).ids
    assert len(alone) == 3
    assert set(alone) <= set(among)


# --- what is told apart ------------------------------------------------------------------------


def test_a_leaf_is_not_a_node_with_children():
    """A word a and a symbol a that produces something are different children of S."""
    word, symbol = trees("(S a)", "(S (a x))")
    for kernel in (Subtree(), SubsetTree()):
        assert values(kernel, word, symbol) == 0
    # A partial tree may be a node without its children: S, S with a, and a are common.
    assert values(PartialTree(1.0, 1.0), word, symbol) == 3


def test_order_and_labels_matter():
    one, other, renamed, longer = trees("(S a b)", "(S b a)", "(T a b)", "(S a b b)")
    for kernel in (Subtree(), SubsetTree()):
        for y in (other, renamed, longer):
            assert values(kernel, one, y) == 0
    # S alone, S with a, S with b, and both leaves.
    assert values(PartialTree(1.0, 1.0), one, other) == 5
    assert values(PartialTree(1.0, 1.0), one, renamed) == 2


def test_different_words_below_do_not_stop_a_subset_tree():
    one, other = trees("(S (NP (D the) (N cat)) (V sat))", "(S (NP (D the) (N dog)) (V ran))")
    # D the; NP with D, N, with or without the; S with NP, V, times what NP may be.
    assert values(SubsetTree(1.0), one, other) == 1 + 2 + 3
    assert values(Subtree(1.0), one, other) == 1


def test_labels_of_any_kind():
    points = [
        Tree.from_nested(("日本", ("ß", "🙂"), "a")),
        Tree.from_nested(((1), (2.5, "x"), b"x")),
        Tree((1, "x"), [Tree(frozenset({2})), Tree("a b")]),
        Tree.from_nested((1.0, (2.5, "x"), b"x")),
        Tree.from_nested(("1", (2.5, "x"), b"x")),
    ]
    for kernel in KERNELS:
        np.testing.assert_allclose(kernel(points), kernel.formula(points), rtol=1e-13)
        K = kernel.normalized()(points)
        assert K[1, 3] == pytest.approx(1)  # 1 and 1.0 are equal
        assert K[1, 4] < 0.9  # 1 and "1" are not
        assert K[0, 2] == 0


# --- small and large ---------------------------------------------------------------------------


def test_the_empty_tree_and_a_leaf():
    points = trees("()", "a", "(S a)")
    for kernel in (Subtree(), SubsetTree()):
        np.testing.assert_allclose(kernel(points), [[0, 0, 0], [0, 0, 0], [0, 0, 0.4]])
    leaf = 0.4 * 0.4**2
    K = PartialTree()(points)
    np.testing.assert_allclose(K[:2], [[0, 0, 0], [0, leaf, leaf]], rtol=1e-14)
    for kernel in KERNELS:
        assert not np.isnan(kernel.normalized()(points)).any()
        assert kernel(trees("()", "()")).tolist() == [[0, 0], [0, 0]]
        assert kernel([], points).shape == (0, 3)


def chain(n, word="a"):
    return Tree.parse("".join(f"(n{i} " for i in range(n)) + word + ")" * n)


def test_deep_trees():
    """No path may be too long: neither for the stack nor, where labels differ, for memory."""
    n = 100_000
    deep = [chain(n), chain(n, "b"), chain(50)]
    partial = PartialTree(1.0, 0.5)(deep)
    # From the lowest node up, delta = 0.5 (1 + delta): its limit 1 is reached at once.
    assert partial[0, 1] == pytest.approx(n, rel=1e-4)
    assert SubsetTree(0.5)(deep)[0, 1] == pytest.approx(n, rel=1e-4)
    assert Subtree(0.5)(deep)[0].tolist() == pytest.approx([1.0, 0.0, 0.0])
    assert SubsetTree(0.5)(deep)[0, 2] == pytest.approx(SubsetTree(0.5)([chain(100)], [chain(50)]))


def test_a_deep_tree_of_equal_nodes():
    """All pairs of nodes are alike; no more than two rows of them are kept."""
    n = 3000
    (tree,) = trees("(b " * (n - 1) + "b" + ")" * (n - 1))
    # Over h levels in common delta is 0.5 + 0.25 + … = 1 - 0.5^h.
    levels = np.arange(1, n + 1)
    pairs = 2 * (n - levels) + 1
    wanted = ((1 - 0.5**levels) * pairs).sum()
    assert PartialTree(1.0, 0.5)([tree])[0, 0] == pytest.approx(wanted, rel=1e-12)


def test_a_wide_tree():
    words = " ".join(f"w{i % 700}" for i in range(3000))
    (tree,) = trees(f"(S {words})")
    (other,) = trees(f"(S {words} w0)")
    for kernel in KERNELS:
        assert np.isfinite(kernel([tree, other])).all()
    assert SubsetTree()([tree], [tree, other]).tolist() == [[0.4, 0.0]]


def test_too_large_a_value_is_infinite_and_not_nan():
    """(1 + 2^60)^60 fragments begin at the root."""
    below = [(f"B{j}", "x") for j in range(60)]
    large = Tree.from_nested(("S", *((f"A{i}", *below) for i in range(60))))
    small = Tree.from_nested(("S", *(f"A{i}" for i in range(60))))
    for kernel in (SubsetTree(1.0), PartialTree(1.0, 1.0)):
        K = kernel([large, small])
        assert K[0, 0] == np.inf
        assert np.isfinite(K[1]).all()


# --- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Subtree, SubsetTree, PartialTree], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("decay", [0.0, 1e-101, -0.4, 1.5, math.nan, "0.4", None, True], ids=repr)
def test_decays_are_no_less_than_1e_100_and_at_most_1(kind, decay):
    must = f"{kind.__name__}: decay must be a finite number at least 1e-100 and at most 1; got"
    with pytest.raises(InputError, match=re.escape(must)):
        kind(decay)


@pytest.mark.parametrize(
    "kernel", [Subtree(1e-100), SubsetTree(1e-100), PartialTree(1e-100, 1e-100)], ids=repr
)
def test_the_smallest_decay_has_a_cosine(kernel):
    trees = [Tree.parse(text) for text in ("(S (A a) (B b))", "(S (A a) (B c))", "(A a)")]
    found = kernel.normalized()(trees)
    np.testing.assert_allclose(np.diag(found), 1, rtol=1e-12)
    assert 0 < found[0, 1] < 1


def test_the_depth_decay_too():
    with pytest.raises(InputError, match=r"PartialTree: depth_decay must be .*; got"):
        PartialTree(0.4, 1.5)


def test_parameters_are_read_back():
    assert repr(PartialTree(1, depth_decay=0.2)) == "PartialTree(decay=1.0, depth_decay=0.2)"
    assert repr(SubsetTree()) == "SubsetTree()"
    assert SubsetTree(1) == SubsetTree(decay=1.0)


@pytest.mark.parametrize("kernel", KERNELS[:3], ids=repr)
def test_what_is_no_tree_is_named(kernel):
    with pytest.raises(InputTypeError, match=r"must be a Tree; got '\(S a\)' .* index 1"):
        kernel([T1, "(S a)"])
    with pytest.raises(InputTypeError, match=r"Make it with Tree\.parse"):
        kernel([("S", "a")])
    with pytest.raises(InputTypeError, match=r"X must be trees; got Tree"):
        kernel(T1)


ENDS, SIZES, CODES = np.array([0, 3, 3]), np.array([3, 1, 1]), np.arange(3, dtype=np.uint64)
HOSTILE = {
    "no ends": (np.zeros(0, np.int64), SIZES, CODES),
    "late": (np.array([1, 3]), SIZES, CODES),
    "skipped": (np.array([1, 2]), np.ones(2, np.int64), CODES[:2]),
    "short": (np.array([0, 2]), SIZES, CODES),
    "falling": (np.array([0, 4, 3]), SIZES, CODES),
    "before": (np.array([0, -1, 3]), SIZES, CODES),
    "labels": (ENDS, SIZES, CODES[:2]),
    "beyond": (ENDS, np.array([4, 1, 1]), CODES),
    "far beyond": (ENDS, np.array([3, 2**63 - 1, 1]), CODES),
    "zero": (ENDS, np.array([3, 0, 1]), CODES),
    "minus": (ENDS, np.array([3, -1, 1]), CODES),
    "two roots": (ENDS, np.array([2, 1, 1]), CODES),
    "crossing": (np.array([0, 4]), np.array([4, 2, 2, 1]), np.arange(4, dtype=np.uint64)),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_arrays_that_are_no_trees(name):
    arrays = HOSTILE[name]
    with pytest.raises(ValueError, match=r"^trees: "):
        _native.Forest(*arrays, True)
    hashes, inner = np.empty(len(arrays[1]), np.uint64), np.empty(len(arrays[1]), np.int64)
    with pytest.raises(ValueError, match=r"^trees: "):
        _native.hash_subtrees(*arrays, hashes, inner)


def test_native_parts_that_do_not_fit():
    with pytest.raises(ValueError, match="room for each node"):
        _native.hash_subtrees(ENDS, SIZES, CODES, np.empty(2, np.uint64), np.empty(3, np.int64))
    forests = [_native.Forest(ENDS, SIZES, CODES, flag) for flag in (True, False)]
    assert len(forests[0]) == 2
    for left, right in (forests, forests[::-1]):
        with pytest.raises(ValueError, match="grouped as it compares them"):
            _native.SubsetTreeJob(left, right, 0.4)
        with pytest.raises(ValueError, match="grouped as it compares them"):
            _native.PartialTreeJob(left, right, 0.4, 0.4)


def test_a_job_keeps_its_forests():
    job = _native.SubsetTreeJob(
        _native.Forest(ENDS, SIZES, CODES, True), _native.Forest(ENDS, SIZES, CODES, True), 0.4
    )
    out = np.empty((2, 2))
    job.store(np.arange(2), np.arange(2), True, 0, 2, out, None)
    assert out.tolist() == [[0.4, 0], [0, 0]]


# --- in a learner ------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS[:3], ids=repr)
def test_a_learner_takes_trees(kernel):
    questions = [f"(SQ (V {verb}) (NP (N {noun})))" for verb in "xyz" for noun in "abc"]
    answers = [f"(S (NP (N {noun})) (V {verb}))" for verb in "xyz" for noun in "abc"]
    y = np.array(["question"] * 9 + ["answer"] * 9)
    model = SVC(kernel=kernel.normalized(), C=100).fit(trees(*questions, *answers), y)
    assert model.score(trees(*questions, *answers), y) == 1.0
    new = trees("(SQ (V x) (NP (N a)))", "(S (NP (N a)) (V y))")
    assert model.predict(new).tolist() == ["question", "answer"]
    if not isinstance(kernel, Subtree):  # there new words make new complete subtrees
        new = trees("(SQ (V w) (NP (N d)))", "(S (NP (N d)) (V w))")
        assert model.predict(new).tolist() == ["question", "answer"]
