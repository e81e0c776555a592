"""The Fisher kernel as a value, in models and files, and with bad input."""

import pickle

import numpy as np
import pandas
import pytest
import samples
from sklearn.mixture import GaussianMixture

import mercer
from mercer.checks import InputError
from mercer.inputs import Matrix, Objects, as_input
from mercer.kernels import Fisher, from_spec, parse

ONE = ("mixture", [1.0], [[0.0]], [[1.0]])
FAR = ("mixture", [1.0], [[0.0, -1e308]], [[[2.0, 1.0], [1.0, 2.0]]])
COIN = ([1.0], [[1.0]], [[0.5, 0.5]])
ROWS = samples.rows(12)
SETS = samples.vector_sets()


# --- as a value, in models ----------------------------------------------------------------------


def test_it_is_a_value():
    kernel = Fisher(samples.mixture(), "empirical").resolve(ROWS)
    again = pickle.loads(pickle.dumps(kernel))
    assert again == kernel
    assert hash(again) == hash(kernel)
    assert b"_hash" not in pickle.dumps(kernel)  # that of a text is another in another process
    assert parse(repr(kernel)) == kernel == from_spec(kernel.spec())
    assert kernel != Fisher(samples.mixture()) != Fisher(samples.mixture(), improved=True)
    word = Fisher(samples.chain(), symbols="abst")
    assert word == Fisher(samples.chain(), symbols=["a", "b", "s", "t"]) == parse(repr(word))
    assert word.replace(information="identity") == Fisher(word.model, "identity", symbols="abst")


def test_what_is_rows_and_what_is_sets():
    domain = Fisher(samples.mixture()).domain
    rows = (ROWS, ROWS.tolist(), list(ROWS), pandas.DataFrame(ROWS))
    assert all(isinstance(as_input(X, domain), Matrix) for X in rows)
    piles = (SETS, SETS[2:], [SETS[2]], np.stack([ROWS, ROWS]), (SETS[0],))
    assert all(isinstance(as_input(X, domain), Objects) for X in piles)
    kernel = Fisher(samples.mixture())
    np.testing.assert_allclose(kernel(list(ROWS[:, None])), kernel(ROWS), rtol=1e-12)


@pytest.mark.parametrize("kind", ["SVC", "KernelRidgeClassifier", "KernelNeighborsClassifier"])
@pytest.mark.parametrize("information", ["diagonal", "empirical"])
def test_fit_and_predict_agree_also_from_a_file(kind, information, tmp_path):
    generator = np.random.default_rng(3)
    X = [generator.normal(loc=i % 2, size=(5, 2)) for i in range(30)]
    y = np.arange(30) % 2
    kernel = Fisher(samples.mixture(2, 2), information)
    model = getattr(mercer, kind)(kernel=kernel).fit(X[:20], y[:20])
    assert model.kernel_ == kernel.resolve(X[:20])
    found = model.predict(X[20:])
    assert np.mean(found == y[20:]) >= 0.8
    given = getattr(mercer, kind)(kernel="precomputed")
    given.fit(model.kernel_(X[:20]), y[:20])
    np.testing.assert_array_equal(given.predict(model.kernel_(X[20:], X[:20])), found)
    assert [model.predict([x])[0] for x in X[20:]] == found.tolist()
    mercer.save(model, tmp_path / "model.mercer")
    loaded = mercer.load(tmp_path / "model.mercer")
    assert loaded.kernel_ == model.kernel_
    np.testing.assert_array_equal(loaded.predict(X[20:]), found)


def test_sequences_in_a_machine():
    words = ["ab" * 5, "abab", "ba" * 4, "aabb" * 2, "ababab", "bbaa", "aaabbb", "bbbaaa"]
    chain = ([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], [[0.8, 0.2], [0.2, 0.8]])
    kernel = Fisher(chain, symbols="ab").normalized()
    model = mercer.SVC(kernel=kernel, C=100.0).fit(words, [1, 1, 1, 0, 1, 0, 0, 0])
    assert model.predict(["abababab", "aaaabbbb"]).tolist() == [1, 0]


# --- bad input ----------------------------------------------------------------------------------

