"""Ordered trees with labels, as values.

A tree is kept flat: the labels of its nodes in preorder (a node, then its subtrees from left to
right) and the number of nodes of the subtree at each. So no depth is too deep, and a subtree is a
view of the whole.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, NoReturn

from ..checks import InputError, InputTypeError, sentence, show, whole
from .tree_text import Brackets

_WORD = re.compile(r"[^\s()]+")
_SHOWN = 60  # characters of a tree in its repr


class Tree:
    """An ordered tree with labels, as a value that cannot be changed.

    A tree is a node with a label and an ordered list of subtrees; without any it is a leaf. Trees
    with the same shape and equal labels are equal. There is one tree without nodes,
    `Tree.parse("()")`, whose label is None. For the use of trees in kernels see [1]_.

    Parameters
    ----------
    label : hashable
        Anything hashable except None, usually a string.
    children : sequence of Tree, default=()
        The subtrees, from left to right.

    References
    ----------
    .. [1] M. Collins, N. Duffy, "Convolution kernels for natural language", NIPS, 2001.

    Examples
    --------
    >>> from mercer.kernels import Tree
    >>> tree = Tree("S", [Tree("A", [Tree("a")]), Tree("B")])
    >>> print(tree)
    (S (A a) B)
    >>> tree.n_nodes, tree.depth
    (4, 3)
    """

    __slots__ = ("_at", "_labels", "_sizes")
    _labels: tuple[Hashable, ...]
    _sizes: tuple[int, ...]
    _at: int

    def __init__(self, label: Hashable, children: Sequence[Tree] = ()) -> None:
        _check_label(label, "")
        if isinstance(children, Tree) or not isinstance(children, Iterable):
            got = f"{show(children)} ({type(children).__name__})"
            advice = "Put a single child into a list."
            raise InputTypeError(sentence("Tree", "children must be a list of trees", got, advice))
        below = tuple(children)
        for index, child in enumerate(below):
            if not isinstance(child, Tree) or child.n_nodes == 0:
                got = f"{show(child)} ({type(child).__name__}) at index {index}"
                must = "every child must be a Tree, and not the empty one"
                advice = "Tree.from_nested takes tuples and labels."
                raise InputTypeError(sentence("Tree", must, got, advice))
        labels = (label, *(name for child in below for name in child.labels))
        sizes = (len(labels), *(size for child in below for size in child.sizes))
        self._fill(labels, sizes, 0)

    def _fill(self, labels: tuple[Hashable, ...], sizes: tuple[int, ...], at: int) -> None:
        object.__setattr__(self, "_labels", labels)
        object.__setattr__(self, "_sizes", sizes)
        object.__setattr__(self, "_at", at)

    @classmethod
    def parse(cls, text: str) -> Tree:
        """Return the tree of a bracketed text.

        (LABEL child child) is a node, and a bare word is a leaf. An outer bracket without a label
        around one tree, as in the Penn treebank, is dropped; words such as -LRB- stay as they are.

        Parameters
        ----------
        text : str
            A text such as "(S (A a) (B b))".

        Returns
        -------
        Tree
            The tree.

        Examples
        --------
        >>> from mercer.kernels import Tree
        >>> Tree.parse("(S (A a) (B b))").labels
        ('S', 'A', 'a', 'B', 'b')
        """
        if not isinstance(text, str):
            advice = "Tree.from_nested takes nested tuples."
            raise InputTypeError(
                sentence("Tree.parse", "text must be a string", show(text), advice)
            )
        return _view(*Brackets(text).read())

    @classmethod
    def from_nested(cls, nested: Any) -> Tree:
        """Return the tree of nested tuples or lists.

        A tuple is a label and its children, and () is the empty tree; a Tree is taken as it is, and
        anything else is a leaf. A label that is itself a tuple needs Tree(label, children).

        Parameters
        ----------
        nested : tuple, list, Tree or hashable
            Nested tuples such as ("S", ("A", "a"), ("B", "b")).

        Returns
        -------
        Tree
            The tree.

        Examples
        --------
        >>> from mercer.kernels import Tree
        >>> print(Tree.from_nested(("S", ("A", "a"), ("B", "b"))))
        (S (A a) (B b))
        """
        if isinstance(nested, list | tuple) and len(nested) == 0:
            return _view((), ())
        return _view(*_unnested(nested))

    @classmethod
    def from_preorder(cls, labels: Sequence[Hashable], n_children: Sequence[int]) -> Tree:
        """Return the tree of labels and numbers of children, each node before its subtrees.

        Parameters
        ----------
        labels : sequence of hashable
            The labels of all nodes.
        n_children : sequence of int
            How many children each node has.

        Returns
        -------
        Tree
            The tree.

        Examples
        --------
        >>> from mercer.kernels import Tree
        >>> print(Tree.from_preorder(["S", "A", "a", "b"], [2, 1, 0, 0]))
        (S (A a) b)
        """
        names, counts = tuple(labels), tuple(n_children)
        if len(names) != len(counts):
            got = f"{len(names)} and {len(counts)}"
            must = "there must be as many labels as numbers of children"
            raise InputError(sentence("Tree", must, got))
        for index, name in enumerate(names):
            _check_label(name, f" at index {index}")
        return _view(names, _sizes(counts))

    @property
    def label(self) -> Hashable:
        """The label of the root."""
        return self._labels[self._at] if self._labels else None

    @property
    def children(self) -> tuple[Tree, ...]:
        """The subtrees below the root, from left to right."""
        found, at, end = [], self._at + 1, self._at + self.n_nodes
        while at < end:
            found.append(_view(self._labels, self._sizes, at))
            at += self._sizes[at]
        return tuple(found)

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return self._sizes[self._at] if self._sizes else 0

    @property
    def labels(self) -> tuple[Hashable, ...]:
        """The labels of all nodes, in preorder."""
        return self._labels[self._at : self._at + self.n_nodes]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of nodes of the subtree at every node, in preorder."""
        return self._sizes[self._at : self._at + self.n_nodes]

    @property
    def depth(self) -> int:
        """The number of nodes from the root to the farthest leaf."""
        depth, ends = 0, [0]
        for index, size in enumerate(self.sizes):
            while len(ends) > 1 and ends[-1] <= index:
                ends.pop()
            ends.append(index + size)
            depth = max(depth, len(ends) - 1)
        return depth

    def subtrees(self) -> Iterator[Tree]:
        """Return an iterator over the trees at all nodes, in preorder.

        Returns
        -------
        iterator of Tree
            The tree itself, then the trees below it.

        Examples
        --------
        >>> from mercer.kernels import Tree
        >>> [str(tree) for tree in Tree.parse("(S (A a) b)").subtrees()]
        ['(S (A a) b)', '(A a)', '(a)', '(b)']
        """
        return (_view(self._labels, self._sizes, self._at + i) for i in range(self.n_nodes))

    def __setattr__(self, name: str, value: Any = None) -> None:
        raise AttributeError(f"a Tree cannot be changed; make a new one with another {name}.")

    __delattr__ = __setattr__

    def __reduce__(self) -> tuple[Any, ...]:
        return _view, (self.labels, self.sizes)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        same_size = self.n_nodes == other.n_nodes
        return same_size and self.sizes == other.sizes and self.labels == other.labels

    def __hash__(self) -> int:
        return hash((self.labels, self.sizes))

    def __repr__(self) -> str:
        text = ""
        for piece in self._pieces():
            text += piece
            if len(text) > _SHOWN:
                text = f"{text[: _SHOWN - 1]}…"
                break
        return f"<Tree: {self.n_nodes} node{'' if self.n_nodes == 1 else 's'}, {text}>"

    def __str__(self) -> str:
        """Return the text that `Tree.parse` reads.

        A tree with a label that is not a word (not a string, or with blanks or brackets in it) has
        no such text: it is shown as `repr` does, which does not parse.

        Returns
        -------
        str
            The text.
        """
        words = all(map(_is_word, self.labels))
        return "".join(self._pieces()) if words else repr(self)

    def _pieces(self) -> Iterator[str]:
        """Yield the bracketed text, node by node."""
        ends: list[int] = []
        for index, (label, size) in enumerate(zip(self.labels, self.sizes, strict=True)):
            closed = ""
            while ends and ends[-1] == index:
                ends.pop()
                closed += ")"
            opened = size > 1 or index == 0
            if opened:
                ends.append(index + size)
            name = str(label) if _is_word(label) else repr(label)
            yield f"{closed}{' ' if index else ''}{'(' if opened else ''}{name}"
        yield ")" * len(ends) if self.n_nodes else "()"


