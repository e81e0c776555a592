"""Small models of every estimator and every kind of input, to be saved and mutated."""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse
from estimators import AUTOMATIC, ENCODERS, OF_GAMMA, OF_SOME, with_kernel
from samples import (
    frame_columns,
    graphs,
    mixture,
    rows,
    sets,
    shared_letters,
    strings,
    table_columns,
    time_series,
    trees,
    vector_sets,
    word_maps,
)
from sklearn.base import is_classifier, is_regressor
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from mercer.features import (
    AdditiveMap,
    ExplicitMap,
    GaussianTaylor,
    GramTransformer,
    Nystrom,
    PolynomialSketch,
    RandomBinning,
    RandomFourier,
)
from mercer.files.records import estimators
from mercer.inputs import RowBlocks
from mercer.kernels import (
    Categorical,
    Chi2,
    Fisher,
    FunctionKernel,
    Gaussian,
    GlobalAlignment,
    Laplacian,
    Linear,
    Matern,
    NormalizedIntersection,
    Polynomial,
    PyramidMatch,
    SetIntersection,
    SpatialPyramid,
    Spectrum,
    Subsequence,
    SubsetTree,
    WeisfeilerLehman,
)
from mercer.losses import Huber, Quantile
from mercer.models import (
    SVC,
    SVR,
    KernelFisherDiscriminant,
    KernelKMeans,
    KernelMachineClassifier,
    KernelMachineRegressor,
    KernelNeighborsClassifier,
    KernelNeighborsRegressor,
    KernelPCA,
    KernelPerceptron,
    KernelPrototypeClassifier,
    KernelRidge,
    KernelRidgeClassifier,
    KernelRidgeCV,
    NuSVC,
    RFMClassifier,
    RFMRegressor,
    compress,
)
from mercer.tables import AutoKernelClassifier, AutoKernelRegressor, Member, TableEncoder

FUNCTIONS = {"shared_letters": shared_letters}
ROWS = rows(n=9)
FRAME = frame_columns()
TABLE = pd.DataFrame(table_columns())
TABLE["sold"] = TABLE["sold"].dt.tz_localize("Europe/Berlin")
MIXED = Spectrum(2).on("dna") + Gaussian().on(["age", "dose"]) + Categorical(1.0).on("colour")
MIXED_MAP = Spectrum(2).on("dna") + Linear().on(["age", "dose"])
KINDS = {
    "rows": (Gaussian(), ROWS),
    "single": (Gaussian(0.5), ROWS.astype(np.float32)),
    "sparse": (Gaussian(0.5), scipy.sparse.csr_array(np.maximum(ROWS, 0))),
    "names": (Gaussian(), pd.DataFrame(ROWS, columns=["a", "b", "c"])),
    "frame": (MIXED, pd.DataFrame(FRAME)),
    "polars": (MIXED, pl.DataFrame(FRAME)),
    "strings": (Spectrum(2).normalized(), strings()),
    "pairs": (Subsequence(2, 0.5), strings()),
    "sets": (SetIntersection() + 1, sets()),
    "trees": (SubsetTree(0.5).normalized(), trees()),
    "graphs": (WeisfeilerLehman(2), graphs()),
    "series": (GlobalAlignment(1.0), time_series()),
    "gram": ("precomputed", Gaussian(0.3)(ROWS)),
}


def fitted(model, points):
    """The model fitted to targets of its kind."""
    n = points.shape[0] if hasattr(points, "shape") else len(points)
    numbers = np.linspace(-1, 1, n) ** 2
    labels = np.array(["no", "yes"])[np.arange(n) % 2]
    if is_classifier(model):
        return model.fit(points, labels)
    return model.fit(points, numbers) if is_regressor(model) else model.fit(points)


def _small(name, kernel):
    """An estimator of this class with parameters for a few points."""
    extra = {"KernelKMeans": {"n_clusters": 2}, "KernelPCA": {"n_components": 2}}
    extra |= {"Nystrom": {"n_components": 4}, "AdditiveMap": {"n_components": 3}}
    extra |= {key: {"n_components": 6} for key in ("PolynomialSketch", "RandomBinning")}
    extra |= {"RandomFourier": {"n_components": 8}}
    near = {"n_neighbors": 2} if "Neighbors" in name else {}
    kind = estimators()[name]
    if kind in ENCODERS:
        return kind(text_width=3)
    if kind in AUTOMATIC:
        return kind(max_candidates=3)
    return kind(**with_kernel(kind, kernel), **extra.get(name, near))


