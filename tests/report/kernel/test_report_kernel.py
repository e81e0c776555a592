"""Formula, Gram matrix, influence and certificate of the kernel model."""

import dataclasses

import numpy as np
import pytest
from report_samples import rows

from mercer import (
    SVC,
    AutoKernelRegressor,
    KernelNeighborsRegressor,
    KernelRidge,
    KernelRidgeClassifier,
    MKLClassifier,
)
from mercer.kernels import (
    Categorical,
    Chi2,
    ExpDot,
    Exponential,
    Gaussian,
    Intersection,
    Laplacian,
    Linear,
    LpNorm,
    Matern,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
    Spectrum,
    SumPower,
)
from mercer.models import RidgeCertificate
from mercer.report.clock import NotShown
from mercer.report.kernel.certificate import certificates_of
from mercer.report.kernel.facts import kernel_facts
from mercer.report.kernel.formula import formula_of, plain
from mercer.report.kernel.gram import gram_facts
from mercer.report.kernel.influence import influence_of
from mercer.report.subject import core_of, make_subject
from mercer.status import Status

X, Y, LABELS = rows(50)
LONG = Linear()
for degree in range(1, 11):
    LONG = LONG + Polynomial(degree)


def both(model, X, y):
    subject = make_subject(model, X, y)
    return subject, core_of(subject)


# --- formulas -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kernel", "text"),
    [
        (Gaussian(gamma=0.05), "exp(−0.05 ‖x − y‖^2)"),
        (Gaussian(gamma=1.0), "exp(−‖x − y‖^2)"),
        (Gaussian(gamma=[1.0, 2.0]), "exp(−‖x − y‖^2)"),
        (Laplacian(gamma=2.0), "exp(−2 ‖x − y‖_1)"),
        (Exponential(length_scale=3.0), "exp(−‖x − y‖ / 3)"),
        (Matern(nu=0.5), "exp(−r)"),
        (Matern(nu=1.5), "(1 + √3 r) exp(−√3 r)"),
        (Matern(nu=2.5), "(1 + √5 r + 5 r^2 / 3) exp(−√5 r)"),
        (Matern(nu=0.8), "Matérn_(0.8)(r)"),
        (RationalQuadratic(alpha=2.0), "(1 + r^2 / 4)^(−2)"),
        (Linear(), "⟨x, y⟩"),
        (Polynomial(3, gamma=0.5, coef0=1.0), "(0.5 ⟨x, y⟩ + 1)^3"),
        (Polynomial(2, gamma=1.0, coef0=0.0), "(⟨x, y⟩)^2"),
        (ExpDot(gamma=0.5), "exp(0.5 ⟨x, y⟩)"),
        (Sigmoid(gamma=0.5, coef0=0.0), "tanh(0.5 ⟨x, y⟩)"),
        (Chi2(gamma=1.0), "exp(−∑_c (x_c − y_c)^2 / (x_c + y_c))"),
        (Intersection(), "∑_c min(x_c, y_c)"),
        (Categorical(gamma=1.0), "exp(−∑_c [x_c ≠ y_c])"),
        (SumPower(q=1.0, power=2, length_scale=2.0), "(mean_c exp(−|x_c − y_c| / 2))^2"),
        (LpNorm(p=1.5, q=1.0), "exp(−‖x − y‖_(1.5))"),
        (
            0.7 * Gaussian(1.0) + 0.3 * (Linear() + 1) ** 2,
            "0.7 · exp(−‖x − y‖^2) + 0.3 · (⟨x, y⟩ + 1)^2",
        ),
        (Gaussian(1.0) * (Linear() + 2), "exp(−‖x − y‖^2) · (⟨x, y⟩ + 2)"),
        (Linear().exp(), "exp(⟨x, y⟩)"),
        (Linear().on(["a", "b"]), "⟨x, y⟩"),
        (Linear().of(np.sqrt), "⟨x, y⟩"),
        (Linear().normalized(), "k̂(x, y) with ⟨x, y⟩"),
        (Gaussian(0.5).metric([1.0, 4.0]), "exp(−0.5 ‖x − y‖^2)"),
        (Spectrum(3), "Spectrum(3)"),
        (Gaussian(), "Gaussian()"),
    ],
)
def test_kernels_become_formulas(kernel, text):
    pieces, _ = formula_of(kernel)
    assert plain(pieces) == f"k(x, y) = {text}"


