"""
What the lectures say, with numbers to check by hand
====================================================

The items are those of :doc:`/lectures`. Every line ends in the largest deviation, or in the value;
there is no picture.
"""

import numpy as np

from mercer import (
    SVC,
    KernelKMeans,
    KernelMachineClassifier,
    KernelMachineRegressor,
    KernelNeighborsClassifier,
    KernelPCA,
    KernelPerceptron,
    KernelPrototypeClassifier,
    KernelRidge,
    KernelRidgeClassifier,
    KernelRidgeCV,
    MKLClassifier,
    OneClassSVM,
    check_kernel,
    compress,
    enclosing_radius,
    vc_bound,
)
from mercer.checks import MercerError
from mercer.features import GaussianTaylor, Nystrom, RandomFourier
from mercer.kernels import (
    Constant,
    ExpDot,
    Fisher,
    FunctionKernel,
    Gaussian,
    Graph,
    Graphlet,
    Intersection,
    Laplacian,
    Linear,
    Mismatch,
    NormalizedIntersection,
    PartialTree,
    Polynomial,
    PyramidMatch,
    RandomWalk,
    SetIntersection,
    ShortestPath,
    Sigmoid,
    SpatialPyramid,
    Spectrum,
    Subsequence,
    SubsetTree,
    Substring,
    Subtree,
    Tree,
    WeisfeilerLehman,
)

X = np.array([[0.5, -1.0], [2.0, 0.25], [-0.75, 1.5], [1.0, 1.0], [0.0, -0.5]])
ABAB, CATS = ("abab", "baba"), ("cat", "car")
CROSS = np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])


def gap(left, right):
    """Return the largest deviation, rounding of the last digit counted as none."""
    found = float(np.abs(np.asarray(left) - np.asarray(right)).max())
    return "equal" if found < 1e-13 * max(1.0, float(np.abs(right).max())) else f"off by {found:g}"


def tell(item, claim, value):
    print(f"{item:4} {claim:68} {value}")


def first(X):
    return X[:, 0]


def second(X):
    return X[:, 1]


def lengths(X):
    return np.linalg.norm(X, axis=1, keepdims=True)


def bell(X):
    return np.exp(-(X**2).sum(axis=1) / 2)


def rules():
    """A6 and A7: four rules, and what they build."""
    one, two = Linear(), Polynomial(2)
    side_by_side = np.hstack([one.features(X), two.features(X)])
    tell(
        "A6",
        "the map of a sum is the maps side by side",
        gap((one + two).features(X), side_by_side),
    )
    tensor = np.einsum("ni,nj->nij", one.features(X), two.features(X)).reshape(len(X), -1)
    tell("A6", "the map of a product is their tensor product", gap((one * two).features(X), tensor))
    built = Constant(1).rescaled(first) + Constant(1).rescaled(second)
    tell("A7", "x.y from a constant, a factor f(x) f(y) and a sum", gap(built(X), Linear()(X)))
    tell("A7", "x.y + (x.y)^2", gap((Linear() + Linear() ** 2)(X), X @ X.T + (X @ X.T) ** 2))
    tell("A7", "exp(x.y)", gap(Linear().exp()(X), ExpDot(1.0)(X)))
    built = Linear().exp().rescaled(bell)
    tell("A7", "exp(-|x|^2/2) exp(x.y) exp(-|y|^2/2) is Gaussian", gap(built(X), Gaussian(0.5)(X)))


def city_block_squared(X, Y):
    return np.exp(-0.25 * np.abs(X[:, None] - Y).sum(axis=-1) ** 2)


