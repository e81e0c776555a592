"""Programs of scikit-learn, plain and on mercer's engine: python benchmarks/bench_dropin.py [NAME].

Fifteen short programs in the manner of scikit-learn's gallery and documentation. Each runs in fresh
processes, in turn without and with `mercer.patch_sklearn()`, several times in each; the best time
counts, so that imports and the loading of data do not. What both print must be the same, numbers to
1e-3. The last line is the time of `patch_sklearn()` after scikit-learn has been imported.
"""

import contextlib
import functools
import io
import json
import re
import statistics
import subprocess
import sys
import time

import numpy as np

PROCESSES = 3  # for each side
REPEATS = 4  # in each process, after a first run
SAME = 1e-3
SLOWEST = 0.9
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[+-]?\d+)?")


# --- data -----------------------------------------------------------------------------------------


@functools.cache
def table(name):
    """Return the points and targets of a table that scikit-learn ships, columns scaled."""
    import sklearn.datasets
    from sklearn.preprocessing import StandardScaler

    X, y = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)
    return (X / 16.0 if name == "digits" else StandardScaler().fit_transform(X)), y


@functools.cache
def made(name, n, **options):
    """Return points and targets that scikit-learn makes."""
    import sklearn.datasets

    return getattr(sklearn.datasets, f"make_{name}")(n, random_state=0, **options)


@functools.cache
def waves(n):
    """Return noisy values of a sine."""
    random = np.random.default_rng(0)
    X = np.sort(5 * random.random((n, 1)), axis=0)
    return X, np.sin(X).ravel() + 0.2 * random.normal(size=n)


@functools.cache
def forest(n):
    """Return rows like those of the covertype table: 10 numbers, 44 marks, 7 classes."""
    random = np.random.default_rng(0)
    numbers = random.normal(size=(n, 10))
    place, soil = random.integers(0, 4, n), random.integers(0, 40, n)
    marks = np.hstack([np.eye(4)[place], np.eye(40)[soil]])
    height = numbers[:, 0] + np.sin(2 * numbers[:, 1]) + 0.05 * soil + 0.3 * place
    return np.hstack([numbers, marks]), np.digitize(
        height, np.quantile(height, np.arange(1, 7) / 7)
    )


# --- programs -------------------------------------------------------------------------------------


def program_digits():
    from sklearn.metrics import accuracy_score, confusion_matrix
    from sklearn.svm import SVC

    X, y = table("digits")
    model = SVC(gamma=0.25).fit(X[:900], y[:900])
    predicted = model.predict(X[900:])
    print("accuracy", round(accuracy_score(y[900:], predicted), 4))
    print(confusion_matrix(y[900:], predicted).diagonal())


def program_search_of_a_pipeline():
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    X, y = table("breast_cancer")
    grid = {"svc__C": [0.1, 1, 10, 100], "svc__gamma": [1e-3, 1e-2, 1e-1]}
    search = GridSearchCV(make_pipeline(StandardScaler(), SVC()), grid, cv=5).fit(X, y)
    print(search.best_params_, search.best_score_)


def program_regression_machines():
    from sklearn.svm import SVR

    X, y = waves(800)
    grid = np.linspace(0.2, 4.8, 7)[:, None]
    machines = {
        "rbf": SVR(kernel="rbf", C=100, gamma=0.1, epsilon=0.1, tol=1e-4),
        "poly": SVR(kernel="poly", C=1, gamma="auto", degree=3, coef0=1, tol=1e-4),
    }
    for name, machine in machines.items():
        print(name, machine.fit(X, y).predict(grid).round(2))


def program_ridge_of_diabetes():
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.model_selection import cross_val_score

    X, y = table("diabetes")
    for gamma in (0.001, 0.01, 0.1):
        model = KernelRidge(kernel="rbf", alpha=1.0, gamma=gamma)
        print(gamma, cross_val_score(model, X, y - y.mean(), cv=5).mean())


