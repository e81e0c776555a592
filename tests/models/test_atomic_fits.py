"""A fit is whole or did not happen: one that fails leaves the model as it was."""

import inspect
import pickle
import sys
import warnings

import numpy as np
import pytest
from estimators import CLASSIFIERS, ESTIMATORS, LABELS, OF_GAMMA, X, target, with_kernel
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from mercer import KernelPerceptron, KernelRidge, KernelRidgeClassifier, KernelRidgeCV
from mercer.checks import MemoryLimitError, MercerError
from mercer.features import GramTransformer, RandomFourier
from mercer.files.schema import SCHEMAS
from mercer.kernels import Gaussian, Linear, Polynomial, Spectrum
from mercer.models import (
    SVC,
    KernelFisherDiscriminant,
    KernelKMeans,
    KernelPCA,
    OneClassSVM,
    RFMClassifier,
    RFMRegressor,
)
from mercer.models.contract import records as records_module
from mercer.models.contract.atomic import fitted_names, is_atomic

OTHER = X[::-1] * [0.5, 2.0] + 0.25  # what a second fit gets
SEVERAL = {"n_clusters": 3, "n_neighbors": 3, "n_components": 1}
ENTRIES = ("fit", "partial_fit", "fit_transform", "fit_predict")


# Of kernels that cannot overflow.
BOUNDED = (*OF_GAMMA, RandomFourier, RFMClassifier, RFMRegressor)


def model_of(kind, **parameters):
    """A model of a class with parameters that suit the small data."""
    parameters = {"kernel": Gaussian(0.7)} | SEVERAL | parameters
    parameters |= with_kernel(kind, parameters.pop("kernel"))
    known = kind().get_params(deep=False)
    return kind(**{name: value for name, value in parameters.items() if name in known})


def answers(model):
    """Everything that a fitted model says of points."""
    methods = ("predict", "transform", "decision_function", "predict_proba", "score_samples")
    return {name: dense(getattr(model, name)(X)) for name in methods if hasattr(model, name)}


def dense(answer):
    return answer.toarray() if hasattr(answer, "toarray") else answer


def memory(model):
    """What a model is made of: which objects, and what these hold."""
    parts = vars(model)
    return {name: (id(value), pickle.dumps(value)) for name, value in parts.items()}


def assert_refit_leaves_all(model, refit, error):
    """Refit in a way that raises the error, and compare the model with what it was."""
    said, before = answers(model), memory(model)
    kept = dict(vars(model))  # so that nothing new can get the number of what is gone
    with pytest.raises(error):
        refit()
    assert memory(model) == before
    assert kept.keys() == vars(model).keys()
    for name, answer in answers(model).items():
        np.testing.assert_array_equal(answer, said[name])


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize(
    "bad", [np.full((14, 2), np.nan), np.zeros((14, 2, 2)), np.zeros((14, 0)), np.zeros((0, 2))]
)
def test_bad_points_leave_the_old_model(kind, bad):
    model = model_of(kind).fit(X, target(kind))
    assert_refit_leaves_all(model, lambda: model.fit(bad, target(kind)), MercerError)


WITH_TARGETS = [kind for kind in ESTIMATORS if hasattr(kind, "score") and kind is not KernelKMeans]


@pytest.mark.parametrize("kind", WITH_TARGETS)
def test_bad_targets_leave_the_old_model(kind):
    model = model_of(kind).fit(X, target(kind))
    for bad in (target(kind)[:-1], np.full(14, np.nan), None):
        assert_refit_leaves_all(model, lambda bad=bad: model.fit(OTHER, bad), MercerError)
    if kind in CLASSIFIERS:
        one = np.zeros(14)
        assert_refit_leaves_all(model, lambda: model.fit(OTHER, one), MercerError)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_bad_parameters_leave_the_old_model(kind):
    odd = with_kernel(kind, "no such kernel")
    for bad in (odd, {"memory_limit": "much"}, {"memory_limit": -1}):
        model = model_of(kind).fit(X, target(kind)).set_params(**bad)
        said = memory(model)
        with pytest.raises(MercerError):
            model.fit(OTHER, target(kind))
        assert memory(model) == said


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_limit_that_is_too_small_leaves_the_old_model(kind):
    model = model_of(kind).fit(X, target(kind))
    model.set_params(memory_limit=1)
    before = memory(model)
    try:
        model.fit(OTHER, target(kind))
    except MercerError:
        assert memory(model) == before
    else:  # some need no memory for points that are so few
        assert memory(model)["_prepared"] != before["_prepared"]


def test_a_matrix_that_does_not_fit_leaves_the_old_model():
    model = KernelPCA(2, kernel=Gaussian(0.7), eigen_solver="dense").fit(X)
    model.set_params(memory_limit=100)
    before = memory(model)
    with pytest.raises(MemoryLimitError):
        model.fit(OTHER)
    assert memory(model) == before


