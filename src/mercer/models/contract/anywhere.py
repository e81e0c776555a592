"""Answers for points that lie in other processes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from ...inputs import is_elsewhere
from ...typing import PointsLike

Answer = TypeVar("Answer", bound=Callable[..., Any])
_lazily: list[Callable[..., Any]] = []  # what answers, registered by those who know such points


def answers_elsewhere(lazily: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function answer for points that lie elsewhere: (model, method, X, …) to an answer."""
    _lazily.append(lazily)
    return lazily


def anywhere(answer: Answer) -> Answer:
    """Make a method that answers row by row take points that lie elsewhere, and answer lazily."""

    @functools.wraps(answer)
    def run(self: Any, X: PointsLike, *args: Any, **kwargs: Any) -> Any:
        if is_elsewhere(X):
            return _lazily[-1](self, answer.__name__, X, *args, **kwargs)
        return answer(self, X, *args, **kwargs)

    return cast(Answer, run)