def _view(labels: tuple[Hashable, ...], sizes: tuple[int, ...], at: int = 0) -> Tree:
    """Return the tree at a node of flat labels and sizes that fit each other."""
    tree = object.__new__(Tree)
    tree._fill(labels, sizes, at)
    return tree


def _is_word(label: Hashable) -> bool:
    return isinstance(label, str) and _WORD.fullmatch(label) is not None


def _check_label(label: Any, where: str) -> None:
    try:
        hash(label)
        fits = label is not None
    except TypeError:
        fits = False
    if not fits:
        got = f"{show(label)} ({type(label).__name__}){where}"
        raise InputTypeError(sentence("Tree", "a label must be hashable, and not None", got))


def _sizes(n_children: Sequence[int]) -> tuple[int, ...]:
    """Return the sizes of subtrees from numbers of children."""
    must = "numbers of children must be those of one tree in preorder"
    sizes, waiting = [0] * len(n_children), list[int]()
    for index in range(len(n_children) - 1, -1, -1):  # what follows a node has been put together
        count = whole("Tree", f"n_children[{index}]", n_children[index], least=0)
        if count > len(waiting):
            got = f"{count} children at index {index}, {len(waiting)} to be had"
            raise InputError(sentence("Tree", must, got))
        sizes[index] = 1 + sum(waiting[len(waiting) - count :])
        del waiting[len(waiting) - count :]
        waiting.append(sizes[index])
    if len(waiting) > 1:
        raise InputError(sentence("Tree", must, f"{len(waiting)} trees"))
    return tuple(sizes)