@pytest.mark.parametrize("kind", [kind for kind in ESTIMATORS if kind not in BOUNDED])
def test_values_of_the_kernel_that_overflow_leave_the_old_model(kind):
    parameters = {"kernel": Polynomial(degree=3), "average": True}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # these classes overlap
        model = model_of(kind, **parameters).fit(X, target(kind))
    if kind is GramTransformer:
        model.set_params(center=True)
    assert_refit_leaves_all(model, lambda: model.fit(1e150 * OTHER, target(kind)), MercerError)


# --- interrupts ---------------------------------------------------------------------------------


class Fragile:
    """A kernel that is handed in as a function, and fails when it is called for the last time."""

    calls_left = 10**9

    def __call__(self, A, B):
        Fragile.calls_left -= 1
        if Fragile.calls_left < 0:
            raise KeyboardInterrupt
        return np.exp(-((A[:, None] - B[None]) ** 2).sum(axis=2))


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_kernel_that_fails_at_any_call_leaves_the_old_model(kind):
    whole = 10**6
    Fragile.calls_left = whole
    model = model_of(kind, kernel=Fragile()).fit(X, target(kind))
    said = answers(model)
    Fragile.calls_left = whole
    clone(model).fit(OTHER, target(kind))
    needed = whole - Fragile.calls_left
    for calls in np.unique(np.linspace(0, needed - 1, 6).astype(int)) if needed else []:
        Fragile.calls_left, before = int(calls), memory(model)
        with pytest.raises(KeyboardInterrupt):
            model.fit(OTHER, target(kind))
        assert memory(model) == before
    Fragile.calls_left = whole
    for name, answer in answers(model).items():
        np.testing.assert_array_equal(answer, said[name])


@pytest.mark.parametrize("kind", [k for k in ESTIMATORS if "callback" in k().get_params()])
def test_a_callback_that_fails_leaves_the_old_model(kind):
    def callback(record):
        if failing:
            raise KeyboardInterrupt

    failing = False
    parameters = {"solver": "cg"} if kind is KernelRidge else {}
    model = model_of(kind, callback=None, **parameters).fit(X, target(kind))
    said, before = answers(model), dict(vars(model))
    model.callback, failing = callback, True
    try:
        model.fit(OTHER, target(kind))
    except KeyboardInterrupt:
        found = vars(model)
        assert found.keys() == before.keys()
        assert all(found[name] is before[name] for name in before if name != "callback")
        for name, answer in answers(model).items():
            np.testing.assert_array_equal(answer, said[name])
    else:  # so few points that no iteration was made
        assert vars(model)["certificate_"] is not before["certificate_"]


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_an_interrupt_in_the_last_moment_leaves_the_old_model(kind, monkeypatch):
    model = model_of(kind).fit(X, target(kind))

    def interrupt(text, *_):
        if "fit ends" in text:
            raise KeyboardInterrupt

    monkeypatch.setattr(records_module.logger, "info", interrupt)
    assert_refit_leaves_all(model, lambda: model.fit(OTHER, target(kind)), KeyboardInterrupt)


class Interrupt:
    """Interrupts a computation at a call of a function of ours, given its number."""

    def __init__(self, at):
        self.at, self.calls = at, 0

    def __call__(self, frame, event, argument):
        # Python ignores what is raised while it closes a generator.
        plain = event == "call" and not frame.f_code.co_flags & inspect.CO_GENERATOR
        name = frame.f_globals.get("__name__", "")
        # How often free memory is looked at depends on the clock: such calls do not count.
        if plain and name.startswith("mercer.") and name != "mercer.grams.memory":
            self.calls += 1
            if self.calls == self.at:
                raise KeyboardInterrupt

    def during(self, work):
        sys.setprofile(self)
        try:
            work()
        finally:
            sys.setprofile(None)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_an_interrupt_at_any_moment_leaves_the_old_model(kind):
    model, count = model_of(kind).fit(X, target(kind)), Interrupt(-1)
    other = clone(model).fit(OTHER, target(kind))  # what is done only once is done
    count.during(lambda: other.fit(OTHER, target(kind)))
    for at in np.unique(np.linspace(2, count.calls - 1, 10).astype(int)):
        before = memory(model)
        with pytest.raises(KeyboardInterrupt):
            Interrupt(at).during(lambda: model.fit(OTHER, target(kind)))
        assert memory(model) == before


# --- the ways to a fit --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_every_entry_is_atomic(kind):
    entries = [name for name in ENTRIES if hasattr(kind, name)]
    assert "fit" in entries
    assert [name for name in entries if not is_atomic(getattr(kind, name))] == []


@pytest.mark.parametrize(
    "kind", [GramTransformer, KernelPCA, KernelKMeans, KernelFisherDiscriminant]
)
def test_a_fit_transform_that_fails_leaves_the_old_model(kind, monkeypatch):
    model = model_of(kind).fit(X, LABELS)
    before = memory(model)

    def fail(self, *_):
        raise KeyboardInterrupt

    weight = np.r_[0.0, np.ones(13)]  # so that KernelPCA has to transform after the fit
    options = {"sample_weight": weight} if kind is KernelPCA else {}
    name = "_rows" if kind is GramTransformer else "_in_precision"
    with monkeypatch.context() as patch:
        patch.setattr(kind, name, fail)
        with pytest.raises(KeyboardInterrupt):
            model.fit_transform(OTHER, LABELS, **options)
    assert memory(model) == before


