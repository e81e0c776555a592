"""The Fisher kernel: known values, derivatives of log p, sets, sequences, information."""

import itertools

import numpy as np
import oracles_fisher as oracles
import pytest
import samples
from hypothesis import given
from hypothesis import strategies as st
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture

from mercer.checks import InputTypeError, KernelError
from mercer.inputs import RowBlocks
from mercer.kernels import Fisher, Gaussian

ONE = ("mixture", [1.0], [[0.0]], [[1.0]])
TWO = ("mixture", [0.5, 0.5], [[-1.0], [1.0]], [[1.0], [1.0]])
COIN = ([1.0], [[1.0]], [[0.5, 0.5]])
WEIGHTS, MEANS, VARIANCES = samples.mixture()[1:]
ROWS = samples.rows(12)
SETS = samples.vector_sets()
WORDS = ["abab", "sta", "", "tastb", "a"]


# --- values of the literature -------------------------------------------------------------------


def test_values_of_one_gaussian():
    K = Fisher(ONE)([[1.0], [2.0], [3.0]], [[2.0]])
    np.testing.assert_allclose(K, [[2.0], [8.5], [18.0]], rtol=1e-14)


def test_values_of_two_components():
    kernel = Fisher(TWO)
    X = np.array([[0.0], [2.0]])
    half = np.sqrt(0.5)
    np.testing.assert_allclose(kernel.features(X)[0], [0, 0, half, -half, 0, 0], atol=1e-15)
    wanted = [[1.0, -0.928055], [-0.928055, 2.884579]]
    np.testing.assert_allclose(kernel(X), wanted, atol=5e-7)


@pytest.mark.parametrize(("information", "wanted"), [("identity", 1.5), ("diagonal", 3.0)])
def test_values_of_a_fair_coin(information, wanted):
    kernel = Fisher(COIN, information, symbols="ab")
    assert kernel.pair("aab", "aaa") == pytest.approx(wanted, rel=1e-14)


def test_the_closed_form_of_a_chain_is_the_pseudo_inverse_of_one_draw():
    """3 for the coin is (U, pinv(diag(b) - b b') U): the information of one symbol."""
    b = np.array([0.5, 0.5])
    information = np.linalg.pinv(np.diag(b) - np.outer(b, b))
    U, V = np.array([0.5, -0.5]), np.array([1.5, -1.5])
    assert U @ information @ V == pytest.approx(3.0)
    b = np.array([0.2, 0.5, 0.3])
    kernel = Fisher(([1.0], [[1.0]], [b]))
    counts = np.array([2.0, 0.0, 1.0]), np.array([1.0, 1.0, 3.0])
    U, V = (n - b * n.sum() for n in counts)
    wanted = U @ np.linalg.pinv(np.diag(b) - np.outer(b, b)) @ V
    assert kernel.pair([0, 2, 0], [2, 1, 2, 0, 2]) == pytest.approx(wanted, rel=1e-12)


# --- mixtures -----------------------------------------------------------------------------------


@pytest.mark.parametrize("full", [False, True], ids=["variances", "full"])
def test_raw_scores_of_mixtures_are_derivatives_of_the_log_likelihood(full):
    _, weights, means, covariances = samples.mixture(3, 2, full=full)
    roots = np.linalg.cholesky(covariances) if full else np.sqrt(covariances)
    X = np.random.default_rng(0).normal(scale=2.0, size=(5, 2))
    found = Fisher(("mixture", weights, means, covariances), "identity").features(X)
    wanted = [oracles.mixture_gradient(x, weights, means, roots) for x in X]
    np.testing.assert_allclose(found, wanted, atol=1e-8)


@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 3))
def test_fisher_vectors_follow_the_published_formula(seed, components, columns):
    _, weights, means, variances = samples.mixture(components, columns, seed)
    sets = samples.vector_sets(columns, seed + 1)
    kernel = Fisher(("mixture", weights, means, variances))
    wanted = [oracles.fisher_vector(x, weights, means, np.sqrt(variances)) for x in sets]
    found = kernel.features(sets)
    assert found.shape == (len(sets), components * (2 * columns + 1))
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-10)


