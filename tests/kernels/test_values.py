"""Kernels as values: equal, hashed, frozen, copied; parameters read and replaced by name."""

import copy
import pickle
from dataclasses import dataclass

import numpy as np
import pytest
import samples
from numpy.testing import assert_allclose
from sklearn.base import clone

from mercer.checks import InputError, InputTypeError, KernelError
from mercer.kernels import (
    Categorical,
    Constant,
    FunctionKernel,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Precomputed,
    Scaled,
    Spectrum,
    Sum,
)

KERNELS = [
    Constant(2.0),
    Linear(),
    Polynomial(2, 0.5),
    Gaussian(),
    Gaussian((1.0, 2.0)),
    Gaussian(sigma=3.0),
    Matern(0.7, "scale"),
    Spectrum(3, blended=True),
    Precomputed(),
    FunctionKernel(samples.row_product),
    2.0 * Linear(),
    Linear() ** 3,
    Linear().exp(),
    Gaussian(1.0).normalized(),
    Gaussian(1.0).on([0, 2]),
    Spectrum(2).on("dna"),
    Linear().of(samples.halved),
    Linear().rescaled(samples.shrinking),
    0.5 * Gaussian() + 3 * (Linear() * Laplacian(1.0) + 1) ** 2,
    (Spectrum(2).on("dna") + Categorical().on(["a", "b"])).normalized(),
    Linear() ** 2 + (2 * Linear()) ** 2 + 3 * Polynomial(2),
]
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=repr)


@every_kernel
def test_equal_content_is_an_equal_kernel(kernel):
    for again in (pickle.loads(pickle.dumps(kernel)), copy.copy(kernel), copy.deepcopy(kernel)):
        assert again == kernel
        assert hash(again) == hash(kernel)
        assert again.domain == kernel.domain
        assert repr(again) == repr(kernel)
        assert type(again) is type(kernel)
    assert kernel != kernel + 1
    assert kernel != 2.0 * kernel
    assert kernel != repr(kernel)


def test_all_these_kernels_differ():
    assert len(set(KERNELS)) == len(KERNELS)


@every_kernel
def test_a_kernel_is_frozen(kernel):
    for name in [*kernel.get_params(deep=False), "domain", "anything"]:
        before = copy.deepcopy(kernel.__dict__)
        with pytest.raises(AttributeError):
            setattr(kernel, name, 1)
        with pytest.raises(AttributeError):
            delattr(kernel, name)
        assert kernel.__dict__ == before


@every_kernel
def test_parameters_replaced_by_themselves_give_the_kernel(kernel):
    assert kernel.replace() == kernel
    assert kernel.replace(**kernel.get_params()) == kernel
    assert kernel.replace(**kernel.get_params(deep=False)) == kernel
    for name, value in kernel.get_params().items():
        assert kernel.replace(**{name: value}) == kernel, name


@every_kernel
def test_scikit_learn_clones_a_kernel_to_itself(kernel):
    assert clone(kernel) is kernel


def test_arrays_and_lists_become_tuples():
    kernel = Gaussian(np.array([1.0, 2.0]))
    assert kernel.gamma == (1.0, 2.0)
    assert hash(kernel) == hash(Gaussian([1, 2]))
    assert Linear().on(["a", "b"]) == Linear().on(("a", "b"))


def test_a_name_alone_and_a_list_of_one_name_differ():
    assert Linear().on("a") != Linear().on(["a"])


# --- parameters by name ---------------------------------------------------------------------------

NESTED = 0.5 * Gaussian(2.0) + Linear() * (Polynomial(2) + 1) + Laplacian(3.0)


def test_nested_names():
    assert NESTED.get_params(deep=False) == {
        "k1": 0.5 * Gaussian(2.0),
        "k2": Linear() * (Polynomial(2) + 1),
        "k3": Laplacian(3.0),
    }
    params = NESTED.get_params()
    assert params["k1__coef"] == 0.5
    assert params["k1__gamma"] == 2.0
    assert params["k1__inner"] == Gaussian(2.0)
    assert params["k2__coef"] == 1.0
    assert params["k2__k2__k1__degree"] == 2
    assert params["k2__k2__k2__c"] == 1.0
    assert params["k3__gamma"] == 3.0
    assert (2 * Linear() ** 3).get_params() == {"inner": Linear() ** 3, "coef": 2.0, "exponent": 3}


def test_the_coefficient_of_a_term_is_its_own_and_not_one_inside_it():
    kernel = (2 * Linear()) ** 2 + Linear()
    assert kernel.get_params()["k1__coef"] == 1.0
    assert kernel.get_params()["k1__inner"] == 2 * Linear()
    assert kernel.replace(k1__coef=5.0) == 5 * (2 * Linear()) ** 2 + Linear()
    assert kernel.replace(k1__inner__coef=5.0) == (5 * Linear()) ** 2 + Linear()


