"""Slow, obvious definitions, written apart from the library: textbook formulas, one pair at a time.

Nothing here imports mercer. A kernel is a function of two points; `gram` makes its matrix. Those of
objects are in files next to this one, and found here by their kind: `oracles.strings`, ….
"""

import math

import numpy as np
import oracles_fisher as fisher
import oracles_graphs as graphs
import oracles_images as images
import oracles_random_walks as random_walks
import oracles_series as series
import oracles_strings as strings
import oracles_trees as trees

OBJECTS = (fisher, graphs, images, random_walks, series, strings, trees)


def gram(kernel, X, Y=None):
    """K(X, Y) by a double loop."""
    other = X if Y is None else Y
    return np.array([[kernel(x, y) for y in other] for x in X]).reshape(len(X), len(other))


# --- rows of numbers --------------------------------------------------------------------------


def dot(x, y):
    return sum(float(a) * float(b) for a, b in zip(x, y, strict=True))


def polynomial(x, y, degree, gamma, coef0):
    result = 1.0
    for _ in range(degree):
        result *= gamma * dot(x, y) + coef0
    return result


def exp_dot(x, y, gamma):
    return math.exp(gamma * dot(x, y))


def sigmoid(x, y, gamma, coef0):
    return math.tanh(gamma * dot(x, y) + coef0)


def gaussian(x, y, *gammas):
    """One gamma a column."""
    return math.exp(-sum(g * (a - b) ** 2 for g, a, b in zip(gammas, x, y, strict=True)))


def laplacian(x, y, *gammas):
    """One gamma a column."""
    return math.exp(-sum(g * abs(a - b) for g, a, b in zip(gammas, x, y, strict=True)))


def scaled_distance(x, y, *lengths):
    """||x - y|| with one length scale a column."""
    squares = [((a - b) / length) ** 2 for a, b, length in zip(x, y, lengths, strict=True)]
    return math.sqrt(sum(squares))


def _scaled(x, y, lengths):
    """|x_c - y_c| of every column, over its length scale."""
    lengths = lengths or (1.0,) * len(x)
    return [abs(a - b) / length for a, b, length in zip(x, y, lengths, strict=True)]


def lp_norm(x, y, p, q, lengths=None):
    """exp(-norm**q), with the p-norm of the scaled differences."""
    norm = sum(gap**p for gap in _scaled(x, y, lengths)) ** (1 / p)
    return math.exp(-(norm**q))


def sum_power(x, y, q, power, constant, lengths=None):
    """A power of the mean over columns of exp(-gap**q), mixed with a constant."""
    values = [math.exp(-(gap**q)) for gap in _scaled(x, y, lengths)]
    return ((1 - constant) * sum(values) / len(values) + constant) ** power


def matern(r, nu):
    """The Matern function of a distance; the Bessel function by its integral."""
    s = math.sqrt(2.0 * nu) * r
    if s == 0:
        return 1.0
    return 2.0 ** (1.0 - nu) / math.gamma(nu) * s**nu * bessel_k(nu, s)


def bessel_k(nu, z):
    """K_nu(z), the integral of exp(-z cosh t) cosh(nu t) over t > 0, by the trapezoidal rule.

    The integrand decays doubly exponentially, so the rule is exact to rounding.
    """
    step, total, t = 1.0 / 64.0, 0.5 * math.exp(-z), 0.0
    while True:
        t += step
        exponent = z * math.cosh(t) - nu * t
        if exponent > 745.0:
            return total * step
        total += math.exp(-exponent) * (1.0 + math.exp(-2.0 * nu * t)) / 2.0


def rational_quadratic(r, alpha):
    return 1.0 / (1.0 + r * r / (2.0 * alpha)) ** alpha


def periodic(x, y, length_scale, *periods):
    """One period a column."""
    sines = [math.sin(math.pi * (a - b) / p) ** 2 for a, b, p in zip(x, y, periods, strict=True)]
    return math.exp(-2.0 * sum(sines) / length_scale**2)


def categorical(x, y, *gammas):
    """One gamma a column."""
    return math.exp(-sum(g for g, a, b in zip(gammas, x, y, strict=True) if a != b))


# --- histograms -------------------------------------------------------------------------------


def intersection(x, y):
    return sum(min(float(a), float(b)) for a, b in zip(x, y, strict=True))


def normalized_intersection(x, y):
    """The lecture's form, sum of min / sqrt(x y), with 0/0 = 0."""
    total = 0.0
    for a, b in zip(x, y, strict=True):
        if a * b > 0:
            total += min(a, b) / math.sqrt(a * b)
    return total


def chi2(x, y, gamma):
    total = 0.0
    for a, b in zip(x, y, strict=True):
        if a + b > 0:
            total += (a - b) ** 2 / (a + b)
    return math.exp(-gamma * total)


def ruzicka(x, y):
    """Sum of min over sum of max, Tanimoto's coefficient of counts; 0/0 = 0."""
    union = sum(max(float(a), float(b)) for a, b in zip(x, y, strict=True))
    return intersection(x, y) / union if union else 0.0


# --- sets and strings -------------------------------------------------------------------------


def common(x, y):
    """How many elements of one set are found in the other, by looking at all pairs."""
    return float(sum(1 for a in x for b in y if a == b))


def tanimoto(x, y):
    union = len(x) + len(y) - common(x, y)
    return common(x, y) / union if union else 0.0


def ngrams(text, n):
    return [tuple(text[i : i + n]) for i in range(len(text) - n + 1)]


