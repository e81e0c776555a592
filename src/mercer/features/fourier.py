"""Random Fourier features: kernels of x - y as dot products of random waves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .. import checks
from ..checks import Array, InputError, KernelError, sentence
from ..grams import Prepared
from ..grams.maps.waves import PlainWaves, RotatedWaves, Waves
from ..grams.sides import column_means
from ..inputs import Input, Matrix, RowBlocks
from ..kernels.pairs import as_matrix
from ..models.base import Certificate
from ..monitor import Monitor
from ..run import Run
from ..status import Status
from ..typing import KernelLike, MemoryLimit, Numbers, PointsLike, Seed
from .base import FeatureMap, coefficients_of
from .draws import METHODS, independent, lengths, orthogonal, sobol
from .spectral import INSTEAD, Spherical, Still, Term, terms_of

FEW_NUMBERS = 12  # per frequency, up to which Sobol's sequence does best
EACH = 16  # frequencies for each of these numbers, from which on it does
MANY_COLUMNS = 512  # from which fast rotations cost less than products with all frequencies
SHOWN = 128  # points whose pairs tell how large the error is


class RandomFourier(FeatureMap):
    """Random Fourier features: waves of random frequencies whose dot products approach a kernel.

    A kernel of x - y is a mean of cosines, k(x, y) = h E cos(v . (x - y)) over a law of frequencies
    v [1]_. With D / 2 frequencies drawn from it,

    phi(x) = sqrt(2 h / D) (cos(v_1 . x), ..., sin(v_1 . x), ...),

    so phi(x) . phi(y) is the mean over these frequencies, and its error falls as 1 / sqrt(D). With
    `phase=True` there are D frequencies and phi_j(x) = sqrt(2 h / D) cos(v_j . x + b_j), b_j
    uniform on [0, 2 pi]. Gaussian, Laplacian, Matérn and rational quadratic kernels have such laws,
    also with a parameter per column, and so have their sums, products and multiples.

    Parameters
    ----------
    kernel : Kernel or str, default=None
        The kernel to approach. None is `Gaussian()`.
    n_components : int, default=1024
        Number D of features; even, unless `phase` is true. One feature has a phase always.
    method : {"auto", "orthogonal", "sobol", "hadamard", "iid"}, default="auto"
        How frequencies are drawn. "iid": independently. "orthogonal": at right angles in groups of
        as many as there are columns. "sobol": from Sobol's sequence, best in few dimensions.
        "hadamard": at right angles by fast Hadamard rotations, for many columns. "auto" takes
        "sobol" for many features of up to 12 columns, "hadamard" from 512 columns on where the
        kernel allows it, else "orthogonal", and "iid" for the Laplacian of more than 12 columns.
    phase : bool, default=False
        Whether a frequency has one feature with a random phase instead of a cosine and a sine. Its
        error is larger.
    memory_limit : int or str, default="auto"
        Bytes that may be allocated, the features that are returned among them, as a number or a
        text such as "2GB"; "auto" takes a share of the free memory.
    n_jobs : int, default=None
        Number of threads of the fit; None uses all that are allowed, -1 one per processor.
    random_state : int, RandomState or Generator, default=None
        Seed of the frequencies; None is a fixed seed.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with all parameters settled on the training points.
    frequencies_ : ndarray of shape (n_frequencies, d)
        The frequencies v.
    offset_ : ndarray of shape (n_frequencies,)
        What is added to v . x: phases, and what centring the points comes to.
    norm_bound_ : float
        What |phi(x)|**2 is at most; without `phase` it is that of every x.
    method_ : str
        How the frequencies were drawn.
    expected_error_ : float
        Root of the expected squared error of k(x, y), over pairs of training points, of
        frequencies that are drawn independently. The other methods do better.
    measured_error_ : float
        Root of the mean squared error over the same pairs.
    certificate_ : Certificate
        What the fit cost.

    See Also
    --------
    Nystrom : Features for every kernel, fitted to the points; fewer do as well.

    Notes
    -----
    A linear model on these features is a network of two layers whose first one is fixed: `SVC`,
    `KernelRidge` and others fit it with `approximation=RandomFourier(...)`.

    References
    ----------
    .. [1] A. Rahimi, B. Recht, "Random features for large-scale kernel machines", NIPS, 2007.
    .. [2] F. X. Yu and others, "Orthogonal random features", NIPS, 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.features import RandomFourier
    >>> from mercer.kernels import Gaussian
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    >>> phi = RandomFourier(Gaussian(gamma=0.5), n_components=4096).fit_transform(X)
    >>> (phi @ phi.T).round(2)
    array([[1.  , 0.61, 0.13],
           [0.61, 1.  , 0.08],
           [0.13, 0.08, 1.  ]])
    """

    method_: str
    expected_error_: float
    measured_error_: float
    _waves: Waves

    def __init__(
        self,
        kernel: KernelLike = None,
        n_components: int = 1024,
        *,
        method: str = "auto",
        phase: bool = False,
        memory_limit: MemoryLimit = "auto",
        n_jobs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.method = method
        self.phase = phase
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state

    @property
    def frequencies_(self) -> Array:
        """The frequencies, one per row."""
        return self._fitted().frequencies

    @property
    def offset_(self) -> Array:
        """What is added to the product of a frequency and a point."""
        waves = self._fitted()
        shift = waves.frequencies @ waves.centre
        return np.asarray((waves.phases if len(waves.phases) else 0.0) - shift)

    @property
    def norm_bound_(self) -> float:
        """What |phi(x)|**2 is at most; without `phase` it is that of every x."""
        waves = self._fitted()
        return float(waves.amplitudes @ waves.amplitudes)

    def product(self, X: PointsLike, coefficients: Numbers) -> Array:
        """Compute phi(x) . c of every point, for each column c, without keeping the features.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame
            The n points, of the kind that was fitted.
        coefficients : array-like of shape (n_features,) or (n_features, n_outputs)
            The columns c.

        Returns
        -------
        ndarray of shape (n,) or (n, n_outputs)
            The products, in double precision.

        Raises
        ------
        InputError
            If there is not one row of coefficients for each feature.
        """
        points = as_matrix(self._check_predict(X))
        return self._waves.product(points, coefficients_of(self, coefficients), Monitor())

    def pullback(self, X: PointsLike, slopes: Numbers) -> Array:
        """Apply the chain rule: from derivatives by the features to derivatives by the columns.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame
            The n points, of the kind that was fitted.
        slopes : array-like of shape (n, n_features)
            Derivatives of some number by the features of each point.

        Returns
        -------
        ndarray of shape (n, d)
            Its derivatives by the columns of each point.

        Raises
        ------
        InputError
            If slopes do not have a row per point and a column per feature.
        """
        points, who = as_matrix(self._check_predict(X)), type(self).__name__
        values = checks.floats(who, "slopes", slopes)
        if values.shape != (len(points), self._width()):
            must = f"slopes must have the shape of the features, ({len(points)}, {self._width()})"
            raise InputError(sentence(who, must, f"shape {values.shape}"))
        return self._waves.pullback(points, values)

    def _fitted(self) -> Waves:
        check_is_fitted(self)
        return self._waves

    def _learn(self, prepared: Prepared, run: Run) -> None:
        first = _first_rows(prepared.points)
        terms = terms_of(prepared.kernel, first.n_columns)
        counts = self._counts([term.height for term in terms], [_is_still(one) for one in terms])
        draw = _Draw(terms=terms, counts=counts, random=np.random.default_rng(run.seed))
        self.method_ = draw.choose(self._method(), first.n_columns)
        phases = _has_phases(self)
        self._waves = draw.waves(self.method_, phases, column_means(first))
        shown = _some_rows(first, draw.random)
        self.expected_error_ = draw.expected_error(shown, phases)
        self.measured_error_ = self._error(shown)
        self._keep(np.arange(1))
        self.certificate_ = Certificate(
            status=Status.EXACT,
            plan=f"{sum(counts)} frequencies, {self.method_}",
            kernel_entries=2 * len(shown) ** 2,
            bytes=self._waves.bytes,
            seconds=run.seconds,
        )

    def _method(self) -> str:
        return checks.one_of(type(self).__name__, "method", self.method, METHODS)

    def _counts(self, heights: list[float], still: list[bool]) -> list[int]:
        """Return how many frequencies each term gets: in proportion to its share of the kernel."""
        who = type(self).__name__
        width = checks.whole(who, "n_components", self.n_components, least=1)
        if not _has_phases(self) and width % 2:
            must = "n_components must be even, for a cosine and a sine of each frequency"
            advice = f"Use {width + 1}, or phase=True for one feature per frequency."
            raise InputError(sentence(who, must, width, advice))
        total = width if _has_phases(self) else width // 2
        if not heights:
            must = "the kernel must not be 0 everywhere"
            raise KernelError(sentence(who, must, repr(self.kernel_)))
        if total < len(heights):
            need = len(heights) * (1 if _has_phases(self) else 2)
            must = (
                f"n_components must be at least {need} for the {len(heights)} terms of the kernel"
            )
            raise InputError(sentence(who, must, width))
        return _shares(np.where(still, 0.0, heights), total)

    def _error(self, shown: Matrix) -> float:
        phi = np.empty((len(shown), self._waves.width))
        self._waves.features(Matrix(shown.dense().astype(np.float64)), phi, Monitor())
        gap = phi @ phi.T - self.kernel_(shown.dense().astype(np.float64))
        return _mean_root(gap**2)

    def _width(self) -> int:
        return self._waves.width

    def _features(self, points: Input, out: Array) -> None:
        self._waves.features(as_matrix(points), out, Monitor())


def _has_phases(model: RandomFourier) -> bool:
    """Return whether a frequency has one feature; a single feature can be no pair."""
    return bool(model.phase) or model.n_components == 1


def _first_rows(points: Input) -> Matrix:
    """Return the points, or the first block of them; they show the columns and their means."""
    if isinstance(points, RowBlocks):
        points = next(points.blocks())
    if not isinstance(points, Matrix):
        must = "random Fourier features are of rows of numbers"
        raise KernelError(sentence("RandomFourier", must, points.kind, INSTEAD))
    return points


def _some_rows(rows: Matrix, random: np.random.Generator) -> Matrix:
    if len(rows) <= SHOWN:
        return rows
    return rows.take(np.sort(random.choice(len(rows), SHOWN, replace=False)))


def _is_still(term: Term) -> bool:
    return isinstance(term.law, Still)


def _shares(weights: Array, total: int) -> list[int]:
    """Split a number in proportion to weights, with at least 1 for each."""
    free = total - len(weights)
    exact = free * weights / max(float(weights.sum()), np.finfo(float).tiny)
    found = np.floor(exact).astype(int)
    order = np.argsort(found - exact, kind="stable")
    found[order[: free - int(found.sum())]] += 1
    return [int(one) + 1 for one in found]


def _mean_root(squares: Array) -> float:
    """Return the root of the mean over pairs of different points."""
    n = len(squares)
    if n < 2:
        return float(np.sqrt(max(squares.mean(), 0.0)))
    apart = squares.sum() - np.trace(squares)
    return float(np.sqrt(max(apart / (n * (n - 1)), 0.0)))


@dataclass(frozen=True, kw_only=True)
class _Draw:
    """Frequencies for the terms of a kernel, so many for each."""

    terms: list[Term]
    counts: list[int]
    random: np.random.Generator

    def choose(self, asked: str, columns: int) -> str:
        """Return the method: as asked, or the best one."""
        single = self.terms[0].law if len(self.terms) == 1 else None
        rotates = isinstance(single, Spherical)
        if asked == "hadamard" and not rotates:
            must = "method='hadamard' is for one Gaussian, Exponential, Matern or RationalQuadratic"
            got = f"{len(self.terms)} terms" if single is None else repr(self.terms[0].kernel)
            raise KernelError(sentence("RandomFourier", must, got, "Use method='auto'."))
        if asked != "auto":
            return asked
        laws = [term.law for term in self.terms]
        numbers = [law.normals + law.uniforms for law in laws]
        turn = any(law.normals for law in laws)
        pairs = zip(numbers, self.counts, strict=True)
        many = all(count >= EACH * size for size, count in pairs if size)
        if max(numbers) <= FEW_NUMBERS and (many or not turn):
            return "sobol"
        if rotates and columns >= MANY_COLUMNS:
            return "hadamard"
        return "orthogonal" if turn else "iid"

    def waves(self, method: str, phase: bool, centre: Array) -> Waves:
        """Return the map; centre: is subtracted from points, so that angles stay small."""
        heights = [term.height for term in self.terms]
        pairs = zip(heights, self.counts, strict=True)
        amplitudes = np.concatenate([np.full(n, np.sqrt(h / n)) for h, n in pairs])
        phases = np.zeros(0)
        if phase:
            moving = np.repeat([not _is_still(term) for term in self.terms], self.counts)
            amplitudes = np.where(moving, np.sqrt(2.0), 1.0) * amplitudes
            phases = self.random.uniform(0.0, 2.0 * np.pi, len(amplitudes)) * moving
        law = self.terms[0].law
        if method == "hadamard" and isinstance(law, Spherical):
            return self._rotated(law, amplitudes, phases, centre)
        draw = {"iid": independent, "sobol": sobol, "orthogonal": orthogonal}[method]
        rows = [
            term.law.frequencies(*draw(n, term.law.normals, term.law.uniforms, self.random))
            for term, n in zip(self.terms, self.counts, strict=True)
        ]
        return PlainWaves(rows=np.vstack(rows), amplitudes=amplitudes, phases=phases, centre=centre)

    def _rotated(self, law: Spherical, amplitudes: Array, phases: Array, centre: Array) -> Waves:
        count = self.counts[0]
        size = max(8, 1 << (len(law.scale) - 1).bit_length())  # the core wants whole vectors
        groups = -(-count // size)
        signs = self.random.choice(np.array([-1, 1], dtype=np.int8), (groups, 3, size))
        _, U = orthogonal(count, 0, law.uniforms, self.random)
        radii = lengths(count, size, self.random) * law.lengths(U)
        return RotatedWaves(
            signs=signs,
            radii=radii,
            scale=law.scale,
            amplitudes=amplitudes,
            phases=phases,
            centre=centre,
        )

    def expected_error(self, shown: Matrix, phase: bool) -> float:
        """Return the root of the mean variance of k(x, y) with independent frequencies.

        With r = k / h, the variance of one cosine of an angle v . (x - y) is (1 + r(2 (x - y))) / 2
        - r(x - y)**2, and 1/2 more with a random phase.
        """
        X = shown.dense().astype(np.float64)
        variance = np.zeros((len(X), len(X)))
        for term, count in zip(self.terms, self.counts, strict=True):
            near, far = term.kernel(X) / term.height, term.kernel(2.0 * X) / term.height
            one = 0.5 + 0.5 * far - near**2
            variance += term.height**2 * np.maximum(one, 0.0) / count
            if phase and not _is_still(term):
                variance += term.height**2 * 0.5 / count
        return _mean_root(variance)
