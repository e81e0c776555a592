"""Normal and uniform numbers for random features, drawn so that they cover their space evenly."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaincinv, ndtri
from scipy.stats import qmc

from ..checks import Array

METHODS = ("auto", "orthogonal", "sobol", "hadamard", "iid")


def independent(
    count: int, normals: int, uniforms: int, random: np.random.Generator
) -> tuple[Array, Array]:
    """Return rows of independent normal and uniform numbers."""
    return random.normal(size=(count, normals)), _inside(random.random((count, uniforms)))


def sobol(
    count: int, normals: int, uniforms: int, random: np.random.Generator
) -> tuple[Array, Array]:
    """Return the same from Sobol's sequence, scrambled, which fills a cube without gaps."""
    size = normals + uniforms
    if size == 0:
        return np.zeros((count, 0)), np.zeros((count, 0))
    points = qmc.Sobol(size, scramble=True, seed=random)
    # Whole powers of two are balanced, and the first of them nearly so.
    U = _inside(points.random_base2(int(np.ceil(np.log2(max(count, 2)))))[:count])
    return ndtri(U[:, :normals]), U[:, normals:]


def orthogonal(
    count: int, normals: int, uniforms: int, random: np.random.Generator
) -> tuple[Array, Array]:
    """Return normal rows that are orthogonal to one another in groups, and stratified uniforms.

    A group is a random rotation, whose rows get lengths of the law of normal vectors. Frequencies
    that are orthogonal repeat each other's errors less.
    """
    Z = np.zeros((count, normals))
    if normals:
        for start in range(0, count, normals):
            part = Z[start : start + normals]
            part[:] = rotation(normals, random)[: len(part)]
        Z *= lengths(count, normals, random)[:, None]
    U = [stratified(count, random) for _ in range(uniforms)]
    return Z, np.column_stack(U) if U else np.zeros((count, 0))


def rotation(size: int, random: np.random.Generator) -> Array:
    """Return an orthogonal matrix, uniform among all."""
    Q, R = np.linalg.qr(random.normal(size=(size, size)))
    return np.asarray(Q * np.sign(np.diagonal(R)))


def lengths(count: int, size: int, random: np.random.Generator) -> Array:
    """Return lengths of normal vectors of a size, one from each of `count` equally likely parts."""
    return np.asarray(np.sqrt(2.0 * gammaincinv(size / 2, stratified(count, random))))


def stratified(count: int, random: np.random.Generator) -> Array:
    """Return uniform numbers, one from each of `count` equal parts, in random order."""
    return _inside((random.permutation(count) + random.random(count)) / count)


def _inside(U: Array) -> Array:
    """Keep away from 0 and 1, where quantiles are infinite."""
    least = np.finfo(np.float64).eps / 4
    return np.clip(U, least, 1.0 - 2 * least)
