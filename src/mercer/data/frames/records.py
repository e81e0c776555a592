"""Records of delimited text: where they start, how many fields they have, in which line they are.

A record is a line, or several where a value between quotes has line ends in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...checks import Array
from ..sources import Source, check_text

LONGEST_RECORD = 2**26  # bytes; beyond them a quote was never closed
_NEWLINE, _RETURN = ord("\n"), ord("\r")


@dataclass(frozen=True, kw_only=True, eq=False)
class Records:
    """Whole records of a text; starts and ends: their bytes, lines: where each starts."""

    text: bytes
    starts: Array
    ends: Array
    lines: Array
    inside: Array | None  # of each byte whether it is between quotes; None: there are no quotes

    def fields(self, separator: str) -> Array:
        """Return how many fields each record has."""
        marks = np.frombuffer(self.text, dtype=np.uint8) == ord(separator)
        if self.inside is not None:
            marks &= ~self.inside
        if len(self.starts) == 0:
            return np.zeros(0, dtype=np.int64)
        counts: Array = np.add.reduceat(marks, self.starts, dtype=np.int64)
        return counts + 1

    def blank(self) -> Array:
        """Return of each record whether nothing is in it."""
        data = np.frombuffer(self.text, dtype=np.uint8)
        lengths = self.ends - self.starts
        only_return = (lengths == 1) & (data[np.minimum(self.starts, len(data) - 1)] == _RETURN)
        found: Array = (lengths == 0) | only_return
        return found

    def text_of(self, kept: Array) -> bytes:
        """Return the text of some of the records; kept: their numbers, ascending."""
        starts, ends = self.starts[kept].tolist(), self.ends[kept].tolist()
        if len(kept) and kept[-1] - kept[0] == len(kept) - 1:
            return self.text[starts[0] : ends[-1] + 1]
        pairs = zip(starts, ends, strict=True)
        return b"".join(self.text[start : end + 1] for start, end in pairs)

    def texts(self, count: int) -> list[str]:
        """Return the first records as texts, without their line ends."""
        pairs = zip(self.starts[:count].tolist(), self.ends[:count].tolist(), strict=True)
        return [self.text[start:end].decode("utf-8").removesuffix("\r") for start, end in pairs]


def split_records(text: bytes, quote: str | None, first_line: int) -> Records:
    """Return the records of a text that ends with one, and so with a line end."""
    data = np.frombuffer(text, dtype=np.uint8)
    newlines = np.flatnonzero(data == _NEWLINE)
    inside, ends = None, newlines
    if quote is not None and quote.encode() in text:
        inside = np.bitwise_xor.accumulate(data == ord(quote))
        ends = newlines[~inside[newlines]]
    starts = np.concatenate([[0], ends[:-1] + 1]) if len(ends) else np.zeros(0, dtype=np.int64)
    if len(ends) == len(newlines):
        lines = np.arange(first_line, first_line + len(ends))
    else:
        lines = first_line + np.searchsorted(newlines, starts)
    return Records(text=text, starts=starts, ends=ends, lines=lines, inside=inside)


def bad_quote(records: Records, quote: str, separator: str) -> int | None:
    """Return the first quote that neither opens nor closes a whole value, or None."""
    if records.inside is None:
        return None
    data = np.frombuffer(records.text, dtype=np.uint8)
    quotes = np.flatnonzero(data == ord(quote))
    padded = np.pad(data, 1, constant_values=_NEWLINE)  # place p is p + 1 here
    opening, closing = quotes[0::2], quotes[1::2]
    before = [_NEWLINE, ord(separator), ord(quote)]
    after = [*before, _RETURN]
    wrong = [
        opening[~np.isin(padded[opening], before)],
        closing[~np.isin(padded[closing + 2], after)],
    ]
    found = np.concatenate(wrong)
    return int(found.min()) if len(found) else None


def record_pieces(
    source: Source, chunks: Iterator[bytes], quote: str | None
) -> Iterator[tuple[bytes, int]]:
    """Yield stretches of whole records, each with the number of its first line."""
    rest, line = b"", 1
    for chunk in chunks:
        text = rest + chunk
        cut = _last_end(text, quote)
        piece, rest = text[:cut], text[cut:]
        if len(rest) > LONGEST_RECORD:
            raise _unclosed(source, line + piece.count(b"\n"))
        if piece:
            check_text(source, piece, line)
            yield piece, line
            line += piece.count(b"\n")
    if not rest:
        return
    check_text(source, rest, line)
    if quote is not None and rest.count(quote.encode()) % 2:
        raise _unclosed(source, line)
    yield rest + b"\n", line


def _last_end(text: bytes, quote: str | None) -> int:
    """Return where the last record that is whole ends: behind a line end that is not quoted."""
    mark = b"" if quote is None else quote.encode()
    total = text.count(mark) if mark else 0
    after, end = 0, len(text)
    while True:
        place = text.rfind(b"\n", 0, end)
        if place < 0 or total == 0:
            return place + 1
        after += text.count(mark, place, end)
        if (total - after) % 2 == 0:
            return place + 1
        end = place


def _unclosed(source: Source, line: int) -> Exception:
    told = "Close it, or say quote=None where quotes are letters like others."
    got = f"a quote in the record of line {line} that is never closed"
    return source.fail("a value between quotes must end", got, told)
