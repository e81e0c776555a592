"""What `load` accepts is whole: each attribute is there, of the right kind and size, and finite."""

import io
import json
import warnings

import numpy as np
import pytest
from estimators import AUTOMATIC, ENCODERS
from file_models import KINDS, models
from forgery import LABELS, X, content, forge, same
from sklearn.base import is_classifier

from mercer import SVC, KernelNeighborsClassifier, KernelPCA, KernelPrototypeClassifier, KernelRidge
from mercer.checks import FileError, InputError
from mercer.files import load, save
from mercer.files.records import ESTIMATORS, RECORDS
from mercer.files.rules import Context, numbers
from mercer.files.schema import SCHEMAS
from mercer.kernels import Gaussian, Linear, Spectrum

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    FITTED = {
        name: (model, points)
        for name, model, points in models(short=True)
        if type(model) in SCHEMAS and hasattr(model, "certificate_")
    }


@pytest.fixture(params=FITTED)
def fitted(request, tmp_path):
    """A fitted model as a manifest and tensors, with the rules for its attributes."""
    model = FITTED[request.param][0]
    save(model, tmp_path / "good.mercer")
    manifest, tensors = content(tmp_path / "good.mercer")
    return model, json.loads(json.dumps(manifest)), tensors, tmp_path / "odd.mercer"


def without(manifest, tensors, key):
    """The file without an attribute, and without its tensors."""
    state = {name: value for name, value in manifest["state"].items() if name != key}
    text = json.dumps({**manifest, "state": state, "tensors": {}})
    rest = {name: one for name, one in tensors.items() if json.dumps(name) in text}
    return manifest | {"state": state}, rest


def functions():
    from samples import shared_letters

    return {"shared_letters": shared_letters}


def is_used(model, key):
    rule = SCHEMAS[type(model)].attributes[key]
    if isinstance(rule.needed, bool):
        return rule.needed
    sizes = {"prototypes": 0, "classes": 0}
    if key == "prototype_classes_":
        sizes = {"prototypes": len(model.squared_norms_), "classes": len(model.classes_)}
    return rule.needed(Context(model, {}, sizes))


# --- one attribute at a time -------------------------------------------------------------------


def test_no_attribute_can_be_missing(fitted):
    model, manifest, tensors, path = fitted
    used = [key for key in manifest["state"] if is_used(model, key) and key != "coef_"]
    assert len(used) > 3
    for key in used:
        with pytest.raises(FileError, match=rf"must have the attribute {key},|must be|used once"):
            load(forge(path, *without(manifest, tensors, key)), functions())


def test_no_attribute_can_be_of_another_kind(fitted):
    model, manifest, tensors, path = fitted
    for key in manifest["state"]:
        rule = SCHEMAS[type(model)].attributes[key]
        if rule.needed is not False and not is_used(model, key):
            continue
        less, rest = without(manifest, tensors, key)
        strange = {"type": "tuple", "items": []}
        less["state"] = manifest["state"] | {key: strange}
        with pytest.raises(FileError, match=f"{key} of {type(model).__name__} must be"):
            load(forge(path, less, rest), functions())


def test_no_array_can_have_another_shape(fitted):
    model, manifest, tensors, path = fitted
    free = {"mistakes_", "labels_"} | ({"support_"} if "coef_" in vars(model) else set())
    for key, packed in manifest["state"].items():
        is_array = isinstance(packed, dict) and packed.get("type") == "array"
        if not is_array or key in free or not is_used(model, key):
            continue
        name, array = packed["tensor"], tensors[packed["tensor"]]
        shapes = [array[..., None], array.reshape(-1, *array.shape[2:], 1), array[None]]
        shapes += [np.concatenate([array, array])] if array.size else []
        for changed in shapes:
            if changed.shape == array.shape:
                continue
            with pytest.raises(FileError):
                load(forge(path, manifest, tensors | {name: changed}), functions())


