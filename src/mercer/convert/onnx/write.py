"""From a fitted model to an ONNX file."""

from __future__ import annotations

import json
import os
from importlib.metadata import version
from typing import Any, Literal

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ...checks import InputError, InputTypeError, one_of, sentence, show
from ...inputs import Matrix
from ...storage import streams
from ...storage.streams import Writable
from ...tables import TableEncoder
from ...typing import Estimator
from .graph import WHO, Graph, Output, checked_opset, require_onnx
from .outputs import family_of
from .scaling import SCALERS, scaled
from .tables import AUTOMATIC, automatic, encoded

STEPS = (*SCALERS, TableEncoder)
PRECISIONS = ("float32", "float64")
CONVERTIBLE = (
    "SVC, NuSVC, SVR, NuSVR, OneClassSVM, KernelRidge, KernelRidgeClassifier and their searches, "
    "KernelMachineClassifier, KernelMachineRegressor, KernelFisherDiscriminant, KernelPerceptron, "
    "KernelPrototypeClassifier, RFM and MKL models, AutoKernelClassifier and AutoKernelRegressor "
    "on tables of numbers, or a Pipeline of scalers that ends in one"
)


def to_onnx(
    model: Estimator,
    *,
    dtype: Literal["float32", "float64"] = "float32",
    opset: int | None = None,
) -> bytes:
    """Convert a fitted model on rows of numbers to ONNX.

    The kernel is written as plain operators, from the same formula that mercer computes with. The
    input is X of shape (N, n_features). Classifiers give `label`, `probabilities` where the model
    has them, and `scores`, the decision values, one column for two classes; regressors give
    `variable`, one column per output; novelty detection gives `label` and `scores`. N is free.

    Parameters
    ----------
    model : estimator or Pipeline
        A fitted SVC, NuSVC, SVR, NuSVR, OneClassSVM, kernel ridge model, KernelMachineClassifier or
        KernelMachineRegressor, KernelFisherDiscriminant, KernelPerceptron,
        KernelPrototypeClassifier, RFM or MKL model, compressed or not; AutoKernelClassifier or
        AutoKernelRegressor on a table whose columns are numbers (NaN is a missing one); or a
        Pipeline of StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler or TableEncoder that
        ends in one.
    dtype : {"float32", "float64"}, default="float32"
        Precision of the input, the arithmetic and the output.
    opset : int, default=None
        Version of ONNX's operators, at least 18. None is 18, which every runtime since 2023 has.

    Returns
    -------
    bytes
        The content of an ONNX file.

    Raises
    ------
    InputError
        If the model, its kernel or its points have no form in ONNX.
    PackageError
        If the package onnx is not installed.

    References
    ----------
    .. [1] ONNX: Open Neural Network Exchange, https://onnx.ai.

    Examples
    --------
    >>> import onnxruntime
    >>> import numpy as np
    >>> from mercer import KernelRidge
    >>> from mercer.convert import to_onnx
    >>> from mercer.kernels import Gaussian
    >>> X = np.linspace(0, 1, 9, dtype=np.float32)[:, None]
    >>> model = KernelRidge(alpha=0.01, kernel=Gaussian(gamma=3.0)).fit(X, np.sin(4 * X[:, 0]))
    >>> session = onnxruntime.InferenceSession(to_onnx(model))
    >>> (found,) = session.run(["variable"], {"X": X})
    >>> found.shape, bool(np.allclose(found[:, 0], model.predict(X), atol=1e-4))
    ((9, 1), True)
    """
    precision = np.dtype(one_of(WHO, "dtype", dtype, PRECISIONS))
    require_onnx()
    checked_opset(opset)
    steps, last = _split(model)
    family = automatic if isinstance(last, AUTOMATIC) else family_of(last)
    if family is None:
        must = f"the model must be one of {CONVERTIBLE}"
        raise InputTypeError(sentence(WHO, must, show(model), _advice(model)))
    _check_points(last)
    graph = Graph(precision, int((steps[0] if steps else last).n_features_in_))
    tensor = graph.X
    for step in steps:
        is_table = isinstance(step, TableEncoder)
        tensor = encoded(graph, step, tensor) if is_table else scaled(graph, step, tensor)
    outputs: list[Output] = family(last, graph, tensor)
    return graph.finished(outputs, opset, _notes(model, last))


def write_onnx(
    model: Estimator,
    target: str | os.PathLike[str] | Writable,
    *,
    dtype: Literal["float32", "float64"] = "float32",
    opset: int | None = None,
) -> None:
    """Write a fitted model on rows of numbers as an ONNX file.

    The file has what `to_onnx` returns, and is written whole or not at all.

    Parameters
    ----------
    model : estimator or Pipeline
        A fitted model that `to_onnx` takes.
    target : path or binary file object
        Where to write.
    dtype : {"float32", "float64"}, default="float32"
        Precision of the input, the arithmetic and the output.
    opset : int, default=None
        Version of ONNX's operators, at least 18. None is 18.

    Raises
    ------
    InputError
        If the model, its kernel or its points have no form in ONNX.
    PackageError
        If the package onnx is not installed.

    References
    ----------
    .. [1] ONNX: Open Neural Network Exchange, https://onnx.ai.

    Examples
    --------
    >>> import io
    >>> from mercer import SVC
    >>> from mercer.convert import write_onnx
    >>> buffer = io.BytesIO()
    >>> write_onnx(SVC().fit([[0.0], [1.0], [2.0]], [0, 0, 1]), buffer)
    >>> len(buffer.getvalue()) > 500
    True
    """
    streams.check_target(target, "write_onnx")
    streams.write(target, [to_onnx(model, dtype=dtype, opset=opset)])


def _split(model: Any) -> tuple[list[Any], Any]:
    """Return the scalers of a pipeline and its last step; a model alone has none."""
    if not isinstance(model, Pipeline):
        return [], model
    *before, (_, last) = model.steps
    found = [step for _, step in before if step is not None and step != "passthrough"]
    for step in found:
        if type(step) not in STEPS:
            names = ", ".join(kind.__name__ for kind in STEPS)
            must = f"the steps of a pipeline before its model must be of {names}"
            raise InputTypeError(sentence(WHO, must, show(step)))
    return found, last


def _check_points(model: Any) -> None:
    """Refuse a model that was not fitted on rows of numbers."""
    if isinstance(model, AUTOMATIC):  # whose columns are looked at one by one
        check_is_fitted(model)
        return
    model._require_fit()
    points = model._prepared.points
    if not isinstance(points, Matrix):
        must = "the model must be fitted on rows of numbers"
        raise InputError(sentence(WHO, must, points.kind))


def _advice(model: Any) -> str:
    if hasattr(model, "best_estimator_"):
        return "Convert its best_estimator_."
    return ""


def _notes(model: Any, last: Any) -> dict[str, str]:
    """Return what the file says of where it comes from."""
    notes = {
        "mercer": version("mercer"),
        "estimator": type(last).__name__,
        "kernel": repr(last.kernel_),
    }
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        notes["feature_names"] = json.dumps([str(name) for name in names])
    return notes
