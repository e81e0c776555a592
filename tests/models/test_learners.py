"""Every learner with every kind of kernel and input (lecture item A8), and with nothing but K.

A model on points must be the model on their Gram matrix: each case is fitted both ways.
"""

import numpy as np
import pandas as pd
import pytest
import samples
import scipy.sparse
from sklearn.base import clone, is_classifier, is_regressor

import mercer
from mercer.kernels import (
    Categorical,
    Chi2,
    Constant,
    ExpDot,
    Fisher,
    FunctionKernel,
    Gaussian,
    GlobalAlignment,
    Graph,
    Graphlet,
    HashGraph,
    Intersection,
    Laplacian,
    Linear,
    Matern,
    Mismatch,
    NormalizedIntersection,
    PartialTree,
    Periodic,
    Polynomial,
    PyramidMatch,
    RandomWalk,
    RationalQuadratic,
    SetIntersection,
    ShortestPath,
    SpatialPyramid,
    Spectrum,
    Subsequence,
    SubsetTree,
    Substring,
    Subtree,
    Tanimoto,
    Tree,
    WeisfeilerLehman,
)

random = np.random.default_rng(12)
N, TRAIN = 36, slice(0, 28)
KINDS = np.arange(N) % 3
ROWS = random.normal(size=(N, 3)) * 0.7 + KINDS[:, None] * 0.4
COUNTS = random.poisson(1 + KINDS[:, None], size=(N, 4)).astype(float)
AMOUNTS = COUNTS + random.uniform(0, 0.5, COUNTS.shape)  # no two distances are equal
WORDS = ["".join(random.choice(list("abcd"[kind : kind + 2]), 6)) for kind in KINDS]
SETS = [set(word) | {int(kind)} for word, kind in zip(WORDS, KINDS, strict=True)]
TABLE = pd.DataFrame({"size": ROWS[:, 0], "word": WORDS, "side": np.array(["l", "m", "r"])[KINDS]})
NUMBERS = ROWS[:, 0] + 0.3 * KINDS


def tree(kind):
    """A sentence whose subject and object are more often long in some kinds."""
    nouns = [f"(NP (D the) (N {random.choice(list('abcd'))}))", "(N " + "xyz"[kind] + ")"]
    first, second = random.choice(nouns, 2, p=[0.8, 0.2])
    return Tree.parse(f"(S {first} (VP (V {'go' if kind else 'stop'}) {second}))")


def graph(kind):
    """A ring or a path with random labels, and a chord in some kinds."""
    n = int(random.integers(4, 8))
    edges = [(i, i + 1) for i in range(n - 1)] + ([(0, n - 1)] if kind else [])
    edges += [(0, 2)] if kind == 2 else []
    return Graph(n, edges, node_labels=random.choice(list("ab"), n).tolist())


def attributed(kind):
    """A ring or a path of nodes with numbers that are larger in some kinds."""
    shape = graph(kind)
    rows = random.normal(kind, 1.0, (shape.n_nodes, 2))
    return Graph(shape.n_nodes, shape.edges, node_attributes=rows)


TREES = [tree(kind) for kind in KINDS]
GRAPHS = [graph(kind) for kind in KINDS]
SERIES = [np.cumsum(random.normal(kind, 1.0, int(random.integers(3, 9)))) for kind in KINDS]
VECTORS = [random.normal(kind, 2.0, (int(random.integers(1, 6)), 2)) for kind in KINDS]
WORD_MAPS = [random.integers(0, 2 + kind, (5, 6)) for kind in KINDS]
MIXTURE = ("mixture", (0.4, 0.6), ((0.0, 0.0), (1.0, 2.0)), ((1.0, 2.0), (1.5, 1.0)))
ATTRIBUTED = [attributed(kind) for kind in KINDS]
CHAIN = ("markov", (0.5, 0.5), ((0.9, 0.1), (0.2, 0.8)), ((0.4, 0.3, 0.2, 0.1),) * 2)