def test_numbers_that_predict_are_finite(fitted):
    model, manifest, tensors, path = fitted
    loose = {"explained_variance_ratio_"}
    primal = hasattr(model, "coef_") and "coef_" in vars(model)
    loose |= {"dual_coef_"} if primal else set()
    for key, packed in manifest["state"].items():
        is_array = isinstance(packed, dict) and packed.get("type") == "array"
        if not is_array or key in loose or not is_used(model, key):
            continue
        array = tensors[packed["tensor"]]
        if array.dtype.kind == "f" and array.size:
            for odd in (np.nan, np.inf):
                changed = array.copy()
                changed.flat[-1] = odd
                with pytest.raises(FileError, match=f"{key} of "):
                    load(forge(path, manifest, tensors | {packed["tensor"]: changed}), functions())


def test_parameters_that_predictions_depend_on_are_there(fitted):
    model, manifest, tensors, path = fitted
    rules = SCHEMAS[type(model)].parameters
    if type(model) not in (*ENCODERS, *AUTOMATIC):
        assert any(rules[name].needed for name in ("kernel", "kernels", "gamma") if name in rules)
    for key in [key for key, rule in rules.items() if rule.needed]:
        less = {name: value for name, value in manifest["parameters"].items() if name != key}
        with pytest.raises(FileError, match=rf"parameter {key} of .* must be given|used once"):
            load(forge(path, manifest | {"parameters": less}, tensors), functions())


# --- what fits only together -------------------------------------------------------------------


def pieces(model, folder):
    save(model, folder / "good.mercer")
    manifest, tensors = content(folder / "good.mercer")
    return json.loads(json.dumps(manifest)), tensors, folder / "odd.mercer"


def refused(path, manifest, tensors, match):
    with pytest.raises(FileError, match=match):
        load(forge(path, manifest, tensors))


def test_class_numbers_are_in_range(tmp_path):
    manifest, tensors, path = pieces(KernelNeighborsClassifier(2).fit(X, LABELS), tmp_path)
    for wrong in (2, -1, 2**40):
        codes = tensors["state._codes"].copy()
        codes[3] = wrong
        refused(path, manifest, tensors | {"state._codes": codes}, "_codes of KernelNeigh")
    unsigned = tensors["state._codes"].astype(np.uint64)  # with signed numbers they become floats
    refused(path, manifest, tensors | {"state._codes": unsigned}, "_codes of KernelNeighbors")


def test_labels_are_distinct_classes(tmp_path):
    manifest, tensors, path = pieces(SVC().fit(X, np.arange(12) % 2), tmp_path)
    for wrong in ([1, 1], [1, 0], [0.5, 1.5], [np.nan, 1.0], [1]):
        refused(path, manifest, tensors | {"state.classes_": np.array(wrong)}, "classes_ of SVC")


def test_support_vectors_of_classes_add_up(tmp_path):
    manifest, tensors, path = pieces(SVC().fit(X, np.arange(12) % 3), tmp_path)
    counts = tensors["state.n_support_"].copy()
    counts[0] += 1
    refused(path, manifest, tensors | {"state.n_support_": counts}, "n_support_ of SVC")


def test_kernel_and_points_agree(tmp_path):
    manifest, tensors, path = pieces(SVC(kernel=Gaussian(1.0)).fit(X, LABELS), tmp_path)
    other = {"type": "kernel", "spec": {"kernel": "Linear"}}
    changed = manifest | {"state": manifest["state"] | {"kernel_": other}}
    refused(path, changed, tensors, "kernel_ of SVC must be the kernel of the points")
    spectrum = {"type": "kernel", "spec": Spectrum(2).spec()}
    prepared = manifest["state"]["_prepared"] | {"kernel": spectrum}
    changed = manifest | {"state": manifest["state"] | {"_prepared": prepared}}
    refused(path, changed, tensors, r"points must be such as their kernel takes; got Spectrum")
    unsettled = {"type": "kernel", "spec": {"kernel": "Gaussian", "gamma": "scale"}}
    prepared = manifest["state"]["_prepared"] | {"kernel": unsettled}
    changed = manifest | {"state": manifest["state"] | {"_prepared": prepared}}
    refused(path, changed, tensors, "must be a number before the kernel is evaluated")
    for wrong in (np.nan, np.inf):
        points = tensors["state._prepared.points"].copy()
        points[0, 0] = wrong
        refused(path, manifest, tensors | {"state._prepared.points": points}, "finite numbers only")