def _of_kinds(short):
    """Every estimator on every kind of input; in short, on one kind each, which takes turns."""
    for number, name in enumerate(estimators()):
        kinds = list(KINDS)
        if estimators()[name] in (*OF_SOME, *OF_GAMMA):
            kinds = ["rows", "single", "sparse", "names"]
        if estimators()[name] in (*ENCODERS, *AUTOMATIC):
            yield f"{name} table", fitted(_small(name, None), TABLE), TABLE
            continue
        for kind in [kinds[number % len(kinds)]] if short else kinds:
            kernel, points = KINDS[kind]
            points = abs(points) if name == "AdditiveMap" else points
            yield f"{name} {kind}", fitted(_small(name, kernel), points), points


def _special():
    """What has attributes or parts of its own."""
    X, three = ROWS, np.array(["a", "b", "c"] * 3)
    several = np.eye(3, dtype=int)[np.arange(9) % 3]
    numbers = np.column_stack([X[:, 0], X[:, 1]])
    weight = np.linspace(0.5, 1.5, 9)
    short = ROWS[:4]
    yield SVC(probability=True).fit(X, three), X
    yield SVC(multiclass="ovr", probability=True, decision_function_shape="ovo").fit(X, three), X
    yield SVC(break_ties=False, kernel="poly").fit(X, np.arange(9) % 3), X
    yield NuSVC(0.2, kernel=Linear()).fit(X, three), X
    yield SVC(kernel=Chi2()).fit(np.abs(X), three), np.abs(X)
    yield SVC(kernel=Fisher(mixture())).fit(vector_sets(), np.arange(6) % 2), vector_sets()
    yield SVC(kernel=PyramidMatch(2)).fit(vector_sets(), np.arange(6) % 2), vector_sets()
    yield SVC(kernel=SpatialPyramid(1)).fit(word_maps(), np.arange(6) % 2), word_maps()
    function = FunctionKernel(shared_letters, pairwise=True)
    yield SVC(kernel=function).fit(strings(), three), strings()
    for solver in ("primal", "cholesky", "cg", "nystrom"):
        kernel = Linear() + 1 if solver == "primal" else Gaussian()
        given = {"kernel": kernel, "solver": solver, "n_centers": 4, "fit_intercept": True}
        yield KernelRidge(**given).fit(X, X[:, 0], weight), X
        yield KernelRidge(alpha=[0.1, 1.0], **given).fit(X, numbers), X
        yield KernelRidgeClassifier(**given).fit(X, three), X
    yield KernelRidgeClassifier().fit(X, several), X
    yield KernelRidge(kernel=Polynomial(2)).fit(RowBlocks.split(X, 4), X[:, 0]), X
    yield KernelMachineClassifier().fit(X, three), X
    yield KernelMachineClassifier(kernel=Linear(), solver="primal").fit(X, three), X
    yield KernelMachineClassifier("hinge").fit(X, three), X
    yield KernelMachineRegressor(Huber(0.5)).fit(X, numbers), X
    yield KernelMachineRegressor(Quantile(0.8)).fit(X, X[:, 0]), X
    yield KernelMachineRegressor("poisson").fit(X, X[:, 0] ** 2), X
    yield KernelPrototypeClassifier(n_prototypes=2).fit(X, three), X
    yield KernelPrototypeClassifier(Laplacian(), shrinkage=0.3).fit(X, [True, False, True] * 3), X
    yield KernelNeighborsClassifier(3, weights="distance").fit(X, three), X
    yield KernelNeighborsRegressor(3, weights="distance").fit(X, numbers), X
    yield KernelPCA(2, fit_inverse_transform=True).fit(X), X
    yield KernelPCA(2).fit(X, None, weight), X
    yield KernelPCA(kernel=Linear()).fit(X), X
    yield KernelKMeans(3).fit(X, None, weight), X
    yield GramTransformer(center=True).fit(X), X
    yield KernelFisherDiscriminant(priors="empirical").fit(X, three), X
    yield KernelFisherDiscriminant(kernel=Linear(), solver="primal").fit(X, three), X
    yield KernelPerceptron(average=True, budget=4, max_iter=5).fit(X, three), X
    yield KernelPerceptron().partial_fit(short, three[:4], np.unique(three)), X
    yield KernelPerceptron(max_iter=3), X  # not fitted
    few = RandomFourier(n_components=6)
    yield RandomFourier(Laplacian() + 1, 8, phase=True).fit(X), X
    yield RandomFourier(Matern(), 8, method="hadamard").fit(X), X
    yield KernelRidge(approximation=few).fit(X, X[:, 0]), X
    yield KernelRidgeCV(approximation=few).fit(X, numbers), X
    yield KernelRidgeClassifier(approximation=few).fit(X, three), X
    yield KernelMachineClassifier(approximation=few).fit(X, three), X
    yield SVC(approximation=few, probability=True).fit(X, three), X
    yield SVR(approximation=few).fit(X, X[:, 0]), X


