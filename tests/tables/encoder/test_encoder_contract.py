"""The encoder as a transformer of scikit-learn, its kernel, its files; any table at all."""

import io
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import table_columns
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import InputError, KernelRidge, TableEncoder
from mercer.kernels import Gaussian

TABLE = pd.DataFrame(table_columns())
ZONED = TABLE.assign(sold=TABLE.sold.dt.tz_localize("Europe/Berlin"))
Y = np.arange(12.0) % 5


@parametrize_with_checks(
    [TableEncoder(), TableEncoder(numbers="rank"), TableEncoder(numbers="robust")]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_names_and_frames_out():
    encoder = TableEncoder().fit(TABLE)
    names = encoder.get_feature_names_out().tolist()
    assert encoder.get_feature_names_out(list(TABLE)).tolist() == names
    for wrong in (list(TABLE)[::-1], ["a"]):
        with pytest.raises(InputError, match="input_features must be equal to feature_names_in_"):
            encoder.get_feature_names_out(wrong)
    found = clone(encoder).set_output(transform="pandas").fit_transform(TABLE[3:])
    assert found.columns.tolist() == TableEncoder().fit(TABLE[3:]).get_feature_names_out().tolist()
    assert found.index.tolist() == TABLE.index[3:].tolist()
    found = encoder.set_output(transform="polars").transform(TABLE)
    assert isinstance(found, pl.DataFrame)
    with pytest.raises(NotFittedError):
        TableEncoder().get_feature_names_out()


def test_a_failed_fit_leaves_the_encoder_as_it_was():
    encoder = TableEncoder().fit(TABLE)
    before = encoder.transform(TABLE)
    with pytest.raises(InputError):
        encoder.fit(TABLE[["land"]])
    assert np.array_equal(encoder.transform(TABLE), before)


def test_fitted_within_folds():
    random = np.random.default_rng(0)
    size, colour = random.normal(size=90), random.choice(["red", "blue", "green"], 90)
    y = np.sin(size) + (colour == "red") * 2.0
    frame = pd.DataFrame(
        {"size": np.where(random.random(90) < 0.1, np.nan, size), "colour": colour}
    )
    frame.loc[5, "colour"] = "mauve"  # seen in all folds but one
    for table in (frame, pl.from_pandas(frame)):
        scores = cross_val_score(
            make_pipeline(TableEncoder(), KernelRidge(alpha=0.1)), table, y, cv=5
        )
        assert scores.mean() > 0.8


# --- the kernel ----------------------------------------------------------------------------------


def test_the_kernel_is_a_gaussian_of_the_encoded_rows():
    encoder = TableEncoder().fit(TABLE)
    rows = encoder.transform(TABLE)
    distances = [np.linalg.norm(rows[i] - rows[j]) for i in range(12) for j in range(i)]
    gamma = 0.5 / np.median(distances) ** 2
    assert np.isclose(encoder.kernel_.inner.gamma, gamma, rtol=1e-12)
    assert (
        repr(encoder.kernel_) == f"Gaussian(gamma={encoder.kernel_.inner.gamma!r}).of(TableEncoder)"
    )
    for table in (TABLE, pl.DataFrame(table_columns())):
        assert np.allclose(encoder.kernel_(table), Gaussian(gamma)(rows), rtol=1e-9)


def test_the_kernel_of_rows_that_are_mostly_the_same():
    encoder = TableEncoder().fit([[0.0]] * 20 + [[1.0], [5.0]])
    assert 0 < encoder.kernel_.inner.gamma < np.inf


def test_the_kernel_in_a_model_is_not_changed_by_another_fit():
    encoder = TableEncoder().fit(ZONED)
    model = KernelRidge(kernel=encoder.kernel_, alpha=0.1).fit(ZONED, Y)
    before = model.predict(ZONED)
    direct = KernelRidge(kernel=encoder.kernel_.inner, alpha=0.1).fit(encoder.transform(ZONED), Y)
    assert np.allclose(before, direct.predict(encoder.transform(ZONED)), rtol=1e-9)
    encoder.fit(ZONED[:6])
    assert np.array_equal(model.predict(ZONED), before)
    assert np.array_equal(clone(model).fit(ZONED, Y).predict(ZONED), before)


def test_words_in_an_array_do_not_reach_the_kernel():
    array = TABLE[["town"]].to_numpy(dtype=object)
    encoder = TableEncoder().fit(array)
    with pytest.raises(InputError):  # kernels of rows read them as codes
        KernelRidge(kernel=encoder.kernel_).fit(array[:10], Y[:10])


# --- files ---------------------------------------------------------------------------------------


def reloaded(model):
    buffer = io.BytesIO()
    mercer.save(model, buffer)
    return mercer.load(buffer.getvalue())


@pytest.mark.parametrize("numbers", ["standard", "rank", "robust"])
def test_encoders_in_files(numbers):
    encoder = TableEncoder(numbers=numbers, types={"rooms": "category"}).fit(ZONED)
    for other in (reloaded(encoder), pickle.loads(pickle.dumps(encoder))):
        assert np.array_equal(other.transform(ZONED), encoder.transform(ZONED))
        assert np.array_equal(other.kernel_(ZONED), encoder.kernel_(ZONED))
        assert other.notes_ == encoder.notes_
        assert other.get_feature_names_out().tolist() == encoder.get_feature_names_out().tolist()


@pytest.mark.parametrize(
    "library", [pd.DataFrame, pl.DataFrame, lambda c: pl.DataFrame(c).to_arrow()]
)
def test_models_with_the_kernel_in_files(library):
    table = library(
        {name: list(ZONED[name].astype(object).where(ZONED[name].notna(), None)) for name in ZONED}
    )
    if isinstance(table, pd.DataFrame):
        table = ZONED
    model = KernelRidge(kernel=TableEncoder().fit(table).kernel_, alpha=0.1).fit(table, Y)
    other = reloaded(model)
    assert np.array_equal(other.predict(table), model.predict(table))
    assert type(other._prepared.points.raw) is type(table)


def test_pipelines_in_files():
    model = make_pipeline(TableEncoder(), KernelRidge(alpha=0.1)).fit(ZONED, Y)
    assert np.array_equal(reloaded(model).predict(ZONED), model.predict(ZONED))


# --- any table -----------------------------------------------------------------------------------

CELLS = {
    "n": st.none() | st.floats(-1e6, 1e6) | st.just(0.0),
    "c": st.none() | st.sampled_from(["u", "v", "w", "", "a longer one"]),
    "b": st.none() | st.booleans(),
    "d": st.none() | st.datetimes(pd.Timestamp(1800, 1, 1), pd.Timestamp(2200, 1, 1)),
    "t": st.none() | st.text(max_size=60),
}


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.fixed_dictionaries(CELLS), min_size=2, max_size=12),
    st.sampled_from(["standard", "rank", "robust"]),
)
def test_any_table_is_encoded_or_refused_in_a_sentence(rows, numbers):
    dtypes = {
        "n": pl.Float64,
        "c": pl.String,
        "b": pl.Boolean,
        "d": pl.Datetime("us"),
        "t": pl.String,
    }
    frame = pl.DataFrame(rows, schema=dtypes)
    try:
        encoder = TableEncoder(numbers=numbers, text_width=3, types={"t": "text"}).fit(frame)
    except InputError as error:
        assert "must tell rows apart" in str(error)  # noqa: PT017
        return
    found = encoder.transform(frame)
    assert np.isfinite(found).all()
    assert found.shape == (len(rows), len(encoder.get_feature_names_out()))
    assert np.array_equal(encoder.fit_transform(frame), found)
    assert np.array_equal(
        TableEncoder(numbers=numbers, text_width=3, types={"t": "text"}).fit_transform(
            frame.to_arrow()
        ),
        found,
    )
    for row in range(len(rows)):
        assert np.allclose(encoder.transform(frame[row]), found[row], rtol=1e-12, atol=1e-12)
    assert np.array_equal(reloaded(encoder).transform(frame), found)


def test_the_output_is_that_of_the_configuration():
    with sklearn.config_context(transform_output="pandas"):
        encoder = TableEncoder().fit(TABLE)
        assert isinstance(encoder.transform(TABLE), pd.DataFrame)
        assert encoder.kernel_(TABLE).shape == (12, 12)
