"""What became of a random fit: a verdict in one word, and what to say about it."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from random_cases import Case
from sklearn import svm
from sklearn.exceptions import UndefinedMetricWarning

from mercer.checks import MercerError

Array = np.ndarray[Any, Any]

OK, ERROR, WARNING = "ok", "own error", "own warning"
RAW, LEAK, NONFINITE, HANG = "raw exception", "raw warning", "not finite", "hang"
INFEASIBLE, WORSE = "infeasible", "worse than LIBSVM"
FAILURES = (RAW, LEAK, NONFINITE, HANG, INFEASIBLE, WORSE)

COMPARED = ("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM")
ALLOWED = 1e-6  # of the objective, by which ours may be above LIBSVM's
STEPS = 1_000_000  # that LIBSVM may take


@dataclass(frozen=True)
class Verdict:
    """word: one of those above. about: the error, the warning, the number."""

    word: str
    about: str = ""


def judge(case: Case) -> Verdict:
    """Fit and predict, and say what came of it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            bad = _not_finite(case)
        except MercerError as error:
            verdict = Verdict(ERROR, str(error))
        except Exception as error:
            verdict = Verdict(RAW, f"{type(error).__name__}: {error}")
        else:
            verdict = Verdict(NONFINITE, bad) if bad else Verdict(OK)
    raw = [w for w in caught if not _is_own(w)]
    if raw and verdict.word in (OK, ERROR):
        return Verdict(LEAK, f"{raw[0].category.__name__}: {raw[0].message}, {raw[0].filename}")
    if caught and verdict.word == OK:
        return Verdict(WARNING, str(caught[0].message))
    return verdict


def _is_own(warning: Any) -> bool:
    if issubclass(warning.category, UndefinedMetricWarning):  # the word of a scorer on few samples
        return True
    own = re.match(r"\w+: ", str(warning.message)) is not None
    return own and not issubclass(warning.category, RuntimeWarning)


def _not_finite(case: Case) -> str:
    """Fit, ask for everything there is, and return the name of what is not finite."""
    model = case.model
    given = {} if case.weight is None else {"sample_weight": case.weight}
    model.fit(case.X, case.y, **given)
    kept = ("dual_coef_", "coef_", "intercept_", "eigenvalues_", "inertia_")
    for name in kept:
        if name == "dual_coef_" and hasattr(model, "coef_"):
            continue  # the function is that of coef_; without a penalty there are no others
        if hasattr(model, name) and not _finite(getattr(model, name)):
            return name
    asked = ("predict", "decision_function", "predict_proba", "transform", "score_samples")
    for name in (*asked, "distances"):
        if hasattr(model, name) and not _finite(getattr(model, name)(case.new)):
            return name
    if type(model).__name__ in ("KernelRidge", "KernelRidgeCV"):
        _, deviation = model.predict(case.new, return_std=True)
        if not _finite(deviation):
            return "return_std"
    if type(model).__name__.startswith("KernelNeighbors"):
        distances, _ = model.kneighbors(case.new)
        if not _finite(distances):
            return "kneighbors"
    return ""


def _finite(values: Any) -> bool:
    array = values.data if scipy.sparse.issparse(values) else np.asarray(values)
    return array.dtype.kind not in "fc" or bool(np.isfinite(array).all())


# --- against LIBSVM ---------------------------------------------------------------------------


def comparable(case: Case) -> bool:
    """Return whether LIBSVM solves the same problem on the same numbers."""
    model = case.model
    return (
        type(model).__name__ in COMPARED
        and hasattr(model, "certificate_")
        and model.certificate_.status == "converged"
        and getattr(model, "fit_intercept", True)
        and getattr(model, "multiclass", "ovo") == "ovo"
        and getattr(model, "C", 1.0) < np.inf
        and case.X.dtype == np.float64
    )


