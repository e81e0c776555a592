"""Models as ONNX: labels, probabilities and scores are those of the model."""

import io
import json
import sys
from importlib.metadata import version

import numpy as np
import onnx
import onnxruntime
import pandas
import pytest
import scipy.sparse
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

from mercer import (
    SVC,
    SVR,
    KernelFisherDiscriminant,
    KernelMachineClassifier,
    KernelMachineRegressor,
    KernelNeighborsClassifier,
    KernelPCA,
    KernelPerceptron,
    KernelPrototypeClassifier,
    KernelRidge,
    KernelRidgeClassifier,
    KernelRidgeClassifierCV,
    KernelRidgeCV,
    MKLClassifier,
    MKLOneClassSVM,
    MKLRegressor,
    NuSVC,
    NuSVR,
    OneClassSVM,
    RFMClassifier,
    RFMRegressor,
    compress,
    load,
    save,
)
from mercer.checks import FileError, InputError, PackageError
from mercer.convert import read_libsvm, to_onnx, write_onnx
from mercer.convert.onnx import graph as graphs
from mercer.features import Nystrom, RandomFourier
from mercer.kernels import (
    Categorical,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Periodic,
    Polynomial,
    Precomputed,
    Spectrum,
)

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(80, 4))
NEW = RANDOM.normal(size=(50, 4)).astype(np.float32)
TWO = (X[:, 0] + X[:, 1] ** 2 > 0.7).astype(int)
FOUR = np.digitize(X[:, 0] + 0.5 * X[:, 1], [-0.7, 0.0, 0.7])
WORDS = np.array(["ape", "bee", "cat", "dog"])
NUMBERS = np.sin(2 * X[:, 0]) + X[:, 1]
SEVERAL = np.column_stack([NUMBERS, X[:, 2] ** 2])
LABELLED = (np.column_stack([X[:, 0] > 0, X[:, 1] > 0.3, X[:, 2] > -0.3])).astype(int)