def classics():
    """B1 to B3, B15 and C3: the kernels, and their maps."""
    found = check_kernel(FunctionKernel(city_block_squared), CROSS)
    tell("B1", "exp(-|x-y|_1^2 / 4) on a cross: smallest eigenvalue", f"{found.min_eigenvalue:.4f}")
    found = check_kernel(Laplacian(0.25), CROSS)
    tell("B1", "exp(-|x-y|_1 / 4) on the same cross", f"{found.min_eigenvalue:.4f}")
    first_map, second_map = Polynomial(2).features(X), ((Linear() + 1) ** 2).features(X)
    tell(
        "B2",
        "quadratic kernel: two maps, of widths",
        f"{first_map.shape[1]}, {second_map.shape[1]}",
    )
    tell(
        "B2", "… both give the same kernel", gap(first_map @ first_map.T, second_map @ second_map.T)
    )
    series = GaussianTaylor(6, gamma=0.1).fit(X)
    F = series.transform(X)
    tell("B2", "Gaussian, series of degree 0 to 6: largest error", gap(F @ F.T, Gaussian(0.1)(X)))
    tell("B2", "… and its bound, which is reached", f"{series.truncation_bound_:.1e}")
    few = Nystrom(Gaussian(0.1), 2).fit(X)
    tell("B15", "Nyström's map with 2 centres leaves of the trace", f"{few.trace_error_:.3f}")
    x, y = [[3, 0, 1]], [[1, 0, 4]]
    tell("B3", "intersection of (3, 0, 1) and (1, 0, 4): 1 + 0 + 1", Intersection()(x, y)[0, 0])
    wanted = 1 / np.sqrt(3) + 1 / 2
    tell("B3", "normalised: 1/√3 + 0 + 1/2", gap(NormalizedIntersection()(x, y), wanted))
    cosine = SetIntersection().normalized()
    sets = [{1, 2}, {2, 3}, {4}]
    tell("B3", "sets {1,2}, {2,3}, {4}: cosines to the first", cosine(sets)[0])
    wanted = [[u**2, u * v, v * u, v**2] for u, v in X]
    tell(
        "C3",
        "(u.v)^2 has the map (u1u1, u1u2, u2u1, u2u2)",
        gap((Linear() ** 2).features(X), wanted),
    )
    tell("C3", "Gaussian of sigma 2 is gamma 1/8", Gaussian(sigma=2.0))


def making():
    """B8: new kernels from old ones."""
    a, b = Linear(), Gaussian(1.0)
    tell("B8", "2 K1 + 3 K2", gap((2 * a + 3 * b)(X), 2 * a(X) + 3 * b(X)))
    tell("B8", "K1 K2, entry by entry", gap((a * b)(X), a(X) * b(X)))
    lengths = np.linalg.norm(X, axis=1)
    tell("B8", "K / √(K(x,x) K(y,y))", gap(a.normalized()(X), X @ X.T / np.outer(lengths, lengths)))
    tell("B8", "an old kernel on a new representation", gap(b.of(np.abs)(X), b(np.abs(X))))
    try:
        print(-1 * a)
    except MercerError as error:
        tell("B8", "-1 * Linear() is refused:", error)


def geometry():
    """B10, B11 and E1: distances, means and angles in feature space."""
    k = Polynomial(2)
    phi = k.features(X)
    wanted = np.linalg.norm(phi[:, None] - phi, axis=-1)
    tell("B10", "distance from kernel values alone", gap(k.distance(X), wanted))
    model = KernelPrototypeClassifier(k).fit(X, [0, 0, 1, 1, 1])
    means = np.stack([phi[:2].mean(axis=0), phi[2:].mean(axis=0)])
    wanted = np.linalg.norm(phi[:, None] - means, axis=-1)
    tell("B11", "distance to class means from kernel values alone", gap(model.distances(X), wanted))
    wanted = np.linalg.norm(X[:, None] - X, axis=-1)
    tell("E1", "with x.y: the usual distance", gap(Linear().distance(X), wanted))
    tell("E1", "cosine of (1, 0) and (1, 1): 1/√2", Linear().normalized()([[1, 0]], [[1, 1]])[0, 0])


def validity():
    """D2, D3 and E2: what is valid, and where."""
    A, B = np.array([[1.0, 0.0], [0.0, 0.0]]), np.ones((2, 2))
    tell("D2", "A, B, entrywise AB: valid", [check_kernel(M).is_psd for M in (A, B, A * B)])
    tell("D2", "the matrix product AB: valid", check_kernel(A @ B).is_psd)
    for gamma in (0.1, 1.0, 10.0, 100.0):
        distance = np.abs(Gaussian(gamma)(X) - np.eye(len(X))).max()
        tell("D3", f"gamma {gamma:g}: largest entry of K - I", f"{distance:.1e}")
    tell("E2", "tanh(x.y) on these points: valid", check_kernel(Sigmoid(), X).is_psd)
    tell("E2", "tanh(x.y - 1) at x = 0: k(x, x)", round(Sigmoid(coef0=-1.0).pair([0.0], [0.0]), 4))