def program_ridge_and_machine():
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.metrics import mean_squared_error
    from sklearn.svm import SVR

    X, y = made("friedman1", 2400, n_features=10, noise=0.5)
    for model in (KernelRidge(kernel="rbf", gamma=0.5, alpha=0.1), SVR(C=10, gamma=0.5, tol=1e-4)):
        error = mean_squared_error(y[1200:], model.fit(X[:1200], y[:1200]).predict(X[1200:]))
        print(type(model).__name__, round(error, 3))


def program_gaussian_process():
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    X, y = waves(500)
    kernel = ConstantKernel(1.0) * RBF(1.0) + WhiteKernel(0.1)
    model = GaussianProcessRegressor(kernel, random_state=0).fit(X, y)
    mean, deviation = model.predict(np.linspace(0, 5, 9)[:, None], return_std=True)
    print("evidence", round(model.log_marginal_likelihood_value_, 3))
    print(mean.round(3), deviation.round(3))


def program_circles():
    from sklearn.decomposition import KernelPCA
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    X, y = made("circles", 1500, factor=0.3, noise=0.05)
    pca = KernelPCA(n_components=4, kernel="rbf", gamma=2.0)
    model = make_pipeline(pca, LogisticRegression()).fit(X[:1000], y[:1000])
    print(pca.eigenvalues_.round(3), model.score(X[1000:], y[1000:]))


def program_denoising():
    from sklearn.decomposition import KernelPCA

    X, _ = table("digits")
    random = np.random.default_rng(0)
    noisy = X + 0.25 * random.normal(size=X.shape)
    pca = KernelPCA(
        n_components=60, kernel="rbf", gamma=0.03, fit_inverse_transform=True, alpha=5e-3
    ).fit(noisy[:1000])
    restored = pca.inverse_transform(pca.transform(noisy[1000:]))
    print(((restored - X[1000:]) ** 2).mean(), ((noisy[1000:] - X[1000:]) ** 2).mean())


def program_principal_components():
    from sklearn.decomposition import KernelPCA

    X, _ = table("digits")
    found = KernelPCA(n_components=7, kernel="linear").fit_transform(X)
    print(found.shape, found.var(axis=0).round(4))


def program_sampled_features():
    from sklearn.kernel_approximation import Nystroem, RBFSampler
    from sklearn.linear_model import RidgeClassifier
    from sklearn.pipeline import make_pipeline

    X, y = table("digits")
    for size in (100, 300):
        for sampler in (RBFSampler, Nystroem):
            features = sampler(gamma=0.2, n_components=size, random_state=1)
            model = make_pipeline(features, RidgeClassifier()).fit(X[:900], y[:900])
            print(sampler.__name__, size, model.score(X[900:], y[900:]))


def program_forest_types():
    from sklearn.kernel_approximation import RBFSampler
    from sklearn.linear_model import RidgeClassifier
    from sklearn.pipeline import make_pipeline

    X, y = forest(12_000)
    sampler = RBFSampler(gamma=0.1, n_components=300, random_state=0)
    model = make_pipeline(sampler, RidgeClassifier()).fit(X[:8000], y[:8000])
    print(model.score(X[8000:], y[8000:]))


def program_neighbours():
    from sklearn.model_selection import cross_val_score
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

    X, y = table("digits")
    for p in (1, 2):
        model = KNeighborsClassifier(n_neighbors=3, p=p, weights="distance")
        print(p, cross_val_score(model, X, y, cv=3).mean())
    X, y = made("regression", 3000, n_features=30, n_informative=5, noise=1.0)
    print(KNeighborsRegressor(p=1).fit(X[:2000], y[:2000]).score(X[2000:], y[2000:]))


def program_novelty():
    from sklearn.svm import OneClassSVM

    random = np.random.default_rng(0)
    X = 0.3 * random.normal(size=(2000, 2)) + np.repeat([[2.0, 2.0], [-2.0, -2.0]], 1000, axis=0)
    far = random.uniform(-4, 4, (400, 2))
    model = OneClassSVM(nu=0.1, gamma=0.1, tol=1e-5).fit(X)
    inside, outside = (model.predict(points) for points in (X, far))
    print("shares", (inside < 0).mean().round(2), (outside > 0).mean().round(2))


