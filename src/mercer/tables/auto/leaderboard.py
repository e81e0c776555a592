"""What an automatic learner has tried, and how good it was."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True, kw_only=True)
class Placed:
    """One line of a leaderboard.

    Parameters
    ----------
    name : str
        What was tried.
    loss : float
        Its loss on rows that it has not seen; the smaller, the better.
    weight : float
        Its share in the ensemble.
    seconds : float
        Time that it took to judge it.
    kernel : str
        Its kernel, before a metric is learnt.
    penalty : float
        The number alpha of ridge and logistic models, C of support vector machines.

    Examples
    --------
    >>> from mercer.tables import Placed
    >>> line = Placed(
    ...     name="svm linear", loss=0.5, weight=0.0, seconds=0.1, kernel="Linear()", penalty=2.0
    ... )
    >>> line.penalty
    2.0
    """

    name: str
    loss: float
    weight: float
    seconds: float
    kernel: str
    penalty: float


@dataclass(frozen=True, kw_only=True)
class Leaderboard:
    """All that was tried, the best first; it prints as a table.

    Parameters
    ----------
    measure : str
        What the losses are.
    lines : tuple of Placed
        One for each candidate.

    Examples
    --------
    >>> from mercer.tables import Leaderboard, Placed
    >>> line = Placed(
    ...     name="ridge linear", loss=0.25, weight=1.0, seconds=0.1, kernel="Linear()", penalty=1.0
    ... )
    >>> print(Leaderboard(measure="log loss", lines=(line,)))
    log loss  weight  seconds  candidate
      0.2500    1.00     0.10  ridge linear
    """

    measure: str
    lines: tuple[Placed, ...]

    def __iter__(self) -> Iterator[Placed]:
        return iter(self.lines)

    def __len__(self) -> int:
        return len(self.lines)

    def __getitem__(self, place: int) -> Placed:
        return self.lines[place]

    def __str__(self) -> str:
        wide = max(len(self.measure), 8)
        head = f"{self.measure:>{wide}}  weight  seconds  candidate"
        rows = [
            f"{one.loss:>{wide}.4f}  {one.weight:6.2f}  {one.seconds:7.2f}  {one.name}"
            for one in self.lines
        ]
        return "\n".join([head, *rows])

    def _repr_html_(self) -> str:
        head = "".join(
            f"<th>{escape(word)}</th>" for word in (self.measure, "weight", "seconds", "candidate")
        )
        rows = "".join(
            f"<tr><td>{one.loss:.4f}</td><td>{one.weight:.2f}</td><td>{one.seconds:.2f}</td>"
            f"<td>{escape(one.name)}</td></tr>"
            for one in self.lines
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
