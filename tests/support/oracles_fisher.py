"""Slow, obvious definitions for the Fisher kernel: log p itself, its differences, and counts over
all paths of states. Nothing here imports mercer."""

import itertools
import math

import numpy as np


def softmax(logits):
    """Probabilities of logits along the last axis; -inf is probability 0."""
    shifted = np.exp(logits - np.max(logits, axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)


def logits(probabilities):
    with np.errstate(divide="ignore"):
        return np.log(np.asarray(probabilities, dtype=float))


def differences(function, parts, step=1e-5):
    """Central differences of function(*parts) by every entry of every part, one after another; an
    entry that is not finite stays where it is, so its difference is 0."""
    found = []
    for which, part in enumerate(parts):
        for place in np.ndindex(np.shape(part)):
            ends = []
            for side in (step, -step):
                moved = [np.array(one, dtype=float) for one in parts]
                moved[which][place] += side
                ends.append(function(*moved))
            found.append((ends[0] - ends[1]) / (2 * step))
    return np.array(found)


# --- mixtures of Gaussians ----------------------------------------------------------------------


def log_normal(x, mean, root):
    """log N(x; mean, root root') for a lower triangle, one number at a time."""
    total, z = 0.0, []
    for i in range(len(x)):
        z.append((x[i] - mean[i] - sum(root[i][j] * z[j] for j in range(i))) / root[i][i])
        total -= 0.5 * z[i] ** 2 + math.log(root[i][i]) + 0.5 * math.log(2 * math.pi)
    return total


def log_mixture(x, weight_logits, means, roots):
    """log sum_k w_k N(x; mu_k, root_k root_k'); roots of two dimensions are deviations."""
    weights = softmax(weight_logits)
    terms = []
    for k, weight in enumerate(weights):
        root = np.diag(roots[k]) if np.ndim(roots) == 2 else roots[k]
        terms.append(math.log(weight) + log_normal(x, means[k], root))
    top = max(terms)
    return top + math.log(sum(math.exp(term - top) for term in terms))


def mixture_gradient(x, weights, means, roots):
    """Derivatives of log p by logits, means and deviations; of triangles, those on the diagonal
    first and then those below."""
    whole = differences(
        lambda *parts: log_mixture(x, *parts), [logits(weights), np.array(means), np.array(roots)]
    )
    if np.ndim(roots) == 2:
        return whole
    K, D, _ = np.shape(roots)
    split = K + K * D
    squares = whole[split:].reshape(K, D, D)
    below = [(i, j) for i in range(D) for j in range(i)]
    kept = [[s[i, i] for i in range(D)] + [s[i, j] for i, j in below] for s in squares]
    return np.concatenate([whole[:split], np.ravel(kept)])


def fisher_vector(vectors, weights, means, deviations):
    """The Fisher vector of a set as Perronnin and Dance write it; 0 for the empty set."""
    K, D = np.shape(means)
    by_weight, by_mean, by_spread = np.zeros(K), np.zeros((K, D)), np.zeros((K, D))
    for x in vectors:
        roots = [np.diag(sigma) for sigma in deviations]
        terms = [w * math.exp(log_normal(x, means[k], roots[k])) for k, w in enumerate(weights)]
        for k, w in enumerate(weights):
            share = terms[k] / sum(terms)
            by_weight[k] += (share - w) / math.sqrt(w) / len(vectors)
            for d in range(D):
                z = (x[d] - means[k][d]) / deviations[k][d]
                by_mean[k, d] += share * z / math.sqrt(w) / len(vectors)
                by_spread[k, d] += share * (z * z - 1) / math.sqrt(2 * w) / len(vectors)
    return np.concatenate([by_weight, by_mean.ravel(), by_spread.ravel()])


# --- hidden Markov models -----------------------------------------------------------------------


def paths(tokens, start, transition, emission):
    """Every path of states with its probability together with the tokens."""
    for path in itertools.product(range(len(start)), repeat=len(tokens)):
        chance = start[path[0]]
        for here, there in itertools.pairwise(path):
            chance *= transition[here][there]
        for state, token in zip(path, tokens, strict=True):
            chance *= emission[state][token]
        yield path, chance


def log_chain(tokens, *given):
    """log p(tokens) as the sum over all paths; `given` are logits."""
    parts = [softmax(part) for part in given]
    return math.log(sum(chance for _, chance in paths(tokens, *parts)))


def chain_gradient(tokens, start, transition, emission):
    """Derivatives of log p by the logits of start, transition and emission."""
    given = [logits(start), logits(transition), logits(emission)]
    return differences(lambda *parts: log_chain(tokens, *parts), given)


def chain_scores(tokens, start, transition, emission):
    """(E[n(a)] - p(a) E[n]) / sqrt(p(a)) for every probability, counted over all paths."""
    first, moves, emitted = np.zeros_like(start), np.zeros_like(transition), np.zeros_like(emission)
    whole = 0.0
    for path, chance in paths(tokens, start, transition, emission) if len(tokens) else ():
        whole += chance
        first[path[0]] += chance
        for here, there in itertools.pairwise(path):
            moves[here, there] += chance
        for state, token in zip(path, tokens, strict=True):
            emitted[state, token] += chance
    found = []
    pairs = ((first[None], np.array([start])), (moves, transition), (emitted, emission))
    for counts, probabilities in pairs:
        for n, p in zip(counts, probabilities, strict=True):
            for a in range(len(p)):
                count = (n[a] - p[a] * n.sum()) / whole if whole else 0.0
                found.append(count / math.sqrt(p[a]) if p[a] else 0.0)
    return np.array(found)