def ridge():
    """A4, B13, C1, C2, D3 and D4: regression with kernels."""
    y = np.array([1.0, -0.5, 2.0, 0.25, 0.75])
    n, lam = len(X), 0.1
    model = KernelRidge(n * lam, kernel=Gaussian(0.5)).fit(X, y)
    wanted = np.linalg.solve(model.kernel_(X) + n * lam * np.eye(n), y)
    tell("A4", "a = (n lambda I + K)^-1 y", gap(model.dual_coef_, wanted))
    errors = y - model.predict(X)
    tell("A4", "n lambda a_t is the error on point t", gap(n * lam * model.dual_coef_, errors))
    tell("C2", "f(x) = sum a_i k(x, x_i)", gap(model.predict(X), model.kernel_(X) @ wanted))
    for alpha in (1e-2, 1e-6, 1e-10):
        model = KernelRidge(alpha, kernel=Gaussian(0.5)).fit(X, y)
        tell(
            "B13",
            f"alpha {alpha:g}: largest training error",
            f"{np.abs(y - model.predict(X)).max():.0e}",
        )
    for name, A in (("5 x 2", X), ("2 x 5", X.T)):
        b, one = y[: len(A)], np.eye(len(A))
        model = KernelRidge(lam, kernel=Linear()).fit(A, b)
        primal = np.linalg.solve(A.T @ A + lam * np.eye(A.shape[1]), A.T @ b)
        dual = A.T @ np.linalg.solve(A @ A.T + lam * one, b)
        tell("C1", f"{name}: primal equals dual", gap(primal, dual))
        tell(
            "C1",
            f"{name}: KernelRidge, by the solver {model.certificate_.solver!r}",
            gap(model.predict(A), A @ dual),
        )
    straight = KernelRidge(lam, kernel=Linear(), fit_intercept=True).fit(X, y).predict(X)
    for gamma in (1e-2, 1e-3, 1e-4):
        curved = KernelRidge(2 * gamma * lam, kernel=Gaussian(gamma)).fit(X, y).predict(X)
        tell(
            "D3",
            f"gamma {gamma:g}: distance to linear ridge with an intercept",
            f"{np.abs(curved - straight).max():.1e}",
        )
    search = KernelRidgeCV([0.01, 0.1, 1], kernel=[Gaussian(g) for g in (0.1, 1, 10)]).fit(X, y)
    found = f"{search.kernel_}, alpha {search.alpha_:g}"
    tell("D4", "gamma and lambda chosen by leave-one-out", found)


def machines():
    """A8, E3 and E4: support vector machines."""
    y = np.array([1, -1, 1, 1, -1])
    made = [Linear(), Linear() + Linear() ** 2, ExpDot(), Gaussian(0.5), 2 * Laplacian() * Linear()]
    for k in made:
        found = SVC(kernel=k).fit(X, y).certificate_
        KernelRidgeClassifier(0.1, kernel=k).fit(X, y)
        met = found.violation < 1e-12
        tell("A8", f"SVC with {k}: optimal to 1e-12", met)

    x = np.repeat([[-1.0], [1.0]], 50, axis=0)
    model = SVC(float("inf"), kernel=Linear()).fit(x, np.sign(x[:, 0]))
    record = model.certificate_
    tell("E4", "points -1 and 1: the margin 1/|w|", round(record.margin, 12))
    tell(
        "E4", "all a together, 1/2 for each class", round(float(np.abs(model.dual_coef_).sum()), 12)
    )
    tell("E4", "primal and dual objective, both 1/2", gap([record.primal, record.dual], [0.5, 0.5]))
    tell("E3", "radius of the smallest ball", round(enclosing_radius(model, x), 12))
    # No errors. By dimension: 1 column and an offset, half of delta = 0.05, 1 / n more.
    term = np.sqrt((2 * (np.log(100) + 1) - np.log(0.025 / 4)) / 100) + 1 / 100
    found = vc_bound(model, x, np.sign(x[:, 0]))
    tell("E3", f"n = 100, h = 1 + 1, no errors: the bound is {term:.6f}", gap(found, term))
    try:
        SVC(float("inf"), kernel=Linear()).fit([[0.0], [1.0], [2.0]], [1, -1, 1])
    except MercerError as error:
        tell("E4", "hard margin, classes that overlap", f"refused: {error}"[:60] + "…")
    soft = SVC(0.25, kernel=Linear()).fit([[0.0], [1.0], [2.0]], [-1, 1, 1]).certificate_
    found = f"{soft.zero} at 0, {soft.free} between, {soft.bound} at C"
    tell("E4", "C = 1/4, points 0 | 1, 2: coefficients", found)


