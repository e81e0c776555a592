"""Model files of LIBSVM: golden ones that svm-train wrote, and there and back again."""

import io
import itertools
import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

from mercer import SVC, SVR, MKLClassifier, NuSVC, NuSVR, OneClassSVM, compress, load, save
from mercer.checks import FileError, InputError
from mercer.convert import read_libsvm, write_libsvm
from mercer.kernels import Gaussian, Laplacian, Linear, Polynomial, Precomputed, Sigmoid

GOLDEN = Path(__file__).parent / "golden"
EXPECTED = json.loads((GOLDEN / "expected.json").read_text())
KINDS = {"c_svc": SVC, "nu_svc": NuSVC, "one_class": OneClassSVM, "nu_svr": NuSVR}
KINDS["epsilon_svr"] = SVR
# Whose probabilities mercer does not have.
UNCERTAIN = {"c_svc_probability", "one_class_probability", "epsilon_svr_rbf"}


def golden(name, **options):
    """The model of a golden file, in whatever way it speaks of its probabilities."""
    path = GOLDEN / f"{name}.model"
    if name not in UNCERTAIN:
        return read_libsvm(path, **options)
    with pytest.warns(UserWarning, match=f"{name}.*probabilities must be those of two classes"):
        return read_libsvm(path, **options)


def columns(name):
    """How many columns the points of a golden file have."""
    return len(EXPECTED[name]["points"][0])


def file_labels(name):
    """The labels in the order of the file."""
    lines = (GOLDEN / f"{name}.model").read_text().splitlines()
    found = [line for line in lines if line.startswith("label")]
    return [int(word) for word in found[0].split()[1:]] if found else []


def libsvm_values(model, X, labels):
    """Decision values in LIBSVM's order of classes and pairs."""
    if not labels:
        values = model.predict(X) if isinstance(model, SVR | NuSVR) else model.decision_function(X)
        return values[:, None]
    scores = model.decision_function(X)
    if len(labels) == 2:
        return (scores if labels[0] > labels[1] else -scores)[:, None]
    classes = model.classes_.tolist()
    pairs = list(itertools.combinations(range(len(labels)), 2))
    found = np.empty(scores.shape)
    for place, (i, j) in enumerate(pairs):
        a, b = classes.index(labels[i]), classes.index(labels[j])
        own = scores[:, pairs.index((min(a, b), max(a, b)))]
        found[:, place] = own if a < b else -own
    return found


# --- what svm-train wrote ------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXPECTED)
def test_a_golden_file_predicts_what_libsvm_does(name):
    wanted = EXPECTED[name]
    X = np.array(wanted["points"])
    model = golden(name, n_features=columns(name))
    kind = name.rsplit("_", 1)[0]
    assert type(model) is KINDS[kind]
    assert model.n_features_in_ == columns(name)
    found = libsvm_values(model, X, file_labels(name))
    assert np.allclose(found, wanted["values"], rtol=1e-10, atol=1e-12)
    labels = model.predict(X)
    if isinstance(model, SVR | NuSVR):
        assert np.allclose(labels, wanted["labels"], rtol=1e-10)
    else:
        assert labels.tolist() == wanted["labels"]


def test_equal_votes_go_to_the_class_that_the_file_names_first():
    # The order of the file is not the ascending one, and some points have no single winner.
    model = golden("c_svc_rbf")
    X, wanted = np.array(EXPECTED["c_svc_rbf"]["points"]), EXPECTED["c_svc_rbf"]["labels"]
    assert file_labels("c_svc_rbf") == [0, 7, 3, -2]
    ascending = golden("c_svc_rbf")
    del ascending._tie_order
    differ = np.flatnonzero(ascending.predict(X) != wanted)
    assert 1 <= len(differ) <= 10
    assert model.predict(X).tolist() == wanted
    again = model.fit(X, np.arange(40) % 3)  # which forgets whose model it was
    assert "_tie_order" not in vars(again)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_model_of_libsvm_can_be_saved(name, tmp_path):
    model, X = golden(name, n_features=columns(name)), np.array(EXPECTED[name]["points"])
    save(model, tmp_path / "model.mercer")
    loaded = load(tmp_path / "model.mercer")
    assert np.array_equal(loaded.predict(X), model.predict(X))
    assert loaded.certificate_.plan.startswith("read from a LIBSVM model file")


