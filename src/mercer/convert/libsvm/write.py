"""From a fitted model to a LIBSVM model file."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.pipeline import Pipeline

from ...checks import Array, InputError, InputTypeError, sentence, show
from ...inputs import GramRows, Matrix
from ...kernels import Gaussian, Kernel, Linear, Polynomial, Precomputed, Scaled, Sigmoid
from ...models import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from ...models.svm.base import in_all_machines
from ...monitor import warn
from ...storage import streams
from ...storage.streams import Writable
from .machines import reordered, spread
from .read import SupportVectorModel
from .text import Content, Machines, render

WHO = "write_libsvm"
TYPES: dict[type[Any], str] = {
    SVC: "c_svc",
    NuSVC: "nu_svc",
    OneClassSVM: "one_class",
    SVR: "epsilon_svr",
    NuSVR: "nu_svr",
}
LARGEST_LABEL = 2**31 - 1


def write_libsvm(model: SupportVectorModel, target: str | os.PathLike[str] | Writable) -> None:
    """Write a fitted support vector machine as a LIBSVM model file.

    `svm-predict` then gives f(x) = sum_i c_i k(x_i, x) - rho as mercer does. Numbers have all
    their digits, so that `read_libsvm` brings the same model back. A file is written whole or not
    at all. Of classes with equal votes LIBSVM takes the first, as mercer does with
    break_ties=False; a file cannot say otherwise.

    Parameters
    ----------
    model : SVC, NuSVC, OneClassSVM, SVR or NuSVR
        A fitted model on rows of numbers or on a precomputed matrix, whose kernel is `Linear`,
        `Polynomial`, `Gaussian`, `Sigmoid` or `Precomputed`, or one of these times a number.
    target : path or binary file object
        Where to write.

    Raises
    ------
    InputError
        If LIBSVM has no such model: another estimator, another kernel, machines for one class
        against the rest, or classes that are not whole numbers.

    Warns
    -----
    UserWarning
        If the model has probabilities of more than two classes, which are left out.

    References
    ----------
    .. [1] C.-C. Chang, C.-J. Lin, "LIBSVM: a library for support vector machines", ACM Transactions
       on Intelligent Systems and Technology, 2011.

    Examples
    --------
    >>> import io
    >>> from mercer import SVC
    >>> from mercer.convert import write_libsvm
    >>> from mercer.kernels import Gaussian
    >>> model = SVC(kernel=Gaussian(gamma=0.5)).fit([[0.0], [1.0]], [3, 4])
    >>> buffer = io.BytesIO()
    >>> write_libsvm(model, buffer)
    >>> print(*buffer.getvalue().decode().splitlines()[:7], sep="; ")
    svm_type c_svc; kernel_type rbf; gamma 0.5; nr_class 2; total_sv 2; rho 0.0; label 4 3
    """
    streams.check_target(target, WHO)
    streams.write(target, render(_content(model)))


def _content(model: Any) -> Content:
    """Return what the file says of a model; refuse what LIBSVM has no words for."""
    if type(model) not in TYPES:
        must = "the model must be a fitted SVC, NuSVC, OneClassSVM, SVR or NuSVR"
        raise InputTypeError(sentence(WHO, must, show(model), _advice(model)))
    model._require_fit()
    kernel_type, parameters, factor = _kernel_of(model.kernel_)
    vectors = _vectors_of(model)
    slopes: tuple[float, ...] = ()
    if isinstance(model, SVC | NuSVC):
        labels = _labels_of(model)
        machines, chosen = _machines_of(model)
        order = _label_order(model)
        owners = np.repeat(np.arange(len(labels)), machines.counts)
        chosen = np.concatenate([chosen[owners == c] for c in order])
        machines, labels = reordered(machines, order), tuple(labels[c] for c in order)
        vectors = vectors[chosen]
        slopes = _slopes_of(model)
    else:
        labels, offset = (), np.array([0.0 - float(model.intercept_[0])])
        machines = Machines(coefficients=model.dual_coef_, rho=offset, counts=(vectors.shape[0],))
    coefficients = factor * np.asarray(machines.coefficients, dtype=np.float64)
    return Content(
        svm_type=TYPES[type(model)],
        kernel_type=kernel_type,
        machines=replace(machines, coefficients=coefficients),
        vectors=vectors,
        labels=labels,
        slopes=slopes,
        offsets=tuple(0.0 for _ in slopes),
        **parameters,
    )


def _advice(model: Any) -> str:
    if isinstance(model, Pipeline):
        return (
            "The file has no place for preprocessing: write the last step of a pipeline, "
            "write_libsvm(pipeline[-1], …), and hand LIBSVM what the steps before it make."
        )
    if hasattr(model, "best_estimator_"):
        return "Write its best_estimator_."
    return "mercer.convert.to_onnx writes many other models."


def _kernel_of(kernel: Kernel) -> tuple[str, dict[str, Any], float]:
    """Return LIBSVM's name of a kernel, its parameters, and a factor of all its values."""
    if isinstance(kernel, Scaled):
        name, parameters, factor = _kernel_of(kernel.inner)
        return name, parameters, factor * kernel.coef
    if type(kernel) is Linear:
        return "linear", {}, 1.0
    if type(kernel) is Polynomial:
        gamma, coef0 = float(kernel.gamma), float(kernel.coef0)
        return "polynomial", {"degree": kernel.degree, "gamma": gamma, "coef0": coef0}, 1.0
    if type(kernel) is Gaussian and not isinstance(kernel.gamma, tuple):
        return "rbf", {"gamma": float(kernel.gamma)}, 1.0
    if type(kernel) is Sigmoid:
        return "sigmoid", {"gamma": float(kernel.gamma), "coef0": float(kernel.coef0)}, 1.0
    if type(kernel) is Precomputed:
        return "precomputed", {}, 1.0
    must = (
        "the kernel must be one that LIBSVM has: Linear, Polynomial, Gaussian with one gamma, "
        "Sigmoid or Precomputed, or one of these times a number"
    )
    advice = "mercer.convert.to_onnx writes models with any kernel of rows of numbers."
    if isinstance(kernel, Gaussian):
        advice = "Multiply the columns of X by the roots of their gammas, and fit Gaussian(1.0)."
    raise InputError(sentence(WHO, must, show(kernel), advice))


