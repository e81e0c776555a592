"""Texts: what is text, hashed n-grams, their weights and directions; a kernel instead of them."""

import subprocess
import sys
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest

from mercer import InputError, KernelRidge, TableEncoder
from mercer.kernels import Gaussian, Spectrum
from mercer.tables.encoder.codes import text as text_module
from mercer.tables.encoder.codes.ngrams import BUCKETS, bucket_counts
from mercer.tables.encoder.codes.text import learn_text

MASK = 2**64 - 1
FACTOR, MIX = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9
WORDS = np.array(
    [
        "sun",
        "moon",
        "star",
        "tide",
        "wave",
        "sand",
        "rock",
        "cliff",
        "boat",
        "sail",
        "wind",
        "rain",
        "snow",
        "ice",
    ]
)


def sentences(n, seed=0, words=6):
    random = np.random.default_rng(seed)
    return [" ".join(random.choice(WORDS, words)) for _ in range(n)]


# --- counts --------------------------------------------------------------------------------------


def bucket(value):
    value &= MASK
    value = ((value ^ (value >> 30)) * MIX) & MASK
    value = ((value ^ (value >> 27)) * FACTOR) & MASK
    return value >> 52


def oracle(text):
    """The buckets of a text, one word and one part of it after another."""
    counts = Counter()
    word = ""
    for letter in text.casefold() + " ":
        if letter.isalnum() or letter == "_":
            word += letter
            continue
        padded, word = f" {word} " if word else "", ""
        for length in (2, 3, 4):
            for start in range(len(padded) - length + 1):
                value = 0
                for one in padded[start : start + length]:
                    value = value * FACTOR + ord(one)
                counts[bucket(value + length)] += 1
        if padded:
            whole = sum(ord(one) * FACTOR ** (place + 1) for place, one in enumerate(padded))
            counts[bucket(whole + (1 << 40))] += 1
    return counts


@pytest.mark.parametrize(
    "text", ["", "a", "Ab", "the cat, the hat!", "naïve Ünïcode 東京 x_1", "  "]
)
def test_buckets_of_a_text(text):
    found = bucket_counts([text, None, "other words"]).toarray()
    wanted = np.zeros(BUCKETS)
    for place, count in oracle(text).items():
        wanted[place] = count
    assert np.array_equal(found[0], wanted)
    assert not found[1].any()


def test_no_texts_at_all():
    assert bucket_counts([]).shape == (0, BUCKETS)
    assert bucket_counts([None, "?!"]).nnz == 0


def test_counts_are_the_same_in_every_process():
    code = "from mercer.tables.encoder.codes.ngrams import bucket_counts as counts\n"
    code += "print(counts(['a salted word']).indices.tolist())"
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert found == {f"{bucket_counts(['a salted word']).indices.tolist()}\n"}


# --- directions ----------------------------------------------------------------------------------


def weights(texts):
    """Weights of n-grams, by their definition."""
    counts = [oracle(text) for text in texts]
    with_it = Counter(place for one in counts for place in one)
    found = np.zeros((len(texts), BUCKETS))
    for row, one in enumerate(counts):
        for place, count in one.items():
            rarity = np.log((1 + len(texts)) / (1 + with_it[place])) + 1
            found[row, place] = (1 + np.log(count)) * rarity
    return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-300)


def test_directions_are_leading_singular_vectors():
    texts = sentences(30)
    found = np.array(learn_text(texts, 4).encode(texts))
    W = weights(texts)
    rows = np.linalg.svd(W)[2][:4]
    rows *= np.sign(rows[np.arange(4), np.abs(rows).argmax(axis=1)])[:, None]
    scores = W @ rows.T
    scores -= scores.mean(axis=0)
    wanted = scores * np.sqrt(2.0 / scores.var(axis=0).sum())
    assert np.allclose(found, wanted, atol=1e-10)


def test_a_text_counts_as_much_as_two_numbers():
    for width in (1, 20):
        found = TableEncoder(text_width=width).fit_transform(pd.DataFrame({"t": sentences(60)}))
        assert np.isclose(found.var(axis=0).sum(), 2.0)
        assert found.shape == (60, width)


def test_directions_of_many_texts(monkeypatch):
    texts = sentences(400)
    wanted = learn_text(texts, 5).encode(texts)
    monkeypatch.setattr(text_module, "_DENSE", 1)
    assert np.allclose(learn_text(texts, 5).encode(texts), wanted, atol=1e-6)


