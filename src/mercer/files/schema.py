"""What a fitted estimator must have, for each class: the one table that `save` and `load` ask.

A model that passes has every attribute that its methods read, of the right kind and size, finite,
and in agreement with the others. Attributes that a later mercer adds get a line here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import models
from ..features import (
    AdditiveMap,
    ExplicitMap,
    GaussianTaylor,
    GramTransformer,
    Nystrom,
    NystromCertificate,
    PolynomialSketch,
    RandomBinning,
    RandomFourier,
)
from ..tables import AutoKernelClassifier, AutoKernelRegressor, TableEncoder
from .fitted import (
    A_POSTERIOR,
    DERIVED,
    FLAT,
    JOBS,
    KERNEL_PARAMETER,
    MACHINE_DUAL,
    NAMED,
    SUPPORT,
    by_flat,
    common,
    dual,
    history,
    inverse,
    is_primal,
    is_whole,
    loss,
    owners,
    primal,
)
from .kinds.automatic import AUTO_CLASSES, AUTO_NUMBERS
from .kinds.maps import (
    BASIS,
    CENTERS,
    GRIDS,
    KNOTS,
    LEAVES,
    METRIC,
    OF_GAMMA,
    SERIES,
    SKETCH,
    TABLE,
    WAVES,
    without_leaves,
)
from .rules import (
    Context,
    Fail,
    Rule,
    Schema,
    anything,
    check,
    check_parameters,
    count,
    either,
    instance,
    labels,
    numbers,
    only_if,
    optional,
    or_none,
    real,
    scalar,
    truth,
    whole,
    word,
)


def _schema(
    certificate: type,
    attributes: Mapping[str, Rule],
    parameters: Mapping[str, Rule] | None = None,
    agree: tuple[tuple[str, str], ...] = (),
    kernel: str = "kernel",
) -> Schema:
    read = {kernel: KERNEL_PARAMETER, "memory_limit": optional(scalar())} | dict(parameters or {})
    return Schema(
        attributes=common(certificate) | dict(attributes),
        agree=agree,
        derived=DERIVED,
        parameters=read,
    )


# --- the table ----------------------------------------------------------------------------------


def _has_probability(context: Context) -> bool:
    return bool(context.model.probability)


def _is_order(value: Any, context: Context) -> bool:
    plain = whole("classes").holds(value, context)
    return plain and bool((np.sort(value) == np.arange(len(value))).all())


_SLOPES = only_if(_has_probability, numbers("slopes"))
_PROBABILITY: dict[str, Rule] = {"probability": scalar()}
_RIDGE_READ: dict[str, Rule] = {
    **dict.fromkeys(("tol", "max_iter", "n_centers", "solver", "time_limit"), optional(scalar())),
    "random_state": optional(or_none(count())),
}
_APPROXIMATE: dict[str, Rule] = {"approximation_error_": optional(real(finite=False))}
_SVM: dict[str, Rule] = {
    "support_": SUPPORT,
    "dual_coef_": numbers(1, "support"),
    "intercept_": numbers(1),
    "n_support_": whole(1),
    "n_iter_": whole(1),
}
_CLASSIFIER_SVM: dict[str, Rule] = {
    "classes_": labels("classes"),
    "_by_pairs": truth("by pairs"),
    "support_": SUPPORT,
    "dual_coef_": either(numbers("machine rows", "support"), numbers("machines", "support")),
    "intercept_": numbers("machines"),
    "n_support_": Rule(
        "the number of support vectors of each class",
        lambda value, context: (
            whole("classes").holds(value, context) and context.has("support", int(value.sum()))
        ),
    ),
    "n_iter_": whole("machines"),
    "class_weight_": numbers("classes"),
    "slopes_": _SLOPES,
    "_tie_order": optional(Rule("every class once, in the order of equal votes", _is_order)),
}
_CLASSIFIER_READ = NAMED | _PROBABILITY
_CLASSIFIER_READ |= {"break_ties": scalar(), "decision_function_shape": word("ovr", "ovo")}
_NUMBER_RIDGE: dict[str, Rule] = {
    "_single": optional(truth()),
    "_flat": FLAT,
    "support_": SUPPORT,
    "coef_": only_if(is_primal, by_flat(primal("features"), primal("features", "outputs"))),
    "dual_coef_": by_flat(dual(), dual("outputs")),
    "intercept_": by_flat(real(), numbers("outputs")),
    "n_iter_": count(),
    "_posterior": only_if(is_whole, A_POSTERIOR),
    **_APPROXIMATE,
}
_CLASS_FUNCTION: dict[str, Rule] = {
    "support_": SUPPORT,
    "coef_": primal("features", "outputs"),
    "dual_coef_": dual("outputs"),
    "intercept_": numbers("outputs"),
    "n_iter_": count(),
}
_MACHINE: dict[str, Rule] = _CLASS_FUNCTION | {"dual_coef_": MACHINE_DUAL} | _APPROXIMATE
_CLASS_RIDGE: dict[str, Rule] = {
    "_multilabel": truth("several labels"),
    "classes_": Rule(
        labels("classes").words,
        lambda value, context: labels("classes", 1 if context.sizes["several labels"] else 2).holds(
            value, context
        ),
    ),
    **_CLASS_FUNCTION,
    **_APPROXIMATE,
    "_posterior": optional(A_POSTERIOR),  # that classifiers once had
    "slopes_": _SLOPES,
}
_SEARCH: dict[str, Rule] = {
    "alpha_": real(0),
    "best_index_": count(),
    "best_score_": real(finite=False),
    "cv_results_": instance(dict),
}
_NEIGHBORS: dict[str, Rule] = {"_diagonal": numbers("points"), "n_samples_fit_": count(1, "points")}
_NEIGHBORS_READ = {"n_neighbors": scalar(), "weights": anything()} | JOBS
_OUTPUTS = (("outputs", "class outputs"),)
_KEPT = (("points", "kept"),)
_PROTOTYPES: dict[str, Rule] = {
    "classes_": labels("classes"),
    "dual_coef_": numbers("points", "prototypes"),
    "squared_norms_": numbers("prototypes"),
    "prototype_classes_": only_if(
        lambda context: context.sizes["prototypes"] != context.sizes["classes"],
        Rule("the class of each prototype, in the order of the classes", owners),
    ),
    "support_": whole("points"),
}
_COMPONENTS: dict[str, Rule] = {
    "eigenvalues_": numbers("components", least=0),
    "eigenvectors_": numbers("points", "components"),
    "explained_variance_ratio_": numbers("components", finite=False),
    "_means": numbers("points"),
    "_roots": or_none(numbers("points", above=0)),
    "_inverse": or_none(Rule("a regression from components to columns", inverse)),
    "n_iter_": count(),
}
_DIRECTIONS: dict[str, Rule] = {
    "classes_": labels("classes"),
    **_CLASS_FUNCTION,
    "means_": numbers("classes", "outputs"),
    "priors_": numbers("classes", above=0),
    "eigenvalues_": numbers("outputs", least=0),
    "explained_variance_ratio_": numbers("outputs"),
}
_PERCEPTRON: dict[str, Rule] = {
    "classes_": labels("classes"),
    "support_": SUPPORT,
    "dual_coef_": numbers("class outputs", "support"),
    "intercept_": numbers("class outputs"),
    "_votes": numbers("support", "classes"),
    "_late": numbers("support", "classes"),
    "_steps": count(),
    "_dropped": real(0),
    "n_samples_seen_": count(1, "seen"),
    "mistakes_": whole("mistakes", below="seen"),
    "n_mistakes_": count(0, "mistakes"),
    "n_iter_": count(),
    "converged_": truth(),
}
_CLUSTERS: dict[str, Rule] = {
    "dual_coef_": numbers("points", "clusters"),
    "squared_norms_": numbers("clusters"),
    "labels_": whole("samples", below="clusters"),
    "support_": whole("points"),
    "inertia_": real(),
    "n_iter_": count(),
}
_WEIGHTS: dict[str, Rule] = {
    "weights_": numbers("kernels", least=0),
    "history_": Rule("objective, gap, weights and solves of each step", history),
    "n_iter_": count(1),
    "_coefficients_of_stack": optional(numbers("kernels", least=0)),
}
_MACHINE_READ: dict[str, Rule] = {"loss": Rule("a name or a loss", loss)}

SCHEMAS: dict[type, Schema] = {
    GramTransformer: _schema(
        models.Certificate, {"column_means_": numbers("points")}, {"center": scalar()}
    ),
    models.KernelFisherDiscriminant: _schema(models.DiscriminantCertificate, _DIRECTIONS),
    models.KernelKMeans: _schema(models.KMeansCertificate, _CLUSTERS),
    models.KernelMachineClassifier: _schema(
        models.MachineCertificate,
        _MACHINE | {"classes_": labels("classes")},
        _MACHINE_READ,
        _OUTPUTS,
    ),
    models.KernelMachineRegressor: _schema(
        models.MachineCertificate,
        _MACHINE | {"_flat": FLAT},
        _MACHINE_READ,
    ),
    models.KernelNeighborsClassifier: _schema(
        models.Certificate,
        {
            **_NEIGHBORS,
            "classes_": labels("classes"),
            "_codes": whole("points", below="classes"),
        },
        _NEIGHBORS_READ,
    ),
    models.KernelNeighborsRegressor: _schema(
        models.Certificate,
        {**_NEIGHBORS, "_flat": FLAT, "_targets": numbers("points", "outputs")},
        _NEIGHBORS_READ,
    ),
    models.KernelPCA: _schema(
        models.PcaCertificate,
        _COMPONENTS,
        NAMED | JOBS | {"fit_inverse_transform": optional(scalar())},
    ),
    models.KernelPerceptron: _schema(models.PerceptronCertificate, _PERCEPTRON, agree=_KEPT),
    models.KernelPrototypeClassifier: _schema(models.PrototypeCertificate, _PROTOTYPES),
    models.KernelRidge: _schema(models.RidgeCertificate, _NUMBER_RIDGE, NAMED | _RIDGE_READ),
    models.KernelRidgeCV: _schema(models.RidgeCertificate, _NUMBER_RIDGE | _SEARCH, _RIDGE_READ),
    models.KernelRidgeClassifier: _schema(
        models.RidgeCertificate, _CLASS_RIDGE, _PROBABILITY, _OUTPUTS
    ),
    models.KernelRidgeClassifierCV: _schema(
        models.RidgeCertificate, _CLASS_RIDGE | _SEARCH, _PROBABILITY, _OUTPUTS
    ),
    models.MKLClassifier: _schema(
        models.MklCertificate,
        _CLASSIFIER_SVM | _WEIGHTS,
        _PROBABILITY | {"break_ties": scalar(), "decision_function_shape": word("ovr", "ovo")},
        _KEPT,
        "kernels",
    ),
    models.MKLOneClassSVM: _schema(
        models.MklCertificate,
        _SVM | _WEIGHTS | {"offset_": real()},
        agree=_KEPT,
        kernel="kernels",
    ),
    models.MKLRegressor: _schema(
        models.MklCertificate, _SVM | _WEIGHTS, agree=_KEPT, kernel="kernels"
    ),
    models.NuSVC: _schema(models.SvmCertificate, _CLASSIFIER_SVM, _CLASSIFIER_READ, _KEPT),
    models.NuSVR: _schema(
        models.SvmCertificate, _SVM | {"epsilon_": real(finite=False)}, NAMED, _KEPT
    ),
    models.OneClassSVM: _schema(models.SvmCertificate, _SVM | {"offset_": real()}, NAMED, _KEPT),
    models.SVC: _schema(
        models.SvmCertificate, _CLASSIFIER_SVM | _APPROXIMATE, _CLASSIFIER_READ, _KEPT
    ),
    models.SVR: _schema(models.SvmCertificate, _SVM | _APPROXIMATE, NAMED, _KEPT),
    models.RFMClassifier: _schema(
        models.RidgeCertificate,
        METRIC | without_leaves(_CLASS_RIDGE) | LEAVES,
        _PROBABILITY,
        _OUTPUTS,
    ),
    models.RFMRegressor: _schema(
        models.RidgeCertificate,
        METRIC | without_leaves(_NUMBER_RIDGE) | LEAVES,
        _RIDGE_READ,
    ),
    Nystrom: _schema(NystromCertificate, CENTERS, JOBS),
    ExplicitMap: _schema(models.Certificate, BASIS),
    GaussianTaylor: _schema(models.Certificate, SERIES, OF_GAMMA, kernel="gamma"),
    PolynomialSketch: _schema(models.Certificate, SKETCH),
    AdditiveMap: _schema(models.Certificate, KNOTS),
    RandomBinning: _schema(models.Certificate, GRIDS, OF_GAMMA, kernel="gamma"),
    RandomFourier: _schema(models.Certificate, WAVES),
    TableEncoder: TABLE,
    AutoKernelClassifier: AUTO_CLASSES,
    AutoKernelRegressor: AUTO_NUMBERS,
}


def check_model(
    model: Any, parameters: Mapping[str, Any], state: Mapping[str, Any], fail: Fail
) -> None:
    """Refuse a fitted model that is not whole; one that was not fitted has no state.

    Attributes that a user has added are data, and have names without an underscore in front.
    """
    schema = SCHEMAS[type(model)]
    strange = sorted(key for key in set(state) - set(schema.attributes) if key.startswith("_"))
    if strange:
        must = f"the attributes of {type(model).__name__} must be those that its fit sets"
        raise fail(must, strange[0])
    if set(state) & set(schema.attributes) - {"_sklearn_output_config"}:
        check_parameters(model, schema, parameters, fail)
        check(model, schema, state, fail)
