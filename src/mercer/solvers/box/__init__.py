"""Quadratic problems in a box: the dual of every support vector machine."""
