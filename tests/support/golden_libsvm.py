"""Write the golden files of LIBSVM: models that svm-train made, and what it predicts with them.

It needs LIBSVM itself (`pip install libsvm-official`) and nothing of mercer:

    python tests/support/golden_libsvm.py tests/convert/golden

A model file is LIBSVM's own. `expected.json` has for each model the points, the labels that
`svm_predict` gives them, and the decision values, of several classes in LIBSVM's order of pairs.
"""

import json
import sys
from pathlib import Path

import numpy as np
from libsvm.svm import c_double, gen_svm_nodearray, kernel_names, libsvm, svm_forms
from libsvm.svmutil import svm_load_model, svm_save_model, svm_train

PRECOMPUTED = kernel_names.PRECOMPUTED

LABELS = (7, -2, 3, 0)  # in the order in which the data show them, which is not ascending


def points(seed, n, width=3):
    """Rows that eight digits hold, which is what LIBSVM writes."""
    return np.round(np.random.default_rng(seed).normal(size=(n, width)), 3)


def classes(X, k):
    """Classes that overlap."""
    angle = np.arctan2(X[:, 0], X[:, 1]) + 0.6 * np.sin(5 * X[:, 2])
    codes = (np.floor((angle + np.pi) / (2 * np.pi) * k).astype(int)) % k
    return [LABELS[code] for code in codes]


def cases():
    """Every type and every kernel of LIBSVM, as name, options of svm-train and targets."""
    X = points(0, 60)
    two = [1 if x[0] + x[1] ** 2 > 0.5 else -1 for x in X]
    # Classes drawn by lot: many a point has as many votes for one class as for another.
    drawn = [LABELS[code] for code in np.random.default_rng(3).integers(0, 4, len(X))]
    numbers = [float(np.round(np.sin(2 * x[0]) + 3.0, 3)) for x in X]
    return X, {
        "c_svc_linear": ("-s 0 -t 0 -c 1", two),
        "c_svc_rbf": ("-s 0 -t 2 -c 10 -g 0.7", drawn),
        "c_svc_sigmoid": ("-s 0 -t 3 -c 2 -g 0.2 -r -0.3", [-one for one in two]),
        "c_svc_precomputed": ("-s 0 -t 4 -c 3", classes(X, 3)),
        "c_svc_probability": ("-s 0 -t 2 -c 1 -g 0.5 -b 1", two),
        "nu_svc_polynomial": ("-s 1 -t 1 -n 0.4 -d 2 -g 0.5 -r 1", classes(X, 3)),
        "one_class_rbf": ("-s 2 -t 2 -n 0.3 -g 0.4", two),
        "one_class_probability": ("-s 2 -t 2 -n 0.3 -g 0.4 -b 1", two),
        "epsilon_svr_rbf": ("-s 3 -t 2 -c 5 -p 0.1 -g 0.6 -b 1", numbers),
        "nu_svr_linear": ("-s 4 -t 0 -c 2 -n 0.5", numbers),
        "epsilon_svr_empty": ("-s 3 -t 2 -c 5 -p 9 -g 0.6", numbers),
    }


def rows(X):
    """Rows as LIBSVM takes them, zeros left out."""
    return [{c + 1: float(v) for c, v in enumerate(x) if v} for x in X]


def gram(X, Z):
    """Rows of a precomputed matrix with their numbers."""
    K = np.round((X @ Z.T + 1.0) ** 2, 4)
    return [{0: i + 1, **{j + 1: float(v) for j, v in enumerate(row)}} for i, row in enumerate(K)]


def predicted(model, points):
    """The labels and the decision values of points, from the library itself.

    `svm_predict` of its Python module (3.37) has room for one value of nu_svc, whatever the number
    of classes.
    """
    k = model.get_nr_class()
    of_classes = model.get_svm_type() in (svm_forms.C_SVC, svm_forms.NU_SVC)
    room = (c_double * (k * (k - 1) // 2 if of_classes else 1))()
    labels, values = [], []
    for point in points:
        nodes, _ = gen_svm_nodearray(point, isKernel=model.param.kernel_type == PRECOMPUTED)
        labels.append(libsvm.svm_predict_values(model, nodes, room))
        values.append(list(room))
    return labels, values


def main(folder):
    """Train, save, read back and predict."""
    X, known = cases()
    new = points(1, 40)
    expected = {}
    for name, (options, targets) in known.items():
        precomputed = "-t 4" in options
        train, test = (gram(X, X), gram(new, X)) if precomputed else (rows(X), rows(new))
        path = str(Path(folder) / f"{name}.model")
        svm_save_model(path, svm_train(targets, train, options + " -q"))
        labels, values = predicted(svm_load_model(path), test)
        shown = [list(row.values())[1:] for row in test] if precomputed else new.tolist()
        expected[name] = {"points": shown, "labels": labels, "values": values}
    lines = [f"{json.dumps(name)}: {json.dumps(one)}" for name, one in expected.items()]
    (Path(folder) / "expected.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main(sys.argv[1])