def test_a_formula_of_numbers_is_the_kernel():
    # What is written is what is computed, by hand for one pair.
    kernel = 0.7 * Gaussian(0.05) + 0.3 * (Linear() + 1) ** 2
    x, y = np.array([1.0, 2.0]), np.array([0.5, -1.0])
    square, dot = ((x - y) ** 2).sum(), x @ y
    expected = 0.7 * np.exp(-0.05 * square) + 0.3 * (dot + 1) ** 2
    assert kernel.pair(x, y) == pytest.approx(expected)
    pieces, notes = formula_of(kernel)
    assert plain(pieces).endswith("0.7 · exp(−0.05 ‖x − y‖^2) + 0.3 · (⟨x, y⟩ + 1)^2")
    assert notes == ()


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (Gaussian(gamma=[1.0, 2.0]), "γ is one number per column, from 1 to 2."),
        (Matern(nu=1.5, length_scale=0.5), "The length scale is 0.5."),
        (Matern(nu=1.5, length_scale=[0.5, 3.0]), "a length of its own, from 0.5 to 3."),
        (Gaussian(0.5).metric([1.0, 4.0]), "with a diagonal from 1 to 4."),
        (Gaussian(0.5).metric(np.eye(2)), "a learned metric M, a matrix"),
        (Linear().on("town"), "This part sees town only."),
        (Linear().of(np.sqrt), "after a transformation"),
        (LONG, "has 11 terms, of which 8 are shown"),
    ],
)
def test_symbols_are_explained(kernel, words):
    assert any(words in note for note in formula_of(kernel)[1])


def test_weights_of_several_kernels_are_told():
    model = MKLClassifier([Linear(), Gaussian(1.0)], algorithm="average").fit(X, LABELS)
    found = kernel_facts(both(model, X, LABELS)[1])
    assert [name for name, _ in found.weights] == ["Linear()", "Gaussian(gamma=1.0)"]
    assert found.penalty == "C"


# --- the Gram matrix ----------------------------------------------------------------------------


def test_the_spectrum_and_the_effective_dimension():
    kernel = Gaussian(2.0)
    subject, core = both(KernelRidge(0.5, kernel=kernel).fit(X, Y), X, Y)
    found = gram_facts(subject, core, 0)
    K = kernel(X)
    values = np.linalg.eigvalsh(K)[::-1]
    np.testing.assert_allclose(found.eigenvalues, values / 50, atol=1e-12)
    assert found.dimension == pytest.approx((values / (values + 0.5)).sum())
    assert found.penalty == pytest.approx(0.01)
    assert sorted(found.rows) == list(range(50))
    order = list(found.rows)
    np.testing.assert_allclose(found.K, K[np.ix_(order, order)])
    assert not found.centred
    assert np.cumsum(values)[found.near_all - 1] >= 0.99 * values.sum()
    assert np.cumsum(values)[found.near_all - 2] < 0.99 * values.sum()


def test_points_of_a_class_stand_together():
    subject, core = both(SVC(kernel=Gaussian(2.0)).fit(X, LABELS), X, LABELS)
    found = gram_facts(subject, core, 0)
    labels = LABELS[list(found.rows)]
    assert (np.flatnonzero(labels[1:] != labels[:-1]) + 1).tolist() == [found.blocks[0].points]
    own = Gaussian(2.0)(X[LABELS == "high"])
    n = len(own)
    assert found.blocks[0].within == pytest.approx((own.sum() - n) / (n * (n - 1)))
    across = Gaussian(2.0)(X[LABELS == "high"], X[LABELS == "low"]).mean()
    assert found.blocks[0].across == pytest.approx(across)
    assert found.dimension is None


def test_a_flat_matrix_is_shown_centred():
    subject, core = both(KernelRidge(kernel=Gaussian(0.01)).fit(X, Y), X, Y)
    found = gram_facts(subject, core, 0)
    assert found.centred
    assert found.low > 0.5
    assert abs(found.K).max() < 0.5


def test_of_many_rows_some_are_shown():
    X, y, _ = rows(500)
    subject, core = both(KernelRidge(kernel=Linear()).fit(X, y), X, y)
    assert len(gram_facts(subject, core, 0).rows) == 300


# --- influence ----------------------------------------------------------------------------------