HALVES = ([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]], [[0.5, 0.5], [0.5, 0.5]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((GaussianMixture(2),), "fitted Gaussian mixture or a hidden Markov model; got Gauss"),
        ((7,), "got 7"),
        ((("forest", [1.0], [[0.0]], [[1.0]]),), "model must be a fitted"),
        ((("mixture", [0.5, 0.4], [[0], [1]], [[1], [1]]),), "weights must sum to 1; got 0.9"),
        ((("mixture", [1.5, -0.5], [[0], [1]], [[1], [1]]),), "weights must have probabilities"),
        ((("mixture", [1.0, 0.0], [[0], [1]], [[1], [1]]),), "weight above 0; got 0 at index 1"),
        ((("mixture", [1.0], [[0, 1]], [[1]]),), r"covariances must have shape \(1, 2\)"),
        ((("mixture", [1.0], [[0], [1]], [[1]]),), r"means must have shape \(1, any\)"),
        ((("mixture", [1.0], [[0, 1]], [[1, 0]]),), "above 0; got 0 in component 0, column 1"),
        ((("mixture", [1.0], [[0, 1]], [[1], [2, 3]]),), "covariances must be an array of numbers"),
        ((("mixture", [1.0], [[np.nan]], [[1]]),), r"finite numbers only; got nan at \(0, 0\)"),
        ((("mixture", [1.0], [[0, 0]], [[[1, 2], [2, 1]]]),), "positive definite; got another in"),
        ((("mixture", [1.0], [[0, 0]], [[[1, 0.5], [0, 1]]]),), "symmetric and positive definite"),
        ((("mixture", [], [], []),), "weights must have shape"),
        (((*HALVES[:2], [[0.5, 0.5], [0.5, 0.6]]),), "row 1 of emission must sum to 1; got 1.1"),
        (((HALVES[0], [[0.5, 0.5]], HALVES[2]),), r"transition must have shape \(2, 2\)"),
        (((HALVES[0], [["x"]], HALVES[2]),), "transition must be an array of numbers"),
        ((HALVES, "diagonall"), "Did you mean 'diagonal'"),
        ((ONE, [[1.0]]), r"information must have shape \(3, 3\)"),
        ((ONE, -np.eye(3)), "without negative eigenvalues"),
        ((ONE, [[1, 2, 0], [0, 1, 0], [0, 0, 1]]), "an information matrix must be symmetric"),
        ((ONE, "diagonal", False, "ab"), "symbols belong to a hidden Markov model"),
        ((HALVES, "diagonal", False, "abc"), "name the 2 columns of emission; got 3 symbols"),
        ((HALVES, "diagonal", False, "aa"), "every symbol must be given once"),
        ((HALVES, "diagonal", False, [1.5, None]), "texts and whole numbers"),
        ((HALVES, "diagonal", False, 7), "symbols must be a text, or a list"),
        ((("mixture", (1.0,), ((0.0,),)),), "model must be a fitted Gaussian mixture.*variances"),
        ((samples.mixture(2, 250), "empirical"), "at most 1000 parameters; got a model with 1002"),
    ],
    ids=range(28),
)
def test_bad_models(arguments, message):
    with pytest.raises(InputError, match=message):
        Fisher(*arguments)


@pytest.mark.parametrize(
    ("kernel", "X", "message"),
    [
        (Fisher(ONE), [[1.0, 2.0]], "must have 1 columns, as the means of the mixture have; got 2"),
        (Fisher(ONE), [np.ones((2, 1)), np.ones((0, 2))], "got 2 in the set at index 1"),
        (Fisher(ONE), [np.ones((2, 1)), [[1.0], []]], "2-D array of finite numbers.*at index 1"),
        (Fisher(ONE), [np.full((2, 1), np.nan)], "2-D array of finite numbers"),
        (Fisher(ONE), [[np.nan]], "NaN in row 0, column 0"),
        (Fisher(ONE), [[0.0], [1e155]], "deviations of the means.* further away at index 1"),
        (Fisher(ONE), [[[0.0]], [[0.0], [-1.7e308]]], "further away at index 1"),
        (Fisher(FAR), [[1.0, 1.7e308]], "further away at index 0"),
        (Fisher(ONE), ["ab"], "Fisher: "),
        (Fisher(COIN, symbols="ab"), ["ab", "", "aabcc"], "'c' at position 3 of the sequence at"),
        (Fisher(COIN), [[0, 1], [1, 2]], "got 2 at position 1 of the sequence at index 1"),
        (Fisher(COIN), ["01"], "got '0' at position 0 of the sequence at index 0"),
        (Fisher(COIN), [[0], None], "at index 1"),
        (Fisher(COIN), np.ones((2, 2)), "strings or sequences of tokens"),
        (
            Fisher(([1, 0], np.eye(2), [[1, 0], [0.5, 0.5]])),
            [[0, 0, 0], [0], [0, 1]],
            "probability above 0 under the model; got 0 for the sequence at index 2",
        ),
    ],
    ids=range(15),
)
def test_bad_points(kernel, X, message):
    with pytest.raises(InputError, match=message):
        kernel(X)