def _maps():
    """Feature maps with parts of their own."""
    X = ROWS
    yield Nystrom(Gaussian(0.5), centers=X[:4]).fit(X), X
    yield Nystrom(Gaussian(0.5), 4, centers="kmeans").fit(X), X
    yield Nystrom(Spectrum(2), centers=strings()[:3]).fit(strings()), strings()
    yield Nystrom(WeisfeilerLehman(2), centers=graphs()[:3]).fit(graphs()), graphs()
    yield Nystrom(SubsetTree(0.5), 3).fit(RowBlocks.split(trees(), 4)), trees()
    yield ExplicitMap(Spectrum(2)).fit(strings()), strings()
    yield ExplicitMap((WeisfeilerLehman(2) + 1).normalized()).fit(graphs()), graphs()
    yield ExplicitMap(MIXED_MAP).fit(pd.DataFrame(FRAME)), pd.DataFrame(FRAME)
    yield GaussianTaylor(2, gamma=(0.1, 0.2, 0.0)).fit(X), X
    yield PolynomialSketch(2 * ((Linear() + 1) * Linear()), 5).fit(X), X
    yield AdditiveMap(NormalizedIntersection(), 3).fit(abs(X)), abs(X)
    yield RandomBinning([0.1, 0.2, 0.3], 4).fit(X), X


def _with_preprocessors():
    X, three = ROWS, np.array(["a", "b", "c"] * 3)
    holes = np.where(X > 1.2, np.nan, X)
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(d=["u", "v", "w"] * 3)
    table.loc[2, "a"] = np.nan
    steps = [
        [StandardScaler()],
        [MinMaxScaler(clip=True), PCA(2)],
        [MaxAbsScaler(), RobustScaler()],
        [Normalizer(), PolynomialFeatures(2)],
        [QuantileTransformer(n_quantiles=4), PowerTransformer()],
        [OneHotEncoder(handle_unknown="ignore", max_categories=3)],
        [OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)],
    ]
    for one in steps:
        yield make_pipeline(*one, SVC()).fit(X, three), X
    yield make_pipeline(SimpleImputer(add_indicator=True), SVC()).fit(holes, three), holes
    columns = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), ["a", "b"]),
            ("words", OneHotEncoder(handle_unknown="ignore"), ["d"]),
        ],
        remainder="passthrough",
    )
    yield make_pipeline(columns, KernelRidge(fit_intercept=True)).fit(table, X[:, 0]), table
    for phi in (StandardScaler(), PCA(2), PolynomialFeatures(2), KernelPCA(2)):
        kernel = Gaussian(0.5).of(phi.fit(X)) + Linear()
        yield SVC(kernel=kernel).fit(X, three), X