def test_the_closed_form_is_the_information_of_one_full_gaussian():
    """E[G G'] is the identity: the mean over Gauss-Hermite points, exact for this degree."""
    _, _, means, covariances = samples.mixture(1, 2, full=True)
    nodes, weights = np.polynomial.hermite_e.hermegauss(6)
    z = np.array(list(itertools.product(nodes, nodes)))
    chance = np.prod(list(itertools.product(weights, weights)), axis=1) / (2 * np.pi)
    X = means[0] + z @ np.linalg.cholesky(covariances[0]).T
    G = Fisher(("mixture", [1.0], means, covariances)).features(X)
    wanted = np.diag([0.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    np.testing.assert_allclose(G.T @ (chance[:, None] * G), wanted, atol=1e-12)


def test_full_covariances_that_are_diagonal_give_the_diagonal_scores_and_products():
    full = np.stack([np.diag(row) for row in VARIANCES])
    found = Fisher(("mixture", WEIGHTS, MEANS, full)).features(ROWS)
    wanted = Fisher(("mixture", WEIGHTS, MEANS, VARIANCES)).features(ROWS)
    np.testing.assert_allclose(found[:, :8], wanted[:, :8], rtol=1e-12)
    spreads = found[:, 8:].reshape(len(ROWS), 2, 6)
    np.testing.assert_allclose(spreads[:, :, :3].reshape(len(ROWS), 6), wanted[:, 8:], rtol=1e-12)


def test_a_set_is_the_mean_of_its_vectors_in_any_order():
    kernel = Fisher(samples.mixture())
    scores = kernel.features(ROWS)
    found = kernel.features([ROWS[:5], ROWS[5:], ROWS[4::-1], ROWS[3:4]])
    wanted = [scores[:5].mean(axis=0), scores[5:].mean(axis=0), scores[:5].mean(axis=0), scores[3]]
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14)
    assert kernel.pair(ROWS[:5], ROWS[5:]) == pytest.approx(wanted[0] @ wanted[1], rel=1e-12)


def test_sets_longer_than_what_is_held_together(monkeypatch):
    kernel = Fisher(samples.mixture())
    wanted = kernel.features(SETS)
    monkeypatch.setattr("mercer.kernels.fisher.mixture.AT_ONCE", 3 * MEANS.size)
    np.testing.assert_allclose(kernel.features(SETS), wanted, rtol=1e-12, atol=1e-15)


def test_an_empty_set_scores_zero():
    assert not Fisher(samples.mixture(), "identity").features([np.zeros((0, 3))]).any()
    assert Fisher(samples.mixture()).diag(SETS)[2] == 0.0


def test_points_far_from_every_component_stay_finite():
    K = Fisher(TWO)([[1e6], [-1e6], [0.0]])
    assert np.isfinite(K).all()
    far = 1e6 - 1.0
    wanted = 0.5 * 4 * (far**2 + (far**2 - 1) ** 2 / 2) + 1.0
    assert K[0, 0] == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("kind", ["diag", "spherical", "full", "tied"])
def test_a_fitted_mixture_of_scikit_learn(kind):
    X = np.vstack([ROWS, 3.0 + samples.rows(12, seed=5)])
    fitted = GaussianMixture(2, covariance_type=kind, random_state=0).fit(X)
    kernel = Fisher(fitted, "identity")
    wanted = fitted.predict_proba(X) - fitted.weights_
    np.testing.assert_allclose(kernel.features(X)[:, :2], wanted, atol=1e-10)
    before = repr(kernel), kernel(X)
    fitted.means_ += 1.0  # the kernel has copied what it needs
    assert repr(kernel) == before[0]
    np.testing.assert_array_equal(kernel(X), before[1])
    assert kernel != Fisher(fitted, "identity")


def test_a_bayesian_mixture_counts_with_its_mean_parameters():
    fitted = BayesianGaussianMixture(n_components=2, random_state=0).fit(ROWS)
    arrays = (fitted.weights_, fitted.means_, fitted.covariances_)
    assert Fisher(fitted) == Fisher(("mixture", *arrays))


# --- hidden Markov models -----------------------------------------------------------------------


def test_raw_scores_of_chains_are_derivatives_of_the_log_likelihood():
    chain = samples.chain(3, 2)
    kernel = Fisher(chain, "identity")
    sequences = [[0], [1, 0], [0, 1, 1, 0], [1, 1, 0, 1, 1]]
    wanted = [oracles.chain_gradient(tokens, *chain) for tokens in sequences]
    np.testing.assert_allclose(kernel.features(sequences), wanted, atol=1e-8)


def test_derivatives_of_a_chain_with_zeros():
    """From left to right: what is impossible keeps its logit, and its score is 0."""
    chain = [np.array(part) for part in ([1.0, 0.0], [[0.7, 0.3], [0, 1]], [[0.5, 0.5], [0, 1]])]
    sequences = [[0, 1], [1, 1, 1], [0, 0, 0, 1]]
    wanted = [oracles.chain_gradient(tokens, *chain) for tokens in sequences]
    np.testing.assert_allclose(Fisher(chain, "identity").features(sequences), wanted, atol=1e-8)
    wanted = [oracles.chain_scores(tokens, *chain) for tokens in sequences]
    np.testing.assert_allclose(Fisher(chain).features(sequences), wanted, atol=1e-12)


@given(
    st.integers(0, 10**6),
    st.integers(1, 3),
    st.lists(st.lists(st.integers(0, 1), max_size=5), max_size=6),
)
def test_scores_of_chains_are_counts_over_all_paths(seed, states, sequences):
    chain = samples.chain(states, 2, seed)
    wanted = [oracles.chain_scores(tokens, *chain) for tokens in sequences]
    found = Fisher(chain).features(sequences)
    np.testing.assert_allclose(found, np.reshape(wanted, found.shape), rtol=1e-10, atol=1e-10)


def test_groups_of_sequences_do_not_matter(monkeypatch):
    kernel = Fisher(samples.chain(), symbols="abst")
    wanted = kernel.features(WORDS)
    monkeypatch.setattr("mercer.kernels.fisher.markov.AT_ONCE", 1)
    np.testing.assert_allclose(kernel.features(WORDS), wanted, rtol=1e-12, atol=1e-14)


def test_long_sequences_do_not_underflow():
    """A sequence of 10,000 tokens has a probability of about 10**-3000."""
    chain = samples.chain(3, 4)
    kernel = Fisher(chain)
    tokens = np.random.default_rng(0).integers(0, 4, 10_000)
    counts = kernel.source._expected_with_exponents(tokens)
    found = kernel.features([tokens.tolist()])[0]
    wanted = [
        ((n - p * n.sum(axis=1, keepdims=True)) / np.sqrt(p)).ravel()
        for n, p in zip(counts, (chain[0][None], *chain[1:]), strict=True)
    ]
    np.testing.assert_allclose(found, np.concatenate(wanted), rtol=1e-9, atol=1e-9)
    coin = Fisher(COIN, "identity").features([tokens.clip(0, 1).tolist()])[0]
    heads = np.count_nonzero(tokens == 0) - 5000.0
    np.testing.assert_allclose(coin[2:], [heads, -heads], rtol=1e-10)


@pytest.mark.parametrize(("more", "share"), [(2000, 0.5), (1999, 0.9)])
def test_a_state_that_seems_lost_comes_back(more, share):
    """Two coins, one of which was thrown throughout: after 2000 heads the second has a chance of
    9**-2000, and as many tails make up for it."""
    chain = ([0.5, 0.5], np.eye(2), [[0.9, 0.1], [0.1, 0.9]])
    found = Fisher(chain, "identity", symbols="ht").features(["h" * 2000 + "t" * more])[0]
    posterior = np.array([share, 1 - share])
    np.testing.assert_allclose(found[:2], posterior - 0.5, atol=1e-10)
    heads = posterior * (2000 - np.array([0.9, 0.1]) * (2000 + more))
    np.testing.assert_allclose(found[[6, 8]], heads, rtol=1e-9)


def test_a_state_that_seems_lost_may_be_the_only_one():
    chain = ([0.5, 0.5], np.eye(2), [[0.9, 0.1, 0.0], [0.1, 0.8, 0.1]])
    found = Fisher(chain, "identity", symbols="abc").features(["a" * 2000 + "c"])[0]
    np.testing.assert_allclose(found[:2], [-0.5, 0.5], atol=1e-10)


def test_the_smallest_probabilities_keep_their_ratio():
    """Half of 607 and of 1417 times the smallest number is no multiple of it."""
    least = np.nextafter(0.0, 1.0)
    emission = [[1.0, 607 * least], [1.0, 1417 * least]]
    found = Fisher(([0.5, 0.5], np.full((2, 2), 0.5), emission), "identity").features([[1]])[0]
    share = 607 / (607 + 1417)
    np.testing.assert_allclose(found[:2], [share - 0.5, 0.5 - share], rtol=1e-12)


def test_tokens_may_be_of_any_kind():
    chain = samples.chain(2, 2)
    wanted = Fisher(chain)([[0, 1, 1], [1], []])
    same = {
        "texts": (Fisher(chain, symbols="ü語"), ["ü語語", "語", ""]),
        "words": (Fisher(chain, symbols=["no", "yes"]), [["no", "yes", "yes"], ("yes",), []]),
        "numbers": (Fisher(chain, symbols=(7, np.int64(3))), [[7, 3, 3], [np.int64(3)], ()]),
        "bytes": (Fisher(chain), [b"\x00\x01\x01", b"\x01", b""]),
    }
    for name, (kernel, sequences) in same.items():
        np.testing.assert_allclose(kernel(sequences), wanted, rtol=1e-13, err_msg=name)


def test_a_model_of_hmmlearn():
    hmm = pytest.importorskip("hmmlearn.hmm")
    model = hmm.CategoricalHMM(2, n_features=4)
    model.startprob_, model.transmat_, model.emissionprob_ = samples.chain()
    kernel = Fisher(model, "identity")
    assert kernel == Fisher(samples.chain(), "identity")
    tokens = [0, 3, 1, 1, 2]
    posterior = model.predict_proba(np.array(tokens)[:, None])
    found = kernel.features([tokens])[0]
    np.testing.assert_allclose(found[:2], posterior[0] - model.startprob_, atol=1e-10)
    emitted = [posterior[np.array(tokens) == a].sum(axis=0) for a in range(4)]
    wanted = np.transpose(emitted) - model.emissionprob_ * posterior.sum(axis=0)[:, None]
    np.testing.assert_allclose(found[6:], wanted.ravel(), atol=1e-10)
    counts = hmm.MultinomialHMM(2, n_trials=5)  # its points are rows of counts
    counts.startprob_, counts.transmat_, counts.emissionprob_ = samples.chain()
    with pytest.raises(InputTypeError, match="model must be a fitted Gaussian mixture"):
        Fisher(counts)


# --- information from data ----------------------------------------------------------------------


def test_empirical_information_is_the_mean_over_training_points():
    weights, means, variances = samples.mixture(2, 1)[1:]
    X = np.random.default_rng(1).normal(size=(30, 1))
    kernel = Fisher(samples.mixture(2, 1), "empirical").resolve(X)
    U = np.array([oracles.mixture_gradient(x, weights, means, np.sqrt(variances)) for x in X])
    information = U.T @ U / len(U)
    wanted = U @ np.linalg.pinv(information, rcond=1e-8) @ U.T
    np.testing.assert_allclose(kernel(X), wanted, atol=1e-6)
    assert kernel.diag(X).mean() == pytest.approx(5.0)  # its rank: six scores, two sum to 0


def test_empirical_information_counts_weights_blocks_and_terms():
    kernel = Fisher(samples.mixture(), "empirical")
    twice = kernel.resolve(np.vstack([ROWS, ROWS[:4]])).information
    weighted = kernel.resolve(ROWS, np.array([2.0] * 4 + [1.0] * 8) / 100).information
    np.testing.assert_allclose(weighted, twice, rtol=1e-12, atol=1e-14)
    weight = np.arange(12.0)
    blocks = kernel.resolve(RowBlocks.split(ROWS, 5), weight).information
    whole = kernel.resolve(ROWS, weight).information
    np.testing.assert_allclose(blocks, whole, rtol=1e-12, atol=1e-14)
    both = (kernel + Gaussian()).resolve(ROWS)
    assert both.terms[0] == kernel.resolve(ROWS)


def test_empirical_information_waits_for_data():
    kernel = Fisher(samples.mixture(), "empirical")
    assert kernel.unresolved() == ["Fisher.information"]
    with pytest.raises(KernelError, match=r"Fisher\.information still to be taken from data"):
        kernel(ROWS)
    resolved = kernel.resolve(ROWS)
    assert resolved.unresolved() == []
    assert resolved.resolve(ROWS[:2]) is resolved


def test_nothing_to_learn_from_scores_nothing():
    kernel = Fisher(samples.mixture(), "empirical").resolve([np.zeros((0, 3))])
    assert not kernel(SETS).any()


def test_a_matrix_of_information_may_be_given():
    kernel = Fisher(ONE, 4.0 * np.eye(3))
    np.testing.assert_allclose(kernel([[1.0], [2.0]]), Fisher(ONE)([[1.0], [2.0]]) / 4)


def test_the_inverse_of_information_keeps_the_columns_of_scores():
    """Of all roots the symmetric one is taken, whose features do not turn with eigenvectors."""
    found = Fisher(ONE, np.diag([1.0, 25.0, 4.0])).features([[3.0]])
    np.testing.assert_allclose(found, Fisher(ONE).features([[3.0]]) / [1.0, 5.0, 2.0], rtol=1e-14)


def test_kernels_of_the_same_points_keep_their_scores_apart():
    one, other = Fisher(samples.mixture()), Fisher(samples.mixture(), "identity")
    np.testing.assert_allclose((one + other)(ROWS), one(ROWS) + other(ROWS), rtol=1e-12)
    points = one.admit(ROWS)
    assert not np.allclose(one.features(points), other.features(points))


def test_improved_scores_are_signed_roots_of_length_one():
    plain = Fisher(samples.mixture()).features(SETS)
    found = Fisher(samples.mixture(), improved=True).features(SETS)
    wanted = np.sign(plain) * np.abs(plain) ** 0.5
    lengths = np.sqrt((wanted**2).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(found, wanted / np.where(lengths == 0, 1, lengths), rtol=1e-12)
    assert not found[2].any()