def spectrum(x, y, n):
    """The number of pairs of equal n-grams, one from each side."""
    return float(sum(1 for u in ngrams(x, n) for v in ngrams(y, n) if u == v))


def blended_spectrum(x, y, n):
    return sum(spectrum(x, y, length) for length in range(1, n + 1))


# --- from kernels to kernels --------------------------------------------------------------------


def cosine(kernel):
    """k / sqrt(k(x,x) k(y,y)), 0/0 = 0."""

    def normalized(x, y):
        size = kernel(x, x) * kernel(y, y)
        return kernel(x, y) / math.sqrt(size) if size else 0.0

    return normalized


def distance(kernel):
    """||phi(x) - phi(y)||."""

    def between(x, y):
        return math.sqrt(max(kernel(x, x) - 2.0 * kernel(x, y) + kernel(y, y), 0.0))

    return between


# --- ridge regression -------------------------------------------------------------------------


def ridge(K, y, alpha, weight=None, intercept=False):
    """Coefficients a and offsets b of sum w (y - K a - b)**2 + alpha a' K a, output by output.

    One system: (K + alpha / W) a + 1 b = y, and sum a = 0 where there is an offset. Points without
    weight have coefficient zero.
    """
    n = len(K)
    weight = np.ones(n) if weight is None else np.asarray(weight, dtype=float)
    used = np.flatnonzero(weight)
    targets = np.reshape(y, (n, -1))
    a, b = np.zeros(targets.shape), np.zeros(targets.shape[1])
    for j, one in enumerate(np.broadcast_to(alpha, b.shape)):
        system = np.ones((len(used) + 1, len(used) + 1))
        system[:-1, :-1] = K[np.ix_(used, used)] + np.diag(one / weight[used])
        system[-1, -1] = 0.0
        right = np.append(targets[used, j], 0.0)
        if not intercept:
            system, right = system[:-1, :-1], right[:-1]
        found = np.linalg.solve(system, right)
        a[used, j] = found[: len(used)]
        b[j] = found[-1] if intercept else 0.0
    return a, b


def centred_ridge(cross, own, y, alpha, weight=None, intercept=False):
    """Coefficients t and offsets b of sum w (y - cross t - b)**2 + alpha t' own t."""
    n, m = cross.shape
    weight = np.ones(n) if weight is None else np.asarray(weight, dtype=float)
    targets = np.reshape(y, (n, -1))
    F, P = cross, own
    if intercept:
        F = np.hstack([cross, np.ones((n, 1))])
        P = np.zeros((m + 1, m + 1))
        P[:m, :m] = own
    found = np.zeros((F.shape[1], targets.shape[1]))
    for j, one in enumerate(np.broadcast_to(alpha, targets.shape[1:])):
        normal = F.T @ (weight[:, None] * F) + one * P
        found[:, j] = np.linalg.solve(normal, F.T @ (weight * targets[:, j]))
    return found[:m], found[m] if intercept else np.zeros(targets.shape[1])


def without(weight, i):
    """Weights that lack point i, or one unit of it if it counts for more than one."""
    less = np.array(weight, dtype=float)
    less[i] = max(less[i] - 1.0, 0.0)
    return less


def left_out(K, y, alpha, weight=None, intercept=False):
    """f(x_i) + b of the models that were fitted without point i, one fit for each point."""
    n = len(K)
    weight = np.ones(n) if weight is None else weight
    scores = []
    for i in range(n):
        a, b = ridge(K, y, alpha, without(weight, i), intercept)
        scores.append(K[i] @ a + b)
    return np.array(scores)


def ridge_objective(K, y, alpha, a, b=0.0, weight=None):
    """sum w (y - K a - b)**2 + alpha a' K a, of all outputs together."""
    a, y = np.reshape(a, (len(K), -1)), np.reshape(y, (len(K), -1))
    weight = np.ones(len(K)) if weight is None else weight
    losses = weight @ (y - K @ a - b) ** 2
    return float((losses + alpha * (a * (K @ a)).sum(axis=0)).sum())


def process_variance(K, cross, diagonal, noise, intercept=False):
    """The variance at new points of a Gaussian process; with an offset of infinite variance."""
    system = K + np.diag(np.broadcast_to(noise, len(K)))
    right = cross
    if intercept:
        ones = np.ones((len(K), 1))
        system = np.block([[system, ones], [ones.T, np.zeros((1, 1))]])
        right = np.hstack([cross, np.ones((len(cross), 1))])
    return diagonal - (right * np.linalg.solve(system, right.T).T).sum(axis=1)


def process_scale(K, y, alpha, weight=None, intercept=False):
    """The scale of a Gaussian process: the mean of the squared errors of points left out, over
    the variance of a new y there, of mean weight, by the model without them; fitted anew for each.
    """
    weight = np.ones(len(K)) if weight is None else np.asarray(weight, dtype=float)
    total, share = 0.0, weight[weight > 0].mean()
    for i in np.flatnonzero(weight):
        less = np.where(np.arange(len(K)) == i, 0.0, weight)
        used = np.flatnonzero(less)
        a, b = ridge(K, y, alpha, less, intercept)
        error = y[i] - K[i] @ a[:, 0] - b[0]
        part, noise = K[np.ix_(used, used)], alpha / less[used]
        row = K[i : i + 1, used]
        variance = process_variance(part, row, K[i, i], noise, intercept)[0]
        total += weight[i] * error**2 / (alpha / share + variance)
    return total / weight.sum()
