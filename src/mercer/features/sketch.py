"""Random sketches of polynomial kernels."""

from __future__ import annotations

import numpy as np
import scipy.fft
import scipy.sparse

from .. import checks
from ..checks import Array, KernelError, sentence
from ..grams import Prepared
from ..grams.finite import roomy
from ..inputs import Input
from ..kernels import Constant, Kernel, Linear, Polynomial, Power, Product, Scaled, Sum
from ..kernels.pairs import as_matrix
from ..models.base import Certificate
from ..run import Run
from ..status import Status
from ..typing import KernelLike, MemoryLimit, Seed
from .base import FeatureMap

BAND = 1 << 17  # numbers that are transformed at a time: they stay in the cache

Factor = tuple[float, float]  # a and c of a x.y + c


class PolynomialSketch(FeatureMap):
    """The tensor sketch: random features of a polynomial kernel, without its many monomials.

    (gamma x.y + coef0)**p is the dot product of the p-fold tensor powers of the rows
    (sqrt(gamma) x, sqrt(coef0)). Each of the p factors is hashed into D = n_components numbers,
    C_j(x)_h = sum of s_j(c) x_c over the columns c with h_j(c) = h, with random places h_j and
    signs s_j; the circular convolution of the p sketches, by fast Fourier transforms, is a sketch
    of the tensor power [1]_. Its dot products are right on average,

    E phi(x).phi(y) = k(x, y), with a variance of at most (2 + 3**p) k(x, x) k(y, y) / D [2]_.

    Parameters
    ----------
    kernel : Kernel, str or callable, default=None
        `Polynomial(p, gamma, coef0)`, an expression such as `(Linear() + 1) ** 3`, or a product of
        such sums. None is `Polynomial(2)`.
    n_components : int, default=100
        Number D of features.
    random_state : int, Generator or RandomState, default=None
        Seed or source of the random numbers; None is a fixed seed.
    memory_limit : int or str, default="auto"
        Bytes that may be allocated, the features that are returned among them, as a number or a
        text such as "2GB"; "auto" takes a share of the free memory.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with all parameters settled on the training points.
    indices_ : ndarray of shape (p, d + 1)
        The places h_j(c), from 0 to D - 1; the last column is that of the constant.
    signs_ : ndarray of shape (p, d + 1)
        The signs s_j(c), 1 or -1.
    certificate_ : Certificate
        What the fit cost.

    References
    ----------
    .. [1] N. Pham, R. Pagh, "Fast and scalable polynomial kernels via explicit feature maps", KDD,
       2013.
    .. [2] H. Avron, H. L. Nguyen, D. P. Woodruff, "Subspace embeddings for the polynomial kernel",
       NIPS, 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.features import PolynomialSketch
    >>> from mercer.kernels import Linear
    >>> X = np.random.default_rng(0).normal(size=(5, 30))
    >>> k = (Linear() + 1) ** 2
    >>> phi = PolynomialSketch(k, n_components=4096).fit(X)
    >>> F = phi.transform(X)
    >>> F.shape
    (5, 4096)
    >>> bool(np.abs(F @ F.T - k(X)).max() < 0.2 * k.diag(X).max())
    True
    """

    indices_: Array
    signs_: Array
    _size: int

    def __init__(
        self,
        kernel: KernelLike = None,
        n_components: int = 100,
        *,
        random_state: Seed = None,
        memory_limit: MemoryLimit = "auto",
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.random_state = random_state
        self.memory_limit = memory_limit

    def _kernel(self) -> Kernel:
        return Polynomial(2) if self.kernel is None else super()._kernel()

    def _learn(self, prepared: Prepared, run: Run) -> None:
        self._size = checks.whole(run.who, "n_components", self.n_components, least=1)
        self._prepared = prepared.take(np.arange(1))  # which shows the columns
        factors, _ = required_factors(self.kernel_, run.who)
        self._require_room(1, prepared.view.dtype)
        random = np.random.default_rng(run.seed)
        shape = len(factors), as_matrix(self._prepared.points).n_columns + 1
        self.indices_ = random.integers(self._size, size=shape)
        self.signs_ = 2.0 * random.integers(2, size=shape) - 1.0
        self.certificate_ = Certificate(
            status=Status.EXACT,
            plan=f"a tensor sketch of {shape[0]} factors in {self._size} features",
            kernel_entries=0,
            bytes=self.indices_.nbytes + self.signs_.nbytes,
            seconds=run.seconds,
        )

    def _width(self) -> int:
        return self._size

    def _features(self, points: Input, out: Array) -> None:
        factors, scale = required_factors(self.kernel_, type(self).__name__)
        rows = as_matrix(roomy(self.kernel_, points)).values
        hashed = [self._hashes(j, rows.dtype) for j in range(len(factors))]
        step = max(1, BAND // self._size)
        for start in range(0, len(points), step):
            some = rows[start : start + step]
            spectrum = None
            for (a, c), (matrix, constant) in zip(factors, hashed, strict=True):
                counts = some @ matrix if a else scipy.sparse.csr_array((len(out), self._size))
                dense = counts.toarray() if scipy.sparse.issparse(counts) else counts
                dense = np.sqrt(a).astype(rows.dtype) * dense
                dense += np.sqrt(c).astype(rows.dtype) * constant
                one = scipy.fft.rfft(dense, axis=1)
                spectrum = one if spectrum is None else spectrum * one
            found = scipy.fft.irfft(spectrum, n=self._size, axis=1)
            out[start : start + step] = np.sqrt(scale) * found

    def _hashes(self, j: int, dtype: np.dtype[np.floating]) -> tuple[scipy.sparse.csr_array, Array]:
        """Return the matrix that hashes rows, and the constant 1 hashed."""
        places, signs = self.indices_[j], self.signs_[j].astype(dtype)
        d = len(places) - 1
        cells = (signs[:d], (np.arange(d), places[:d]))
        constant = np.zeros(self._size, dtype=dtype)
        constant[places[d]] = signs[d]
        return scipy.sparse.csr_array(cells, shape=(d, self._size)), constant


def required_factors(kernel: Kernel, who: str) -> tuple[list[Factor], float]:
    """Return the factors a x.y + c of a polynomial kernel and its coefficient, or refuse it."""
    found = polynomial_factors(kernel)
    if found is None:
        must = "the kernel must be a polynomial of the dot product, such as (Linear() + 1) ** 3"
        advice = "Nystrom(kernel) has a map for every kernel."
        raise KernelError(sentence(who, must, repr(kernel), advice))
    return found


def polynomial_factors(kernel: Kernel) -> tuple[list[Factor], float] | None:
    """Return the factors a x.y + c of a kernel and its coefficient; None: it has another form."""
    if isinstance(kernel, Polynomial):
        return [(float(kernel.gamma), kernel.coef0)] * kernel.degree, 1.0
    if isinstance(kernel, Power):
        inner = polynomial_factors(kernel.inner)
        power = kernel.exponent
        return None if inner is None else (inner[0] * power, inner[1] ** power)
    if isinstance(kernel, Product):
        parts = [polynomial_factors(term) for term in kernel.terms]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        return [one for part in known for one in part[0]], float(np.prod([p[1] for p in known]))
    affine = _affine(kernel)
    if affine is not None:
        return [affine], 1.0
    if isinstance(kernel, Scaled):
        inner = polynomial_factors(kernel.inner)
        return None if inner is None else (inner[0], inner[1] * kernel.coef)
    return None


def _affine(kernel: Kernel) -> Factor | None:
    """Return a and c of a kernel a x.y + c; None: it is none."""
    if isinstance(kernel, Linear):
        return 1.0, 0.0
    if isinstance(kernel, Constant):
        return 0.0, kernel.c
    if isinstance(kernel, Polynomial) and kernel.degree == 1:
        return float(kernel.gamma), kernel.coef0
    if isinstance(kernel, Scaled):
        inner = _affine(kernel.inner)
        return None if inner is None else (kernel.coef * inner[0], kernel.coef * inner[1])
    if isinstance(kernel, Sum):
        terms = [_affine(term) for term in kernel.terms]
        known = [term for term in terms if term is not None]
        both = sum(a for a, _ in known), sum(c for _, c in known)
        return both if len(known) == len(terms) else None
    return None