def compare(case: Case) -> Verdict:
    """Compare the objective of every machine with that of LIBSVM's, at the same tolerance."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        K = case.model.kernel_.formula(case.X)
        if not np.isfinite(K).all() or not _is_mercer(K):
            return Verdict(OK)
        problem = Dual(case, K)
        ours = problem.machines(case.model)
        for b, rows in zip(ours, problem.groups, strict=True):
            missed = problem.infeasible(b, rows)
            if missed > 1e-6:
                return Verdict(INFEASIBLE, f"by {missed:.1e}")
        theirs = _libsvm(case, K)
        if theirs is None:
            return Verdict(OK)
        return _worst(problem, ours, problem.machines(theirs))


def _is_mercer(K: Array) -> bool:
    """Return whether K has one optimum: with negative eigenvalues each solver finds its own."""
    values = np.linalg.eigvalsh(K)
    return bool(values[0] >= -1e-12 * values[-1])


def _worst(problem: Dual, ours: list[Array], theirs: list[Array]) -> Verdict:
    worst, said = 0.0, ""
    for b, other, rows in zip(ours, theirs, problem.groups, strict=True):
        if problem.infeasible(other, rows, float(np.abs(other).sum())) > 1e-9:
            continue
        here, there = problem.objective(b, rows), problem.objective(other, rows)
        gap = (here - there) / max(1.0, abs(there))
        if gap > worst:
            worst, said = gap, f"{here:.12g} against {there:.12g}, relative {gap:.1e}"
    return Verdict(WORSE, said) if worst > ALLOWED else Verdict(OK)


def _libsvm(case: Case, K: Array) -> Any:
    """Return LIBSVM's machines, or None where it does not converge."""
    ours = case.model
    shared = ("C", "nu", "epsilon", "class_weight", "tol")
    given = {name: getattr(ours, name) for name in shared if hasattr(ours, name)}
    theirs = getattr(svm, type(ours).__name__)(kernel="precomputed", max_iter=STEPS, **given)
    # Points without weight are left out here: scikit-learn numbers its support vectors wrongly.
    used = np.arange(len(K)) if case.weight is None else np.flatnonzero(case.weight)
    y = () if case.y is None else (case.y[used],)
    weight = None if case.weight is None else case.weight[used]
    if "class_weight" in given:
        theirs.class_weight = dict(zip(ours.classes_, ours.class_weight_, strict=True))
    try:
        theirs.fit(K[np.ix_(used, used)], *y, sample_weight=weight)
    except Exception:  # what it refuses is no yardstick
        return None
    theirs.support_ = used[theirs.support_]
    status = np.atleast_1d(theirs.fit_status_)
    return None if status.any() or not np.isfinite(theirs.dual_coef_).all() else theirs


class Dual:
    """The dual problems of a case: min over b of what `objective` says, in extended precision."""

    def __init__(self, case: Case, K: Array) -> None:
        self.kind = type(case.model).__name__
        self.model, self.K = case.model, K.astype(np.longdouble)
        n = len(K)
        self.y = np.zeros(n) if case.y is None else case.y
        weight = np.ones(n) if case.weight is None else case.weight
        self.bound = weight * getattr(case.model, "C", 1.0)
        self.groups = [np.arange(n)]
        if self.kind in ("SVC", "NuSVC"):
            classes, codes = np.unique(self.y, return_inverse=True)
            self.bound = self.bound * case.model.class_weight_[codes]
            parts = [np.flatnonzero(codes == c) for c in range(len(classes))]
            self.pairs = [(a, b) for a in range(len(parts)) for b in range(a + 1, len(parts))]
            self.groups = [np.concatenate([parts[a], parts[b]]) for a, b in self.pairs]

    def machines(self, model: Any) -> list[Array]:
        """Return b of every machine, a number for each point."""
        rows = np.zeros((model.dual_coef_.shape[0], len(self.K)), np.longdouble)
        rows[:, model.support_] = model.dual_coef_
        if self.kind not in ("SVC", "NuSVC"):
            return [rows[0]]
        found = []
        for (a, b), both in zip(self.pairs, self.groups, strict=True):
            first = self.y[both] == np.unique(self.y)[a]
            single = len(self.pairs) == 1
            of_first, of_second = (0, 0) if single else (b - 1, a)
            values = np.zeros(len(self.K), np.longdouble)
            values[both] = np.where(first, rows[of_first, both], rows[of_second, both])
            found.append(self._scaled(values, both))
        return found

    def _scaled(self, b: Array, rows: Array) -> Array:
        """Return b of the problem that NuSVC solves; what is kept is divided by the margin."""
        total = np.abs(b).sum()
        if self.kind != "NuSVC" or total == 0:
            return b
        return b * (self.model.nu * self.bound[rows].sum() / total)

    def infeasible(self, b: Array, rows: Array, size: float | None = None) -> float:
        """Return by how much b misses the bounds and the sums, against a size or that of bounds."""
        bound = self.bound
        largest = max(float(bound[rows].max()), 1e-300)
        beyond = (np.abs(b) - bound)[rows].max() / max(float(np.abs(b).max()), 1e-300)
        target = self.model.nu * bound.sum() if self.kind == "OneClassSVM" else 0.0
        size = max(float(np.abs(b).sum()), largest) if size is None else max(size, 1e-300)
        return float(max(beyond, abs(b.sum() - target) / size))

    def objective(self, b: Array, rows: Array) -> float:
        """Return 1/2 b' K b plus what is linear in b."""
        b, K = b[rows], self.K[np.ix_(rows, rows)]
        value = b @ (K @ b) / 2
        if self.kind == "SVC":
            value -= np.abs(b).sum()
        elif self.kind in ("SVR", "NuSVR"):
            value -= self.y @ b
        if self.kind == "SVR":
            value += self.model.epsilon * np.abs(b).sum()
        return float(value)