def test_texts_in_bands(monkeypatch):
    texts = [*sentences(50), None, ""]
    code = learn_text(texts, 3)
    wanted = code.encode(texts)
    monkeypatch.setattr(text_module, "BAND", 7)
    assert np.allclose(code.encode(texts), wanted, atol=1e-14)
    assert not wanted[-2].any()
    assert wanted[-1].any()  # a text without words is not the mean


def test_directions_are_found_from_some_texts(monkeypatch):
    texts = sentences(50)
    monkeypatch.setattr(text_module, "SAMPLE", 8)
    wanted = learn_text([texts[row] for row in (0, 7, 14, 21, 28, 35, 42, 49)], 3)
    assert np.array_equal(learn_text(texts, 3).encode(texts), wanted.encode(texts))


def test_near_texts_are_near():
    texts = sentences(80)
    encoder = TableEncoder().fit(pd.DataFrame({"t": texts}))
    twin = texts[0].replace("sun", "suns")
    found = encoder.transform(pd.DataFrame({"t": [texts[0], twin, *texts[1:]]}))
    distances = np.linalg.norm(found - found[0], axis=1)
    assert distances[1] < distances[2:].min()


# --- what is text --------------------------------------------------------------------------------


def kind(values):
    return (
        TableEncoder(min_count=1)
        .fit(pd.DataFrame({"t": values, "n": range(len(values))}))
        .columns_[0]
        .kind
    )


def test_what_is_text_and_what_is_a_category():
    assert kind(sentences(10)) == "text"
    assert kind(sentences(200)) == "text"
    assert kind(sentences(6) * 20) == "category"  # few different ones
    assert kind([f"id{i}" for i in range(200)]) == "category"  # single tokens
    assert kind([f"{i}" + "acgt" * 10 for i in range(200)]) == "text"  # long
    assert kind(["New York", "Rome", "Oslo"] * 3) == "category"


def test_a_missing_text_is_the_mean_and_marked():
    found = TableEncoder().fit_transform(pd.DataFrame({"t": [*sentences(20), None]}))
    assert not found[-1, :-1].any()
    assert np.allclose(found[:, -1], [-np.sqrt(0.5)] * 20 + [np.sqrt(0.5)])


def test_texts_without_words_are_left_out():
    values = ["? ! . , ;" + "!" * i for i in range(30)]
    encoder = TableEncoder().fit(pd.DataFrame({"t": values, "n": range(30)}))
    assert encoder.notes_ == ("Column 't' is left out: its texts do not differ in their words.",)


# --- a kernel of texts ---------------------------------------------------------------------------


def test_texts_compared_by_a_kernel():
    frame = pd.DataFrame({"n": np.arange(30.0), "t": sentences(30)})
    encoder = TableEncoder(text="kernel").fit(frame)
    assert encoder.transform(frame).shape == (30, 1)
    numbers = TableEncoder().fit_transform(frame[["n"]])
    gamma = encoder.kernel_.terms[0].inner.gamma
    wanted = Gaussian(gamma)(numbers) + Spectrum(3).normalized()(frame.t.tolist())
    assert np.allclose(encoder.kernel_(frame), wanted, rtol=1e-10)
    model = KernelRidge(kernel=encoder.kernel_, alpha=1e-3).fit(frame, frame.n)
    assert np.abs(model.predict(frame) - frame.n).max() < 0.5


def test_texts_alone_compared_by_a_kernel():
    frame = pl.DataFrame({"t": sentences(30), "u": sentences(30, seed=1)})
    encoder = TableEncoder(text="kernel").fit(frame)
    kernel = Spectrum(3).normalized()
    assert encoder.kernel_ == kernel.on("t") + kernel.on("u")
    assert encoder.transform(frame).shape == (30, 0)


def test_a_kernel_of_texts_needs_names_and_whole_texts():
    with pytest.raises(InputError, match='text="kernel" chooses columns by their names'):
        TableEncoder(text="kernel").fit(np.array([[one] for one in sentences(30)], dtype=object))
    encoder = TableEncoder(text="kernel").fit(pd.DataFrame({"t": [*sentences(30), None]}))
    assert encoder.notes_ == (
        "Column 't' has missing texts, which a string kernel refuses: fill them.",
    )
