"""Formulas in plain HTML."""

from __future__ import annotations

from ..kernel.formula import Name, Pieces, Raised, plain
from .markup import Html, element, joined


def set_formula(pieces: Pieces) -> Html:
    """Return a formula as a line that may break and scroll."""
    return element("div", _pieces(pieces), class_="formula", role="math", aria_label=plain(pieces))


def _pieces(pieces: Pieces) -> Html:
    found = []
    for piece in pieces:
        if isinstance(piece, str):
            found.append(piece)
        elif isinstance(piece, Name):
            found.append(element("var", piece.text))
        else:
            name = "sup" if isinstance(piece, Raised) else "sub"
            found.append(element(name, _pieces(piece.pieces)))
    return joined(found)