# --- nested tuples -----------------------------------------------------------------------------


def _unnested(nested: Any) -> tuple[tuple[Hashable, ...], tuple[int, ...]]:
    """Return labels and sizes of nested tuples, without recursion."""
    labels: list[Hashable] = []
    sizes: list[int] = []
    open_nodes: list[tuple[int, Any]] = []  # where a node is, and its children with their places
    path: list[int] = []

    def start(item: Any) -> None:
        if isinstance(item, Tree) and item.n_nodes:
            labels.extend(item.labels)
            sizes.extend(item.sizes)
            return
        node = item if isinstance(item, list | tuple) else (item,)
        if isinstance(item, Tree) or not node or isinstance(node[0], list | tuple | Tree):
            _refuse_node(item, path)
        _check_label(node[0], _place(path))
        open_nodes.append((len(labels), enumerate(node[1:], start=1)))
        labels.append(node[0])
        sizes.append(1)

    start(nested)
    while open_nodes:
        at, children = open_nodes[-1]
        del path[len(open_nodes) - 1 :]
        following = next(children, None)
        if following is None:
            sizes[at] = len(labels) - at
            open_nodes.pop()
        else:
            path.append(following[0])
            start(following[1])
    return tuple(labels), tuple(sizes)


def _refuse_node(item: Any, path: list[int]) -> NoReturn:
    must = "a node must be a label, or a tuple of a label and its children"
    named = isinstance(item, list | tuple) and len(item) > 0
    why = f"whose first item is a {type(item[0]).__name__}" if named else "without a label"
    got = f"a {type(item).__name__} {why}{_place(path)}"
    raise InputTypeError(sentence("Tree.from_nested", must, got))


def _place(path: list[int]) -> str:
    shown = "".join(f"[{index}]" for index in path[-8:])
    return f" at {'…' if len(path) > 8 else ''}{shown}" if path else ""