def _compressed():
    """What fewer points carry."""
    X, three = ROWS, np.array(["a", "b", "c"] * 3)
    several = np.column_stack([X[:, 0], X[:, 1]])
    yield compress(SVC(probability=True).fit(X, three), n_centers=4), X
    yield compress(SVC().fit(X, three == "a"), n_centers=4, X=X), X
    yield compress(KernelRidge(fit_intercept=True).fit(X, several), n_centers=4), X
    yield compress(KernelPCA(2, fit_inverse_transform=True).fit(X), n_centers=4), X
    yield compress(KernelPerceptron().fit(X, three), n_centers=4), X
    yield compress(KernelNeighborsClassifier(2).fit(X, three), tol=0.2), X


def _tables():
    """Encoders of tables, alone, before a model and within its kernel."""
    y, many = np.arange(12.0) % 5, pl.DataFrame(table_columns())
    for numbers in ("rank", "robust"):
        encoder = TableEncoder(numbers=numbers, types={"rooms": "category"}, text_width=3)
        yield encoder.fit(TABLE), TABLE
    wide = np.column_stack([ROWS, np.ones(9)])
    yield TableEncoder().fit(wide), wide
    kernel = TableEncoder(text_width=3).fit(TABLE).kernel_
    yield KernelRidge(kernel=kernel).fit(TABLE, y), TABLE
    kernel = TableEncoder(text="kernel").fit(many[:11]).kernel_
    yield SVR(kernel=kernel).fit(many[:11], y[:11]), many[:11]
    yield make_pipeline(TableEncoder(text_width=3), SVC()).fit(TABLE, y > 2), TABLE


def _automatic():
    """Ensembles with members of every kind, with logarithms and with several outputs."""
    y, small = np.arange(12.0) % 5, {"max_candidates": 4, "types": {"told": "drop"}}
    for classes in (2, 3):
        codes = np.arange(12) % classes
        model = AutoKernelClassifier(**small).fit(TABLE, np.array(list("abc"))[codes])
        yield _with(model, [SVC(), KernelMachineClassifier()], codes), TABLE
    skewed = np.exp(y)
    model = AutoKernelRegressor(**small).fit(TABLE, skewed)
    yield _with(model, [SVR()], model.units_.targets(skewed[:, None], "log")[:, 0], "log"), TABLE
    wide = np.column_stack([ROWS, np.ones(9)])
    yield AutoKernelRegressor(max_candidates=2).fit(wide, ROWS[:, :2]), wide


def _with(model, learners, targets, target="plain"):
    """The ensemble with these learners in the place of its lighter members."""
    X = model.encoders_["rank"].transform(TABLE).astype(np.float32)
    members = [
        Member(name="own", weight=1.0, view="rank", target=target, link=1.0, model=one)
        for one in (learner.fit(X, targets) for learner in learners)
    ]
    members.append(model.members_[0])
    share = 1.0 / len(members)
    model.members_ = tuple(replace(one, weight=share) for one in members)
    return model


def _metrics():
    """Machines that learn their metric, alone and in leaves."""
    X, three = ROWS, np.array(["a", "b", "c"] * 3)
    several = np.eye(3, dtype=int)[np.arange(9) % 3]
    yield RFMRegressor(metric="full", steps=1, width=1.0).fit(X, X[:, :2]), X
    yield RFMClassifier("gaussian", steps=1, width=1.0, alpha=0.1).fit(X, three), X
    yield RFMClassifier(steps=1, cv=2, probability=False).fit(X, several), X
    yield compress(RFMRegressor(steps=1).fit(X, X[:, 0]), n_centers=4), X
    many, given = rows(n=210), {"steps": 1, "width": 1.0, "alpha": 0.1, "leaf_rows": 100}
    yield RFMRegressor(**given).fit(many, many[:, 0] ** 2), many
    yield RFMClassifier(**given).fit(many, np.digitize(many[:, 0], [-0.5, 0.5])), many


def models(short=False):
    """Names, models and the points each was made for; short: fewer of them."""
    yield from _of_kinds(short)
    for make in (
        _special,
        _with_preprocessors,
        _maps,
        _compressed,
        _tables,
        _automatic,
        _metrics,
    ):
        for number, (model, points) in enumerate(make()):
            yield f"{make.__name__} {number} {type(model).__name__}", model, points
