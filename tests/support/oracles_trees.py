"""Kernels of trees by writing out every fragment, with no recursion over pairs of nodes.

Nothing here imports mercer. A tree is a nested tuple (label, child, …), a leaf (label,), and the
empty tree ().
"""

from collections import Counter
from itertools import combinations, product


def nodes(tree):
    """Every node, as the tree below it."""
    return [] if tree == () else [tree, *(node for child in tree[1:] for node in nodes(child))]


def common(left, right, weight):
    """sum_f weight(f) n_f(left) n_f(right) of two counters of fragments."""
    return sum(weight(f) * count * right[f] for f, count in left.items() if f in right)


# --- complete subtrees ---------------------------------------------------------------------------


def subtree(x, y, decay):
    """A fragment is a node that has children, with all below it."""
    found = [Counter(node for node in nodes(tree) if node[1:]) for tree in (x, y)]
    return common(*found, lambda f: decay ** sum(1 for node in nodes(f) if node[1:]))


# --- subset trees --------------------------------------------------------------------------------


def subset_fragments(node):
    """All fragments that begin at a node with children: what it produces, and how often applied.

    A child is written ("leaf", label), ("cut", label) or as a fragment that begins there.
    """
    choices = []
    for child in node[1:]:
        if child[1:]:
            choices.append([(("cut", child[0]), 0), *subset_fragments(child)])
        else:
            choices.append([(("leaf", child[0]), 0)])
    return [
        ((node[0], *(part for part, _ in chosen)), 1 + sum(size for _, size in chosen))
        for chosen in product(*choices)
    ]


def subset_tree(x, y, decay):
    found = [
        Counter(f for node in nodes(tree) if node[1:] for f in subset_fragments(node))
        for tree in (x, y)
    ]
    return common(*found, lambda f: decay ** f[1])


# --- partial trees -------------------------------------------------------------------------------


def partial_fragments(node):
    """All fragments that begin at a node: it alone, or with some of its children, in order.

    Each comes with the number of children that were skipped between the first and the last chosen,
    summed over its nodes.
    """
    found = [((node[0],), 0)]
    children = node[1:]
    for count in range(1, len(children) + 1):
        for places in combinations(range(len(children)), count):
            skipped = places[-1] - places[0] + 1 - count
            for chosen in product(*(partial_fragments(children[place]) for place in places)):
                fragment = (node[0], *(part for part, _ in chosen))
                found.append((fragment, skipped + sum(gaps for _, gaps in chosen)))
    return found


def partial_tree(x, y, decay, depth_decay):
    """Every node of a fragment has the weight depth_decay, and if nothing is below it decay^2."""
    total = 0.0
    everywhere = [[f for node in nodes(tree) for f in partial_fragments(node)] for tree in (x, y)]
    for fragment, gaps in everywhere[0]:
        below = nodes(fragment)
        ends = sum(1 for node in below if not node[1:])
        for other, more_gaps in everywhere[1]:
            if fragment == other:
                total += depth_decay ** len(below) * decay ** (2 * ends + gaps + more_gaps)
    return total