def features():
    """B15, D6 and D7: random features, and learners on them."""
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 4))
    for width in (100, 400, 1600):
        found = RandomFourier(Gaussian(0.5), width, phase=True, method="iid").fit(X)
        tell("D6", f"sqrt(2/D) cos(v.x + b), D = {width}: error", round(found.measured_error_, 4))
    y = np.sin(X[:, 0]) + X[:, 1]
    model = KernelRidge(0.1, kernel=Gaussian(0.5))
    exact = model.fit(X, y).predict(X)
    near = model.set_params(approximation=RandomFourier(n_components=1600)).fit(X, y)
    gap = np.sqrt(np.mean((near.predict(X) - exact) ** 2))
    found = f"{gap:.4f}, at most {near.approximation_error_:.4f}"
    tell("D7", "1,600 fixed units and weights, distance from the whole kernel", found)


def learners():
    """A1, A3, B12, B15, D1, D7 and E5: the other learners."""
    x, y = np.array([[0.0], [1.0], [2.0]]), np.array([1, -1, 1])
    walk = KernelPerceptron(Gaussian(1.0)).fit(x, y)
    # By hand: a mistake on each point in the first pass, on 1 again in the second, then none.
    found = f"on the points {walk.mistakes_.tolist()}, so a = {walk.alpha_.tolist()}"
    tell("A1", "the points 0, 1, 2 with the labels 1, -1, 1: mistakes in turn", found)
    random = np.random.default_rng(0)
    far, labels = 3 * random.permutation(40)[:, None], random.choice([-1, 1], 40)
    found = KernelPerceptron(Gaussian(0.5)).fit(far, labels)
    tell("A3", "40 points at least 3 apart, random labels: converged", found.converged_)

    two, labels = np.array([[-1.0], [1.0]]), [-1, 1]
    weights = MKLClassifier([Linear(), Gaussian(1e9)], C=10.0, algorithm="simple").fit(two, labels)
    # By hand: J(d) = max 2 a - (4 d_1 + 2 d_2) a**2 / 2, least for d = (1, 0), where it is 1/2.
    found = f"{weights.weights_.tolist()}, J = {weights.certificate_.objective:.6f}"
    tell("E5", "SimpleMKL on -1 and 1 with x.y and the identity: weights", found)

    model = KernelPCA(2, kernel=Linear()).fit(X)
    values = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2
    tell(
        "B12",
        "with x.y: the eigenvalues of ordinary principal components",
        gap(model.eigenvalues_, values),
    )
    ring = np.array([[np.cos(t), np.sin(t)] for t in np.arange(8)]) * 3
    both = np.vstack([ring, ring / 10])
    made = KernelKMeans(2, kernel=Linear().of(lengths)).fit(both).labels_
    tell(
        "B12",
        "a ring inside a ring, with |x||y|: sizes of the two clusters",
        sorted(np.bincount(made).tolist()),
    )

    pair = np.array([[-0.5], [0.5]])
    region = OneClassSVM(1.0, kernel=Gaussian(0.5)).fit(pair)
    centre = compress(region, n_centers=1).support_vectors_
    tell("B15", "k(-1/2, x) + k(1/2, x) by one centre: where it is", abs(round(centre.item(), 3)))

    lam, target = 0.3, np.array([1.0, -1.0, 0.5, 2.0, 0.0])
    loss = KernelMachineRegressor(
        "squared", 2 * lam, kernel=Gaussian(0.5), fit_intercept=False, tol=1e-14
    ).fit(X, target)
    ridge = KernelRidge(2 * lam, kernel=Gaussian(0.5)).fit(X, target)
    near = np.abs(loss.predict(X) - ridge.predict(X)).max() < 1e-6
    tell("D1", "squared loss, no intercept: ridge with alpha = 2 lambda, to 1e-6", near)
    signs = np.array([1, -1, 1, 1, -1])
    hinge = KernelMachineClassifier("hinge", 2 * lam, kernel=Gaussian(0.5)).fit(X, signs)
    machine = SVC(1 / (2 * lam), kernel=Gaussian(0.5)).fit(X, signs)
    tell(
        "D1",
        "hinge loss: SVC with C = 1 / (2 lambda)",
        gap(hinge.decision_function(X), machine.decision_function(X)),
    )

    grid = random.uniform(-1, 2, (200, 2))
    narrow = KernelRidgeClassifier(1e-9, kernel=Gaussian(100.0)).fit(X, signs).predict(grid)
    nearest = KernelNeighborsClassifier(1).fit(X, signs).predict(grid)
    tell(
        "D7",
        "gamma = 100: the class of the nearest neighbour, at 200 points",
        bool((narrow == nearest).all()),
    )


