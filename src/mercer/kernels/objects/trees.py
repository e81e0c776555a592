"""Kernels of ordered trees: they count the fragments that two trees have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from typing import Any

import numpy as np

from ... import _native, checks
from ...checks import Array
from ...inputs import TREES, Tree
from .counted import CountKernel, Table
from .paired import PairKernel
from .tokens import token_codes

_LEAST = 1e-100  # of a decay: a product of three of them is not 0


@dataclass(frozen=True, repr=False)
class Subtree(CountKernel):
    """The kernel of complete subtrees that two trees have in common.

    k(s, t) = sum_f decay**|f| n_f(s) n_f(t) over complete subtrees f, where n_f(s) is how often f
    occurs in s. A complete subtree is an inner node with everything below it; |f| is the number of
    its inner nodes [1]_. Leaves alone do not count.

    Parameters
    ----------
    decay : float, default=0.4
        Weight per inner node, above 0 and at most 1.

    References
    ----------
    .. [1] S. V. N. Vishwanathan, A. J. Smola, "Fast kernels for string and tree matching", NIPS,
       2003.

    Examples
    --------
    >>> from mercer.kernels import Subtree, Tree
    >>> trees = [Tree.parse(text) for text in ("(S (A a) (B b))", "(S (A a) (B c))")]
    >>> Subtree(decay=1.0)(trees)
    array([[3., 1.],
           [1., 3.]])
    """

    domain = TREES

    decay: float = 0.4

    def __post_init__(self) -> None:
        self._set(decay=checks.number("Subtree", "decay", self.decay, least=_LEAST, most=1))

    def counts(self, x: Any) -> Mapping[Hashable, float]:
        found = Counter(tree for tree in x.subtrees() if tree.n_nodes > 1)
        inner = {tree: sum(size > 1 for size in tree.sizes) for tree in found}
        return {tree: count * self.decay ** (inner[tree] / 2) for tree, count in found.items()}

    def tabulate(self, items: Sequence[Any]) -> Table:
        ends, sizes, labels = _layout(items)
        hashes, inner = np.empty_like(labels), np.empty_like(sizes)
        _native.hash_subtrees(ends, sizes, labels, hashes, inner)
        kept = inner > 0
        kept_ends = np.concatenate([[0], np.cumsum(kept)])[ends]
        return Table.of(kept_ends, hashes[kept], self.decay ** (inner[kept] / 2))


class _NodePairs(PairKernel, abstract=True):
    """k(s, t) = sum of delta(v, w) over all nodes v of s and w of t."""

    domain = TREES

    @abstractmethod
    def delta(self, v: Node, w: Node, known: Array) -> float:
        """Compute what two nodes contribute, given what their children do.

        Parameters
        ----------
        v : Node
            A node of the first tree.
        w : Node
            A node of the second tree.
        known : ndarray of shape (n_nodes, n_others)
            The contributions of pairs of nodes that are already known, those of the children among
            them.

        Returns
        -------
        float
            The contribution.
        """

    def pair(self, x: Any, y: Any) -> float:
        nodes, others = _nodes(x), _nodes(y)
        known = np.zeros((len(nodes), len(others)))
        for v in reversed(nodes):  # children before their parents
            for w in reversed(others):
                known[v.index, w.index] = self.delta(v, w, known)
        return float(known.sum())


@dataclass(frozen=True, repr=False)
class SubsetTree(_NodePairs):
    """The kernel of subset trees: fragments in which a node has all its children or none.

    k(s, t) = sum_f decay**|f| n_f(s) n_f(t) over subset trees f, where n_f(s) is how often f occurs
    in s. A subset tree is an inner node with all its children, some of which have all of theirs,
    and so on; |f| is the number of its nodes that have children in it [1]_. The sum is computed as
    the sum of delta(v, w) over all pairs of nodes: delta = decay prod_c (1 + delta(c-th child, c-th
    child)) if both have the same label and children of the same labels, leaves where the other has
    leaves; 0 otherwise.

    Parameters
    ----------
    decay : float, default=0.4
        Weight per node that has children in the fragment, above 0 and at most 1.

    References
    ----------
    .. [1] M. Collins, N. Duffy, "Convolution kernels for natural language", NIPS, 2001.

    Examples
    --------
    >>> from mercer.kernels import SubsetTree, Tree
    >>> trees = [Tree.parse(text) for text in ("(S (A a) (B b))", "(S (A a) (B c))")]
    >>> SubsetTree(decay=1.0)(trees)
    array([[6., 3.],
           [3., 6.]])
    """

    decay: float = 0.4

    def __post_init__(self) -> None:
        self._set(decay=checks.number("SubsetTree", "decay", self.decay, least=_LEAST, most=1))

    def delta(self, v: Node, w: Node, known: Array) -> float:
        if not v.children or v.production != w.production:
            return 0.0
        pairs = zip(v.children, w.children, strict=True)
        return float(self.decay * np.prod([1.0 + known[a, b] for a, b in pairs]))

    def encode(self, items: Sequence[Any]) -> _native.Forest:
        return _native.Forest(*_layout(items), productions=True)

    def job(self, left: Any, right: Any) -> _native.PairJob:
        return _native.SubsetTreeJob(left, right, self.decay)


@dataclass(frozen=True, repr=False)
class PartialTree(_NodePairs):
    """The kernel of partial trees: fragments in which a node has any of its children, in order.

    k(s, t) = sum of delta(v, w) over all pairs of nodes, where

    delta = depth_decay (decay**2 + sum_{I, J} decay**(d(I) + d(J)) prod_k delta(I_k, J_k))

    for equal labels, and 0 for different ones. I and J are subsequences of equal length of the
    children of both, and d(I) is the number of children skipped between the first and the last of I
    [1]_.

    Parameters
    ----------
    decay : float, default=0.4
        Weight per child that is skipped, above 0 and at most 1.
    depth_decay : float, default=0.4
        Weight per level of depth, above 0 and at most 1.

    References
    ----------
    .. [1] A. Moschitti, "Efficient convolution kernels for dependency and constituent syntactic
       trees", ECML, 2006.

    Examples
    --------
    >>> from mercer.kernels import PartialTree, Tree
    >>> trees = [Tree.parse(text) for text in ("(S (A a) (B b))", "(S (A a) (B c))")]
    >>> PartialTree(decay=1.0, depth_decay=1.0)(trees)
    array([[15., 10.],
           [10., 15.]])
    """

    decay: float = 0.4
    depth_decay: float = 0.4

    def __post_init__(self) -> None:
        for name in ("decay", "depth_decay"):
            value = checks.number("PartialTree", name, getattr(self, name), least=_LEAST, most=1)
            self._set(**{name: value})

    def delta(self, v: Node, w: Node, known: Array) -> float:
        if v.label != w.label:
            return 0.0
        ending: dict[tuple[int, int], float] = {}  # pairs of subsequences by where they end
        for a, b in product(range(len(v.children)), range(len(w.children))):
            shorter = sum(
                self.decay ** (a - c - 1 + b - d - 1) * value
                for (c, d), value in ending.items()
                if c < a and d < b
            )
            ending[a, b] = known[v.children[a], w.children[b]] * (1.0 + shorter)
        return float(self.depth_decay * (self.decay**2 + sum(ending.values())))

    def encode(self, items: Sequence[Any]) -> _native.Forest:
        return _native.Forest(*_layout(items), productions=False)

    def job(self, left: Any, right: Any) -> _native.PairJob:
        return _native.PartialTreeJob(left, right, self.decay, self.depth_decay)


@dataclass(frozen=True)
class Node:
    """A node of a tree and its place in preorder, with those of its children."""

    index: int
    label: Hashable
    children: tuple[int, ...]
    production: tuple[Hashable, ...]  # label and children, each with whether it is a leaf


def _nodes(tree: Tree) -> list[Node]:
    labels, sizes = tree.labels, tree.sizes
    found = []
    for index, size in enumerate(sizes):
        children, at = [], index + 1
        while at < index + size:
            children.append(at)
            at += sizes[at]
        kinds = [(labels[child], sizes[child] == 1) for child in children]
        found.append(Node(index, labels[index], tuple(children), (labels[index], *kinds)))
    return found


def _layout(items: Sequence[Tree]) -> tuple[Array, Array, Array]:
    """Return where trees end, the sizes of the subtrees at all nodes, and codes of the labels."""
    ends = np.cumsum([0, *(tree.n_nodes for tree in items)], dtype=np.int64)
    sizes = np.fromiter(chain.from_iterable(tree.sizes for tree in items), np.int64, ends[-1])
    return ends, sizes, token_codes(chain.from_iterable(tree.labels for tree in items))