@pytest.mark.parametrize("intercept", [False, True])
def test_influence_is_what_leaving_a_row_out_does(intercept):
    options = {"alpha": 0.3, "kernel": Gaussian(0.5), "fit_intercept": intercept}
    model = KernelRidge(**options).fit(X, Y)
    found = influence_of(*both(model, X, Y))
    assert found.measure == "leave-one-out"
    moves = []
    for row in range(50):
        rest = np.delete(np.arange(50), row)
        without = KernelRidge(**options).fit(X[rest], Y[rest])
        moves.append(abs(model.predict(X[[row]]) - without.predict(X[[row]]))[0])
    order = np.argsort(moves)[::-1]
    assert [one.row for one in found.points] == order[:8].tolist()
    np.testing.assert_allclose(
        [one.size for one in found.points], np.sort(moves)[::-1][:8], rtol=1e-6
    )
    assert found.points[0].truth == Y[order[0]]
    assert found.top_share == pytest.approx(np.sort(moves)[::-1][:5].sum() / np.sum(moves))


def test_weights_take_the_closed_form_away():
    model = KernelRidge(0.3, kernel=Gaussian(0.5)).fit(X, Y, sample_weight=np.linspace(0.1, 3, 50))
    assert influence_of(*both(model, X, Y)).measure == "coefficient"


def test_a_member_without_points_has_no_influential_ones():
    with pytest.warns(UserWarning, match="time_limit must be long enough"):
        model = AutoKernelRegressor(time_limit=1e-6).fit(X, Y)  # a linear one, by an exact map
    with pytest.raises(NotShown, match="a sum of features"):
        influence_of(*both(model, X, Y))


def test_influence_on_a_machine_is_its_coefficient():
    model = SVC(kernel=2.0 * Gaussian(0.5), C=1.0).fit(X, LABELS)
    found = influence_of(*both(model, X, LABELS))
    assert found.measure == "coefficient"
    assert found.carriers == len(model.support_)
    sizes = np.zeros(50)
    sizes[model.support_] = np.abs(model.dual_coef_[0]) * np.sqrt(2.0)
    np.testing.assert_allclose([one.size for one in found.points], np.sort(sizes)[::-1][:8])


def test_classes_have_the_closed_form_too():
    model = KernelRidgeClassifier(alpha=0.3, kernel=Gaussian(0.5)).fit(X, LABELS)
    found = influence_of(*both(model, X, LABELS))
    assert found.measure == "leave-one-out"
    assert found.points[0].truth in ("high", "low")


def test_neighbours_have_no_coefficients():
    model = KernelNeighborsRegressor().fit(X, Y)
    with pytest.raises(NotShown, match="none can be weighed"):
        influence_of(*both(model, X, Y))


def test_rows_of_a_member_are_found_among_all(automatic):
    _model, frame, rent, report = automatic
    found = report.facts.influence
    assert found.of.startswith("the heaviest member of the ensemble")
    assert found.measure in ("leave-one-out", "coefficient")
    assert all(one.truth == rent[one.row] for one in found.points)
    assert found.total == len(frame)


# --- certificates -------------------------------------------------------------------------------


def words(model, X, y):
    (found,) = certificates_of(*both(model, X, y))
    return found


def test_an_exact_fit_says_so():
    found = words(KernelRidge(0.1).fit(X, Y), X, Y)
    assert found.is_good
    assert found.sentences[0] == "The fit is a closed form and exact up to rounding."
    assert found.sentences[1].startswith("No prediction is further than")
    assert "kernel values" in found.sentences[-1]


def test_a_machine_says_how_far_it_is_from_the_optimum():
    model = SVC().fit(X, LABELS)
    text = " ".join(words(model, X, LABELS).sentences)
    certificate = model.certificate_
    assert f"{certificate.bound} at their bound and {certificate.zero} zero" in text


def test_what_did_not_converge_says_what_to_do():
    model = KernelRidge(0.1).fit(X, Y)
    values = dataclasses.asdict(model.certificate_) | {"status": Status.ITERATION_LIMIT}
    model.certificate_ = RidgeCertificate(**values)
    found = words(model, X, Y)
    assert not found.is_good
    assert "limit of iterations" in found.sentences[0]
    assert found.sentences[-2].startswith("Raise max_iter")


def test_an_ensemble_has_the_certificate_of_its_search(automatic):
    search, member = automatic[3].facts.certificates
    assert search.of == "the search"
    assert search.sentences[0].startswith("8 candidates were judged")
    assert member.of.startswith("the heaviest member")