CASES = {
    "linear": (Linear() + 1, ROWS),
    "polynomial": (Polynomial(2), ROWS),
    "exponential of dot": (ExpDot(0.2), ROWS),
    "Gaussian": (Gaussian(0.5), ROWS),
    "Gaussian, a width a column": (Gaussian((0.5, 0.1, 1.0)), ROWS),
    "Gaussian, float32": (Gaussian(0.5), ROWS.astype(np.float32)),
    "Gaussian, sparse": (Gaussian(0.5), scipy.sparse.csr_array(ROWS)),
    "Laplacian": (Laplacian(0.5), ROWS),
    "Matern": (Matern(1.5, 1.0), ROWS),
    "rational quadratic": (RationalQuadratic(), ROWS),
    "periodic": (Periodic(), ROWS),
    "intersection": (Intersection(), AMOUNTS),
    "intersection, sparse": (Intersection(), scipy.sparse.csr_matrix(AMOUNTS)),
    "normalised intersection": (NormalizedIntersection(), AMOUNTS),
    "chi2": (Chi2(0.3), AMOUNTS),
    "categories": (Categorical(0.4), COUNTS),
    "sum": (0.5 * Gaussian(0.5) + 0.1 * (Linear() + 1) ** 2 + Constant(0.2), ROWS),
    "product, normalised": ((Gaussian(0.2) * Polynomial(2)).normalized(), ROWS),
    "new representation": (Gaussian(0.5).of(samples.halved), ROWS),
    "function": (FunctionKernel(samples.row_product), ROWS),
    "function of pairs": (FunctionKernel(samples.shared_letters, pairwise=True), WORDS),
    "strings": (Spectrum(2).normalized(), WORDS),
    "strings, mismatches": (0.0625 * Mismatch(3, 1, "abcd"), WORDS),
    "strings, substrings": (Substring(0.5).normalized(), WORDS),
    "strings, subsequences": (Subsequence(2, 0.6).normalized(), WORDS),
    "trees": (SubsetTree(0.4).normalized(), TREES),
    "trees, complete": (Subtree(0.7).normalized(), TREES),
    "trees, partial": (PartialTree(0.4, 0.5).normalized(), TREES),
    "graphs": (WeisfeilerLehman(2).normalized(), GRAPHS),
    "graphs, assigned": (WeisfeilerLehman(2, "assignment"), GRAPHS),
    "graphs, paths": (ShortestPath().normalized(), GRAPHS),
    "graphs, graphlets": ((Graphlet(3) + 0.37 * RandomWalk(0.05)).normalized(), GRAPHS),
    "graphs, walks": (RandomWalk(0.05).normalized(), GRAPHS),
    "graphs, hashed attributes": (HashGraph(gamma=0.3).normalized(), ATTRIBUTED),
    "graphs, paths of attributes": (ShortestPath(Gaussian(0.3)).normalized(), ATTRIBUTED),
    "graphs, walks of attributes": (RandomWalk(0.05, None, Gaussian(0.3)).normalized(), ATTRIBUTED),
    "series": (GlobalAlignment(0.2), SERIES),
    "maps of words": (SpatialPyramid(1).normalized(), WORD_MAPS),
    "sets of vectors": (PyramidMatch(3).normalized(), VECTORS),
    "sets of vectors, Fisher": (Fisher(MIXTURE).normalized(), VECTORS),
    "strings, Fisher": (Fisher(CHAIN, symbols="abcd"), WORDS),
    "sets": (SetIntersection(), SETS),
    "sets, Tanimoto": (Tanimoto(), SETS),
    "table": (
        Gaussian(0.5).on("size") + 0.2 * Spectrum(2).on("word") + Categorical(0.5).on("side"),
        TABLE,
    ),
}

EXACT = {"tol": 1e-10}
LEARNERS = {
    "perceptron": mercer.KernelPerceptron(max_iter=3, average=True),
    "ridge": mercer.KernelRidge(0.5, fit_intercept=True),
    "ridge, classes": mercer.KernelRidgeClassifier(0.5),
    "ridge, searched": mercer.KernelRidgeCV(alphas=[0.1, 1.0]),
    "SVC": mercer.SVC(2.0, **EXACT),
    "NuSVC": mercer.NuSVC(0.8, **EXACT),
    "SVR": mercer.SVR(2.0, **EXACT),
    "NuSVR": mercer.NuSVR(0.5, **EXACT),
    "one class": mercer.OneClassSVM(0.3, **EXACT),
    "logistic": mercer.KernelMachineClassifier("logistic", 0.5, **EXACT),
    "hinge": mercer.KernelMachineClassifier("hinge", 0.5, **EXACT),
    "Huber": mercer.KernelMachineRegressor("huber", 0.5, **EXACT),
    "quantile": mercer.KernelMachineRegressor("quantile", 0.5, **EXACT),
    "neighbours, classes": mercer.KernelNeighborsClassifier(3),
    "neighbours": mercer.KernelNeighborsRegressor(3),
    "prototypes": mercer.KernelPrototypeClassifier(),
    "PCA": mercer.KernelPCA(2),
    "k-means": mercer.KernelKMeans(2, random_state=0),
    "Fisher": mercer.KernelFisherDiscriminant(alpha=0.1),
}


def values(model, points):
    """Return what tells most about a model; distances of new points cannot follow from K alone.

    Which cluster is called the first is chance where two starts end in the same clusters.
    """
    if isinstance(model, mercer.KernelKMeans):
        labels = model.predict(points)
        return (labels == labels[0]).astype(int)
    for name in ("predict_proba", "decision_function", "transform", "predict"):
        if hasattr(model, name):
            return np.asarray(getattr(model, name)(points))
    raise AssertionError(f"{model} predicts nothing")


def part(points, rows):
    if isinstance(points, list):
        return points[rows]
    return points.iloc[rows] if isinstance(points, pd.DataFrame) else points[rows]


def target(model):
    if is_classifier(model):
        return np.array(["a", "b", "c"])[KINDS]
    return NUMBERS if is_regressor(model) else None


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # of perceptrons
@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("case", CASES)
def test_points_and_their_gram_matrix_give_the_same_model(learner, case):
    """Lecture A8: every learner with every kernel."""
    kernel, points = CASES[case]
    y = target(LEARNERS[learner])
    y = None if y is None else y[TRAIN]
    K = np.asarray(mercer.gram(kernel, points, dtype=np.float64))
    new = slice(TRAIN.stop, N)
    found = clone(LEARNERS[learner]).set_params(kernel=kernel).fit(part(points, TRAIN), y)
    given = clone(LEARNERS[learner]).set_params(kernel="precomputed").fit(K[TRAIN, TRAIN], y)
    mine, wanted = values(found, part(points, new)), values(given, K[new, TRAIN])
    assert mine.shape == wanted.shape
    assert len(mine) == N - TRAIN.stop
    assert np.isfinite(mine).all()
    size = max(1.0, float(np.abs(wanted).max()))
    single = "float32" in case
    assert np.abs(mine - wanted).max() <= (2e-3 if single else 2e-5) * size
    assert found.certificate_.seconds >= 0


def test_no_learner_is_forgotten():
    tested = {type(model).__name__ for model in LEARNERS.values()}
    public = {name for name in mercer.__all__ if name.startswith(("Kernel", "SV", "Nu", "OneC"))}
    assert public - tested <= {"KernelError", "KernelRidgeClassifierCV"}
