"""The recursion of a feature machine: fit, take the mean outer product of the gradient, repeat.

With a kernel k and a metric M, f is fitted as ridge regression with k(M**(1/2) x, M**(1/2) y), and
the next metric is G = mean_i grad f(x_i) grad f(x_i)', whole or its diagonal: directions in which f
changes count more. How wide the kernel is, is a factor of the metric.

Radhakrishnan, Beaglehole, Pandit, Belkin, "Mechanism for feature learning in neural networks and
backpropagation-free machine learning models", Science 383 (2024).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike
from scipy.optimize import brentq
from scipy.spatial.distance import pdist

from ...checks import Array, KernelError, sentence
from ...grams import Prepared
from ...grams.sides import Side, View
from ...grams.slopes.outer import gradient_outer_product
from ...inputs import Matrix
from ...kernels import Kernel, Metric, MetricMatrix
from ...linalg.cholesky import NotPositiveDefinite
from ...monitor import Monitor
from ..ridge.dense import dense_gram, dense_solution, ridge_problem

FIRST_STEPS = 3  # which settle the directions
FIRST_ROWS, LATER_ROWS = 6000, 3000  # that a step learns from, at most
SAMPLE = 200  # rows whose kernel values tell how wide it is
LARGEST = 60.0  # logarithm of a factor of rows, in units of their distances
SECANT_STEPS = 8  # in which the width is found, or else by brackets
SETTLED = 1e-9  # of the value wanted
ALIKE = 1e-9  # of the largest distance, up to which two rows are alike
IN_DOUBLE = 500  # rows up to which double precision costs nothing
ROUNDING = 4 * float(np.finfo(np.float32).eps)  # of an entry of K in single precision


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Rows to learn from: X, their targets, one column per output, and their weights or None."""

    X: Array
    targets: Array
    weight: Array | None = None

    def __len__(self) -> int:
        return len(self.X)

    def take(self, rows: Array) -> Sample:
        """Return some of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        return Sample(X=self.X[rows], targets=self.targets[rows], weight=weight)

    def some(self, most: int, random: np.random.Generator) -> Sample:
        """Return all rows, or so many of them at random, in their order."""
        if len(self) <= most:
            return self
        return self.take(np.sort(random.choice(len(self), most, replace=False)))

    @property
    def outputs(self) -> int:
        """The number of outputs."""
        return int(self.targets.shape[1])


@dataclass(frozen=True, kw_only=True)
class Fit:
    """f(x) = sum_j c_j k(x, z_j) + b, one column of c per output; weight: of the rows z."""

    kernel: Kernel
    coefficients: Array
    intercept: Array
    view: View
    weight: Array | None

    def at(self, X: Array, monitor: Monitor) -> Array:
        """Return f of rows, one column per output."""
        dtype = precision(len(self.view))
        K = Prepared(self.kernel, self.view).gram(
            Matrix(X), dtype=dtype, use="once", monitor=monitor
        )
        return np.asarray(K @ self.coefficients + self.intercept)


@dataclass(frozen=True, kw_only=True)
class Recursion:
    """How a metric is learnt.

    kernel: of any width. width: the larger, the wider: the median value of two rows that differ is
    exp(-1 / width). diagonal: whether the metric has one weight per column, not a matrix.
    gradient_rows: at how many rows, drawn at random, the gradient is taken.
    """

    kernel: Kernel
    width: float
    alpha: float
    diagonal: bool
    gradient_rows: int
    seed: int = 0

    def fits(self, sample: Sample, steps: int, monitor: Monitor) -> Iterator[Fit]:
        """Yield the fit of each step: the first with all columns alike, then `steps` more."""
        random, kernel = np.random.default_rng(self.seed), self.plain(sample)
        for step in range(steps + 1):
            found = ridge_fit(kernel, sample, self.alpha, monitor)
            yield found
            if step < steps:
                metric = self.next_metric(found, random, monitor)
                kernel = self.scaled(metric, sample.X, sample.weight)

    def learn(self, sample: Sample, steps: int, monitor: Monitor) -> Metric:
        """Return the kernel with the metric that `steps` fits lead to.

        Of many rows each step draws some anew: noise that one step takes for a direction, the next
        does not meet again. The first steps settle the directions and have more rows; the later
        ones sharpen what the first have found.
        """
        random, kernel = np.random.default_rng(self.seed), self.plain(sample)
        for step in range(steps):
            part = sample.some(FIRST_ROWS if step < FIRST_STEPS else LATER_ROWS, random)
            found = ridge_fit(kernel, part, self.alpha, monitor)
            metric = self.next_metric(found, random, monitor)
            kernel = self.scaled(metric, sample.X, sample.weight)
        return kernel

    def plain(self, sample: Sample) -> Metric:
        """Return the kernel with which the recursion begins: all columns count alike."""
        check_falls(self.kernel, sample.X.shape[1])
        return self.scaled(self.start(sample.X.shape[1]), sample.X, sample.weight)

    def start(self, columns: int) -> Array:
        """Return the metric in which all columns count alike."""
        return np.ones(columns) if self.diagonal else np.eye(columns)

    def scaled(self, metric: Array, X: Array, weight: Array | None = None) -> Metric:
        """Return the kernel with a metric times the factor that gives it its width on X."""
        random = np.random.default_rng(self.seed)
        rows = random.choice(len(X), min(len(X), SAMPLE), replace=False)
        Z = MetricMatrix(metric).applied(np.asarray(X[rows], dtype=np.float64))
        wanted = float(np.exp(-1.0 / self.width))
        factor = scale_of(self.kernel, Z, None if weight is None else weight[rows], wanted)
        return Metric(self.kernel, metric * factor**2)

    def next_metric(self, found: Fit, random: np.random.Generator, monitor: Monitor) -> Array:
        """Return the mean outer product of the gradient; its largest entry is 1."""
        n = len(found.view)
        rows = np.sort(random.choice(n, min(n, self.gradient_rows), replace=False))
        G = gradient_outer_product(
            found.kernel,
            found.view,
            found.coefficients,
            found.view.points.take(rows),
            weights=None if found.weight is None else found.weight[rows],
            diagonal=self.diagonal,
            dtype=precision(n),
            monitor=monitor,
        )
        largest = float(np.abs(G).max(initial=0.0))
        if not (largest > 0 and np.isfinite(largest)):  # a constant: no direction is better
            return self.start(len(G))
        return G / largest


def precision(rows: int) -> DTypeLike:
    """Return the precision in which so many rows are fitted."""
    return np.float64 if rows <= IN_DOUBLE else np.float32


def ridge_fit(kernel: Kernel, sample: Sample, alpha: float, monitor: Monitor) -> Fit:
    """Return the ridge regression of some thousand rows, in single precision where it is enough.

    Where rounding has left K + alpha I without a factor, alpha is raised by what rounding may do.
    """
    points = Matrix(sample.X)
    K = dense_gram(kernel, points, monitor, dtype=precision(len(sample)))
    problem = ridge_problem(sample.targets, sample.weight, alpha)
    try:
        coefficients, b = dense_solution(K, problem, monitor)
    except NotPositiveDefinite:
        shift = len(K) * ROUNDING * float((problem.roots[:, 0] ** 2 * np.diagonal(K)).max())
        coefficients, b = dense_solution(K, problem, monitor, shift)
    return Fit(
        kernel=kernel,
        coefficients=coefficients,
        intercept=b,
        view=View(Side(points)),
        weight=sample.weight,
    )


def scale_of(kernel: Kernel, Z: Array, weight: Array | None, wanted: float) -> float:
    """Return the factor of rows at which the median of k over pairs that differ is as wanted.

    The median is weighted by the products of the weights, so that a weight of 2 is as good as two
    copies of a row. A value out of reach has the factor that comes nearest.
    """
    largest = float(np.abs(Z).max(initial=0.0)) or 1.0
    Z = Z / largest
    apart = pdist(Z)
    told = apart > ALIKE * apart.max(initial=0.0)
    left, right = (side[told] for side in np.triu_indices(len(Z), 1))
    shares = None if weight is None else weight[left] * weight[right]
    if not len(left) or (shares is not None and not shares.any()):
        return 1.0  # all rows are alike
    unit = weighted_median(apart[told], shares)

    def median_at(logarithm: float) -> float:
        return weighted_median(kernel(np.exp(logarithm) * (Z / unit))[left, right], shares)

    found = secant(median_at, wanted)
    return float(np.exp(bracketed(median_at, wanted) if found is None else found)) / unit / largest


def secant(median_at: Callable[[float], float], wanted: float) -> float | None:
    """Return where a median falls to what is wanted, or None if that is not found in few steps.

    log(-log(k)) is a straight line in the logarithm of the scale for exp(-distance**q), and nearly
    one for the other kernels that fall from 1 to 0.
    """
    with np.errstate(divide="ignore"):
        target = np.log(-np.log(wanted))
    if not np.isfinite(target):
        return None
    at, slope, before = 0.0, 1.0, None
    for _ in range(SECANT_STEPS):
        median = median_at(at)
        if abs(median - wanted) <= SETTLED * min(wanted, 1.0 - wanted):
            return at
        if not 0.0 < median < 1.0:
            return None
        height = np.log(-np.log(median))
        if before is not None:
            slope = (height - before[1]) / (at - before[0])
        if not slope > 0.0:
            return None
        before = at, height
        at += (target - height) / slope
        if not abs(at) < LARGEST:
            return None
    return None


def bracketed(median_at: Callable[[float], float], wanted: float) -> float:
    """Return where a median falls to what is wanted, or the end of the scales nearest to it."""
    if wanted <= median_at(LARGEST):
        return LARGEST
    if wanted >= median_at(-LARGEST):
        return -LARGEST
    return float(brentq(lambda at: median_at(at) - wanted, -LARGEST, LARGEST, xtol=1e-6))


def check_falls(kernel: Kernel, columns: int) -> None:
    """Raise an error if a kernel does not fall from 1 to 0 with the distance of two points."""
    ends = np.zeros((2, columns))
    values = []
    for logarithm in (-LARGEST, LARGEST):
        ends[1] = np.exp(logarithm)
        values.append(kernel(ends)[0, 1])
    if not values[1] < 0.5 < values[0]:
        must = "the kernel must fall from 1 to 0 with the distance of two points"
        advice = "Take Laplacian() or Gaussian()."
        raise KernelError(sentence("RFM", must, repr(kernel), advice))


def weighted_median(values: Array, weights: Array | None) -> float:
    """Return the least value that, with those below, has half of the weight."""
    if weights is None:
        place = (len(values) - 1) // 2
        return float(np.partition(values, place)[place])
    order = np.argsort(values)
    total = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(total, total[-1] / 2)])
