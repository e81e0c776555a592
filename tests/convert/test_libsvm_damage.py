"""Model files of LIBSVM that are wrong: every line is refused in a sentence that names it."""

import io
import random
import warnings
from pathlib import Path

import numpy as np
import pytest
from mutants import blind

from mercer.checks import FileError, InputError, MercerError
from mercer.convert import read_libsvm, write_libsvm

GOLDEN = Path(__file__).parent / "golden"
GOOD = b"""svm_type c_svc
kernel_type rbf
gamma 0.5
nr_class 3
total_sv 3
rho 0.1 0.2 0.3
label 2 1 3
probA -1 -2 -3
probB 0.1 0.2 0.3
nr_sv 1 1 1
SV
1 0.5 1:1 3:2
-1 0.5 2:1
-0.5 -0.5 1:0.25
"""


def changed(line, text):
    """The good file with another line in one place; None leaves it out."""
    lines = GOOD.split(b"\n")
    lines[line - 1 : line] = [] if text is None else [text]
    return b"\n".join(lines)


def quiet(data, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read_libsvm(data, **options)


def test_the_good_file_is_good():
    model = quiet(GOOD)
    assert model.classes_.tolist() == [1, 2, 3]
    assert model.n_features_in_ == 3
    assert quiet(GOOD.replace(b"\n", b"\r\n")).classes_.tolist() == [1, 2, 3]
    assert quiet(b"\n" + GOOD + b"\n \n").classes_.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("line", "text", "match"),
    [
        (
            1,
            b"svm_type c_svm",
            r"line 1: svm_type must be one of .*got 'c_svm'. Did you mean 'c_svc",
        ),
        (1, b"svm_type", r"line 1: svm_type must have 1 value; got 0"),
        (1, None, r"line 10: there must be a line svm_type before the line SV; got none"),
        (2, b"kernel_type laplacian", r"line 2: kernel_type must be one of"),
        (3, None, r"line 10: with kernel_type rbf there must be a line gamma"),
        (3, b"gamma one", r"line 3: gamma must be a finite number; got 'one'"),
        (3, b"gamma nan", r"line 3: gamma must be a finite number; got 'nan'"),
        (3, b"gamma 1_0", r"line 3: gamma must be a finite number; got '1_0'"),
        (3, b"gamma -1", r"Gaussian: gamma must be"),
        (3, b"gama 1", r"line 3: a line before SV must start with .*Did you mean 'gamma'"),
        (3, b"gamma 1\ngamma 2", r"line 4: there must be one line gamma; got another in line 3"),
        (3, b"\xff\xfe 1", r"line 3: a line before SV must start with"),
        (4, b"nr_class 1", r"line 4: nr_class must be a whole number from 2"),
        (4, b"nr_class 99999999999999999999", r"line 4: nr_class must be a whole number"),
        (4, b"nr_class 1000000000", r"line 7: label must have 1000000000 values; got 3"),
        (5, b"total_sv 2000000000", r"line 10: nr_sv must add up to total_sv = 2000000000; got 3"),
        (5, b"total_sv -1", r"line 5: total_sv must be a whole number from 0"),
        (5, b"total_sv 1.5", r"line 5: total_sv must be a whole number"),
        (6, b"rho 0.1", r"line 6: rho must have 3 values; got 1"),
        (6, b"rho 0.1 0.2 inf", r"line 6: rho must be a finite number; got 'inf'"),
        (6, None, r"there must be a line rho"),
        (7, b"label 1 1 3", r"line 7: labels must be distinct"),
        (7, b"label 1 2.5 3", r"line 7: a label must be a whole number"),
        (7, b"label 1 2 3000000000", r"line 7: a label must be a whole number"),
        (8, None, r"line 8: probA and probB must come together"),
        (9, b"probB 1", r"line 9: probB must have 3 values"),
        (10, b"nr_sv 1 1 2", r"line 10: nr_sv must add up to total_sv = 3; got 4"),
        (10, b"nr_sv 1 -1 3", r"line 10: nr_sv must be a whole number from 0"),
        (11, b"SVs", r"line 11: a line before SV must start with"),
        (11, b"nr_sv 1 1 1", r"line 11: there must be one line nr_sv"),
        (12, b"1", r"line 12: a support vector must start with 2 coefficients; got 1 words"),
        (12, b"", r"line 12: a support vector must start with 2 coefficients"),
        (12, b"1 x 1:1", r"line 12: a coefficient must be a finite number; got 'x'"),
        (12, b"1 0.5 1", r"line 12: an entry must be index:value; got '1'"),
        (12, b"1 0.5 1:", r"line 12: the value of index 1 must be a finite number; got ''"),
        (12, b"1 0.5 a:1", r"line 12: an entry must be index:value; got 'a:1'"),
        (12, b"1 0.5 0:1", r"line 12: indices must rise from 1 to at most \d+; got 0"),
        (12, b"1 0.5 2:1 2:1", r"line 12: indices must rise from 1 .*; got 2 after 2"),
        (12, b"1 0.5 2147483647:1", r"line 12: indices must rise from 1 to at most 67108864"),
        (12, b"1 0.5 1:1e999", r"line 12: the value of index 1 must be a finite number"),
        (13, None, r"line 14: after SV there must be total_sv = 3 lines; got 2 lines"),
        (14, b"1 1 1:1\n1 1 1:1", r"line 15: after SV there must be total_sv = 3 lines; got 4"),
    ],
)
def test_a_wrong_line_is_named(line, text, match):
    with pytest.raises(FileError, match=match):
        quiet(changed(line, text))


