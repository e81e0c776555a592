"""The recursion of a feature machine: fit, take the mean outer product of the gradient, repeat.

With a kernel k and a metric M, f is fitted as ridge regression with k(M**(1/2) x, M**(1/2) y), and
the next metric is G = mean_i grad f(x_i) grad f(x_i)', whole or its diagonal: directions in which f
changes count more. How wide the kernel is, is a factor of the metric.

Radhakrishnan, Beaglehole, Pandit, Belkin, "Mechanism for feature learning in neural networks and
backpropagation-free machine learning models", Science 383 (2024).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from ...checks import Array, KernelError, sentence
from ...grams import Prepared
from ...grams.sides import Side, View
from ...grams.slopes.outer import gradient_outer_product
from ...inputs import Matrix
from ...kernels import Kernel, MetricMatrix
from ...monitor import Monitor
from ...solvers import RidgeProblem
from ...solvers.ridge.refits import factored

SAMPLE = 200  # rows whose kernel values tell how wide it is
LARGEST = 25.0  # logarithm of a factor of rows


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

    @property
    def outputs(self) -> int:
        """The number of outputs."""
        return int(self.targets.shape[1])


@dataclass(frozen=True, kw_only=True)
class Fit:
    """f(x) = sum_j c_j k(x, z_j) + b, one column of c per output."""

    kernel: Kernel
    coefficients: Array
    intercept: Array
    view: View

    def at(self, X: Array, monitor: Monitor) -> Array:
        """Return f of rows, one column per output."""
        K = Prepared(self.kernel, self.view).gram(
            Matrix(X), dtype=np.float32, use="once", monitor=monitor
        )
        return np.asarray(K @ self.coefficients + self.intercept)


@dataclass(frozen=True, kw_only=True)
class Recursion:
    """How a metric is learnt.

    kernel: of any width. width: the larger, the wider: the median value of two rows is
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
        random, metric = np.random.default_rng(self.seed), self.start(sample.X.shape[1])
        for step in range(steps + 1):
            found = ridge_fit(self.scaled(metric, sample.X), sample, self.alpha, monitor)
            yield found
            if step < steps:
                metric = self.next_metric(found, random, monitor)

    def learn(self, sample: Sample, steps: int, monitor: Monitor) -> Kernel:
        """Return the kernel with the metric that `steps` fits lead to."""
        random, metric = np.random.default_rng(self.seed), self.start(sample.X.shape[1])
        for _ in range(steps):
            found = ridge_fit(self.scaled(metric, sample.X), sample, self.alpha, monitor)
            metric = self.next_metric(found, random, monitor)
        return self.scaled(metric, sample.X)

    def start(self, columns: int) -> Array:
        """Return the metric in which all columns count alike."""
        return np.ones(columns) if self.diagonal else np.eye(columns)

    def scaled(self, metric: Array, X: Array) -> Kernel:
        """Return the kernel with a metric times the factor that gives it its width on X."""
        random = np.random.default_rng(self.seed)
        rows = random.choice(len(X), min(len(X), SAMPLE), replace=False)
        some = np.asarray(X[rows], dtype=np.float64)
        wanted = float(np.exp(-1.0 / self.width))
        return self.kernel.metric(metric * scale_of(self.kernel, metric, some, wanted) ** 2)

    def next_metric(self, found: Fit, random: np.random.Generator, monitor: Monitor) -> Array:
        """Return the mean outer product of the gradient; its largest entry is 1."""
        n = len(found.view)
        rows = np.sort(random.choice(n, min(n, self.gradient_rows), replace=False))
        G = gradient_outer_product(
            found.kernel,
            found.view,
            found.coefficients,
            found.view.points.take(rows),
            diagonal=self.diagonal,
            dtype=np.float32,
            monitor=monitor,
        )
        largest = float(np.abs(G).max(initial=0.0))
        if not (largest > 0 and np.isfinite(largest)):  # a constant: no direction is better
            return self.start(len(G))
        return G / largest


def ridge_fit(kernel: Kernel, sample: Sample, alpha: float, monitor: Monitor) -> Fit:
    """Return the ridge regression of some thousand rows, in single precision where it is enough."""
    view = View(Side(Matrix(sample.X)))
    problem = RidgeProblem(
        targets=sample.targets,
        alpha=np.full(sample.outputs, alpha),
        weight=sample.weight,
        intercept=True,
    )
    A = Prepared(kernel, view).gram(dtype=np.float32, monitor=monitor).dense()
    if sample.weight is not None:
        roots = problem.roots.astype(np.float32)
        A *= roots
        A *= roots[:, 0]
    _, solved = factored(A, alpha, problem.right_sides(), monitor)
    c, b, _ = problem.join([solved])
    return Fit(kernel=kernel, coefficients=problem.roots * c, intercept=b, view=view)


def scale_of(kernel: Kernel, metric: Array, X: Array, wanted: float) -> float:
    """Return the factor of rows at which the median of k(x, y) over pairs of rows is as wanted."""
    Z = MetricMatrix(metric).applied(X)
    pairs = np.triu_indices(len(Z), 1)
    if not len(pairs[0]) or (Z[0] == Z).all():
        return 1.0  # all rows are alike

    def excess(logarithm: float) -> float:
        return float(np.median(kernel(np.exp(logarithm) * Z)[pairs])) - wanted

    try:
        return float(np.exp(brentq(excess, -LARGEST, LARGEST, xtol=1e-3)))
    except ValueError:  # the same sign at both ends
        must = "the kernel must fall from 1 to 0 with the distance of two points"
        advice = "Take Laplacian() or Gaussian()."
        raise KernelError(sentence("RFM", must, repr(kernel), advice)) from None