@pytest.mark.parametrize("name", EXPECTED)
def test_there_and_back_again(name, tmp_path):
    model = golden(name, n_features=columns(name))
    write_libsvm(model, tmp_path / "again.model")
    again = read_libsvm(tmp_path / "again.model", n_features=columns(name))
    X = np.array(EXPECTED[name]["points"])
    assert np.array_equal(again.predict(X), model.predict(X))
    assert np.array_equal(again.dual_coef_, model.dual_coef_)
    first = (tmp_path / "again.model").read_bytes()
    write_libsvm(again, tmp_path / "third.model")
    assert (tmp_path / "third.model").read_bytes() == first


def test_the_kernel_of_a_file():
    assert golden("c_svc_linear").kernel_ == Linear()
    assert golden("c_svc_rbf").kernel_ == Gaussian(0.7)
    assert golden("nu_svc_polynomial").kernel_ == Polynomial(2, 0.5, 1.0)
    assert golden("c_svc_sigmoid").kernel_ == Sigmoid(0.2, -0.3)
    assert golden("c_svc_precomputed").kernel_ == Precomputed()


def test_what_a_file_does_not_say():
    model = golden("nu_svr_linear")
    assert np.isnan(model.epsilon_)
    assert np.isnan(model.certificate_.norm)
    assert model.support_.tolist() == list(range(32))
    assert golden("c_svc_precomputed").support_.max() < 60


# --- what mercer fits ----------------------------------------------------------------------------

X = np.random.default_rng(5).normal(size=(50, 3))
NEW = np.random.default_rng(6).normal(size=(30, 3))
TWO = (X[:, 0] > 0).astype(int)
THREE = np.digitize(X[:, 0] + 0.3 * X[:, 1], [-0.5, 0.5])
NUMBERS = np.sin(X[:, 0]) + X[:, 1]
FITTED = {
    "two classes": SVC(kernel=Gaussian(0.5)).fit(X, TWO),
    "two classes, -1 and 1": SVC(C=10.0, kernel="poly", coef0=1.0).fit(X, 2 * TWO - 1),
    "three classes": SVC(kernel=Sigmoid(0.1)).fit(X, THREE),
    "truth": SVC(kernel=Linear()).fit(X, TWO.astype(bool)),
    "whole numbers as floats": NuSVC(0.3, kernel=0.5 * Gaussian(1.0)).fit(X, THREE - 1.0),
    "novelty": OneClassSVM(0.4, kernel=Gaussian(0.3)).fit(X),
    "numbers": SVR(kernel=2.0 * Polynomial(2)).fit(X, NUMBERS),
    "numbers, nu": NuSVR(kernel="linear").fit(X, NUMBERS),
    "no intercept": SVC(kernel=Linear(), fit_intercept=False).fit(X, TWO),
    "sparse": SVC(kernel=Gaussian(0.5), break_ties=False).fit(
        scipy.sparse.csr_array(X * (X > 0)), THREE
    ),
    "single precision": SVC(kernel=Gaussian(0.5)).fit(X.astype(np.float32), THREE),
}


def written(model, **options):
    """A model written and read back."""
    buffer = io.BytesIO()
    write_libsvm(model, buffer)
    return read_libsvm(buffer.getvalue(), **options)


def scores(model, points):
    """Decision values, of several classes one per pair."""
    if isinstance(model, SVR | NuSVR):
        return model.predict(points)
    before = getattr(model, "decision_function_shape", None)
    if before is not None:
        model.decision_function_shape = "ovo"
    found = model.decision_function(points)
    if before is not None:
        model.decision_function_shape = before
    return found


@pytest.mark.parametrize("name", FITTED)
def test_a_fitted_model_is_the_same_after_libsvm(name):
    model = FITTED[name]
    again = written(model, n_features=3)
    assert type(again) is type(model)
    assert np.allclose(scores(again, NEW), scores(model, NEW), rtol=1e-12, atol=1e-12)
    assert np.allclose(again.predict(NEW), model.predict(NEW), rtol=1e-12)


def test_equal_votes_are_decided_as_libsvm_does():
    """With break_ties=True scores decide them, which no file of LIBSVM can say."""
    sparse = scipy.sparse.csr_array(X * (X > 0))
    model = SVC(kernel=Gaussian(0.5)).fit(sparse, THREE)
    again = written(model, n_features=3)
    differ = again.predict(NEW) != model.predict(NEW)
    votes = np.rint(model.set_params(decision_function_shape="ovr").decision_function(NEW))
    winners = (votes == votes.max(axis=1, keepdims=True)).sum(axis=1)
    assert differ.any()
    assert (winners[differ] > 1).all()