def run(model, points=NEW, dtype="float32", **options):
    """What the runtime gives for a model, by the names of the outputs."""
    session = onnxruntime.InferenceSession(to_onnx(model, dtype=dtype, **options))
    names = [one.name for one in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": points.astype(dtype)}), strict=True))


def close(found, wanted, dtype):
    """Whether numbers agree to 1e-5 of their size, or to 1e-10 in double precision."""
    wanted = np.asarray(wanted, dtype=np.float64)
    wanted = wanted[:, None] if wanted.ndim == 1 else wanted
    assert found.shape == wanted.shape
    assert found.dtype == dtype
    rounding = 1e-5 if dtype == "float32" else 1e-10
    return float(np.abs(found - wanted).max()) <= rounding * float(np.abs(wanted).max())


REGRESSORS = {
    "KernelRidge": KernelRidge(0.1, kernel=Gaussian(0.3)).fit(X, NUMBERS),
    "KernelRidge, several outputs": KernelRidge(0.1, kernel=Laplacian(0.3)).fit(X, SEVERAL),
    "KernelRidge, one output as a column": KernelRidge(0.1).fit(X, NUMBERS[:, None]),
    "KernelRidge, primal": KernelRidge(0.1, kernel=Polynomial(2), fit_intercept=True).fit(
        X, NUMBERS
    ),
    "KernelRidge, linear": KernelRidge(0.1, kernel="linear", solver="primal").fit(X, SEVERAL),
    "KernelRidge, few centres": KernelRidge(
        0.1, kernel=Gaussian(0.3), solver="nystrom", n_centers=20, random_state=0
    ).fit(X, NUMBERS),
    "KernelRidgeCV": KernelRidgeCV(kernel=[Gaussian(0.1), Matern(1.5, 2.0)]).fit(X, NUMBERS),
    "KernelRidge, waves": KernelRidge(
        0.1, approximation=RandomFourier(Gaussian(0.3), 64, random_state=0)
    ).fit(X, NUMBERS),
    "KernelRidge, Nyström": KernelRidge(
        0.1, approximation=Nystrom(Gaussian(0.3), 20, random_state=0), fit_intercept=True
    ).fit(X, NUMBERS),
    "KernelMachineRegressor": KernelMachineRegressor("huber", 0.1).fit(X, NUMBERS),
    "KernelMachineRegressor, counts": KernelMachineRegressor("poisson", 0.1).fit(
        X, np.rint(np.exp(NUMBERS))
    ),
    "SVR": SVR(kernel=Gaussian(0.3)).fit(X, NUMBERS),
    "SVR, no support vector": SVR(kernel=Gaussian(0.3), epsilon=9.0).fit(X, NUMBERS),
    "SVR, waves": SVR(approximation=RandomFourier(Gaussian(0.3), 64, random_state=0)).fit(
        X, NUMBERS
    ),
    "NuSVR": NuSVR(kernel=Periodic(3.0, 1.5)).fit(X, NUMBERS),
    "MKLRegressor": MKLRegressor([Gaussian(0.1), Gaussian(1.0), Linear()]).fit(X, NUMBERS),
    "RFMRegressor": RFMRegressor(width=3.0, alpha=0.1, steps=2).fit(X, NUMBERS),
    "RFMRegressor, full metric": RFMRegressor(
        kernel="rbf", metric="full", width=3.0, alpha=0.1, steps=1
    ).fit(X, SEVERAL),
    "sparse points": KernelRidge(0.1, kernel=Gaussian(0.3)).fit(
        scipy.sparse.csr_array(X * (X > 0)), NUMBERS
    ),
    "compressed": compress(KernelRidge(0.1, kernel=Gaussian(0.3)).fit(X, NUMBERS), n_centers=15),
    "compressed SVR": compress(SVR(kernel=Gaussian(0.3)).fit(X, NUMBERS), n_centers=15),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", REGRESSORS)
def test_numbers(name, dtype):
    model = REGRESSORS[name]
    found = run(model, dtype=dtype)
    assert list(found) == ["variable"]
    assert close(found["variable"], model.predict(NEW.astype(float)), dtype)


CLASSIFIERS = {
    "SVC": SVC(kernel=Gaussian(0.3)).fit(X, TWO),
    "SVC, probabilities": SVC(kernel=Gaussian(0.3), probability=True).fit(X, TWO == 1),
    "SVC, four classes": SVC(kernel=Gaussian(0.3), probability=True).fit(X, WORDS[FOUR]),
    "SVC, pairs": SVC(
        kernel=Laplacian(0.2), decision_function_shape="ovo", break_ties=False, probability=True
    ).fit(X, FOUR),
    "SVC, one against the rest": SVC(kernel=Gaussian(0.5), multiclass="ovr", probability=True).fit(
        X, FOUR
    ),
    "SVC, Nyström": SVC(approximation=Nystrom(Gaussian(0.3), 20, random_state=0)).fit(X, FOUR),
    "SVC, compressed": compress(SVC(kernel=Gaussian(0.3)).fit(X, FOUR), n_centers=20),
    "NuSVC": NuSVC(0.2, kernel=Polynomial(2, 0.5)).fit(X, FOUR.astype(float)),
    "MKLClassifier": MKLClassifier([Gaussian(0.1), Laplacian(1.0)]).fit(X, FOUR),
    "KernelRidgeClassifier": KernelRidgeClassifier(0.1, kernel=Gaussian(0.3)).fit(X, TWO),
    "KernelRidgeClassifier, four": KernelRidgeClassifier(0.1).fit(X, WORDS.astype(object)[FOUR]),
    "KernelRidgeClassifierCV": KernelRidgeClassifierCV().fit(X, FOUR),
    "KernelMachineClassifier": KernelMachineClassifier(alpha=0.1).fit(X, TWO),
    "KernelMachineClassifier, four": KernelMachineClassifier(alpha=0.1).fit(X, FOUR),
    "KernelMachineClassifier, hinge": KernelMachineClassifier("squared_hinge").fit(X, FOUR),
    "RFMClassifier": RFMClassifier(width=3.0, alpha=0.1, steps=1).fit(X, FOUR),
    "KernelFisherDiscriminant": KernelFisherDiscriminant(alpha=0.1).fit(X, TWO),
    "KernelFisherDiscriminant, four": KernelFisherDiscriminant(alpha=0.1).fit(X, FOUR),
    "KernelPerceptron": KernelPerceptron(Gaussian(2.0), average=True).fit(X, TWO),
    "KernelPrototypeClassifier": KernelPrototypeClassifier(Gaussian(0.3)).fit(X, FOUR),
    "KernelPrototypeClassifier, several": KernelPrototypeClassifier(
        Gaussian(0.3), n_prototypes=3, random_state=0
    ).fit(X, TWO),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classes(name, dtype):
    model = CLASSIFIERS[name]
    found, points = run(model, dtype=dtype), NEW.astype(float)
    has_chances = getattr(model, "probability", False) or (
        "hinge" not in name and "KernelM" in name
    )
    wanted = ["label", "probabilities", "scores"] if has_chances else ["label", "scores"]
    assert list(found) == wanted
    assert close(found["scores"], model.decision_function(points), dtype)
    assert found["label"].shape == (50,)
    assert found["label"].tolist() == model.predict(points).tolist()
    if has_chances:
        chances = model.predict_proba(points)
        # Runtimes round the slope before the exponential to single precision.
        assert np.abs(found["probabilities"] - chances).max() <= (
            1e-5 if dtype == "float32" else 1e-7
        )
        assert found["probabilities"].shape == chances.shape


def test_equal_votes_of_a_model_of_libsvm():
    from test_libsvm import EXPECTED, GOLDEN

    model = read_libsvm(GOLDEN / "c_svc_rbf.model")
    points = np.array(EXPECTED["c_svc_rbf"]["points"])
    found = run(model, points, "float64")
    assert found["label"].tolist() == EXPECTED["c_svc_rbf"]["labels"]
    assert close(found["scores"], model.decision_function(points), "float64")


def test_a_predicted_class_is_the_most_probable_one_even_without_a_winner():
    model = CLASSIFIERS["SVC, pairs"]
    points = np.random.default_rng(3).normal(size=(4000, 4)) * 2
    found = run(model, points)
    winners = found["probabilities"].argmax(axis=1)
    assert (model.classes_[winners] == found["label"]).all()


def test_several_labels():
    model = KernelRidgeClassifier(0.1, kernel=Gaussian(0.3)).fit(X, LABELLED)
    found = run(model)
    assert found["label"].tolist() == model.predict(NEW.astype(float)).tolist()
    assert np.abs(found["probabilities"] - model.predict_proba(NEW.astype(float))).max() < 1e-5
    assert close(found["scores"], model.decision_function(NEW.astype(float)), "float32")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "model",
    [
        OneClassSVM(0.3, kernel=Gaussian(0.3)).fit(X),
        MKLOneClassSVM([Gaussian(0.3), Gaussian(1.0)]).fit(X),
    ],
    ids=["OneClassSVM", "MKLOneClassSVM"],
)
def test_novelties(model, dtype):
    found = run(model, dtype=dtype)
    assert list(found) == ["label", "scores"]
    assert found["label"].tolist() == model.predict(NEW.astype(float)).tolist()
    assert close(found["scores"], model.decision_function(NEW.astype(float)), dtype)


def test_categories_are_numbers():
    codes = np.random.default_rng(0).integers(0, 4, size=(60, 3)).astype(float)
    model = SVC(kernel=Categorical(0.7)).fit(codes, codes[:, 0] > codes[:, 1])
    assert run(model, codes)["label"].tolist() == model.predict(codes).tolist()


# --- leaves -------------------------------------------------------------------------------------


@pytest.mark.parametrize("temperature", [0.0, 0.1, 1.0])
def test_leaves(temperature):
    random = np.random.default_rng(0)
    points = random.normal(size=(600, 3))
    y = np.sin(points[:, 0]) + points[:, 1]
    model = RFMRegressor(
        width=2.0, alpha=0.1, steps=1, leaf_rows=150, metric="full", random_state=0
    ).fit(points, y)
    assert len(model.leaves_) > 3
    model.temperature_ = temperature
    new = random.normal(size=(80, 3)).astype(np.float32)
    for dtype in ("float32", "float64"):
        assert close(run(model, new, dtype)["variable"], model.predict(new.astype(float)), dtype)
    classes = RFMClassifier(width=2.0, alpha=0.1, steps=1, leaf_rows=150, random_state=0).fit(
        points, y > 0
    )
    classes.temperature_ = temperature
    found = run(classes, new, "float64")
    assert found["label"].tolist() == classes.predict(new.astype(float)).tolist()
    assert np.abs(found["probabilities"] - classes.predict_proba(new.astype(float))).max() < 1e-6


def test_a_split_along_no_direction_halves_the_rows():
    points = np.random.default_rng(0).normal(size=(400, 2))
    model = RFMRegressor(width=2.0, alpha=0.1, steps=1, leaf_rows=150, random_state=0)
    model.fit(points, points[:, 0])
    directions = model.tree_.directions.copy()
    directions[0] = 0.0
    object.__setattr__(model.tree_, "directions", directions)
    new = points[:30].astype(np.float32)
    assert close(run(model, new)["variable"], model.predict(new.astype(float)), "float32")


# --- pipelines ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "steps",
    [
        (StandardScaler(),),
        (MinMaxScaler(), StandardScaler(with_mean=False)),
        (RobustScaler(), MaxAbsScaler()),
    ],
    ids=["standard", "two", "robust"],
)
def test_pipelines_of_scalers(steps):
    far = 100.0 * X + 500.0
    model = make_pipeline(*steps, SVC(probability=True)).fit(far, FOUR)
    new = (100.0 * NEW + 500.0).astype(np.float32)
    found = run(model, new)
    assert found["label"].tolist() == model.predict(new.astype(float)).tolist()
    assert np.abs(found["probabilities"] - model.predict_proba(new.astype(float))).max() < 1e-5


def test_a_step_may_pass_everything_through():
    model = make_pipeline("passthrough", StandardScaler(), SVR()).fit(X, NUMBERS)
    assert close(run(model)["variable"], model.predict(NEW.astype(float)), "float32")


# --- the file -----------------------------------------------------------------------------------


def test_what_the_file_says():
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    model = SVC(kernel=Gaussian(0.3), probability=True).fit(frame, WORDS[FOUR])
    made = onnx.load_from_string(to_onnx(model))
    notes = {one.key: one.value for one in made.metadata_props}
    assert notes["mercer"] == made.producer_version == version("mercer")
    assert notes["estimator"] == "SVC"
    assert notes["kernel"] == "Gaussian(gamma=0.3)"
    assert json.loads(notes["feature_names"]) == ["a", "b", "c", "d"]
    assert made.producer_name == "mercer"
    (entry,) = made.graph.input
    shape = entry.type.tensor_type.shape.dim
    assert (entry.name, shape[0].dim_param, shape[1].dim_value) == ("X", "N", 4)
    assert [one.name for one in made.graph.output] == ["label", "probabilities", "scores"]
    onnx.checker.check_model(made, full_check=True)  # which infers shapes and types


@pytest.mark.parametrize("opset", [18, 20, 21])
def test_versions_of_the_operators(opset):
    model = CLASSIFIERS["SVC, pairs"]
    made = onnx.load_from_string(to_onnx(model, opset=opset))
    assert [one.version for one in made.opset_import] == [opset]
    assert run(model, opset=opset)["label"].tolist() == model.predict(NEW.astype(float)).tolist()


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"opset": 17}, "opset must be a whole number at least 18"),
        ({"opset": 10_000}, "opset must be a whole number"),
        ({"opset": "new"}, "opset must be a whole number"),
        ({"dtype": "float16"}, "dtype must be one of 'float32', 'float64'"),
    ],
)
def test_options_are_checked(options, match):
    with pytest.raises(InputError, match=match):
        to_onnx(REGRESSORS["SVR"], **options)


