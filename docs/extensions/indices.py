"""Indices and powers in running text: x_i, Σ_{j in c}, 2^(i+1) and r**2 as a book sets them.

Sources keep to what can be read anywhere. Names with underscores are code, in backticks, and stay.
"""

import re

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

MARK = re.compile(
    r"_(?P<index>\{[^{}]*\}|[A-Za-z0-9]+)(?![A-Za-z0-9_])"
    r"|(?:\^|\*\*)(?P<power>[−-]?\([^()]*\)|\|\w+\||[−-]?(?:[A-Za-z]+(?:_[a-z0-9]\b)?|\d+|½))"
)
LETTERS = re.compile(r"(?:(?<=\d)|(?<![\w.]))[^\W\d_]+$")
GREEK = ("alpha", "beta", "gamma", "delta", "lambda", "mu", "nu", "phi", "rho", "sigma", "theta")
SYMBOLS = "ΣΠ‖∂)′\N{COMBINING TILDE}"
AS_WRITTEN = (
    nodes.FixedTextElement,
    nodes.classifier,
    nodes.literal,
    nodes.math,
    nodes.raw,
    nodes.term,
    nodes.title,
    addnodes.desc_signature,
)


def is_index(before: str, index: str) -> bool:
    """Whether what follows an underscore is an index, and not the rest of a name in a program."""
    letters = LETTERS.search(before)
    if letters is None:
        return before.endswith(tuple(SYMBOLS))
    word = letters[0]
    if len(word) == 1 or word in GREEK or index.startswith("{"):
        return index.startswith("{") or len(index) <= 3
    return len(index) == 1 and word.islower()


def pieces(text: str) -> list[nodes.Node]:
    """A text in parts: as it is, lowered, raised."""
    found: list[nodes.Node] = []
    last = 0
    for mark in MARK.finditer(text):
        index, power = mark["index"], mark["power"]
        if index and not is_index(text[: mark.start()], index):
            continue
        found.append(nodes.Text(text[last : mark.start()]))
        if index:
            found.append(nodes.subscript("", index.strip("{}")))
        else:
            inner = power[1:-1] if power.startswith("(") else power
            found.append(nodes.superscript("", inner))
        last = mark.end()
    return [*found, nodes.Text(text[last:])]


class Indices(SphinxTransform):
    default_priority = 900

    def apply(self, **kwargs: object) -> None:
        for node in list(self.document.findall(nodes.Text)):
            above, kept = node.parent, False
            while above is not None and not kept:
                above, kept = above.parent, isinstance(above, AS_WRITTEN)
            if not kept and MARK.search(node):
                node.parent.replace(node, pieces(node.astext()))


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_transform(Indices)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
