"""The conformance suite on kernels of a user: correct ones pass, each kind of mistake is caught."""

from dataclasses import dataclass

import numpy as np
import pytest
import samples
import scipy.sparse
from numpy.testing import assert_allclose

from mercer import testing
from mercer.inputs import ROWS, SEQUENCES, SETS, as_input
from mercer.kernels import SQUARED, CountKernel, Kernel, parse
from mercer.testing import KERNEL_CHECKS, check_kernel_conformance

POINTS = samples.rows()
WORDS = ["a", "bb", "abc", "", "bcbc", "a"]
BAGS = [{1, 2}, {2, 3}, {1}, {3, 4, 5}]

# --- correct kernels, as a user would write them --------------------------------------------------


@dataclass(frozen=True)
class CommonPrefix(Kernel):
    """How many letters two strings share before they differ, each worth `decay` of the one before.

    It is the dot product of all prefixes, so it is Mercer.
    """

    domain = SEQUENCES
    decay: float = 0.5

    def pair(self, x, y):
        total, worth = 1.0, 1.0
        for a, b in zip(x, y, strict=False):
            if a != b:
                break
            worth *= self.decay
            total += worth
        return total


@dataclass(frozen=True)
class Cauchy(Kernel):
    """1 / (1 + ||x - y||**2 / width): a profile, so that every fast path serves it."""

    domain = ROWS
    width: float = 1.0

    def profile(self, pairs):
        return 1.0 / (1.0 + pairs.sum(SQUARED) / self.width)


@dataclass(frozen=True)
class Brownian(Kernel):
    """The covariance of Brownian motion, sum of min(|x|, |y|) where signs agree: any array code."""

    domain = ROWS

    def formula(self, X, Y=None):
        X, Y = X[:, None, :], (X if Y is None else Y)[None, :, :]
        return np.where(X * Y > 0, np.minimum(abs(X), abs(Y)), 0.0).sum(axis=2)


@dataclass(frozen=True)
class WeightedLetters(CountKernel):
    """Common letters, with a tuple of letters that count double."""

    domain = SEQUENCES
    heavy: tuple[str, ...] = ("a",)

    def counts(self, x):
        return {letter: x.count(letter) * (1 + (letter in self.heavy)) for letter in set(x)}


@pytest.mark.parametrize(
    ("kernel", "points"),
    [
        (CommonPrefix(0.7), WORDS),
        (Cauchy(2.0), POINTS),
        (Cauchy(2.0), POINTS.astype(np.float32)),
        (Brownian(), POINTS),
        (WeightedLetters(("b", "c")), WORDS),
        (2 * CommonPrefix() + CommonPrefix(0.9) ** 2, WORDS),
        (Cauchy() * Brownian().on([0]), POINTS),
    ],
    ids=repr,
)
def test_a_correct_kernel_passes(kernel, points):
    assert len(check_kernel_conformance(kernel, points)) == len(KERNEL_CHECKS)


def test_kernels_of_a_user_join_the_grammar():
    assert parse("2*CommonPrefix(decay=0.7) + 1") == 2 * CommonPrefix(0.7) + 1
    assert parse("WeightedLetters(heavy=('b',))") == WeightedLetters(("b",))


def test_pairs_of_sparse_rows_are_dense_rows():
    rows = dataclass(frozen=True)(
        type("RowPairs", (Kernel,), {"domain": ROWS, "pair": lambda self, x, y: float(x @ y)})
    )
    sparse = scipy.sparse.csr_array(POINTS)
    assert_allclose(rows()(sparse), POINTS @ POINTS.T, rtol=1e-14)
    assert_allclose(rows().diag(sparse), (POINTS**2).sum(axis=1), rtol=1e-14)


# --- one mistake for every check ------------------------------------------------------------------


@dataclass
class NotFrozen(Kernel):
    domain = SEQUENCES

    def pair(self, x, y):
        return 1.0


@dataclass(frozen=True)
class Asymmetric(Kernel):
    domain = SEQUENCES

    def pair(self, x, y):
        return float(len(x) * len(y) + (len(x) > len(y)))


@dataclass(frozen=True)
class WrongDiagonal(Kernel):
    domain = SEQUENCES

    def pair(self, x, y):
        return float(len(x) * len(y))

    def diag(self, X):
        return np.ones(len(X))


