"""Is it a Mercer kernel here? The certificate, the repair, and how well a kernel fits labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.linalg

from .. import checks
from ..checks import Array, InputError, sentence
from ..grams import Gram, gram
from ..kernels import Kernel, to_kernel
from ..linalg.blas import product
from ..linalg.eigen import eigh
from ..typing import KernelLike, LabelsLike, MatrixLike, PointsLike, TargetsLike

EXACT = 2000  # points up to which all eigenvalues are computed
SAMPLE = 500  # points on which the symmetry of a kernel on more points than that is checked


@dataclass(frozen=True, kw_only=True)
class KernelCertificate:
    """What the eigenvalues of a Gram matrix say; prints as a verdict in words.

    Attributes
    ----------
    n : int
        Number of points.
    is_symmetric : bool
        Whether K equals its transpose, up to rounding.
    asymmetry : float
        Largest |K_ij - K_ji|.
    is_psd : bool
        Whether K is symmetric and positive semi-definite.
    min_eigenvalue : float
        The smallest eigenvalue.
    max_eigenvalue : float
        The largest eigenvalue.
    tolerance : float
        Eigenvalues of at most this size count as zero.
    rank : int
        Number of eigenvalues beyond the tolerance, of either sign.
    effective_dimension : float
        tr K (K + alpha I)**-1.
    alpha : float
        The penalty of the effective dimension.
    condition : float
        Largest over smallest eigenvalue; infinite if K is singular.
    method : str
        "exact" if all eigenvalues were computed, else "Lanczos".
    verdict : str
        The verdict in words.
    witness : ndarray of shape (n,) or None
        If K is not positive semi-definite, a unit vector c with c'Kc < 0.
    """

    n: int
    is_symmetric: bool
    asymmetry: float
    is_psd: bool
    min_eigenvalue: float
    max_eigenvalue: float
    tolerance: float
    rank: int
    effective_dimension: float
    alpha: float
    condition: float
    method: str
    verdict: str
    witness: Array | None = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        about = "" if self.method == "exact" else "about "
        return "\n".join(
            [
                self.verdict,
                f"  eigenvalues      {self.min_eigenvalue:.4g} to {self.max_eigenvalue:.4g}"
                f" ({self.method}, n = {self.n})",
                f"  numerical rank   {about}{self.rank}",
                f"  condition        {self.condition:.3g}",
                f"  effective dim.   {about}{self.effective_dimension:.4g} (alpha {self.alpha:g})",
            ]
        )


def check_kernel(
    kernel: KernelLike | MatrixLike,
    X: PointsLike | None = None,
    *,
    alpha: float = 1.0,
    tol: float | None = None,
) -> KernelCertificate:
    """Check whether a kernel on points, or a matrix, is symmetric positive semi-definite.

    By Mercer's theorem a function is a kernel exactly if every Gram matrix of it is. Up to 2,000
    points all eigenvalues are computed; above that the extreme ones by Lanczos' method, and rank
    and effective dimension are estimated.

    Parameters
    ----------
    kernel : Kernel, str, callable or array-like of shape (n, n)
        A kernel, or the matrix itself.
    X : array-like, sparse matrix, data frame or sequence of objects, default=None
        The points, with a kernel only.
    alpha : float, default=1.0
        The penalty of the effective dimension tr K (K + alpha I)**-1.
    tol : float, default=None
        Eigenvalues down to -tol * max|eigenvalue| count as zero. None is what rounding of the
        entries explains.

    Returns
    -------
    KernelCertificate
        The eigenvalues, the verdict, and a witness where the check fails.

    Raises
    ------
    InputError
        If a kernel comes without points or a matrix with them, or K is not square and finite.

    See Also
    --------
    repair : A positive semi-definite matrix near one that is not.

    References
    ----------
    .. [1] J. Mercer, "Functions of positive and negative type, and their connection with the theory
       of integral equations", Philosophical Transactions of the Royal Society A 209 (1909).

    Examples
    --------
    >>> from mercer import check_kernel
    >>> check_kernel([[1.0, 2.0], [2.0, 1.0]]).is_psd
    False
    >>> from mercer.kernels import Gaussian
    >>> check_kernel(Gaussian(gamma=1.0), [[0.0], [1.0], [2.0]]).is_psd
    True
    """
    weight = checks.number("check_kernel", "alpha", alpha, above=0)
    tol = None if tol is None else checks.number("check_kernel", "tol", tol, least=0)
    kernel = _named(kernel)
    _check_points("check_kernel", kernel, X)
    if X is None or not isinstance(kernel, Kernel):  # a kernel has points by now
        matrix = checks.square_matrix("check_kernel", kernel)
        _check_length(len(matrix))
        return _certify(matrix, _asymmetry(matrix), "The matrix", weight, tol)
    points = kernel.admit(X)
    _check_length(len(points))
    kernel = kernel.resolve(points)
    what = f"{kernel!r} on these points"
    # K(X, X) may be computed by halves; K(X, Y) is not, and shows whether k(x, y) = k(y, x).
    if len(points) <= EXACT:
        K = kernel(points, points)
        checks.finite("check_kernel", K, what="K")
        return _certify(K, _asymmetry(K), what, weight, tol)
    sample = np.random.default_rng(0).permutation(len(points))[:SAMPLE]
    some = points.take(sample)
    return _certify(gram(kernel, points), _asymmetry(kernel(some, some)), what, weight, tol)


def _named(kernel: Any) -> Any:
    """Return the kernel that a name or a function stands for; a matrix is itself."""
    outside = isinstance(kernel, str) or callable(kernel)
    return to_kernel(kernel, who="check_kernel") if outside else kernel


def _check_points(who: str, kernel: Any, X: Any) -> None:
    """Refuse a kernel without points, and points with a matrix that is already computed."""
    if isinstance(kernel, Kernel) and X is None:
        raise InputError(sentence(who, "a kernel needs points X", "no X"))
    if not isinstance(kernel, Kernel) and X is not None:
        must = "with points X comes a kernel, for example Gaussian()"
        raise InputError(sentence(who, must, f"{checks.show(kernel)} and X"))


def _check_length(n: int) -> None:
    if n == 0:
        raise InputError(sentence("check_kernel", "at least one point must be given", "none"))


def _asymmetry(K: Array) -> float:
    with np.errstate(invalid="ignore"):  # what is not finite is refused elsewhere
        return float(np.abs(K - K.T).max())


def _certify(
    K: Array | Gram, asymmetry: float, what: str, alpha: float, tol: float | None
) -> KernelCertificate:
    n = K.shape[0]
    precision = float(np.finfo(K.dtype).eps)
    exact = n <= EXACT
    found = _lanczos(K) if isinstance(K, Gram) or not exact else _eigen(K.astype(np.float64))
    low, high, size = found.low, found.high, max(abs(found.low), abs(found.high))
    entry = float(np.abs(K.diag() if isinstance(K, Gram) else K).max())
    # Entries off by a rounding each move eigenvalues by about sqrt(n) times as much.
    tolerance = 32 * precision * (np.sqrt(n) * entry + size) if tol is None else tol * size
    symmetric = asymmetry <= max(100 * precision, 1e-12) * max(entry, size / n)
    psd = low >= -tolerance
    estimate = round(float(found.weights[np.abs(found.nodes) > tolerance].sum()))
    rank = max(estimate, int((np.abs(found.ritz) > tolerance).sum()))
    verdict = _verdict(
        what=what,
        symmetric=symmetric,
        asymmetry=asymmetry,
        low=low,
        tolerance=tolerance,
        rank=rank,
        n=n,
    )
    return KernelCertificate(
        n=n,
        is_symmetric=symmetric,
        asymmetry=asymmetry,
        is_psd=bool(symmetric and psd),
        min_eigenvalue=low,
        max_eigenvalue=high,
        tolerance=float(tolerance),
        rank=min(rank, n),
        effective_dimension=found.dimension(alpha),
        alpha=alpha,
        condition=high / low if low > tolerance else float("inf"),
        method="exact" if exact else "Lanczos",
        verdict=verdict,
        witness=None if psd else found.witness,
    )


@dataclass(frozen=True, kw_only=True)
class _Spectrum:
    """Extreme eigenvalues, the lowest vector, and nodes with weights: sum w f(node) ~ tr f(K).

    ritz: eigenvalues on a subspace; as many of K are at least as positive as these.
    """

    low: float
    high: float
    witness: Array
    nodes: Array
    weights: Array
    ritz: Array

    def dimension(self, alpha: float) -> float:
        """Return the effective dimension, tr K (K + alpha I)^-1."""
        kept = np.maximum(self.nodes, 0.0)
        return float((self.weights * kept / (kept + alpha)).sum())


def _eigen(K: Array) -> _Spectrum:
    values, vectors = eigh((K + K.T) / 2)
    ones = np.ones(len(values))
    return _Spectrum(
        low=float(values[0]),
        high=float(values[-1]),
        witness=vectors[:, 0],
        nodes=values,
        weights=ones,
        ritz=values,
    )


def _verdict(
    what: str, symmetric: bool, asymmetry: float, low: float, tolerance: float, rank: int, n: int
) -> str:
    if not symmetric:
        return (
            f"{what} is not symmetric: K and its transpose differ by up to {asymmetry:.3g}, "
            "so it is no kernel. repair(K) symmetrises it."
        )
    if low < -tolerance:
        return (
            f"{what} is not positive semi-definite: the vector c in `witness` has "
            f"c'Kc = {low:.4g} < 0, so it is not a Mercer kernel. repair(K) gives a matrix that is."
        )
    if low <= tolerance:
        return (
            f"{what} is positive semi-definite (a valid Mercer kernel), but singular to rounding: "
            f"rank about {rank} of {n}. Interpolation needs alpha > 0."
        )
    return f"{what} is positive definite: a valid Mercer kernel."


def _lanczos(K: Array | Gram) -> _Spectrum:
    """Return the extreme eigenvalues and a quadrature of the spectrum by stochastic Lanczos.

    The lowest Ritz value is the smallest c'Kc found: never below the lowest eigenvalue, and above
    it by less than the residual once that is small. The first run goes on until it is.
    """
    n = K.shape[0]

    def multiply(v: Array) -> Array:
        with np.errstate(invalid="ignore", over="ignore"):
            product = K @ v if isinstance(K, Gram) else (K @ v + v @ K) / 2
        if not np.all(np.isfinite(product)):
            raise InputError(sentence("check_kernel", "K must be finite", "overflow or NaN"))
        return np.asarray(product, dtype=np.float64)

    random = np.random.default_rng(0)
    nodes, weights, witness, low = [], [], np.zeros(n), np.inf
    for steps in (5 * STEPS, *([STEPS] * (PROBES - 1))):
        values, vectors, basis = _lanczos_run(multiply, random.choice([-1.0, 1.0], size=n), steps)
        if values[0] < low:
            low, witness = float(values[0]), vectors[:, 0] @ basis
        nodes.append(values)
        weights.append(vectors[0] ** 2 * n / PROBES)
    high = max(float(values[-1]) for values in nodes)
    return _Spectrum(
        low=low,
        high=high,
        witness=witness,
        nodes=np.concatenate(nodes),
        weights=np.concatenate(weights),
        ritz=nodes[0],
    )


PROBES = 8  # random vectors of the quadrature
STEPS = 60  # Lanczos steps of each


def _lanczos_run(multiply: Any, start: Array, steps: int) -> tuple[Array, Array, Array]:
    """Return Ritz values, their coordinates and the basis, with full orthogonalisation."""
    basis = np.zeros((steps, len(start)))
    basis[0] = start / np.linalg.norm(start)
    alphas, betas = np.zeros(steps), np.zeros(steps)
    for step in range(steps):
        w = multiply(basis[step])
        alphas[step] = w @ basis[step]
        for _ in range(2):  # twice is enough
            w -= basis[: step + 1].T @ (basis[: step + 1] @ w)
        betas[step] = np.linalg.norm(w)
        size = step + 1
        values, vectors = scipy.linalg.eigh_tridiagonal(alphas[:size], betas[: size - 1])
        residual = betas[step] * abs(vectors[-1, 0])
        largest = np.abs(values).max()
        exhausted = size == steps or betas[step] <= 1e-12 * largest
        if exhausted or (size >= STEPS and residual <= 1e-9 * largest):
            break
        basis[step + 1] = w / betas[step]
    return values, vectors, basis[:size]


@dataclass(frozen=True, kw_only=True)
class Repair:
    """A positive semi-definite matrix near the given one; `np.asarray(repair(K))` is the matrix.

    Attributes
    ----------
    matrix : ndarray of shape (n, n)
        The matrix.
    method : str
        How it was found.
    change : float
        Frobenius norm of the difference to the given matrix.
    relative_change : float
        The same over the norm of the given matrix.
    min_eigenvalue : float
        Smallest eigenvalue of the given matrix.
    n_negative : int
        Number of its negative eigenvalues.
    """

    matrix: Array = field(repr=False)
    method: str
    change: float
    relative_change: float
    min_eigenvalue: float
    n_negative: int

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.matrix, dtype=dtype, copy=True if copy is None else copy)


def repair(K: MatrixLike, method: str = "clip") -> Repair:
    """Find a positive semi-definite matrix near a symmetric one.

    A matrix that is not symmetric is replaced by (K + K') / 2 first. K itself is left as it is.

    Parameters
    ----------
    K : array-like of shape (n, n)
        The matrix.
    method : {"clip", "flip", "shift", "nearest"}, default="clip"
        "clip" sets negative eigenvalues to 0, which gives the nearest matrix in Frobenius norm.
        "flip" makes them positive. "shift" is K - lambda_min I, which keeps all entries off the
        diagonal. "nearest" is the nearest matrix that keeps the diagonal of K.

    Returns
    -------
    Repair
        The matrix, and how far it is from K.

    Raises
    ------
    InputError
        If K is not square and finite, or has a negative diagonal that is to be kept.

    See Also
    --------
    check_kernel : Whether a matrix needs a repair.

    References
    ----------
    .. [1] N. Higham, "Computing the nearest correlation matrix", IMA Journal of Numerical Analysis
       22 (2002).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import repair
    >>> np.asarray(repair([[1.0, 2.0], [2.0, 1.0]]))
    array([[1.5, 1.5],
           [1.5, 1.5]])
    """
    how = checks.one_of("repair", "method", method, ("clip", "flip", "shift", "nearest"))
    given = checks.square_matrix("repair", K).astype(np.float64)
    symmetric = (given + given.T) / 2
    values, vectors = eigh(symmetric)
    low = float(values[0]) if len(values) else 0.0
    if low >= 0:
        fixed = symmetric
    elif how == "clip":
        fixed = _compose(np.maximum(values, 0.0), vectors)
    elif how == "flip":
        fixed = _compose(np.abs(values), vectors)
    elif how == "shift":
        fixed = symmetric - low * np.eye(len(values))
    else:
        fixed = _nearest(symmetric)
    change = float(np.linalg.norm(fixed - given))
    size = float(np.linalg.norm(given))
    return Repair(
        matrix=fixed,
        method=how,
        change=change,
        relative_change=change / size if size else 0.0,
        min_eigenvalue=low,
        n_negative=int((values < 0).sum()),
    )


def _compose(values: Array, vectors: Array) -> Array:
    matrix = product(vectors * values, vectors.T)
    return np.asarray((matrix + matrix.T) / 2)


def _nearest(K: Array, steps: int = 1000, tol: float = 1e-10) -> Array:
    """Solves min ||M - K||_F over M positive semi-definite with diag(M) = diag(K).

    Alternating projections with Dykstra's correction.
    Returns the last positive semi-definite iterate, its diagonal set back by a congruence, which
    keeps it positive semi-definite.
    """
    diagonal = np.diag(K).copy()
    if np.any(diagonal < 0):
        index = int(np.argmin(diagonal))
        raise InputError(
            sentence(
                "repair",
                "a kept diagonal must not be negative",
                f"K[{index}, {index}] = {diagonal[index]:g}",
                'Use method="clip".',
            )
        )
    current, correction = K.copy(), np.zeros_like(K)
    size = np.linalg.norm(K)
    positive = K
    for _ in range(steps):
        moved = current - correction
        values, vectors = eigh(moved)
        positive = _compose(np.maximum(values, 0.0), vectors)
        correction = positive - moved
        current = positive.copy()
        np.fill_diagonal(current, diagonal)
        if np.linalg.norm(current - positive) <= tol * size:
            break
    found = np.diag(positive)
    scale = np.sqrt(np.divide(diagonal, found, out=np.zeros_like(found), where=found > 0))
    result = positive * np.outer(scale, scale)
    np.fill_diagonal(result, diagonal)
    return np.asarray(result)


def center(K: MatrixLike) -> Array:
    """Centre a Gram matrix: H K H with H = I - 11'/n.

    It is the Gram matrix of phi(x) minus its mean over the points.

    Parameters
    ----------
    K : array-like of shape (n, n)
        The Gram matrix.

    Returns
    -------
    ndarray of shape (n, n)
        The centred matrix, whose rows and columns sum to 0.

    Raises
    ------
    InputError
        If K is not square and finite.

    References
    ----------
    .. [1] B. Schölkopf, A. Smola, K.-R. Müller, "Nonlinear component analysis as a kernel
       eigenvalue problem", Neural Computation 10 (1998).

    Examples
    --------
    >>> from mercer import center
    >>> center([[1.0, 0.0], [0.0, 1.0]])
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])
    """
    matrix = checks.square_matrix("center", K)
    rows = matrix.mean(axis=0, dtype=np.float64, keepdims=True)
    columns = matrix.mean(axis=1, dtype=np.float64, keepdims=True)
    return np.asarray(matrix - rows - columns + matrix.mean(dtype=np.float64))


def alignment(
    kernel: KernelLike | MatrixLike,
    y: TargetsLike | LabelsLike,
    X: PointsLike | None = None,
    *,
    centered: bool = True,
) -> float:
    """Compute how well a kernel matches a target: <K, L> / (||K|| ||L||), at most 1.

    L is y y' for numbers or two classes, and the matrix of pairs of the same class for several
    classes.

    Parameters
    ----------
    kernel : Kernel or array-like of shape (n, n)
        A kernel, or its Gram matrix.
    y : array-like of shape (n,) or (n, n)
        Numbers or classes, or the matrix L itself.
    X : array-like, sparse matrix, data frame or sequence of objects, default=None
        The points, with a kernel only.
    centered : bool, default=True
        Whether to centre both matrices first, as in [1]_. False is the original definition of
        Cristianini, Shawe-Taylor, Elisseeff and Kandola.

    Returns
    -------
    float
        The alignment.

    Raises
    ------
    InputError
        If K or L vanishes, such as that of a constant target, or shapes do not match.

    References
    ----------
    .. [1] C. Cortes, M. Mohri, A. Rostamizadeh, "Algorithms for learning kernels based on centered
       alignment", Journal of Machine Learning Research 13 (2012).

    Examples
    --------
    >>> from mercer import alignment
    >>> from mercer.kernels import Linear
    >>> round(alignment(Linear(), [-1, -1, 1, 1], [[-1.0], [-1.0], [1.0], [1.0]]), 6)
    1.0
    """
    _check_points("alignment", kernel, X)
    K = gram(kernel, X).dense() if X is not None and isinstance(kernel, Kernel) else kernel
    K = checks.square_matrix("alignment", K).astype(np.float64)
    L = _target(y, len(K))
    if centered:
        K, L = center(K), center(L)
    size = float(np.linalg.norm(K) * np.linalg.norm(L))
    if size == 0:
        raise InputError(
            sentence("alignment", "neither matrix may vanish", "a constant kernel or target")
        )
    return float((K * L).sum() / size)


def _target(y: Any, n: int) -> Array:
    values = np.asarray(y)
    if values.ndim == 2 and values.shape == (n, n):
        return checks.square_matrix("alignment", values, "y").astype(np.float64)
    if values.shape != (n,):
        must = f"y must be {n} labels or numbers, or an {n} x {n} matrix"
        raise InputError(sentence("alignment", must, f"shape {values.shape}"))
    if values.dtype.kind in "fc":
        values = checks.vector("alignment", "y", values, n)
    classes, codes = np.unique(values, return_inverse=True)
    if len(classes) == 2:
        signs = 2.0 * codes - 1.0
        return np.outer(signs, signs)
    if values.dtype.kind == "f" and not np.all(values == np.round(values)):
        return np.outer(values, values)
    return np.asarray(codes[:, None] == codes[None, :], dtype=np.float64)