def objects():
    """B4 to B7: strings, graphs, trees, images; each value can be counted by hand."""
    tell("B4", "abab and baba share the pairs ab and ba: 2 * 1 + 1 * 2", Spectrum(2).pair(*ABAB))
    tell("B4", "ab, ab: substrings a, b at 1/2 and ab at 1/4", Substring(0.5).pair("ab", "ab"))
    tell("B4", "cat, car: ca in both, 2 letters each, (1/2)^4", Subsequence(2, 0.5).pair(*CATS))
    tell("B4", "aab, abb with one mismatch of two letters", Mismatch(2, 1, "ab").pair("aab", "abb"))
    bell_curve = Fisher(("mixture", (1.0,), ((0.0,),), ((1.0,),)))
    tell("B4", "Fisher, N(0, 1), at 1 and 2: slopes 1*2, and 0*3/2", bell_curve.pair([1.0], [2.0]))
    edge, path = Graph(2, [(0, 1)]), Graph(3, [(0, 1), (1, 2)])
    tell(
        "B5",
        "walks of an edge and itself, 4 of each length: 4 / (1 - 0.1)",
        round(RandomWalk(0.1).pair(edge, edge), 6),
    )
    aba = Graph(3, [(0, 1), (1, 2)], node_labels=["a", "b", "a"])
    aab = Graph(3, [(0, 1), (1, 2), (0, 2)], node_labels=["a", "a", "b"])
    tell(
        "B5",
        "path aba and triangle aab: equal labels, after one round too",
        WeisfeilerLehman(1).pair(aba, aab),
    )
    tell("B5", "their shortest paths with the labels of their ends", ShortestPath().pair(aba, aab))
    ring = Graph(5, [(i, (i + 1) % 5) for i in range(5)])
    tell("B5", "a ring of five has five paths of three nodes: 5 * 5", Graphlet(3).pair(ring, ring))
    tell(
        "B5",
        "a path and itself: walks, and walks whose labels agree",
        [round(RandomWalk(0.1).pair(g, g), 4) for g in (path, aba)],
    )
    ab, ac = (Tree.parse(f"(S (A a) (B {leaf}))") for leaf in "bc")
    tell(
        "B6",
        "(S (A a) (B b)), (S (A a) (B c)): complete subtrees in common",
        Subtree(1.0).pair(ab, ac),
    )
    tell(
        "B6",
        "their fragments in common, and those of the first with itself",
        [SubsetTree(1.0).pair(ab, ac), SubsetTree(1.0).pair(ab, ab)],
    )
    small = Tree.parse("(a b c)")
    tell("B6", "a(b c) has a, b, c, a(b), a(c), a(b c)", PartialTree(1.0, 1.0).pair(small, small))
    one, two = np.array([[0, 0], [-1, 0]]), np.array([[-1, 0], [0, 0]])
    tell(
        "B7",
        "two maps of one word: whole map and quarters, 3/2 + 2/2",
        SpatialPyramid(1).pair(one, two),
    )
    tell(
        "B7",
        "{0, 3} and {1, 6}: one match at width 2, one at width 8",
        PyramidMatch(3).pair(np.array([[0.0], [3.0]]), np.array([[1.0], [6.0]])),
    )


if __name__ == "__main__":
    for part in (rules, classics, objects, making, geometry, validity, ridge, machines):
        part()
    features()
    learners()
