"""The Tree: read from text and tuples, compared, shown, carried along; however deep it is."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.checks import InputError, InputTypeError, ParseError
from mercer.inputs import Tree

DEEP = 100_000

WORDS = st.text(st.characters(exclude_categories=("Z", "C"), exclude_characters="()"), min_size=1)
NESTED = st.recursive(
    WORDS,
    lambda inner: st.tuples(WORDS, st.lists(inner, max_size=4)).map(
        lambda node: (node[0], *node[1])
    ),
    max_leaves=12,
)


def chain(label="b"):
    """A tree of one long branch."""
    return Tree.parse(f"({label} " * DEEP + "a" + ")" * DEEP)


# --- reading -----------------------------------------------------------------------------------


def test_a_tree_is_read_from_text():
    tree = Tree.parse("(S (A a) (B b))")
    assert tree.label == "S"
    assert [child.label for child in tree.children] == ["A", "B"]
    assert tree.children[1].children == (Tree("b"),)
    assert tree.labels == ("S", "A", "a", "B", "b")
    assert tree.sizes == (5, 2, 1, 2, 1)
    assert (tree.n_nodes, tree.depth) == (5, 3)
    assert tree == Tree.from_nested(("S", ("A", "a"), ["B", "b"]))
    assert tree == Tree("S", [Tree("A", [Tree("a")]), Tree.parse("(B b)")])
    assert tree == Tree.from_preorder(["S", "A", "a", "B", "b"], [2, 1, 0, 1, 0])


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("( (S (A a)))", ("S", ("A", "a"))),
        ("((S (A a)))", ("S", ("A", "a"))),
        ("\n(S\n  (A a)\t)\n", ("S", ("A", "a"))),
        ("(S(A a)b)", ("S", ("A", "a"), "b")),
        ("( S a )", ("S", "a")),
        ("(S -LRB- x -RRB-)", ("S", "-LRB-", "x", "-RRB-")),
        ('(NP-SBJ|1 \'tis "x" a\\)', ("NP-SBJ|1", "'tis", '"x"', "a\\")),
        ("(Straße 日本 🙂)", ("Straße", "日本", "🙂")),
        ("a", "a"),
        ("(a)", "a"),
        ("(S (a))", ("S", "a")),
        ("()", ()),
        (" ( ) ", ()),
    ],
)
def test_text_as_it_comes(text, wanted):
    assert Tree.parse(text) == Tree.from_nested(wanted)


@pytest.mark.parametrize(
    ("text", "position", "problem"),
    [
        ("", 0, "expected a tree"),
        ("  ", 0, "expected a tree"),
        (")", 0, "expected a tree, found '\\)'"),
        ("(S a", 4, "the bracket at position 0 must be closed"),
        ("(S (A a)", 8, "the bracket at position 0 must be closed"),
        ("(S (A a", 7, "the bracket at position 3 must be closed"),
        ("(", 1, "the bracket at position 0 must be closed"),
        ("(S a))", 5, "expected the end of the text, found '\\)'"),
        ("(S a) (B b)", 6, "expected the end of the text, found '\\('"),
        ("a b", 2, "expected the end of the text, found 'b'"),
        ("() a", 3, "expected the end of the text"),
        ("(S ())", 4, "expected a label, found '\\)'"),
        ("(())", 2, "expected a label, found '\\)'"),
        ("(S ((A a)))", 4, "expected a label, found '\\('"),
        ("(((A a)))", 2, "expected a label, found '\\('"),
        ("((A a) (B b))", 7, "must hold one tree"),
        ("((A a) b)", 7, "must hold one tree"),
    ],
)
def test_text_that_is_no_tree(text, position, problem):
    with pytest.raises(ParseError, match=f"^Tree.parse: .*{problem}.* at position {position}") as e:
        Tree.parse(text)
    assert e.value.position == position
    assert str(pickle.loads(pickle.dumps(e.value))) == str(e.value)


def test_text_must_be_text():
    with pytest.raises(
        InputTypeError, match=r"Tree.parse: text must be a string; got \('S', 'a'\)"
    ):
        Tree.parse(("S", "a"))


@pytest.mark.parametrize(
    ("nested", "problem"),
    [
        (("S", ()), "a tuple without a label at \\[1\\]"),
        (("S", "a", ("A", [])), "a list without a label at \\[2\\]\\[1\\]"),
        ((("A", "a"), ("B", "b")), "a tuple whose first item is a tuple\\."),
        (("S", "x", (["A"], "b")), "a tuple whose first item is a list at \\[2\\]"),
        (("S", ("A", "x"), ("B", {"a": 1})), "{'a': 1} \\(dict\\) at \\[2\\]\\[1\\]"),
        (("S", ((1, [2]),)), "whose first item is a tuple at \\[1\\]"),
        (None, "got None \\(NoneType\\)"),
        (("S", None), "got None \\(NoneType\\) at \\[1\\]"),
        (("S", Tree.parse("()")), "a Tree without a label at \\[1\\]"),
        ((Tree.parse("(A a)"), "b"), "a tuple whose first item is a Tree"),
    ],
    ids=str,
)
def test_tuples_that_are_no_tree(nested, problem):
    with pytest.raises(InputTypeError, match=problem):
        Tree.from_nested(nested)


def test_a_bad_node_far_down_is_found():
    nested = ("S", [])
    for _ in range(DEEP):
        nested = ("a", nested)
    with pytest.raises(InputTypeError, match=r"a list without a label at …(\[1\]){8}\.$"):
        Tree.from_nested(nested)


@pytest.mark.parametrize("child", ["a", ("A", "a"), None, Tree.parse("()")], ids=repr)
def test_children_are_trees(child):
    with pytest.raises(InputTypeError, match=r"every child must be a Tree.* at index 1"):
        Tree("S", [Tree("a"), child])


@pytest.mark.parametrize("children", [None, 3, Tree("a")], ids=repr)
def test_children_come_in_a_list(children):
    with pytest.raises(InputTypeError, match=r"children must be a list of trees; .* into a list"):
        Tree("S", children)


@pytest.mark.parametrize("count", [-1, 0.5, "0"], ids=repr)
def test_a_number_of_children_that_is_none_is_named_by_its_index(count):
    with pytest.raises(
        (InputError, InputTypeError), match=r"n_children\[1\] must be a whole number"
    ):
        Tree.from_preorder(["a", "b"], [1, count])


@pytest.mark.parametrize("label", [None, [], {}, (1, [2])], ids=repr)
def test_a_label_is_hashable(label):
    with pytest.raises(InputTypeError, match="a label must be hashable, and not None"):
        Tree(label)
    with pytest.raises(InputTypeError, match=r"a label must be hashable.* at index 1"):
        Tree.from_preorder(["a", label], [1, 0])


@pytest.mark.parametrize(
    ("counts", "problem"),
    [
        ([1, 0], "as many labels"),
        ([1, 0, 0], "2 trees"),
        ([3, 0, 0], "3 children at index 0, 2 to be had"),
        ([1, 2, 0], "2 children at index 1, 1 to be had"),
        ([2, -1, 0], "at least 0"),
        ([2, 0, 0.0], "a whole number"),
    ],
)
def test_numbers_of_children_make_one_tree(counts, problem):
    with pytest.raises(InputError, match=problem):
        Tree.from_preorder("abc", counts)


# --- the empty tree ----------------------------------------------------------------------------


def test_the_empty_tree():
    empty = Tree.from_nested(())
    assert empty == Tree.parse("()") == Tree.from_nested([]) == Tree.from_preorder([], [])
    assert (empty.n_nodes, empty.depth, empty.label, empty.children) == (0, 0, None, ())
    assert (empty.labels, empty.sizes, list(empty.subtrees())) == ((), (), [])
    assert str(empty) == "()"
    assert repr(empty) == "<Tree: 0 nodes, ()>"
    assert empty != Tree("a")
    assert pickle.loads(pickle.dumps(empty)) == empty


# --- as a value --------------------------------------------------------------------------------


@given(NESTED)
def test_text_and_back(nested):
    tree = Tree.from_nested(nested)
    assert Tree.parse(str(tree)) == tree
    counts = [len(node.children) for node in tree.subtrees()]
    assert Tree.from_preorder(tree.labels, counts) == tree
    assert Tree(tree.label, tree.children) == tree
    assert tree.depth == 1 + max((child.depth for child in tree.children), default=0)
    assert pickle.loads(pickle.dumps(tree)) == copy.deepcopy(tree) == tree


@given(NESTED, NESTED)
def test_equal_content_is_equal(first, second):
    trees = Tree.from_nested(first), Tree.from_nested(second)
    same = _normal(first) == _normal(second)
    assert (trees[0] == trees[1]) == same
    assert (len(set(trees)) == 1) == same


def _normal(nested):
    """A leaf as a tuple of its label."""
    node = nested if isinstance(nested, tuple) else (nested,)
    return (node[0], *map(_normal, node[1:]))


def test_a_subtree_is_a_tree_of_its_own():
    tree = Tree.parse("(S (A (B b) c) (B b))")
    below = tree.children[0].children[0]
    assert below == tree.children[1] == Tree.parse("(B b)")
    assert hash(below) == hash(tree.children[1]) == hash(Tree.parse("(B b)"))
    assert pickle.loads(pickle.dumps(below)) == below
    assert len(pickle.dumps(below)) == len(pickle.dumps(Tree.parse("(B b)")))
    assert str(tree.children[0]) == "(A (B b) c)"
    assert [str(t) for t in tree.subtrees()][:3] == [str(tree), "(A (B b) c)", "(B b)"]
    assert (tree.children[0].depth, tree.children[0].sizes) == (3, (4, 2, 1, 1))


def test_trees_of_one_shape_with_other_labels_differ_and_of_other_shape_too():
    texts = ["(S a b)", "(S b a)", "(S (a b))", "(S a)", "(S a b c)", "S", "()"]
    assert len({Tree.parse(text) for text in texts}) == len(texts)
    assert Tree.parse("(S a b)") != Tree.parse("(S (a b))")
    assert Tree("a") != "a"


def test_labels_may_be_anything_hashable():
    tree = Tree((1, "x"), [Tree(2.5), Tree(frozenset({3})), Tree(b"y")])
    assert tree.labels == ((1, "x"), 2.5, frozenset({3}), b"y")
    assert tree == copy.copy(tree)
    assert Tree.from_nested((1, 2, (3, 4))).labels == (1, 2, 3, 4)
    assert Tree.from_nested((1, 2)) == Tree.from_nested((1.0, 2))


@pytest.mark.parametrize("label", ["a b", "", "(", "a)", 1, ("a",), "a\u00a0b"], ids=repr)
def test_a_tree_without_text_shows_itself_and_does_not_parse(label):
    tree = Tree("S", [Tree(label), Tree("x")])
    assert str(tree) == repr(tree) == f"<Tree: 3 nodes, (S {label!r} x)>"
    with pytest.raises(ParseError):
        Tree.parse(str(tree))


def test_a_word_of_numpy_is_a_word():
    tree = Tree.from_nested(np.array(["S", "a"]).tolist())
    assert str(Tree(np.str_("S"), [Tree(np.str_("a"))])) == str(tree) == "(S a)"


def test_repr_is_short():
    assert repr(Tree.parse("(S (A a) b)")) == "<Tree: 4 nodes, (S (A a) b)>"
    assert repr(Tree("a")) == "<Tree: 1 node, (a)>"
    long = repr(Tree.parse("(S " + "word " * 1000 + ")"))
    assert long.startswith("<Tree: 1001 nodes, (S word word")
    assert long.endswith("…>")
    assert len(long) < 90
    assert len(repr(Tree("x" * 1000))) < 90


def test_a_tree_cannot_be_changed():
    tree = Tree("a")
    for name in ("label", "children", "_labels", "colour"):
        with pytest.raises(AttributeError, match="a Tree cannot be changed"):
            setattr(tree, name, "b")
    with pytest.raises(AttributeError, match="a Tree cannot be changed"):
        del tree._labels


def test_an_array_of_trees_is_an_array_of_objects():
    assert np.array([Tree.parse("(S a b)"), Tree("a")], dtype=object).shape == (2,)


# --- depth -------------------------------------------------------------------------------------


def test_a_deep_tree():
    tree = chain()
    nested = "a"
    for _ in range(DEEP):
        nested = ("b", nested)
    assert Tree.from_nested(nested) == tree
    assert (tree.n_nodes, tree.depth) == (DEEP + 1, DEEP + 1)
    assert hash(tree) == hash(Tree.from_preorder(tree.labels, [1] * DEEP + [0]))
    assert pickle.loads(pickle.dumps(tree)) == copy.copy(tree) == copy.deepcopy(tree) == tree
    assert Tree.parse(str(tree)) == tree
    assert len(repr(tree)) < 90
    assert tree != chain("c")
    last = tree
    while last.children:
        (last,) = last.children
    assert last == Tree("a")