def test_a_fit_predict_that_fails_leaves_the_old_model(monkeypatch):
    model = model_of(OneClassSVM).fit(X)
    before = memory(model)
    with monkeypatch.context() as patch:
        patch.setattr(OneClassSVM, "predict", lambda self, X: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            model.fit_predict(OTHER)
    assert memory(model) == before
    assert set(model.fit_predict(OTHER)) <= {-1, 1}


def test_a_partial_fit_that_fails_leaves_the_old_model():
    model = model_of(KernelPerceptron).partial_fit(X, LABELS, classes=[0, 1])
    refit = [
        lambda: model.partial_fit(OTHER, LABELS[:-1]),
        lambda: model.partial_fit(OTHER, LABELS + 1),
        lambda: model.partial_fit(np.full((14, 2), np.nan), LABELS),
        lambda: model.partial_fit(OTHER[:, :1], LABELS),
        lambda: model.fit(OTHER, LABELS[:-1]),
    ]
    for one in refit:
        assert_refit_leaves_all(model, one, ValueError)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_first_fit_that_fails_leaves_no_model(kind):
    model = model_of(kind)
    before = memory(model)
    with pytest.raises(MercerError):
        model.fit(np.full((14, 2), np.nan), target(kind))
    assert memory(model) == before
    with pytest.raises(Exception, match="not fitted yet"):
        check_is_fitted(model)


# --- what a new fit does not have ---------------------------------------------------------------


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_refit_is_the_fit_of_a_new_model(kind):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X, columns=["a", "b"])
    y = X[:, 0] > X[:, 1] if kind in CLASSIFIERS else target(kind)
    model = model_of(kind, kernel=Linear(), probability=True).fit(table, y)
    model.set_params(**with_kernel(kind, Gaussian(0.7)))
    if "probability" in model.get_params():
        model.set_params(probability=False)
    fresh = clone(model).fit(OTHER, target(kind))
    model.fit(OTHER, target(kind))
    assert vars(model).keys() == vars(fresh).keys()
    assert not hasattr(model, "feature_names_in_")
    for name, answer in answers(fresh).items():
        np.testing.assert_array_equal(answer, dense(getattr(model, name)(X)))


def test_attributes_of_a_former_fit_vanish():
    ridge = KernelRidge(kernel=Linear()).fit(X, LABELS)
    assert "coef_" in vars(ridge)
    assert "coef_" not in vars(ridge.set_params(kernel=Gaussian(1)).fit(X, LABELS))
    classifier = KernelRidgeClassifier().fit(X, LABELS)
    assert "slopes_" not in vars(classifier.set_params(probability=False).fit(X, LABELS))
    machine = SVC(probability=True).fit(X, LABELS)
    assert "slopes_" not in vars(machine.set_params(probability=False).fit(X, LABELS))
    search = KernelRidgeCV().fit(X, LABELS)
    assert "n_features_in_" in vars(search)
    words = ["a", "b", "ab", "ba"]
    search.set_params(kernel=Spectrum(1)).fit(words, [0.0, 1.0, 2.0, 3.0])
    assert "n_features_in_" not in vars(search)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_the_names_that_a_fit_may_set_are_those_that_a_file_may_hold(kind):
    former = {"_posterior"} if kind in CLASSIFIERS else set()  # that classifiers once had
    held = set(SCHEMAS[kind].attributes) - {"_sklearn_output_config"} - former
    assert fitted_names(kind) == held
    fitted = vars(model_of(kind).fit(X, target(kind))).keys()
    assert fitted - kind().get_params().keys() <= fitted_names(kind)


class Centred(KernelRidge):
    """What a user may make of a model: it notes something before the fit, and after it."""

    def fit(self, X, y):
        self.mean_, self._note = float(np.mean(y)), "mine"
        super().fit(X, y - self.mean_)
        self.done_ = True
        return self

    def predict(self, X):
        return super().predict(X) + self.mean_


def test_what_a_user_adds_stays():
    model = Centred(kernel=Gaussian(1))
    model.colour = "blue"
    assert model.fit(X, LABELS) is model
    assert model.fit(OTHER, LABELS) is model
    assert (model.colour, model._note, model.done_) == ("blue", "mine", True)
    assert abs(model.predict(X).mean() - 0.5) < 0.5


def test_a_callback_may_write_to_its_model_and_change_its_parameters():
    def callback(record):
        model.steps = getattr(model, "steps", 0) + 1
        model.verbose = 0

    model = KernelRidge(kernel=Gaussian(1), solver="cg", callback=callback)
    model.fit(X, LABELS)
    assert model.steps > 0
    assert model.verbose == 0
