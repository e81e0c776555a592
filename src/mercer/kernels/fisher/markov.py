"""Scores of a hidden Markov model: how a sequence would move its probabilities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...checks import Array, InputError, InputTypeError, sentence, show
from ...inputs import SEQUENCES, Input
from ..objects.tokens import sequences, token_codes
from .arrays import WHO, nested, over_root, probabilities

AT_ONCE = 1 << 21  # numbers of all steps of the sequences that are gone through together
LOWEST = -(1 << 60)  # the exponent of 0
SMALL = 1e-300  # sums below it lack digits, since the smallest numbers have few
GONE = 1100  # powers of 2 between two numbers of which the smaller does not count

Counts = tuple[Array, Array, Array]


@dataclass(frozen=True, eq=False)
class Chain:
    """Probabilities of a first state (S), of a next state (S, S) and of a symbol (S, M)."""

    start: Array
    transition: Array
    emission: Array
    symbols: tuple[Any, ...]  # the token of every column of `emission`

    domain = SEQUENCES

    @classmethod
    def read(cls, start: Any, transition: Any, emission: Any, symbols: Any) -> Chain:
        """Return the model of checked arrays; symbols None: tokens are 0, 1, 2, …"""
        first = probabilities("start", start, (None,))
        states = len(first)
        step = probabilities("transition", transition, (states, states))
        symbol = probabilities("emission", emission, (states, None))
        width = symbol.shape[1]
        names = tuple(range(width)) if symbols is None else symbols
        if len(names) != width:
            must = f"symbols must name the {width} columns of emission"
            raise InputError(sentence(WHO, must, f"{len(names)} symbols"))
        return cls(first, step, symbol, names)

    @property
    def plain(self) -> tuple[Any, ...]:
        """The arrays as a value that is frozen and can be written down."""
        return ("markov", *map(nested, (self.start, self.transition, self.emission)))

    @property
    def _parameters(self) -> tuple[Array, Array, Array]:
        return self.start[None, :], self.transition, self.emission

    @property
    def width(self) -> int:
        """The number of parameters, each with a score."""
        return sum(part.size for part in self._parameters)

    def scores(self, points: Input) -> Array:
        """Return (E[n(a)] - p(a) E[n]) / sqrt(p(a)) for every distribution p of the model, n(a)
        being how often it produced a while the sequence was made."""
        columns, ends = self._columns(points.raw)
        result = np.zeros((len(points), self.width))
        for chosen in self._groups(np.diff(ends)):
            counts = self._group(columns, ends, chosen)
            parts = [
                over_root(n - p * n.sum(axis=2, keepdims=True), p).reshape(len(chosen), -1)
                for n, p in zip(counts, self._parameters, strict=True)
            ]
            result[chosen] = np.hstack(parts)
        return result

    def gradients(self, scores: Array) -> Array:
        """Return the derivatives of log p(x) by the logits of all probabilities."""
        probability = np.concatenate([part.ravel() for part in self._parameters])
        return np.asarray(scores * np.sqrt(probability))

    def _columns(self, items: Sequence[Any]) -> tuple[Array, Array]:
        """Return all tokens as columns of `emission`, and where each sequence ends."""
        found = sequences(items)
        known = token_codes(self.symbols)
        order = np.argsort(known)
        places = np.minimum(np.searchsorted(known[order], found.codes), len(known) - 1)
        columns = order[places]
        unknown = np.flatnonzero(known[columns] != found.codes)
        if len(unknown):
            item = int(np.searchsorted(found.ends, unknown[0], side="right")) - 1
            place = int(unknown[0] - found.ends[item])
            must = f"every token must be one of the model's {len(known)} symbols"
            got = f"{show(items[item][place])} at position {place} of the sequence at index {item}"
            advice = (
                f"It knows {show(self.symbols)}; symbols= gives each column of emission a name."
            )
            raise InputError(sentence(WHO, must, got, advice))
        return columns, found.ends

    def _groups(self, lengths: Array) -> Iterator[Array]:
        """Yield sequences to take together, the longest first; the empty ones have no scores."""
        order = np.argsort(-lengths, kind="stable")
        order = order[: np.count_nonzero(lengths)]
        states, width = self.emission.shape
        while len(order):
            each = 4 * states * int(lengths[order[0]]) + 2 * states * (states + width)
            size = max(1, AT_ONCE // each)
            yield order[:size]
            order = order[size:]

    def _group(self, columns: Array, ends: Array, chosen: Array) -> Counts:
        """Return the expected counts of some sequences, whose lengths descend."""
        lengths = (ends[1:] - ends[:-1])[chosen]
        steps = np.arange(lengths[0])[:, None]
        inside = steps < lengths
        tokens = columns[np.where(inside, ends[chosen] + steps, 0)]
        counts, doubtful = self._expected(tokens, inside)
        for index in np.flatnonzero(doubtful):
            found = self._expected_with_exponents(tokens[: lengths[index], index])
            if found is None:
                must = "every sequence must have a probability above 0 under the model"
                advice = "Drop it, or give the model's zeros a small probability."
                got = f"0 for the sequence at index {chosen[index]}"
                raise InputError(sentence(WHO, must, got, advice))
            for all_counts, own in zip(counts, found, strict=True):
                all_counts[index] = own
        return counts

    def _expected(self, tokens: Array, inside: Array) -> tuple[Counts, Array]:
        """Return expected counts by scaled passes forward and backward, a step of all sequences at
        a time, and which of them may have lost a probability below the smallest number."""
        length, count = tokens.shape
        states = len(self.start)
        active = inside.sum(axis=1)
        likely = self.emission.T[tokens]
        forward, ahead = np.zeros((2, length, count, states))
        scale = np.ones((length, count))
        backward = np.zeros_like(forward)
        for t, n in enumerate(active):
            before = self.start if t == 0 else forward[t - 1, :n] @ self.transition
            row = before * likely[t, :n]
            scale[t, :n] = row.sum(axis=1)
            forward[t, :n] = _quotient(row, scale[t, :n])
        with np.errstate(over="ignore", invalid="ignore"):
            for t in range(length - 1, -1, -1):
                n, more = active[t], active[t + 1] if t + 1 < length else 0
                backward[t, more:n] = 1.0
                backward[t, :more] = ahead[t + 1, :more] @ self.transition.T if more else 0.0
                ahead[t, :n] = _quotient(likely[t, :n] * backward[t, :n], scale[t, :n])
            # What counts is forward * backward: where the one was too small for a number, and yet
            # counts, the other is too large for one.
            doubtful = np.any(scale < SMALL, axis=0) | ~np.isfinite(backward).all(axis=(0, 2))
            visits = forward * backward
            moves = forward[:-1].transpose(1, 2, 0) @ ahead[1:].transpose(1, 0, 2)
            moves *= self.transition
        emitted = _totals(visits, tokens, self.emission.shape[1])
        return (visits[0][:, None, :], moves, emitted), doubtful

    def _expected_with_exponents(self, tokens: Array) -> Counts | None:
        """Return the expected counts of one sequence; None if it is impossible.

        Every probability has an exponent of its own, so that none is lost, however small.
        """
        step = _Wide.of(self.transition)
        likely = _Wide.of(self.emission.T[tokens])
        forward, backward = likely.copy(), _Wide.of(np.ones_like(likely.part))
        forward[0] = _Wide.of(self.start) * likely[0]
        for t in range(1, len(tokens)):
            forward[t] = (forward[t - 1, :, None] * step).sum(0) * likely[t]
        whole = forward[-1].sum(0)
        if whole.part == 0:
            return None
        moves = np.zeros_like(self.transition)
        for t in range(len(tokens) - 2, -1, -1):
            ahead = step * (likely[t + 1] * backward[t + 1])
            backward[t] = ahead.sum(1)
            moves += (forward[t, :, None] * ahead).over(whole)
        visits = (forward * backward).over(whole)[:, None, :]
        emitted = _totals(visits, tokens[:, None], self.emission.shape[1])[0]
        return visits[0], moves, emitted


@dataclass(frozen=True, eq=False)
class _Wide:
    """Numbers part * 2**exponent, 0.5 <= part < 1, of which 10**-1000000 is still one."""

    part: Array
    exponent: Array  # that of 0 lies below all others

    @classmethod
    def of(cls, values: Array, exponent: Any = 0) -> _Wide:
        part, own = np.frexp(values)
        return cls(part, np.where(part == 0, LOWEST, own.astype(np.int64) + exponent))

    def copy(self) -> _Wide:
        return _Wide(self.part.copy(), self.exponent.copy())

    def __getitem__(self, place: Any) -> _Wide:
        return _Wide(self.part[place], self.exponent[place])

    def __setitem__(self, place: Any, value: _Wide) -> None:
        self.part[place], self.exponent[place] = value.part, value.exponent

    def __mul__(self, other: _Wide) -> _Wide:
        return _Wide.of(self.part * other.part, self.exponent + other.exponent)

    def sum(self, axis: int) -> _Wide:
        top = self.exponent.max(axis=axis, keepdims=True)
        near = np.ldexp(self.part, np.maximum(self.exponent - top, -GONE).astype(np.int32))
        return _Wide.of(near.sum(axis=axis), top.squeeze(axis))

    def over(self, whole: _Wide) -> Array:
        """Return the quotient, at most about 1, as plain numbers."""
        gap = np.clip(self.exponent - whole.exponent, -GONE, GONE)
        return np.asarray(np.ldexp(self.part / whole.part, gap.astype(np.int32)))


def _quotient(rows: Array, totals: Array) -> Array:
    """Return rows over their totals; those of total 0 are looked at again later."""
    return rows / np.where(totals > 0, totals, 1.0)[:, None]


def _totals(visits: Array, tokens: Array, width: int) -> Array:
    """Return how often each state gave each symbol, from visits by step, sequence and state."""
    _, count, states = visits.shape
    cells = (np.arange(count) * width + tokens).ravel()
    found = np.empty((count, states, width))
    for state in range(states):
        weights = visits[:, :, state].ravel()
        sums = np.bincount(cells, weights=weights, minlength=count * width)
        found[:, state] = sums.reshape(count, width)
    return found


def symbol_names(symbols: Any) -> tuple[Any, ...]:
    """Return the tokens of a text, list or tuple, checked to be texts or whole numbers."""
    names = tuple(symbols) if isinstance(symbols, str | list | tuple) else None
    kinds = (str, int, np.integer)
    if names is None or not all(isinstance(one, kinds) for one in names):
        must = "symbols must be a text, or a list of texts and whole numbers"
        raise InputTypeError(sentence(WHO, must, show(symbols)))
    plain = tuple(str(one) if isinstance(one, str) else int(one) for one in names)
    if len(set(plain)) < len(plain):
        raise InputError(sentence(WHO, "every symbol must be given once", show(plain)))
    return plain