def program_histograms():
    from sklearn.metrics.pairwise import chi2_kernel, laplacian_kernel
    from sklearn.svm import SVC

    X, y = table("digits")
    for kernel in (chi2_kernel, laplacian_kernel):
        train, test = kernel(X[:900], gamma=0.3), kernel(X[900:], X[:900], gamma=0.3)
        model = SVC(kernel="precomputed").fit(train, y[:900])
        print(kernel.__name__, model.score(test, y[900:]))


def program_moons():
    from sklearn.svm import SVC, NuSVC

    X, y = made("moons", 3000, noise=0.25)
    grid = np.array([[a, b] for a in (-0.5, 0.5, 1.5) for b in (-0.3, 0.2, 0.8)])
    for model in (SVC(gamma=2.0, tol=1e-5), NuSVC(nu=0.3, gamma=2.0, tol=1e-5)):
        print(model.fit(X, y).decision_function(grid).round(2), model.score(X, y))


PROGRAMS = {
    name.removeprefix("program_"): run
    for name, run in list(globals().items())
    if name.startswith("program_")
}


# --- the race -------------------------------------------------------------------------------------


def run_here(name, patched):
    """Run a program in this process; print its best time and what it says, as JSON."""
    if patched:
        import mercer

        mercer.patch_sklearn()
    seconds = []
    for _ in range(1 + REPEATS):
        said = io.StringIO()
        start = time.perf_counter()
        with contextlib.redirect_stdout(said):
            PROGRAMS[name]()
        seconds.append(time.perf_counter() - start)
    print(json.dumps([min(seconds[1:]), said.getvalue()]))


def run_apart(name, patched):
    """Return what `run_here` prints in a fresh process."""
    side = "patched" if patched else "plain"
    command = [sys.executable, __file__, "--here", name, side]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def difference(one, other):
    """Return how far the numbers of two texts differ; what else they say must be the same."""
    if NUMBER.sub("#", one).split() != NUMBER.sub("#", other).split():
        raise SystemExit(f"the texts differ:\n{one}\n{other}")
    pairs = zip(NUMBER.findall(one), NUMBER.findall(other), strict=True)
    return max((abs(float(a) - float(b)) / max(1.0, abs(float(a))) for a, b in pairs), default=0.0)


def race(name):
    """Print the times of a program, and return the ratio."""
    times, said = ([], []), ["", ""]
    for _ in range(PROCESSES):
        for patched in (False, True):
            seconds, said[patched] = run_apart(name, patched)
            times[patched].append(seconds)
    gap = difference(*said)
    theirs, ours = map(min, times)
    ratio = theirs / ours
    verdict = "same" if gap <= SAME else f"DIFFERENT by {gap:.1e}"
    slow = "" if ratio >= SLOWEST else ", SLOWER"
    text = f"{name:24} {1e3 * theirs:8.1f} ms {1e3 * ours:8.1f} ms {ratio:6.2f} x  {verdict}{slow}"
    print(text, flush=True)
    return ratio


def cost_of_patching():
    """Return the milliseconds that `patch_sklearn()` takes after an import of scikit-learn."""
    code = (
        "import time, sklearn.svm; start = time.perf_counter(); import mercer; "
        "mercer.patch_sklearn(); print(1e3 * (time.perf_counter() - start))"
    )
    command = [sys.executable, "-c", code]
    runs = (subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(7))
    return min(float(done.stdout) for done in runs)


def main():
    if sys.argv[1:2] == ["--here"]:
        run_here(sys.argv[2], sys.argv[3] == "patched")
        return
    from machine import describe

    print(describe())
    ratios = [race(name) for name in sys.argv[1:] or PROGRAMS]
    print(f"median {statistics.median(ratios):.2f} x, least {min(ratios):.2f} x")
    print(f"patch_sklearn: {cost_of_patching():.0f} ms")


if __name__ == "__main__":
    main()
