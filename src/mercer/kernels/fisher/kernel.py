"""The Fisher kernel: points are compared by how they would move the parameters of a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import checks
from ...checks import Array, InputError, InputTypeError, sentence
from ...inputs import ROWS, SEQUENCES, VECTOR_SETS, Input, Matrix, RowBlocks
from ...linalg.blas import product
from ...linalg.eigen import eigh
from ..base import Basis, Kernel
from ..pairs import DOT, Pairs
from . import mixture as fisher_mixture
from .arrays import WHO, nested, numbers
from .markov import Chain, symbol_names
from .mixture import Mixture

WORDS = ("diagonal", "identity", "empirical")
MOST = 1000  # parameters for which a whole information matrix is kept
NOTHING = 1e-10  # share of the largest eigenvalue of the information below which one counts as 0


@dataclass(frozen=True, repr=False)
class Fisher(Kernel):
    """The Fisher kernel: points are compared by how they would move the parameters of a model.

    k(x, y) = U(x)' I**-1 U(y), where U(x) is the gradient of log p(x) by the parameters of the
    model, and I its information matrix [1]_. The arrays of the model are copied.

    Parameters
    ----------
    model : object or tuple
        A fitted Gaussian mixture of scikit-learn, for rows of numbers and for sets of vectors (of
        which U is the mean); or a hidden Markov model for sequences, given as (start, transition,
        emission) or as a fitted CategoricalHMM of hmmlearn.
    information : {"diagonal", "identity", "empirical"} or array-like, default="diagonal"
        The matrix I. "diagonal" is the closed form in which every draw of the model counts on its
        own; "identity" leaves the scores as they are; "empirical" is the mean of U U' over the
        training points, which `resolve` takes from them and keeps as a matrix. A matrix is inverted
        by its pseudo-inverse.
    improved : bool, default=False
        Whether every score u becomes sign(u) sqrt(|u|), and the scores of a point are then scaled
        to length 1.
    symbols : sequence, default=None
        The token of each column of `emission`. None means 0, 1, 2, ….

    References
    ----------
    .. [1] T. S. Jaakkola, D. Haussler, "Exploiting generative models in discriminative
       classifiers", NIPS, 1998.

    Examples
    --------
    >>> from mercer.kernels import Fisher
    >>> model = ([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], [[0.8, 0.2], [0.2, 0.8]])
    >>> Fisher(model, symbols="HT").normalized()(["HHHH", "HHHT", "TTTT"]).round(2)
    array([[ 1.  ,  0.41, -0.35],
           [ 0.41,  1.  , -0.64],
           [-0.35, -0.64,  1.  ]])
    """

    domain = ROWS | VECTOR_SETS | SEQUENCES

    model: Any
    information: Any = "diagonal"
    improved: bool = False
    symbols: Any = None

    def __post_init__(self) -> None:
        symbols = None if self.symbols is None else symbol_names(self.symbols)
        source = _read(self.model, symbols)
        self._set(model=source.plain, symbols=symbols, improved=bool(self.improved))
        self._set(domain=source.domain, _source=source, _root=self._check_information(source))
        # Kernels are keys of dictionaries: hashing a large model every time would be slow.
        self._set(_hash=hash((self.model, self.information, self.improved, self.symbols)))

    def _check_information(self, source: Mixture | Chain) -> Array | None:
        """Keep a checked information, and return the root of its inverse if it is a matrix."""
        information, width = self.information, source.width
        whole = not isinstance(information, str)
        if not whole:
            checks.one_of(WHO, "information", information, WORDS)
        if (whole or information == "empirical") and width > MOST:
            must = f"an information matrix takes at most {MOST} parameters"
            advice = 'Choose information="diagonal", or a smaller model.'
            raise InputError(sentence(WHO, must, f"a model with {width}", advice))
        if not whole:
            return None
        matrix = numbers("information", information, (width, width))
        self._set(information=nested(matrix))
        return _inverse_root(matrix)

    def __hash__(self) -> int:
        return int(self.__dict__["_hash"])

    def __reduce__(self) -> tuple[Any, ...]:
        # Built again elsewhere, because the hash of a text differs between processes.
        return Fisher, (self.model, self.information, self.improved, self.symbols)

    @property
    def source(self) -> Mixture | Chain:
        """The model as arrays."""
        found: Mixture | Chain = self.__dict__["_source"]
        return found

    def scores(self, points: Input) -> Input:
        """Return the scores of all points as rows, such that k is their dot product.

        Parameters
        ----------
        points : Input
            The points.

        Returns
        -------
        Input
            One row per point, one column per parameter of the model.
        """
        if isinstance(points, RowBlocks):
            return points.mapped(self.scores)
        made: Input = points.once(("scores", self), lambda: Matrix(self._scores(points)))
        return made

    def _scores(self, points: Input) -> Array:
        rows = self.source.scores(points)
        if self.information == "identity":
            rows = self.source.gradients(rows)
        elif self.information != "diagonal":
            rows = rows @ self.__dict__["_root"]
        if self.improved:
            rows = np.sign(rows) * np.sqrt(np.abs(rows))
            lengths = np.linalg.norm(rows, axis=1, keepdims=True)
            rows /= np.where(lengths > 0, lengths, 1.0)
        return rows

    def profile(self, pairs: Pairs) -> Any:
        return pairs.of(self.scores).sum(DOT)

    def _basis(self, points: Input) -> Basis:
        return Basis(self.source.width)

    def expand(self, points: Input, basis: Basis) -> Array:
        return np.array(self.scores(points).raw)

    def _waiting(self) -> list[str]:
        return ["information"] if self.information == "empirical" else []

    def _resolve(self, points: Input, weight: Array | None) -> Kernel:
        if not self.unresolved():
            return self
        width = self.source.width
        share = np.ones(len(points)) if weight is None else weight
        total, start = np.zeros((width, width)), 0
        for block in points.blocks() if isinstance(points, RowBlocks) else [points]:
            rows = self.source.scores(block)
            total += product(rows.T, rows * share[start : start + len(rows), None])
            start += len(rows)
        return self.replace(information=(total + total.T) / (2.0 * (share.sum() or 1.0)))


def _inverse_root(matrix: Array) -> Array:
    """Return the symmetric root of the pseudo-inverse of an information matrix.

    It is the one root that does not depend on the signs of eigenvectors, so that features are the
    same wherever they are computed.
    """
    values, vectors = eigh(matrix)
    least = NOTHING * max(float(values[-1]), 0.0)
    asymmetric = np.abs(matrix - matrix.T).max() > NOTHING * np.abs(matrix).max()
    if asymmetric or values[0] < -least:
        must = "an information matrix must be symmetric, without negative eigenvalues"
        raise InputError(sentence(WHO, must, "another matrix"))
    kept = values > least
    chosen = vectors[:, kept]
    return product(chosen / np.sqrt(values[kept]), chosen.T)


def _read(model: Any, symbols: tuple[Any, ...] | None) -> Mixture | Chain:
    """Return the arrays of a model, fitted or written down."""
    if _has(model, "weights_", "means_", "covariances_"):
        source: Mixture | Chain = fisher_mixture.of_estimator(model)
    elif _has(model, "startprob_", "transmat_", "emissionprob_") and not _has(model, "n_trials"):
        source = Chain.read(model.startprob_, model.transmat_, model.emissionprob_, symbols)
    else:
        source = _from_parts(model, symbols)
    if symbols is not None and isinstance(source, Mixture):
        must = "symbols belong to a hidden Markov model"
        raise InputError(sentence(WHO, must, "a mixture", "Leave them out."))
    return source


def _has(model: Any, *names: str) -> bool:
    return all(hasattr(model, name) for name in names)


def _from_parts(model: Any, symbols: tuple[Any, ...] | None) -> Mixture | Chain:
    parts = tuple(model) if isinstance(model, list | tuple) else ()
    named = bool(parts) and isinstance(parts[0], str)
    word, arrays = (parts[0], parts[1:]) if named else ("markov", parts)
    if len(arrays) == 3 and word in ("mixture", "markov"):
        return Mixture.read(*arrays) if word == "mixture" else Chain.read(*arrays, symbols)
    raise InputTypeError(
        sentence(
            WHO,
            "model must be a fitted Gaussian mixture or a hidden Markov model",
            checks.show(model),
            "Fit it first, or give (start, transition, emission) or ('mixture', weights, means, "
            "variances).",
        )
    )
