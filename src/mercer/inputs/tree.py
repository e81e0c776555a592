"""Ordered trees with labels, as values."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tree:
    """A node with a label and an ordered list of subtrees; without any it is a leaf."""

    label: str
    children: tuple[Tree, ...] = ()