def test_what_is_no_model_file_at_all(tmp_path):
    for data in (b"", b"\0" * 100, b"svm_type c_svc\n", b"1 1:2 3:4\n"):
        with pytest.raises(FileError):
            read_libsvm(data)
    with pytest.raises(FileError, match="it must be a file; got a directory"):
        read_libsvm(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_libsvm(tmp_path / "none.model")
    with pytest.raises(InputError, match="a path, bytes or a binary file object"):
        read_libsvm(12)


def test_machines_without_classes():
    single = b"svm_type one_class\nkernel_type linear\nnr_class 2\ntotal_sv 1\nrho 1\nSV\n1 1:1\n"
    assert read_libsvm(single).offset_ == 1.0
    for line in (b"label 1 2\n", b"nr_sv 1 0\n"):
        with pytest.raises(FileError, match="one_class must have no line"):
            read_libsvm(single.replace(b"SV\n", line + b"SV\n"))
    with pytest.raises(FileError, match="nr_class of one_class must be 2; got 3"):
        read_libsvm(single.replace(b"nr_class 2", b"nr_class 3"))


def test_a_file_without_entries_needs_the_number_of_columns():
    empty = b"svm_type epsilon_svr\nkernel_type linear\nnr_class 2\ntotal_sv 0\nrho -2\nSV\n"
    with pytest.raises(FileError, match=r"how many columns there are; .* Give n_features"):
        read_libsvm(empty)
    assert read_libsvm(empty, n_features=4).predict(np.ones((2, 4))).tolist() == [2.0, 2.0]
    with pytest.raises(InputError, match="n_features must be a whole number"):
        read_libsvm(empty, n_features=2**40)


def test_numbers_of_a_precomputed_matrix():
    single = b"svm_type one_class\nkernel_type precomputed\nnr_class 2\ntotal_sv 1\nrho 1\nSV\n"
    assert read_libsvm(single + b"2 0:3\n").decision_function([[9.0, 9.0, 1.5]]).tolist() == [2.0]
    for wrong in (b"2 0:3 1:4", b"2 1:3", b"2", b"2 0:1.5", b"2 0:0", b"2 0:99999999999"):
        with pytest.raises(FileError, match=r"line 7: .* number of "):
            read_libsvm(single + wrong)


def test_values_that_no_kernel_can_have():
    steep = b"svm_type one_class\nkernel_type polynomial\ndegree 900\ngamma 1\ncoef0 0\n"
    steep += b"nr_class 2\ntotal_sv 1\nrho 1\nSV\n1 1:1e9\n"
    with pytest.raises(FileError, match="read_libsvm"):
        read_libsvm(steep)
    with pytest.raises(FileError, match="A negative coef0 breaks the Mercer property"):
        read_libsvm(steep.replace(b"coef0 0", b"coef0 -1"))


def test_many_columns_stay_sparse():
    wide = (
        b"svm_type one_class\nkernel_type linear\nnr_class 2\ntotal_sv 1\nrho 1\nSV\n1 9000000:2\n"
    )
    model = read_libsvm(wide)
    assert model.n_features_in_ == 9_000_000
    assert model._prepared.points.is_sparse


def test_mutations_are_refused_or_are_models():
    """A file is refused by mercer or predicts: no raw error, no more memory than it has text."""
    files = [path.read_bytes() for path in sorted(GOLDEN.glob("*.model"))]
    counts = {"refused": 0, "read": 0}
    for index in range(3000):
        draw = random.Random(index)
        change = blind if index % 2 else retold
        data = change(draw.choice(files), draw, draw.choice(files))
        try:
            model = quiet(data)
        except MercerError:
            counts["refused"] += 1
            continue
        counts["read"] += 1
        assert sum(part.nbytes for part in parts_of(model)) <= 40 * len(data) + 4096
        if model.n_features_in_ <= 100:
            use(model)
    assert counts["refused"] > 1000
    assert counts["read"] > 100


HOSTILE = (b"", b"nan", b"-inf", b"1e308", b"-1", b"0", b"2147483647", b"99999999999999999999")
HOSTILE += (b"1:2:3", b"0:1", b"67108864:1", b"0x1p3", b"1_0", b"SV", b"linear", b"\xff", b"-0")


def retold(data, draw, other):
    """A file in which a few words are others, or whole lines have changed places."""
    lines = [line.split(b" ") for line in data.split(b"\n")]
    for _ in range(draw.randrange(1, 4)):
        words = draw.choice(lines)
        words[draw.randrange(len(words))] = draw.choice(HOSTILE)
    if draw.random() < 0.3:
        i, j = draw.randrange(len(lines)), draw.randrange(len(lines))
        lines[i], lines[j] = lines[j], lines[i]
    return b"\n".join(b" ".join(words) for words in lines)


def parts_of(model):
    values = model._prepared.points.values
    if hasattr(values, "indptr"):
        return values.data, values.indices, values.indptr, model.dual_coef_
    base = values if values.base is None or values.strides[0] else np.zeros(1)
    return base, model.dual_coef_


def use(model):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            model.predict(np.ones((2, model.n_features_in_)))
        except MercerError:  # such as an overflow
            return
        write_libsvm(model, io.BytesIO())