@pytest.mark.parametrize(
    ("kernel", "changes", "wanted"),
    [
        (Gaussian(1.0), {"gamma": 2}, Gaussian(2.0)),
        (Polynomial(2), {"degree": 4, "coef0": 0}, Polynomial(4, coef0=0.0)),
        (2 * Gaussian(1.0), {"gamma": 3.0, "coef": 4}, 4 * Gaussian(3.0)),
        ((Gaussian(1.0) + 1) ** 2, {"k1__gamma": 3.0, "exponent": 3}, (Gaussian(3.0) + 1) ** 3),
        (Gaussian(1.0).on([0]), {"columns": [1, 2], "gamma": 2}, Gaussian(2.0).on([1, 2])),
        (Gaussian(1.0).on([0]).on([1]), {"inner__columns": 2}, Gaussian(1.0).on(2).on([1])),
        (Gaussian(1.0).normalized(), {"inner": Linear()}, Linear().normalized()),
        (Gaussian(1.0).exp(), {"inner": Laplacian(1.0), "gamma": 2}, Laplacian(2.0).exp()),
        (Gaussian(1.0).of(len), {"phi": abs}, Gaussian(1.0).of(abs)),
        (Linear() + 1, {"k2__c": 3.0}, Linear() + 3),
        (Linear() + 1, {"k1": Gaussian(1.0)}, Gaussian(1.0) + 1),
        (Linear() + Linear(), {"k2": 4}, Linear() + 4),
        (Linear() + 1, {"k1__coef": 2.0}, 2 * Linear() + 1),
        (Linear() + 1, {"k1__coef": 1.0}, Linear() + 1),
        (2 * Linear() + 1, {"k1__coef": 3.0}, 3 * Linear() + 1),
        (Linear() * Gaussian(1.0), {"k2__coef": 3.0}, Linear() * (3 * Gaussian(1.0))),
        (Linear() + 1, {"k1": Gaussian(1.0), "k1__gamma": 5.0}, Gaussian(5.0) + 1),
        (Linear() + 1, {"k1__coef": 2.0, "k1": Gaussian(1.0)}, 2 * Gaussian(1.0) + 1),
        (Linear() ** 2 + 1, {"k1__exponent": 3, "k1__coef": 2.0}, 2 * Linear() ** 3 + 1),
        (NESTED, {"k2__k2__k1__degree": 5}, NESTED.replace(k2=Linear() * (Polynomial(5) + 1))),
    ],
)
def test_replace(kernel, changes, wanted):
    before = repr(kernel)
    assert kernel.replace(**changes) == wanted
    assert repr(kernel) == before


@pytest.mark.parametrize(
    ("kernel", "changes", "error", "match"),
    [
        (Gaussian(1.0), {"gama": 1}, InputError, r"Gaussian: its parameters are gamma; got 'gama'"),
        (Gaussian(1.0), {"gama": 1}, InputError, r"Did you mean 'gamma'\?"),
        (Linear(), {"gamma": 1}, InputError, r"Linear: its parameters are none; got 'gamma'"),
        (2 * Linear(), {"gamma": 1}, InputError, r"Linear: its parameters are none; got 'gamma'"),
        (NESTED, {"k4": 1}, InputError, r"Sum: its terms are k1, k2, k3; got 'k4'"),
        (NESTED, {"gamma": 1}, InputError, r"Sum: its terms are .*; got 'gamma'. Write k1__gamma"),
        (
            NESTED,
            {"k3__degree": 1},
            InputError,
            r"Laplacian: its parameters are gamma; got 'degree",
        ),
        (NESTED, {"k3__gamma": -1}, InputError, r"Laplacian: gamma must be .* above 0; got -1"),
        (NESTED, {"k1__coef": -1}, InputError, r"negative coefficient breaks the Mercer property"),
        (NESTED, {"k3__coef": -1}, InputError, r"negative coefficient breaks the Mercer property"),
        (NESTED, {"k3": "linear"}, InputTypeError, r"kernels combine with kernels and numbers"),
        (NESTED, {"k3": Spectrum(2)}, KernelError, r"Sum: its terms must take the same points"),
        (2 * Linear(), {"inner": 3}, InputTypeError, r"Scaled: inner must be a kernel; got 3"),
    ],
)
def test_replace_refuses(kernel, changes, error, match):
    with pytest.raises(error, match=match):
        kernel.replace(**changes)


# --- kernels of one's own -------------------------------------------------------------------------


def test_a_kernel_needs_a_name_of_its_own():
    with pytest.raises(KernelError, match="Gaussian: a kernel's name must be its own"):
        type("Gaussian", (Kernel,), {})


def test_a_kernel_says_what_it_takes_in_known_words():
    made = type("TakesSets", (Kernel,), {"domain": "sets"})
    assert made.domain == frozenset({"sets"})
    with pytest.raises(KernelError, match=r"TakesRow: domain must be of rows, .*; got row"):
        type("TakesRow", (Kernel,), {"domain": frozenset({"row"})})


def test_a_plain_class_is_told_to_become_a_dataclass():
    plain = type("PlainClass", (Kernel,), {"pair": lambda self, x, y: 1.0})
    with pytest.raises(KernelError, match=r"PlainClass: a kernel must be a frozen dataclass"):
        plain()(["a", "b"])


def test_a_kernel_without_a_formula_says_what_is_missing():
    empty = dataclass(frozen=True)(type("NoFormula", (Kernel,), {}))
    with pytest.raises(KernelError, match=r"NoFormula: a kernel must define profile.*none of them"):
        empty()(["a", "b"])


@dataclass(frozen=True, repr=False)
class WrongShape(Kernel):
    """A user's formula that forgets Y."""

    def formula(self, X, Y=None):
        return X @ X.T


def test_a_formula_of_the_wrong_shape_is_refused():
    X = samples.rows(4, 2)
    assert_allclose(WrongShape()(X), X @ X.T)
    with pytest.raises(KernelError, match=r"WrongShape: its formula must return .*\(4, 2\); got"):
        WrongShape()(X, X[:2])
    with pytest.raises(KernelError, match=r"FunctionKernel: its formula must return"):
        FunctionKernel(lambda X, Y: np.ones(3))(X)


def test_structures_are_values_too():
    assert Sum((Linear(), 1.0)) == Linear() + 1
    assert Scaled(Scaled(Linear(), 2.0), 3.0) == 6 * Linear()
    assert {Linear() + 1: "a"}[Linear() + 1.0] == "a"
