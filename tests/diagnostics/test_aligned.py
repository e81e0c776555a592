"""Weights of kernels by alignment: against a slow search, and by hand."""

import numpy as np
import pytest
from scipy.optimize import minimize

from mercer import InputError, KernelError, align, alignment
from mercer.kernels import Constant, Gaussian, Linear, Spectrum

random = np.random.default_rng(2)
X = random.normal(size=(40, 3))
KERNELS = [Gaussian(gamma).on([c]) for c in range(3) for gamma in (0.3, 3.0)] + [Linear()]


@pytest.mark.parametrize("kind", ["numbers", "two", "three"])
def test_no_weights_are_aligned_better(kind):
    y = {
        "numbers": X[:, 0] ** 2 + X[:, 1],
        "two": X[:, 1] > 0,
        "three": np.digitize(X[:, 2], [-0.5, 0.5]),
    }[kind]
    found = align(KERNELS, X, y)
    assert alignment(found.kernel, y, X) == pytest.approx(found.alignment, rel=1e-9)
    assert found.weights.sum() == pytest.approx(1.0)
    assert found.alignments == pytest.approx([alignment(k, y, X) for k in KERNELS], abs=1e-12)
    assert found.alignment >= found.alignments.max() - 1e-12
    matrices = np.array([kernel(X) for kernel in KERNELS])

    def value(w):
        return -alignment(np.tensordot(w, matrices, 1), y)

    best = min(
        minimize(value, start, bounds=[(0, None)] * len(KERNELS), method="L-BFGS-B").fun
        for start in (np.full(len(KERNELS), 0.5), random.uniform(0.1, 1, len(KERNELS)))
    )
    assert found.alignment >= -best - 1e-6


def test_one_kernel_gets_all():
    found = align([Linear()], [[-1.0], [-1.0], [1.0], [1.0]], [0, 0, 1, 1])
    assert found.weights.tolist() == [1.0]
    assert found.alignment == pytest.approx(1.0)


def test_bad_input_is_named():
    with pytest.raises(InputError, match="a list of one kernel or more"):
        align([], X, X[:, 0])
    with pytest.raises(InputError, match="a list of one kernel or more"):
        align(Gaussian(), X, X[:, 0])
    with pytest.raises(KernelError, match="must take the same points"):
        align([Gaussian(), Spectrum(2)], X, X[:, 0])
    with pytest.raises(InputError, match="target must not be constant"):
        align(KERNELS, X, np.ones(40))
    with pytest.raises(KernelError, match="must tell the points apart"):
        align([Constant(1.0)], X, X[:, 0])
    with pytest.raises(KernelError, match="must be aligned with the target"):
        # the points of one pair are alike, the target tells them apart
        align([Linear()], [[1.0], [1.0], [-1.0], [-1.0]], [1.0, -1.0, 1.0, -1.0])