def test_columns_and_names_agree_with_the_points(tmp_path):
    kernel, frame = KINDS["names"]
    manifest, tensors, path = pieces(SVC(kernel=kernel).fit(frame, np.arange(9) % 2), tmp_path)
    changed = manifest | {"state": manifest["state"] | {"n_features_in_": 4}}
    refused(path, changed, tensors, "n_features_in_ of SVC must be the number of columns")
    names = manifest["state"]["feature_names_in_"] | {"shape": [3, 1]}
    changed = manifest | {"state": manifest["state"] | {"feature_names_in_": names}}
    refused(path, changed, tensors, "feature_names_in_ of SVC must be the names")


def test_coefficients_of_features_need_the_map_of_the_kernel(tmp_path):
    model = KernelRidge(kernel=Linear() + 1, solver="primal").fit(X, X[:, 0])
    manifest, tensors, path = pieces(model, tmp_path)
    longer = np.concatenate([tensors["state.coef_"], [1.0]])
    refused(path, manifest, tensors | {"state.coef_": longer}, "coef_ of KernelRidge must be")


def test_the_regression_back_from_components_fits_them(tmp_path):
    model = KernelPCA(2, fit_inverse_transform=True).fit(X)
    manifest, tensors, path = pieces(model, tmp_path)
    theirs = pieces(KernelPCA(3, fit_inverse_transform=True).fit(X), tmp_path)
    inverse = theirs[0]["state"]["_inverse"]
    mixed = {name: one for name, one in tensors.items() if "_inverse" not in name}
    mixed |= {name: one for name, one in theirs[1].items() if "_inverse" in name}
    changed = manifest | {"state": manifest["state"] | {"_inverse": inverse}}
    refused(path, changed, mixed, "_inverse of KernelPCA must be None or a regression")


def test_attributes_with_an_underscore_are_those_of_the_table(tmp_path):
    manifest, tensors, path = pieces(SVC().fit(X, LABELS), tmp_path)
    changed = manifest | {"state": manifest["state"] | {"_secret": 1}}
    refused(path, changed, tensors, "attributes of SVC must be those that its fit sets; got _sec")
    model = SVC().fit(X, LABELS)
    model._note = "mine"
    with pytest.raises(FileError, match="got _note"):
        save(model, tmp_path / "mine.mercer")


def test_a_model_that_is_not_whole_is_not_saved(tmp_path):
    model = SVC().fit(X, LABELS)
    del model.intercept_
    with pytest.raises(FileError, match=r"^save: SVC must have the attribute intercept_.*Fit the"):
        save(model, tmp_path / "model.mercer")
    model = SVC(probability=False).fit(X, LABELS).set_params(probability=True)
    with pytest.raises(FileError, match="SVC must have the attribute slopes_"):
        save(model, tmp_path / "model.mercer")
    assert list(tmp_path.iterdir()) == []


def test_what_was_computed_since_the_fit_does_not_stand_in_the_way():
    model = KernelRidge(alpha=0.1).fit(X, X[:, 0])
    wanted = model.predict(X, return_std=True)
    buffer = io.BytesIO()
    save(model, buffer)
    assert same(load(buffer.getvalue()).predict(X, return_std=True), wanted)


def test_a_refit_that_needs_less_is_saved():
    model = SVC(probability=True).fit(X, LABELS)
    model.set_params(probability=False).fit(X, np.arange(12) % 3)
    buffer = io.BytesIO()
    save(model, buffer)
    assert same(load(buffer.getvalue()).predict(X), model.predict(X))


def closer(distances):
    return 1 / (1 + distances)


def test_a_function_that_predictions_need_is_saved_by_name():
    model = KernelNeighborsClassifier(3, weights=closer).fit(X, LABELS)
    buffer = io.BytesIO()
    save(model, buffer)
    with pytest.raises(FileError, match=r"functions=\{'closer': …\}"):
        load(buffer.getvalue())
    found = load(buffer.getvalue(), {"closer": closer})
    assert same(found.predict_proba(X), model.predict_proba(X))