def test_a_precomputed_matrix():
    K, new = Gaussian(0.5)(X), Gaussian(0.5)(NEW, X)
    model = SVC(kernel="precomputed").fit(K, THREE)
    again = written(model, n_features=50)
    assert np.array_equal(again.predict(new), model.predict(new))
    assert np.array_equal(again.support_, model.support_)
    with pytest.raises(InputError, match="n_features must be a whole number at least"):
        written(model, n_features=3)


def test_a_compressed_model_has_its_centres_in_several_classes():
    model = compress(SVC(kernel=Gaussian(0.5)).fit(X, THREE), n_centers=6)
    assert model.dual_coef_.shape == (3, 6)
    again = written(model)
    assert again.n_support_.tolist() == [6, 6, 0]
    assert np.allclose(scores(again, NEW), scores(model, NEW), rtol=1e-12, atol=1e-12)
    two = compress(SVC(kernel=Gaussian(0.5)).fit(X, TWO), n_centers=6)
    assert np.allclose(scores(written(two), NEW), scores(two, NEW), rtol=1e-12, atol=1e-12)


def test_probabilities_of_two_classes_stay():
    model = SVC(kernel=Gaussian(0.5), probability=True).fit(X, TWO)
    again = written(model)
    assert np.allclose(again.predict_proba(NEW), model.predict_proba(NEW), rtol=1e-12)
    several = SVC(kernel=Gaussian(0.5), probability=True).fit(X, THREE)
    with pytest.warns(UserWarning, match="written without them"):
        again = written(several)
    assert not again.probability


def test_the_form_of_a_file():
    model = SVC(kernel=Polynomial(2, 0.5, 1.0)).fit([[0.0, 0.0], [1.0, 0.0]], [3, 4])
    buffer = io.BytesIO()
    write_libsvm(model, buffer)
    # f(x) = c (k(x, b) - k(x, a)) + rho' with the larger label first, so that signs are mercer's.
    lines = buffer.getvalue().decode().splitlines()
    assert lines[:6] == [
        "svm_type c_svc",
        "kernel_type polynomial",
        "degree 2",
        "gamma 0.5",
        "coef0 1.0",
        "nr_class 2",
    ]
    assert lines[8:11] == ["label 4 3", "nr_sv 1 1", "SV"]
    assert lines[11].split()[1:] == ["1:1.0"]
    assert len(lines[12].split()) == 1  # the point at 0 has no entries


def test_a_path_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "model"
    write_libsvm(FITTED["numbers"], path)
    before = path.read_bytes()
    with pytest.raises(InputError):
        write_libsvm(SVR(kernel=Laplacian()).fit(X, NUMBERS), path)
    assert path.read_bytes() == before
    with pytest.raises(FileError, match="a directory that exists"):
        write_libsvm(FITTED["numbers"], tmp_path / "nowhere" / "model")


# --- what LIBSVM has no words for ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "match"),
    [
        (SVC(kernel=Gaussian(0.5) + Linear()).fit(X, TWO), "one that LIBSVM has.*Linear.*to_onnx"),
        (SVC(kernel=Laplacian(0.5)).fit(X, TWO), r"got Laplacian\(gamma=0.5\)"),
        (SVC(kernel=Gaussian((1.0, 2.0, 3.0))).fit(X, TWO), "roots of their gammas"),
        (SVC(kernel=Gaussian(1.0).on([0, 1])).fit(X, TWO), r"got Gaussian\(gamma=1.0\).on"),
        (SVC(multiclass="ovr").fit(X, THREE), "multiclass='ovo', the default"),
        (SVC().fit(X, np.array(["a", "b"])[TWO]), r"got \['a', 'b'\]. Encode them"),
        (SVC().fit(X, TWO + 2**40), "whole numbers of 32 bits"),
        (MKLClassifier([Gaussian(1.0)]).fit(X, TWO), "must be a fitted SVC, NuSVC"),
        ("model", "must be a fitted SVC"),
    ],
)
def test_what_libsvm_cannot_express_is_refused(model, match):
    with pytest.raises(InputError, match=match):
        write_libsvm(model, io.BytesIO())


def test_a_pipeline_has_no_place_in_the_file():
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), SVC()).fit(X, TWO)
    with pytest.raises(InputError, match=r"write_libsvm\(pipeline\[-1\]"):
        write_libsvm(model, io.BytesIO())


def test_a_model_must_be_fitted():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        write_libsvm(SVC(), io.BytesIO())
