"""scikit-learn's kernel names: the same kernels, the same defaults, the same numbers."""

import pytest
import samples
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels

from mercer.checks import InputError, InputTypeError, KernelError
from mercer.kernels import SKLEARN_NAMES, FunctionKernel, Gaussian, Laplacian, Sigmoid, to_kernel


def test_scikit_learn_has_no_name_that_mercer_has_not():
    assert set(SKLEARN_NAMES) - {"precomputed"} == set(PAIRWISE_KERNEL_FUNCTIONS) - {
        "additive_chi2"
    }


@pytest.mark.parametrize("name", [name for name in SKLEARN_NAMES if name != "precomputed"])
def test_names_mean_what_scikit_learn_means(name):
    X, Y = samples.histograms(6, 4), samples.histograms(5, 4, seed=9)
    assert_allclose(to_kernel(name).resolve(X)(X, Y), pairwise_kernels(X, Y, name), rtol=1e-12)
    given = {"gamma": 0.3, "degree": 2, "coef0": 0.5}
    theirs = pairwise_kernels(X, Y, name, filter_params=True, **given)
    assert_allclose(to_kernel(name, **given)(X, Y), theirs, rtol=1e-12)


def test_other_values_of_the_kernel_parameter():
    K = samples.rows() @ samples.rows().T
    assert to_kernel(None) == Gaussian()
    assert to_kernel(Laplacian()) == Laplacian()
    assert to_kernel(samples.row_product) == FunctionKernel(samples.row_product)
    assert_allclose(to_kernel("precomputed")(K), K)
    assert to_kernel("rbf", gamma="scale") == Gaussian("scale")


@pytest.mark.parametrize(
    ("value", "error", "match"),
    [
        (
            "rbff",
            InputError,
            r"SVC: kernel must be one of 'linear', .*; got 'rbff'. Did you mean 'rbf",
        ),
        ("additive_chi2", KernelError, r"SVC: kernel must be Mercer; .*Use Chi2\(gamma\)"),
        (Gaussian, InputTypeError, r"SVC: kernel must be .*Write Gaussian\(\), with brackets"),
        (3, InputTypeError, r"SVC: kernel must be None, a kernel, a name or a function.*; got 3"),
    ],
)
def test_a_wrong_kernel_parameter_is_refused(value, error, match):
    with pytest.raises(error, match=match):
        to_kernel(value, who="SVC")


def test_negative_coef0_of_a_scikit_learn_name():
    with pytest.raises(InputError, match=r"Polynomial: coef0 .* at least 0; got -1"):
        to_kernel("poly", coef0=-1)
    assert to_kernel("sigmoid", coef0=-1) == Sigmoid("auto", -1.0)
