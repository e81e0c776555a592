"""Learning and validation curves, and parameters at the edge."""

import dataclasses

import numpy as np
import pytest
from report_samples import rows
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import GridSearchCV

from mercer import (
    SVC,
    KernelMachineRegressor,
    KernelNeighborsRegressor,
    KernelRidge,
    KernelRidgeCV,
    NuSVC,
)
from mercer.kernels import Gaussian, Laplacian, Spectrum
from mercer.report.clock import NotShown
from mercer.report.measure.curves import learning_curve, validation_curves
from mercer.report.measure.edges import edges_of
from mercer.report.measure.splits import folds_of, thinned
from mercer.report.subject import core_of, learner_of, make_subject

X, Y, LABELS = rows(100)


def test_points_of_a_learning_curve_are_scores_of_models(clock):
    model = KernelRidge(0.1, kernel=Gaussian(0.5)).fit(X, Y)
    subject = make_subject(model, X, Y)
    curve = learning_curve(subject, learner_of(subject), clock, 0)
    assert curve.measure == "R²"
    assert curve.sizes == (8, 16, 32, 56, 80)
    for repeat, (train, held) in enumerate(folds_of(100, 5, None, None, 0)[:3]):
        some = thinned(train, 32, None, 0)
        direct = KernelRidge(0.1, kernel=Gaussian(0.5)).fit(X[some], Y[some])
        assert curve.training[2, repeat] == pytest.approx(
            r2_score(Y[some], direct.predict(X[some]))
        )
        assert curve.held_out[2, repeat] == pytest.approx(
            r2_score(Y[held], direct.predict(X[held]))
        )


def test_too_few_rows_have_no_learning_curve(clock):
    subject = make_subject(KernelRidge().fit(X[:9], Y[:9]), X[:9], Y[:9])
    with pytest.raises(NotShown, match="too few rows"):
        learning_curve(subject, learner_of(subject), clock, 0)


def test_points_of_a_validation_curve_are_scores_of_models(clock):
    model = SVC(C=2.0, kernel=Laplacian(0.5)).fit(X, LABELS)
    subject = make_subject(model, X, LABELS)
    penalty, width = validation_curves(subject, core_of(subject), clock, 0)
    assert (penalty.parameter, width.parameter) == ("C", "gamma")
    assert penalty.values[3] == pytest.approx(2.0)
    codes = subject.truth
    for fold, (train, held) in enumerate(folds_of(100, 3, codes, None, 0)):
        direct = SVC(C=20.0, kernel=Laplacian(0.5)).fit(X[train], LABELS[train])
        score = accuracy_score(LABELS[held], direct.predict(X[held]))
        assert penalty.held_out[4, fold] == pytest.approx(score)
        direct = SVC(C=2.0, kernel=Laplacian(5.0)).fit(X[train], LABELS[train])
        score = accuracy_score(LABELS[held], direct.predict(X[held]))
        assert width.held_out[4, fold] == pytest.approx(score)


def test_a_model_that_searches_is_varied_around_what_it_found(clock):
    model = KernelRidgeCV(kernel=Gaussian(0.5)).fit(X, Y)
    subject = make_subject(model, X, Y)
    penalty = validation_curves(subject, core_of(subject), clock, 0)[0]
    assert penalty.chosen == model.alpha_
    assert penalty.values[3] == pytest.approx(model.alpha_)


def test_a_value_that_the_model_refuses_is_left_out(clock):
    y = np.where(X[:, 0] < np.quantile(X[:, 0], 0.15), "few", "many")
    model = NuSVC(nu=0.1).fit(X, y)
    subject = make_subject(model, X, y)
    found = clock.attempt("it", lambda: validation_curves(subject, core_of(subject), clock, 0))[0]
    assert found.parameter == "nu"
    assert 0.1 in found.values
    assert max(found.values) <= 0.3


def test_neighbours_are_whole(clock):
    model = KernelNeighborsRegressor(5).fit(X, Y)
    subject = make_subject(model, X, Y)
    found = validation_curves(subject, core_of(subject), clock, 0)[0]
    assert found.values == (1.0, 2.0, 5.0, 10.0, 25.0, 50.0)


def test_a_kernel_without_a_width_has_the_curve_of_the_penalty(clock):
    texts = ["ab" * n + "c" for n in range(2, 32)]
    model = KernelRidge(kernel=Spectrum(2)).fit(texts, np.arange(30.0))
    subject = make_subject(model, texts, np.arange(30.0))
    (only,) = validation_curves(subject, core_of(subject), clock, 0)
    assert only.parameter == "alpha"


def test_a_loss_of_its_own_is_kept(clock):
    model = KernelMachineRegressor(loss="huber", alpha=0.1).fit(X, Y)
    core = core_of(make_subject(model, X, Y))
    assert core.twin(penalty=3.0).get_params()["loss"] == "huber"


# --- edges --------------------------------------------------------------------------------------


def edges(model, X, y):
    subject = make_subject(model, X, y)
    return edges_of(subject, core_of(subject))


def test_the_last_alpha_is_an_edge():
    model = KernelRidgeCV(alphas=[0.01, 0.1, 1.0], kernel=Gaussian(0.5)).fit(X, Y)
    wider = KernelRidgeCV(alphas=[1.0, 10.0, 100.0], kernel=Gaussian(0.5)).fit(X, Y)
    inner = [model.alpha_, wider.alpha_]
    assert inner[1] == 1.0
    (edge,) = edges(wider, X, Y)
    assert (edge.parameter, edge.value, edge.low, edge.high) == ("alpha", 1.0, 1.0, 100.0)
    between = KernelRidgeCV(alphas=[1e-9, inner[0], 1e9], kernel=Gaussian(0.5)).fit(X, Y)
    assert edges(between, X, Y) == ()


def test_a_search_of_scikit_learn_has_edges():
    grid = {"alpha": [1.0, 10.0, 100.0], "kernel": [Gaussian(0.5), Gaussian(1.0), Gaussian(2.0)]}
    model = GridSearchCV(KernelRidge(), grid).fit(X, Y)
    assert [one.parameter for one in edges(model, X, Y)] == ["alpha"]
    few = GridSearchCV(KernelRidge(kernel=Gaussian(0.5)), {"alpha": [1.0, 10.0]}).fit(X, Y)
    assert edges(few, X, Y) == ()  # two values have nothing between them


def test_a_member_at_the_end_of_the_widths_is_an_edge(automatic):
    model, frame, rent, _ = automatic
    subject = make_subject(model, frame, rent)
    core = core_of(subject)

    def named(name):
        member = dataclasses.replace(core.member, name=name)
        return edges_of(subject, dataclasses.replace(core, member=member))

    (edge,) = named("ridge laplacian 8 standard")
    assert (edge.parameter, edge.value, edge.low, edge.high) == ("width", 8.0, 0.25, 8.0)
    assert edge.of == "ridge laplacian 8 standard"
    assert named("ridge laplacian 2 standard") == ()
    assert named("ridge matern 2 rank") == ()  # two widths are no search