# --- valid values that cannot be computed with --------------------------------------------------


def test_a_posterior_that_is_singular_says_so(tmp_path):
    manifest, tensors, path = pieces(KernelRidge(alpha=1.0).fit(X, X[:, 0]), tmp_path)
    name = manifest["state"]["_posterior"]["fields"]["alphas"]["tensor"]
    found = load(forge(path, manifest, tensors | {name: np.zeros(1)}))  # and a point given twice
    assert np.isfinite(found.predict(X)).all()
    with pytest.raises(InputError, match=r"KernelRidge: return_std needs .* Raise alpha\."):
        found.predict(X, return_std=True)


def test_more_threads_than_there_can_be_are_refused(tmp_path):
    manifest, tensors, path = pieces(KernelNeighborsClassifier(2).fit(X, LABELS), tmp_path)
    changed = manifest | {"parameters": manifest["parameters"] | {"n_jobs": 2**31}}
    with pytest.raises(InputError, match="n_jobs must be a whole number at least 1 and at most"):
        load(forge(path, changed, tensors)).predict(X)


# --- the table and the lists -------------------------------------------------------------------


def test_every_estimator_has_a_table_that_names_what_its_fit_sets():
    assert set(SCHEMAS) == {kind for _, kind in ESTIMATORS}
    for model, _ in FITTED.values():
        set_by_fit = set(vars(model)) - set(model.get_params(deep=False))
        assert set_by_fit <= set(SCHEMAS[type(model)].attributes), type(model)
        assert not is_classifier(model) or "classes_" in SCHEMAS[type(model)].attributes


def test_names_in_files_are_told_apart_and_do_not_change():
    for listed in (ESTIMATORS, RECORDS):
        assert isinstance(listed, tuple)
        assert len(dict(listed)) == len(listed)
    assert [name for name, _ in RECORDS if "Certificate" in name] == [
        "Certificate",
        "DiscriminantCertificate",
        "KMeansCertificate",
        "MachineCertificate",
        "MklCertificate",
        "PcaCertificate",
        "PerceptronCertificate",
        "PrototypeCertificate",
        "RidgeCertificate",
        "SvmCertificate",
        "NystromCertificate",
        "AutoCertificate",
    ]
    assert not {"MachineShop", "Task", "Settings", "Found", "Nearest"} & set(dict(RECORDS))


def test_a_record_that_no_model_keeps_is_refused(tmp_path):
    manifest, tensors, path = pieces(KernelPrototypeClassifier().fit(X, LABELS), tmp_path)
    shop = {"type": "record", "name": "Task", "fields": {}}
    changed = manifest | {"state": manifest["state"] | {"certificate_": shop}}
    refused(path, changed, tensors, "a record must be one of")
    squared = {"type": "record", "name": "Squared", "fields": {}}
    changed = manifest | {"state": manifest["state"] | {"certificate_": squared}}
    refused(path, changed, tensors, "certificate_ of .* must be a PrototypeCertificate")
    wrong = manifest["state"]["certificate_"]["fields"] | {"seconds": "long"}
    certificate = manifest["state"]["certificate_"] | {"fields": wrong}
    changed = manifest | {"state": manifest["state"] | {"certificate_": certificate}}
    refused(path, changed, tensors, "certificate_ of")


def test_the_first_array_says_how_large_a_size_is():
    context = Context(None)
    assert numbers("points", "outputs").holds(np.zeros((3, 2)), context)
    assert context.sizes == {"points": 3, "outputs": 2}
    assert numbers("outputs").holds(np.zeros(2), context)
    for wrong in (np.zeros(3), np.zeros(2, int), [0.0, 0.0], np.array([0, np.nan])):
        assert not numbers("outputs").holds(wrong, context)
    assert not numbers("outputs", above=0).holds(np.zeros(2), context)
    assert numbers("outputs", least=0).holds(np.zeros(2), context)
