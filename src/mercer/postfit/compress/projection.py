"""Functions of the space of a kernel, and the nearest ones that few centres carry."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...checks import Array
from ...grams import Prepared
from ...linalg.blas import product, solve_lower
from ...linalg.cholesky import pivoted_cholesky
from ...monitor import Monitor
from ...run import Run

SPANNED = 1e-12  # of the largest k(z, z): a centre of which less is left is spanned by the others


@dataclass(frozen=True, kw_only=True)
class Functions:
    """f_c = sum_i a_ic k(x_i, .), with what every projection has to know of them.

    prepared: the kernel and the points x_i. coefficients: a, a column per function. values:
    f_c(x_i). squares: ||f_c||**2.
    """

    prepared: Prepared
    coefficients: Array
    values: Array
    squares: Array

    @staticmethod
    def of(prepared: Prepared, coefficients: Array, run: Run) -> Functions:
        """Return the functions with these coefficients; K is passed over once, in float64."""
        a = np.asarray(coefficients, dtype=np.float64)
        K = prepared.gram(
            use="once", dtype=np.float64, memory_limit=run.memory_limit, monitor=Monitor()
        )
        values = K @ a
        squares = np.maximum(np.einsum("ic,ic->c", a, values), 0.0)
        return Functions(prepared=prepared, coefficients=a, values=values, squares=squares)

    def scaled(self, factors: Array) -> Functions:
        """Return the functions times a number each."""
        return Functions(
            prepared=self.prepared,
            coefficients=self.coefficients * factors,
            values=self.values * factors,
            squares=self.squares * factors**2,
        )

    def products(self, centres: Prepared, run: Run) -> Array:
        """Return f_c(z_j) at centres, in double precision."""
        K = self.prepared.gram(
            centres.points, use="once", dtype=np.float64, memory_limit=run.memory_limit
        )
        return K @ self.coefficients


@dataclass(frozen=True, kw_only=True)
class Approximation:
    """g_c = sum_j b_jc k(z_j, .) for functions f_c.

    coefficients: b, a column per function. squares: ||f_c - g_c||**2. own_squares: ||g_c||**2.
    """

    centres: Prepared
    coefficients: Array
    squares: Array
    own_squares: Array


def gram_of(centres: Prepared) -> Array:
    """Return K of the centres, in double precision."""
    return centres.gram(store=True, dtype=np.float64).dense()


def projected(functions: Functions, centres: Prepared, products: Array) -> Approximation:
    """Return the nearest functions that the centres carry: b = K_zz**-1 f(z).

    products: f_c(z_j). Centres that the others span up to rounding get the coefficient 0.
    """
    K = gram_of(centres)
    least = SPANNED * float(np.diagonal(K).max(initial=0.0))
    order, lower = pivoted_cholesky(K, least, Monitor())
    b = np.zeros(products.shape)
    half = solve_lower(lower, products[order])
    b[order] = solve_lower(lower, half, transposed=True)
    return judged(functions, centres, K, products, b)


def judged(
    functions: Functions, centres: Prepared, K: Array, products: Array, b: Array
) -> Approximation:
    """Return the functions with any coefficients b, with their exact errors.

    K: of the centres. ||f - g||**2 = ||f||**2 - 2 b' f(z) + b' K b.
    """
    own = np.maximum(np.einsum("jc,jc->c", b, product(K, b)), 0.0)
    squares = functions.squares - 2 * np.einsum("jc,jc->c", b, products) + own
    return Approximation(
        centres=centres,
        coefficients=b,
        squares=np.maximum(squares, 0.0),
        own_squares=own,
    )