def test_the_same_model_gives_the_same_bytes(tmp_path):
    model = CLASSIFIERS["SVC, four classes"]
    save(model, tmp_path / "model.mercer")
    first = to_onnx(model)
    assert to_onnx(load(tmp_path / "model.mercer")) == first
    write_onnx(model, tmp_path / "model.onnx")
    assert (tmp_path / "model.onnx").read_bytes() == first
    buffer = io.BytesIO()
    write_onnx(model, buffer, dtype="float64", opset=20)
    assert buffer.getvalue() == to_onnx(model, dtype="float64", opset=20)
    with pytest.raises(FileError, match="a directory that exists"):
        write_onnx(model, tmp_path / "nowhere" / "model.onnx")


def test_one_row_and_none():
    model = CLASSIFIERS["SVC, four classes"]
    assert run(model, NEW[:1])["label"].tolist() == model.predict(NEW[:1].astype(float)).tolist()
    assert run(model, NEW[:0])["label"].shape == (0,)


# --- what cannot be converted -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "match"),
    [
        (KernelPCA(2).fit(X), "must be one of SVC, NuSVC.*got KernelPCA"),
        (KernelNeighborsClassifier().fit(X, TWO), "got KernelNeighborsClassifier"),
        (SVC(kernel=Spectrum(2)).fit(["ab", "ba", "aa"], [0, 1, 1]), "rows of numbers; got"),
        (SVC(kernel=Precomputed()).fit(X @ X.T, TWO), "rows of a Gram matrix"),
        (SVC(kernel=Matern(3.0)).fit(X, TWO), "must have a formula of sums over columns"),
        (make_pipeline(PolynomialFeatures(), SVC()).fit(X, TWO), "StandardScaler.*got Polynomial"),
        (
            GridSearchCV(SVC(), {"C": [1.0]}, cv=2).fit(X, TWO),
            "Convert its best_estimator_",
        ),
        ("model", "got 'model'"),
    ],
)
def test_what_cannot_be_converted_is_refused(model, match):
    with pytest.raises(InputError, match=match):
        to_onnx(model)


def test_a_model_must_be_fitted():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        to_onnx(SVC())


def test_classes_must_be_numbers_or_texts():
    model = SVC().fit(X, TWO)
    model.classes_ = np.array([b"a", b"b"])
    with pytest.raises(InputError, match="classes must be numbers, texts"):
        to_onnx(model)


def test_a_loss_of_a_user_with_a_mean_of_its_own_is_refused():
    class Strange:
        def value(self, f, y):
            return (f - y) ** 2 / 2

        def gradient(self, f, y):
            return f - y

        def curvature(self, f, y):
            return np.ones_like(f)

        def mean(self, f):
            return 2.0 * f

    model = KernelMachineRegressor(Strange()).fit(X, NUMBERS)
    with pytest.raises(InputError, match="must be Poisson"):
        to_onnx(model)


def test_a_model_that_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr(graphs, "LARGEST", 1000)
    with pytest.raises(InputError, match=r"must fit a file of 1.0 kB; got .* mercer.compress"):
        to_onnx(REGRESSORS["KernelRidge"])


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(PackageError, match=r'onnx must be installed.*pip install "mercer\[onnx\]"'):
        to_onnx(REGRESSORS["SVR"])
