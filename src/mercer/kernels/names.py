"""scikit-learn's kernel names, each with the mercer kernel it stands for and its defaults."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import checks
from ..checks import KernelError, sentence
from ..typing import Gamma, KernelLike
from .base import Kernel
from .rows.dot import Linear, Polynomial, Sigmoid
from .rows.histogram import Chi2
from .rows.radial import Gaussian, Laplacian
from .scikit_learn.processes import is_process_kernel, process_kernel
from .user import FunctionKernel, Precomputed

# gamma=None is scikit-learn's "1 / number of columns", which mercer writes "auto".
SKLEARN_NAMES: dict[str, Callable[[Any, Any, Any], Kernel]] = {
    "linear": lambda gamma, degree, coef0: Linear(),
    "poly": lambda gamma, degree, coef0: Polynomial(degree, _auto(gamma), coef0),
    "polynomial": lambda gamma, degree, coef0: Polynomial(degree, _auto(gamma), coef0),
    "rbf": lambda gamma, degree, coef0: Gaussian(_auto(gamma)),
    "laplacian": lambda gamma, degree, coef0: Laplacian(_auto(gamma)),
    "sigmoid": lambda gamma, degree, coef0: Sigmoid(_auto(gamma), coef0),
    "cosine": lambda gamma, degree, coef0: Linear().normalized(),
    "chi2": lambda gamma, degree, coef0: Chi2(1.0 if gamma is None else gamma),
    "precomputed": lambda gamma, degree, coef0: Precomputed(),
}


def _auto(gamma: Any) -> Any:
    return "auto" if gamma is None else gamma


def to_kernel(
    kernel: KernelLike,
    *,
    gamma: Gamma = None,
    degree: int = 3,
    coef0: float = 1.0,
    who: str = "kernel",
) -> Kernel:
    """Return the kernel that an estimator's `kernel` parameter stands for.

    Parameters
    ----------
    kernel : Kernel, str, callable or None
        None is Gaussian(); a name is scikit-learn's, and so may be an object of
        `sklearn.gaussian_process.kernels`; a function fn(X, Y) becomes a `FunctionKernel`.
    gamma : float or str, default=None
        Of a name: its gamma; None is scikit-learn's 1 / (number of columns).
    degree : int, default=3
        Of the name "poly": its degree.
    coef0 : float, default=1.0
        Of the names "poly" and "sigmoid": the constant.
    who : str, default="kernel"
        Who asks, for messages.

    Returns
    -------
    Kernel
        The kernel.

    Examples
    --------
    >>> from mercer.kernels import to_kernel
    >>> to_kernel("poly", gamma=0.5, degree=2)
    Polynomial(degree=2, gamma=0.5)
    >>> from sklearn.gaussian_process.kernels import RBF, DotProduct
    >>> to_kernel(2.0 * RBF(length_scale=0.5) + DotProduct())
    2.0*Gaussian(gamma=2.0) + Linear() + 1.0
    """
    if kernel is None:
        return Gaussian()
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str):
        if kernel == "additive_chi2":
            raise KernelError(
                sentence(
                    who,
                    "kernel must be Mercer",
                    "'additive_chi2', which is only conditionally so",
                    "Use Chi2(gamma), its exponential.",
                )
            )
        name = checks.one_of(who, "kernel", kernel, tuple(SKLEARN_NAMES))
        return SKLEARN_NAMES[name](gamma, degree, coef0)
    if is_process_kernel(kernel):
        return process_kernel(kernel, who)
    if callable(kernel) and not isinstance(kernel, type):
        return FunctionKernel(kernel)
    raise checks.InputTypeError(
        sentence(
            who,
            "kernel must be None, a kernel, a name or a function of X and Y",
            checks.show(kernel),
            "Write Gaussian(), with brackets." if isinstance(kernel, type) else "",
        )
    )
