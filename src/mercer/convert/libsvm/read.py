"""From a LIBSVM model file to a fitted model."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import scipy.sparse

from ... import checks
from ...checks import FileError, MercerError, sentence
from ...grams import Prepared
from ...grams.sides import Side, View
from ...inputs import GramRows, Input, Matrix
from ...kernels import Gaussian, Kernel, Linear, Polynomial, Precomputed, Sigmoid
from ...models import SVC, SVR, NuSVC, NuSVR, OneClassSVM, SvmCertificate
from ...monitor import warn
from ...status import Status
from ...storage import streams
from ...storage.streams import Readable
from .machines import reordered
from .text import MOST_COLUMNS, Content, parse

SupportVectorModel = SVC | NuSVC | OneClassSVM | SVR | NuSVR
DENSE = 4  # as many numbers as entries that are not 0, at most, are kept as a whole array


def read_libsvm(
    source: str | os.PathLike[str] | bytes | bytearray | memoryview | Readable,
    *,
    n_features: int | None = None,
) -> SupportVectorModel:
    """Read a LIBSVM model file, and return the fitted model that it describes.

    It predicts what `svm-predict` does: f(x) = sum_i c_i k(x_i, x) - rho, for several classes one
    such function per pair and the class with most votes. `classes_` are the labels in ascending
    order. A score of two classes is positive for the larger label, where LIBSVM's is positive for
    the one that its file names first.

    Parameters
    ----------
    source : path, bytes or binary file object
        The model file, as `svm-train` or `svm_save_model` writes it.
    n_features : int, default=None
        Number of columns of the points; of a precomputed matrix, the number of training points. The
        file does not have it: None takes the largest index that a support vector has.

    Returns
    -------
    SVC, NuSVC, OneClassSVM, SVR or NuSVR
        The fitted model. What a file does not tell has its default, such as C, or is NaN or 0, as
        in `certificate_`.

    Raises
    ------
    FileError
        If the file is not a model file of LIBSVM, or has a kernel that is not positive definite by
        its parameters; the message names the line.
    InputError
        If n_features is less than the file needs.

    Warns
    -----
    UserWarning
        If the file has probabilities that mercer does not have: the model predicts without them.

    References
    ----------
    .. [1] C.-C. Chang, C.-J. Lin, "LIBSVM: a library for support vector machines", ACM Transactions
       on Intelligent Systems and Technology, 2011.

    Examples
    --------
    >>> from mercer.convert import read_libsvm
    >>> text = b'''svm_type epsilon_svr
    ... kernel_type linear
    ... nr_class 2
    ... total_sv 2
    ... rho -1
    ... SV
    ... 0.5 1:1 2:2
    ... -0.5 2:1
    ... '''
    >>> model = read_libsvm(text)
    >>> model
    SVR(kernel=Linear())
    >>> model.predict([[1.0, 1.0], [2.0, 0.0]]).tolist()
    [2.0, 2.0]
    """
    who = f"read_libsvm({streams.name_of(source)})"
    with streams.opened(source, who) as opened:
        content = parse(opened.read(opened.size), who)
    width = _width(content, n_features, who)
    kernel = _kernel(content, who)
    points = _points(content, width)
    try:
        prepared = Prepared(kernel, View(Side(points))).checked()
    except MercerError as error:
        raise FileError(f"{who}: {error}") from error
    model = _made(content, kernel, who)
    model._prepared, model.kernel_, model.n_features_in_ = prepared, kernel, width
    return model


def _width(content: Content, given: int | None, who: str) -> int:
    """Return the number of columns, which must hold all that the file has."""
    least = int(content.vectors.shape[1])
    if content.kernel_type == "precomputed":
        least = int(content.vectors.data.max(initial=0))
    if given is not None:
        advice = f"The support vectors have {least}."
        bound = max(least, 1)
        return checks.whole(
            "read_libsvm", "n_features", given, least=bound, most=MOST_COLUMNS, advice=advice
        )
    if least == 0:
        must = "the support vectors must show how many columns there are"
        raise FileError(sentence(who, must, "none that has an entry", "Give n_features."))
    return least


def _kernel(content: Content, who: str) -> Kernel:
    try:
        if content.kernel_type == "polynomial":
            return Polynomial(content.degree, content.gamma, content.coef0)
        if content.kernel_type == "rbf":
            return Gaussian(content.gamma)
        if content.kernel_type == "sigmoid":
            return Sigmoid(content.gamma, content.coef0)
    except MercerError as error:
        raise FileError(f"{who}: {error}") from error
    return Linear() if content.kernel_type == "linear" else Precomputed()


def _points(content: Content, width: int) -> Input:
    """Return the support vectors; where there are none, one point that shows the columns."""
    vectors = content.vectors
    if content.kernel_type == "precomputed":
        numbers = vectors.data.astype(np.intp) - 1
        columns = numbers if len(numbers) else np.zeros(1, dtype=np.intp)
        return GramRows.numbered(columns[_order(content)], width, np.float64)
    if vectors.shape[0] == 0:
        return Matrix(scipy.sparse.csr_array((1, width)))
    vectors = vectors[_order(content)]
    vectors.resize((vectors.shape[0], width))
    small = vectors.shape[0] * width <= DENSE * max(vectors.nnz, 1)
    return Matrix(vectors.toarray() if small else vectors)


def _order(content: Content) -> Any:
    """Return the places of the support vectors with those of the smallest label first."""
    counts = np.array(content.machines.counts)
    if not content.labels or not counts.any():
        return slice(None)
    owners = np.repeat(np.array(content.labels), counts)
    return np.argsort(owners, kind="stable")


def _made(content: Content, kernel: Kernel, who: str) -> SupportVectorModel:
    """Return the model with everything but its points."""
    model = _classifier(content, kernel) if content.labels else _single(content, kernel)
    if (content.slopes and not hasattr(model, "slopes_")) or content.has_marks:
        _warn_of_probabilities(who)
    n = content.machines.coefficients.shape[1]
    model.support_ = np.arange(n, dtype=np.int32)
    if content.kernel_type == "precomputed":
        model.support_ = (content.vectors.data.astype(np.int32) - 1)[_order(content)]
    model.n_iter_ = np.zeros(len(content.machines.rho), dtype=np.int64)
    model.certificate_ = _certificate(n)
    return model


def _classifier(content: Content, kernel: Kernel) -> SVC | NuSVC:
    """Return machines for two classes each; those of two classes are positive for the second."""
    slope, kind = _slope(content), SVC if content.svm_type == "c_svc" else NuSVC
    model: SVC | NuSVC = kind(
        kernel=kernel,
        decision_function_shape="ovo",
        break_ties=False,
        probability=slope is not None,
    )
    order = np.argsort(content.labels)
    machines = reordered(content.machines, order.tolist())
    sign = -1.0 if len(order) == 2 else 1.0
    model.dual_coef_, model.intercept_ = sign * machines.coefficients, -sign * machines.rho
    model.n_support_ = np.array(machines.counts, dtype=np.int32)
    model.classes_ = np.array(content.labels)[order]
    model.class_weight_, model._by_pairs = np.ones(len(order)), True
    if slope is not None:
        model.slopes_ = np.array([slope])
    places = np.argsort(order)
    if len(order) > 2 and not np.array_equal(places, np.arange(len(order))):
        model._tie_order = places
    return model


def _single(content: Content, kernel: Kernel) -> OneClassSVM | SVR | NuSVR:
    machines = content.machines
    kinds = {"one_class": OneClassSVM, "epsilon_svr": SVR, "nu_svr": NuSVR}
    model: OneClassSVM | SVR | NuSVR = kinds[content.svm_type](kernel=kernel)
    model.dual_coef_, model.intercept_ = machines.coefficients, -machines.rho
    model.n_support_ = np.array(machines.counts, dtype=np.int32)
    if isinstance(model, OneClassSVM):
        model.offset_ = float(machines.rho[0])
    if isinstance(model, NuSVR):
        model.epsilon_ = float("nan")
    return model


def _slope(content: Content) -> float | None:
    """Return mercer's slope where LIBSVM's probabilities are of that form: 1 / (1 + exp(A f))."""
    alike = len(content.labels) == 2 and content.offsets == (0.0,) and content.slopes[0] < 0
    return -content.slopes[0] if alike else None


def _warn_of_probabilities(who: str) -> None:
    must = "probabilities must be those of two classes without an offset (probB 0)"
    advice = "The model is read without them. Fit SVC(probability=True) to have some."
    warn(sentence(who, must, "others", advice))


def _certificate(n: int) -> SvmCertificate:
    unknown = float("nan")
    return SvmCertificate(
        status=Status.COMPLETE,
        plan="read from a LIBSVM model file, which tells nothing of the fit",
        kernel_entries=0,
        bytes=0,
        seconds=0.0,
        primal=unknown,
        dual=unknown,
        gap=unknown,
        violation=unknown,
        tol=unknown,
        zero=0,
        free=0,
        bound=0,
        margin=unknown,
        norm=unknown,
        iterations=0,
        rows_reused=0,
        n=n,
        training_error=unknown,
        radius=unknown,
    )