def _vectors_of(model: Any) -> scipy.sparse.csr_array:
    """Return the support vectors as sparse rows; of a precomputed matrix, their numbers."""
    points, n = model._prepared.points, len(model.support_)
    if isinstance(points, GramRows) and points.columns is not None:
        numbers = np.asarray(points.columns[:n], dtype=np.float64) + 1
        return scipy.sparse.csr_array(numbers[:, None])
    if not isinstance(points, Matrix):
        raise InputError(sentence(WHO, "the points must be rows of numbers", points.kind))
    found = scipy.sparse.csr_array(points.values[:n], dtype=np.float64)
    found.eliminate_zeros()
    found.sort_indices()
    return found


def _machines_of(model: Any) -> tuple[Machines, Array]:
    """Return the machines in LIBSVM's form, classes ascending, and the vectors they stand for."""
    k, n = len(model.classes_), model.dual_coef_.shape[1]
    counts = tuple(model.n_support_.tolist())
    if k == 2:  # where mercer's score is positive for the second class
        rho = np.array([0.0 + float(model.intercept_[0])])
        return Machines(coefficients=-model.dual_coef_, rho=rho, counts=counts), np.arange(n)
    if not model._by_pairs:
        must = "machines of several classes must be for two of them each, as LIBSVM's are"
        got = "multiclass='ovr', one class against the rest"
        raise InputError(sentence(WHO, must, got, "Fit with multiclass='ovo', the default."))
    rho, coefficients, chosen = 0.0 - model.intercept_, model.dual_coef_, np.arange(n)
    if in_all_machines(model):
        coefficients, chosen, counts = spread(coefficients, k)
    return Machines(coefficients=coefficients, rho=rho, counts=counts), chosen


def _label_order(model: Any) -> list[int]:
    """Return the classes in the order of the file: of equal votes LIBSVM takes the first.

    Of two classes the larger comes first, so that LIBSVM's values have the sign of mercer's.
    """
    k = len(model.classes_)
    if k == 2:
        return [1, 0]
    order: list[int] = getattr(model, "_tie_order", np.arange(k)).tolist()
    return order


def _labels_of(model: Any) -> tuple[int, ...]:
    classes = model.classes_
    plain = classes.dtype.kind in "biuf" and bool(np.all(classes == np.rint(classes)))
    if not plain or not -LARGEST_LABEL <= classes[0] <= classes[-1] <= LARGEST_LABEL:
        must = "classes must be whole numbers of 32 bits, as LIBSVM's labels are"
        advice = "Encode them first, for example with sklearn.preprocessing.LabelEncoder."
        raise InputError(sentence(WHO, must, show(classes.tolist()), advice))
    return tuple(int(label) for label in classes)


def _slopes_of(model: Any) -> tuple[float, ...]:
    """Return probA of a model with probabilities, 1 / (1 + exp(A f)) of the first label."""
    if not (model.probability and hasattr(model, "slopes_")):
        return ()
    if len(model.classes_) == 2:
        return (-float(model.slopes_[0]),)
    must = "probabilities of a LIBSVM model must be those of two classes"
    advice = "The file is written without them; labels and decision values are not changed."
    warn(sentence(WHO, must, f"{len(model.classes_)} classes", advice))
    return ()
