"""Trees written with brackets, as in the Penn treebank."""

from __future__ import annotations

import re

from ..checks import ParseError, show

_TOKEN = re.compile(r"[()]|[^\s()]+")


class Brackets:
    """Reads one tree from bracketed text, without recursion."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.labels: list[str] = []
        self.sizes: list[int] = []
        self.open: list[int | None] = []  # the node of each open bracket; None: no label (yet)
        self.places: list[int] = []  # where those brackets are
        self.bare = False  # the bracket opened last waits for its label
        self.done = False

    def fail(self, problem: str, position: int) -> ParseError:
        return ParseError(self.text, position, problem, "Tree.parse")

    def read(self) -> tuple[tuple[str, ...], tuple[int, ...]]:
        for match in _TOKEN.finditer(self.text):
            token, position = match[0], match.start()
            if self.done:
                raise self.fail(f"expected the end of the text, found {show(token)}", position)
            if token == "(":
                self.opened(position)
            elif token == ")":
                self.closed(position)
            else:
                self.word(token, position)
        if self.open:
            problem = f"the bracket at position {self.places[-1]} must be closed, found the end"
            raise self.fail(problem, len(self.text))
        if not self.done:
            raise self.fail('expected a tree (the empty one is "()"), found the end', 0)
        return tuple(self.labels), tuple(self.sizes)

    def opened(self, position: int) -> None:
        if self.bare and len(self.open) > 1:
            raise self.fail("expected a label, found '('", position)
        self.one_in_an_outer_bracket(position)
        self.open.append(None)
        self.places.append(position)
        self.bare = True

    def closed(self, position: int) -> None:
        if not self.open:
            raise self.fail("expected a tree, found ')'", position)
        if self.bare and len(self.open) > 1:
            raise self.fail("expected a label, found ')'", position)
        node = self.open.pop()
        self.places.pop()
        self.bare = False
        if node is not None:
            self.sizes[node] = len(self.labels) - node
        self.done = not self.open

    def word(self, token: str, position: int) -> None:
        if self.bare:
            self.open[-1] = len(self.labels)
            self.bare = False
        else:
            self.one_in_an_outer_bracket(position)
            self.done = not self.open
        self.labels.append(token)
        self.sizes.append(1)

    def one_in_an_outer_bracket(self, position: int) -> None:
        if self.labels and self.open == [None]:
            problem = "an outer bracket without a label must hold one tree, found another"
            raise self.fail(problem, position)
