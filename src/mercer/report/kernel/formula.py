"""A kernel as a formula, in a few kinds of marks that plain HTML can set.

A formula is a list of pieces: texts, names (set in italics), and raised or lowered lists of pieces.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...kernels import (
    Constant,
    Exp,
    Kernel,
    Metric,
    Normalized,
    Of,
    On,
    Power,
    Product,
    Scaled,
    Sum,
)
from ..words import number

MOST_TERMS = 8
MINUS = "−"


@dataclass(frozen=True)
class Name:
    """A variable, set in italics."""

    text: str


@dataclass(frozen=True)
class Raised:
    """An exponent."""

    pieces: tuple[Piece, ...]


@dataclass(frozen=True)
class Lowered:
    """An index."""

    pieces: tuple[Piece, ...]


Piece = str | Name | Raised | Lowered
Pieces = tuple[Piece, ...]

X, Y = Name("x"), Name("y")
DISTANCE: Pieces = ("‖", X, f" {MINUS} ", Y, "‖")
SQUARED: Pieces = (*DISTANCE, Raised(("2",)))
DOT: Pieces = ("⟨", X, ", ", Y, "⟩")
XC, YC = (X, Lowered((Name("c"),))), (Y, Lowered((Name("c"),)))
SUM: Pieces = ("∑", Lowered((Name("c"),)), " ")


def formula_of(kernel: Kernel) -> tuple[Pieces, tuple[str, ...]]:
    """Return the formula of a kernel, and what its symbols mean, in sentences."""
    writer = _Writer()
    pieces = ("k(", X, ", ", Y, ") = ", *writer.write(kernel, 0))
    return pieces, tuple(writer.notes)


def plain(pieces: Pieces) -> str:
    """Return a formula as a line of text."""
    found = ""
    for piece in pieces:
        if isinstance(piece, str):
            found += piece
        elif isinstance(piece, Name):
            found += piece.text
        elif isinstance(piece, Raised):
            inner = plain(piece.pieces)
            found += f"^{inner}" if len(inner) == 1 else f"^({inner})"
        else:
            inner = plain(piece.pieces)
            found += f"_{inner}" if len(inner) == 1 else f"_({inner})"
    return found


class _Writer:
    """Writes kernels, and gathers notes."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        """Add a sentence, once."""
        if text not in self.notes:
            self.notes.append(text)

    def write(self, kernel: Kernel, level: int) -> Pieces:
        """Return a kernel; level: 1 within a sum, 2 within a product, 3 under a power."""
        found, own = self._write(kernel)
        return ("(", *found, ")") if own < level else found

    def _write(self, kernel: Kernel) -> tuple[Pieces, int]:
        if isinstance(kernel, Sum):
            return self._joined(kernel.terms, " + ", 1), 1
        if isinstance(kernel, Product):
            return self._joined(kernel.terms, " · ", 2), 2
        if isinstance(kernel, Scaled):
            return (number(kernel.coef), " · ", *self.write(kernel.inner, 2)), 2
        if isinstance(kernel, Power):
            return (*self.write(kernel.inner, 4), Raised((str(kernel.exponent),))), 3
        if isinstance(kernel, Constant):
            return (number(kernel.c),), 4
        if isinstance(kernel, Exp):
            return ("exp(", *self.write(kernel.inner, 0), ")"), 4
        return self._around(kernel)

    def _joined(self, terms: tuple[Kernel, ...], sign: str, level: int) -> Pieces:
        found: list[Piece] = []
        for place, term in enumerate(terms[:MOST_TERMS]):
            found += ([sign] if place else []) + list(self.write(term, level))
        if len(terms) > MOST_TERMS:
            found += [sign, "…"]
            self.note(f"The formula has {len(terms)} terms, of which {MOST_TERMS} are shown.")
        return tuple(found)

    def _around(self, kernel: Kernel) -> tuple[Pieces, int]:
        """Return a kernel of other points than those given."""
        if isinstance(kernel, Metric):
            self._note_metric(kernel)
            return self.write(kernel.inner, 0), self._write(kernel.inner)[1]
        if isinstance(kernel, Normalized):
            self.note("A hat says that the kernel is normalised: k(x, y) / √(k(x, x) k(y, y)).")
            return ("k̂(", X, ", ", Y, ") with ", *self.write(kernel.inner, 0)), 0
        if isinstance(kernel, On):
            chosen = kernel.columns if isinstance(kernel.columns, tuple) else (kernel.columns,)
            self.note(f"This part sees {', '.join(map(str, chosen))} only.")
            return self.write(kernel.inner, 0), self._write(kernel.inner)[1]
        if isinstance(kernel, Of):
            self.note("x and y are points after a transformation, such as an encoder of tables.")
            return self.write(kernel.inner, 0), self._write(kernel.inner)[1]
        form = FORMS.get(kernel.name)
        if form is None or any(isinstance(value, str) for value in kernel.get_params().values()):
            return (repr(kernel) if len(repr(kernel)) <= 200 else kernel.name,), 4
        return form(kernel, self), 4

    def _note_metric(self, kernel: Metric) -> None:
        M = np.asarray(kernel.M)
        kind = "weights of the columns" if M.ndim == 1 else "matrix"
        diagonal = M if M.ndim == 1 else np.diag(M)
        self.note(
            f"x and y stand for √M x and √M y with a learned metric M, a {kind}, with a diagonal "
            f"from {number(float(diagonal.min()))} to {number(float(diagonal.max()))}."
        )


def _factor(value: Any, writer: _Writer, symbol: str) -> Pieces:
    """Return a bandwidth in front of a distance: a number, or a symbol for one per column."""
    if np.ndim(value) == 0:
        return () if float(value) == 1.0 else (number(float(value)), " ")
    low, high = float(np.min(value)), float(np.max(value))
    writer.note(f"{symbol} is one number per column, from {number(low)} to {number(high)}.")
    return ()


def _over(value: Any, writer: _Writer) -> Pieces:
    """Return the division by a length."""
    if np.ndim(value) == 0:
        return () if float(value) == 1.0 else (" / ", number(float(value)))
    low, high = float(np.min(value)), float(np.max(value))
    writer.note(f"Each column has a length of its own, from {number(low)} to {number(high)}.")
    return ()


def _gaussian(kernel: Any, writer: _Writer) -> Pieces:
    return ("exp(", MINUS, *_factor(kernel.gamma, writer, "γ"), *SQUARED, ")")


def _laplacian(kernel: Any, writer: _Writer) -> Pieces:
    return ("exp(", MINUS, *_factor(kernel.gamma, writer, "γ"), *DISTANCE, Lowered(("1",)), ")")


def _exponential(kernel: Any, writer: _Writer) -> Pieces:
    return ("exp(", MINUS, *DISTANCE, *_over(kernel.length_scale, writer), ")")


def _matern(kernel: Any, writer: _Writer) -> Pieces:
    r = Name("r")
    writer.note("r is the distance of x and y over the length scale.")
    _length_note(kernel, writer)
    if kernel.nu == 0.5:
        return ("exp(", MINUS, r, ")")
    if kernel.nu == 1.5:
        return ("(1 + √3 ", r, ") exp(", MINUS, "√3 ", r, ")")
    if kernel.nu == 2.5:
        square = (r, Raised(("2",)))
        return ("(1 + √5 ", r, " + 5 ", *square, " / 3) exp(", MINUS, "√5 ", r, ")")
    return ("Matérn", Lowered((number(kernel.nu),)), "(", r, ")")


def _length_note(kernel: Any, writer: _Writer) -> None:
    if np.ndim(kernel.length_scale) == 0:
        writer.note(f"The length scale is {number(float(kernel.length_scale))}.")
    else:
        _over(kernel.length_scale, writer)


def _rational(kernel: Any, writer: _Writer) -> Pieces:
    r = Name("r")
    writer.note("r is the distance of x and y over the length scale.")
    _length_note(kernel, writer)
    twice = number(2 * float(kernel.alpha))
    power = Raised((MINUS, number(float(kernel.alpha))))
    return ("(1 + ", r, Raised(("2",)), f" / {twice})", power)


def _linear(kernel: Any, writer: _Writer) -> Pieces:
    return DOT


def _polynomial(kernel: Any, writer: _Writer) -> Pieces:
    front = () if kernel.gamma == 1.0 else (number(float(kernel.gamma)), " ")
    added = (f" + {number(float(kernel.coef0))}",) if kernel.coef0 else ()
    return ("(", *front, *DOT, *added, ")", Raised((str(kernel.degree),)))


def _exp_dot(kernel: Any, writer: _Writer) -> Pieces:
    return ("exp(", *_factor(kernel.gamma, writer, "γ"), *DOT, ")")


def _sigmoid(kernel: Any, writer: _Writer) -> Pieces:
    added = (f" + {number(float(kernel.coef0))}",) if kernel.coef0 else ()
    return ("tanh(", *_factor(kernel.gamma, writer, "γ"), *DOT, *added, ")")


def _chi2(kernel: Any, writer: _Writer) -> Pieces:
    top = ("(", *XC, f" {MINUS} ", *YC, ")", Raised(("2",)))
    front = _factor(kernel.gamma, writer, "γ")
    return ("exp(", MINUS, *front, *SUM, *top, " / (", *XC, " + ", *YC, "))")


def _intersection(kernel: Any, writer: _Writer) -> Pieces:
    return (*SUM, "min(", *XC, ", ", *YC, ")")


def _categorical(kernel: Any, writer: _Writer) -> Pieces:
    front = _factor(kernel.gamma, writer, "γ")
    return ("exp(", MINUS, *front, *SUM, "[", *XC, " ≠ ", *YC, "])")


def _sum_power(kernel: Any, writer: _Writer) -> Pieces:
    writer.note("The mean is over the columns c.")
    _length_note(kernel, writer)
    inside: Pieces = ("|", *XC, f" {MINUS} ", *YC, "|")
    if np.ndim(kernel.length_scale) == 0 and float(kernel.length_scale) != 1.0:
        inside = (*inside, " / ", number(float(kernel.length_scale)))
    if kernel.q != 1.0:
        inside = ("(", *inside, ")", Raised((number(kernel.q),)))
    mean = ("mean", Lowered((Name("c"),)), " exp(", MINUS, *inside, ")")
    if kernel.constant:
        rest = number(1.0 - kernel.constant)
        mean = (f"{rest} ", *mean, f" + {number(kernel.constant)}")
    return ("(", *mean, ")", Raised((str(kernel.power),)))


def _lp_norm(kernel: Any, writer: _Writer) -> Pieces:
    inside = (*DISTANCE, Lowered((number(kernel.p),)), *_over(kernel.length_scale, writer))
    if kernel.q != 1.0:
        inside = ("(", *inside, ")", Raised((number(kernel.q),)))
    return ("exp(", MINUS, *inside, ")")


FORMS: dict[str, Callable[[Any, _Writer], Pieces]] = {
    "Gaussian": _gaussian,
    "Laplacian": _laplacian,
    "Exponential": _exponential,
    "Matern": _matern,
    "RationalQuadratic": _rational,
    "Linear": _linear,
    "Polynomial": _polynomial,
    "ExpDot": _exp_dot,
    "Sigmoid": _sigmoid,
    "Chi2": _chi2,
    "Intersection": _intersection,
    "Categorical": _categorical,
    "SumPower": _sum_power,
    "LpNorm": _lp_norm,
}
