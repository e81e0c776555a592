"""What a model gives away, for each family: labels, probabilities and scores, or numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...checks import Array, InputError, sentence, show
from ...losses import OF_NUMBERS, Logistic, Poisson, to_loss
from ...models import (
    SVR,
    KernelFisherDiscriminant,
    KernelMachineClassifier,
    KernelMachineRegressor,
    KernelPerceptron,
    KernelPrototypeClassifier,
    MKLOneClassSVM,
    MKLRegressor,
    NuSVR,
    OneClassSVM,
)
from ...models.ridge.classifier import LabelledRidge
from ...models.ridge.regressor import NumberRidge
from ...models.svm.classes import SupportVectorClassifier, class_pairs
from .graph import WHO, Graph, Output
from .scores import expansion, function_scores, machine_scores

WHOLE = np.dtype(np.int64)


def numbers(graph: Graph, tensor: str, columns: int) -> list[Output]:
    """Return the output of a regression."""
    return [Output(name="variable", tensor=tensor, dtype=graph.dtype, columns=columns)]


def classes(
    graph: Graph, labels: Array, places: str, scores: str | None, chances: str | None
) -> list[Output]:
    """Return the outputs of a classification; places: the number of the class of every row."""
    known = _known(labels)
    label = graph.call("Gather", graph.constant(known), places, axis=0)
    found = [Output(name="label", tensor=label, dtype=known.dtype, columns=None)]
    if chances is not None:
        wide = len(labels)
        found.append(Output(name="probabilities", tensor=chances, dtype=graph.dtype, columns=wide))
    if scores is not None:
        wide = 1 if len(labels) == 2 else len(labels)
        found.append(Output(name="scores", tensor=scores, dtype=graph.dtype, columns=wide))
    return found


def _known(labels: Array) -> Array:
    """Return the classes as ONNX can have them."""
    if labels.dtype.kind in "iu":
        return labels.astype(np.int64)
    if labels.dtype.kind == "f":
        return labels.astype(np.float64)
    texts = labels.dtype.kind == "O" and all(isinstance(one, str) for one in labels.tolist())
    if labels.dtype.kind in "bU" or texts:
        return labels
    must = "classes must be numbers, texts, or True and False"
    raise InputError(sentence(WHO, must, show(labels.tolist())))


def winners(graph: Graph, scores: str, k: int) -> str:
    """Return the number of the class with the largest score; one score is for the second of two."""
    if k > 2:
        return graph.call("ArgMax", scores, axis=1, keepdims=0)
    above = graph.as_wholes(graph.call("Greater", scores, graph.floats(0.0)))
    return graph.call("Squeeze", above, graph.wholes([1]))


def chances_of(graph: Graph, scores: str, slope: float, k: int) -> str:
    """Return probabilities from scores: of two classes by one score, else by one per class."""
    steep = graph.affine(scores, slope, 0.0)
    if k > 2:
        return graph.call("Softmax", steep, axis=1)
    other = graph.call("Sigmoid", graph.call("Neg", steep))
    return graph.call("Concat", other, graph.call("Sigmoid", steep), axis=1)


def _plain(graph: Graph, labels: Array, scores: str, slope: float | None = None) -> list[Output]:
    """Return the outputs of a classifier whose largest score wins."""
    k = len(labels)
    chances = None if slope is None else chances_of(graph, scores, slope, k)
    return classes(graph, labels, winners(graph, scores, k), scores, chances)


# --- families -----------------------------------------------------------------------------------


def _of_numbers(model: NumberRidge, graph: Graph, X: str) -> list[Output]:
    leaves = getattr(model, "leaves_", None)
    shown = model.intercept_ if leaves is None else leaves[0].intercept_
    return numbers(graph, function_scores(model, graph, X), np.size(shown))


def _of_losses(model: KernelMachineRegressor, graph: Graph, X: str) -> list[Output]:
    loss = to_loss(WHO, model.loss, OF_NUMBERS)
    scores = function_scores(model, graph, X)
    if isinstance(loss, Poisson):
        scores = graph.call("Exp", scores)
    elif hasattr(loss, "mean"):
        must = "a loss whose prediction is a function of the score must be Poisson"
        raise InputError(sentence(WHO, must, show(model.loss)))
    return numbers(graph, scores, np.size(model.intercept_))


def _of_one_machine(model: Any, graph: Graph, X: str) -> list[Output]:
    return numbers(graph, machine_scores(model, graph, X), 1)


def _of_region(model: Any, graph: Graph, X: str) -> list[Output]:
    scores = machine_scores(model, graph, X)
    inside = graph.call("GreaterOrEqual", scores, graph.floats(0.0))
    label = graph.call("Where", inside, graph.wholes(1), graph.wholes(-1))
    flat = graph.call("Squeeze", label, graph.wholes([1]))
    return [
        Output(name="label", tensor=flat, dtype=WHOLE, columns=None),
        Output(name="scores", tensor=scores, dtype=graph.dtype, columns=1),
    ]


def _of_machine_classes(model: KernelMachineClassifier, graph: Graph, X: str) -> list[Output]:
    logistic = model.loss == "logistic" or isinstance(model.loss, Logistic)
    scores = function_scores(model, graph, X)
    return _plain(graph, model.classes_, scores, 1.0 if logistic else None)


def _of_ridge_classes(model: LabelledRidge, graph: Graph, X: str) -> list[Output]:
    scores = function_scores(model, graph, X)
    slopes = model.slopes_ if model.probability else None
    if not model._multilabel:
        return _plain(graph, model.classes_, scores, None if slopes is None else float(slopes[0]))
    wide = len(model.classes_)
    label = graph.as_wholes(graph.call("Greater", scores, graph.floats(0.0)))
    found = [Output(name="label", tensor=label, dtype=WHOLE, columns=wide)]
    if slopes is not None:
        chances = graph.call("Sigmoid", graph.call("Mul", scores, graph.floats(slopes)))
        found.append(Output(name="probabilities", tensor=chances, dtype=graph.dtype, columns=wide))
    return [*found, Output(name="scores", tensor=scores, dtype=graph.dtype, columns=wide)]


def _of_votes(model: KernelPerceptron, graph: Graph, X: str) -> list[Output]:
    votes = model.dual_coef_.T if len(model.support_) else np.zeros((1, len(model.intercept_)))
    scores = expansion(model, graph, X, votes)
    scores = graph.call("Add", scores, graph.floats(model.intercept_))
    return _plain(graph, model.classes_, scores)


def _of_prototypes(model: KernelPrototypeClassifier, graph: Graph, X: str) -> list[Output]:
    near = expansion(model, graph, X, model.dual_coef_)
    scores = graph.call("Sub", near, graph.floats(model.squared_norms_ / 2))
    k = len(model.classes_)
    if len(model.squared_norms_) != k:
        owners = np.searchsorted(model.classes_, model.prototype_classes_)
        best = []
        for c in range(k):
            own = graph.call("Gather", scores, graph.wholes(np.flatnonzero(owners == c)), axis=1)
            best.append(graph.call("ReduceMax", own, graph.wholes([1]), keepdims=1))
        scores = graph.call("Concat", *best, axis=1)
    return _plain(graph, model.classes_, _of_two(graph, scores, k))


def _of_directions(model: KernelFisherDiscriminant, graph: Graph, X: str) -> list[Output]:
    along = function_scores(model, graph, X)
    fixed = np.log(model.priors_) - (model.means_**2).sum(axis=1) / 2
    scores = graph.call("MatMul", along, graph.floats(model.means_.T))
    scores = graph.call("Add", scores, graph.floats(fixed))
    return _plain(graph, model.classes_, _of_two(graph, scores, len(model.classes_)))


def _of_two(graph: Graph, scores: str, k: int) -> str:
    """Return the difference of the scores of two classes; those of more as they are."""
    return graph.call("MatMul", scores, graph.floats([[-1.0], [1.0]])) if k == 2 else scores


# --- support vector classifiers -----------------------------------------------------------------


def _of_machines(model: SupportVectorClassifier, graph: Graph, X: str) -> list[Output]:
    scores = machine_scores(model, graph, X)
    slope = float(model.slopes_[0]) if model.probability else None
    k = len(model.classes_)
    if k == 2 or not model._by_pairs:
        return _plain(graph, model.classes_, scores, slope)
    votes, fractions = _votes(graph, scores, k)
    of_classes = graph.call("Add", votes, fractions)
    decisive = of_classes if model.break_ties else votes
    places = graph.call("ArgMax", decisive, axis=1, keepdims=0)
    if not model.break_ties and "_tie_order" in vars(model):
        order = graph.wholes(model._tie_order)
        turned = graph.call("Gather", votes, order, axis=1)
        places = graph.call("ArgMax", turned, axis=1, keepdims=0)
        places = graph.call("Gather", order, places, axis=0)
    chances = None
    if slope is not None:
        chances = chances_of(graph, _margins(graph, scores, places, k), slope, k)
    found = classes(graph, model.classes_, places, None, chances)
    pairs = model.decision_function_shape == "ovo"
    shown, wide = (scores, k * (k - 1) // 2) if pairs else (of_classes, k)
    return [*found, Output(name="scores", tensor=shown, dtype=graph.dtype, columns=wide)]


def _votes(graph: Graph, scores: str, k: int) -> tuple[str, str]:
    """Return the votes of every class, and by how much they were won as a fraction of a vote."""
    first, second = _members(k)
    wins = graph.cast(graph.call("GreaterOrEqual", scores, graph.floats(0.0)))
    # A pair that its first class does not win is won by its second.
    votes = graph.call("MatMul", wins, graph.floats(first - second))
    votes = graph.call("Add", votes, graph.floats(second.sum(axis=0)))
    sums = graph.call("MatMul", scores, graph.floats(first - second))
    size = graph.affine(graph.call("Abs", sums), 3.0, 3.0)
    return votes, graph.call("Div", sums, size)


def _members(k: int) -> tuple[Array, Array]:
    """Return which class is the first of a pair, and which the second: a row each."""
    pairs = np.array(class_pairs(k))
    return np.eye(k)[pairs[:, 0]], np.eye(k)[pairs[:, 1]]


def _margins(graph: Graph, scores: str, places: str, k: int) -> str:
    """Return by how much each class wins against the strongest of the others.

    The class that is predicted is put first, where none beats all others.
    """
    first, second = _members(k)
    own = [np.flatnonzero(first[:, c] + second[:, c]) for c in range(k)]
    signs = np.array([first[pairs, c] - second[pairs, c] for c, pairs in enumerate(own)])
    taken = graph.call("Gather", scores, graph.wholes(np.array(own)), axis=1)
    signed = graph.call("Mul", taken, graph.floats(signs))
    least = graph.call("ReduceMin", signed, graph.wholes([2]), keepdims=0)
    most = graph.call("ReduceMax", least, graph.wholes([1]), keepdims=1)
    step = max(1e-9, 2 * float(np.finfo(graph.dtype).eps))
    ahead = graph.call("Add", most, graph.affine(graph.call("Abs", most), step, step))
    column = graph.call("Unsqueeze", places, graph.wholes([1]))
    chosen = graph.call("Equal", column, graph.wholes(np.arange(k)[None]))
    behind = graph.call("And", chosen, graph.call("Less", least, most))
    return graph.call("Where", behind, ahead, least)


Family = Callable[[Any, Graph, str], list[Output]]
FAMILIES: tuple[tuple[tuple[type[Any], ...], Family], ...] = (
    ((SupportVectorClassifier,), _of_machines),
    ((OneClassSVM, MKLOneClassSVM), _of_region),
    ((SVR, NuSVR, MKLRegressor), _of_one_machine),
    ((KernelFisherDiscriminant,), _of_directions),
    ((LabelledRidge,), _of_ridge_classes),
    ((NumberRidge,), _of_numbers),
    ((KernelMachineClassifier,), _of_machine_classes),
    ((KernelMachineRegressor,), _of_losses),
    ((KernelPerceptron,), _of_votes),
    ((KernelPrototypeClassifier,), _of_prototypes),
)


def family_of(model: Any) -> Family | None:
    """Return how a model becomes outputs; None: it cannot."""
    return next((family for kinds, family in FAMILIES if isinstance(model, kinds)), None)