@dataclass(frozen=True)
class TwoFormulas(Kernel):
    domain = ROWS

    def profile(self, pairs):
        return np.exp(-pairs.sum(SQUARED, 0.5))

    def formula(self, X, Y=None):
        return np.exp(-((X[:, None] - (X if Y is None else Y)[None]) ** 2).sum(axis=2))


@dataclass(frozen=True)
class WrongWhenSparse(Kernel):
    domain = ROWS

    def formula(self, X, Y=None):
        Y = X if Y is None else Y
        return (X.multiply(2) @ Y.T).toarray() if scipy.sparse.issparse(X) else X @ Y.T


@dataclass(frozen=True)
class LooksAtTheBatch(Kernel):
    domain = ROWS

    def formula(self, X, Y=None):
        K = X @ (X if Y is None else Y).T
        return K / np.abs(K).max()


@dataclass(frozen=True)
class Indefinite(Kernel):
    domain = SEQUENCES

    def pair(self, x, y):
        return -float(abs(len(x) - len(y)))


@dataclass(frozen=True)
class WrongFeatures(CountKernel):
    domain = SETS

    def pair(self, x, y):
        return float(len(x & y))

    def counts(self, x):
        return dict.fromkeys(x, 2.0)


@dataclass(frozen=True)
class WrongDistance(Kernel):
    domain = SEQUENCES

    def pair(self, x, y):
        return float(len(x) * len(y))

    def distance(self, X, Y=None, *, squared=False):
        return super().distance(X, Y)


@dataclass(frozen=True)
class WrongWhenNested(Kernel):
    domain = SEQUENCES

    def pair(self, x, y):
        return float(len(x) * len(y) + 1)

    def normalized(self):
        return self


@dataclass(frozen=True, repr=False)
class ForgetsInText(Kernel):
    domain = SEQUENCES
    scale: float = 1.0

    def pair(self, x, y):
        return self.scale

    def __repr__(self):
        return "ForgetsInText()"


@dataclass(frozen=True, repr=False)
class Unreadable(Kernel):
    domain = SEQUENCES

    def pair(self, x, y):
        return 1.0

    def __repr__(self):
        return "<unreadable>"


BROKEN = [
    (testing.check_replace, NotFrozen(), WORDS, "must be frozen"),
    (testing.check_symmetry, Asymmetric(), WORDS, r"k\(x, y\) and k\(y, x\) must be equal"),
    (testing.check_diagonal, WrongDiagonal(), WORDS, r"diag\(X\) must be the diagonal of K"),
    (testing.check_fast_path, TwoFormulas(), POINTS, r"kernel\(X\) must equal its formula"),
    (testing.check_sparse, WrongWhenSparse(), POINTS, "sparse rows must give the same"),
    (testing.check_union, LooksAtTheBatch(), POINTS, r"must be a block of K of the union"),
    (testing.check_positive, Indefinite(), WORDS, "must be positive semi-definite, got -"),
    (testing.check_features, WrongFeatures(), BAGS, r"phi\(x\).phi\(y\) must be k\(x, y\)"),
    (testing.check_distance, WrongDistance(), WORDS, "squared distance must follow from k"),
    (testing.check_nested, WrongWhenNested(), WORDS, "normalised k must follow from k"),
    (testing.check_text, ForgetsInText(2.0), WORDS, "reading it back gave"),
    (testing.check_text, Unreadable(), WORDS, "cannot be read back"),
]


def test_every_check_has_a_mistake_to_catch():
    assert {check for check, *_ in BROKEN} == set(KERNEL_CHECKS)


@pytest.mark.parametrize(
    ("check", "kernel", "points", "match"), BROKEN, ids=[type(case[1]).__name__ for case in BROKEN]
)
def test_a_mistake_is_caught(check, kernel, points, match):
    with pytest.raises(AssertionError, match=match):
        check(kernel, as_input(points, kernel.domain, kernel.name))
    with pytest.raises(AssertionError):
        check_kernel_conformance(kernel, points)


def test_an_indefinite_kernel_may_say_so():
    run = check_kernel_conformance(Indefinite(), WORDS, positive=False)
    assert "check_positive" not in run
    assert len(run) == len(KERNEL_CHECKS) - 1
