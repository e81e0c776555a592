"""Names for what users may hand in, so that an editor and mypy catch what cannot work.

The names serve annotations only: what a value must be beyond its type is checked where it is used,
with a sentence. Those whose default is None include None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Callback",
    "ClassWeight",
    "Estimator",
    "Folds",
    "Gamma",
    "HasArray",
    "HasShape",
    "KernelLike",
    "LabelsLike",
    "MatrixLike",
    "MemoryLimit",
    "Numbers",
    "PointsLike",
    "Scoring",
    "Seed",
    "Splitter",
    "TargetsLike",
    "Weights",
]


class HasArray(Protocol):
    """What becomes an array by itself: arrays of NumPy and of others, columns of data frames."""

    def __array__(self) -> NDArray[Any]: ...


class HasShape(Protocol):
    """What has a shape, such as sparse matrices and data frames."""

    @property
    def shape(self) -> tuple[int, ...]: ...


class Splitter(Protocol):
    """What yields pairs of training and test rows, such as the splitters of scikit-learn."""

    def split(self, X: Any, y: Any, groups: Any, /) -> Iterable[Any]: ...


class Estimator(Protocol):
    """What can be fitted and cloned, by scikit-learn's contract."""

    def fit(self, *args: Any, **kwargs: Any) -> Any: ...

    def get_params(self, deep: bool = True) -> dict[str, Any]: ...

    def set_params(self, **params: Any) -> Any: ...


# n points: an array, a sparse matrix, a data frame, a list of objects, blocks of rows.
PointsLike: TypeAlias = Iterable[object] | Sized | HasShape

# A square matrix of numbers.
MatrixLike: TypeAlias = Sequence[Sequence[float]] | HasArray

# A list or an array of numbers.
Numbers: TypeAlias = Sequence[float] | HasArray

# Numbers to predict: one per point, or a row per point.
TargetsLike: TypeAlias = Sequence[float | Sequence[float]] | HasArray | HasShape

# A class per point, or a row of labels per point.
LabelsLike: TypeAlias = Sequence[object] | HasArray | HasShape

# One weight per point, or one for all; None: 1.
Weights: TypeAlias = float | Numbers | None

# "balanced", or a weight for each class; several labels per point take a list of these.
ClassWeight: TypeAlias = (
    Literal["balanced"] | Mapping[Any, float] | Sequence[Mapping[Any, float]] | None
)

# A scikit-learn name, "precomputed", a kernel or any function of two sets of points, which a
# kernel is as well; None: Gaussian().
KernelLike: TypeAlias = str | Callable[[Any, Any], HasArray] | None

# The bandwidth of a kernel given by its name: a number, one per column, or a rule.
Gamma: TypeAlias = float | Numbers | Literal["scale", "auto"] | None

# Bytes, as a number or a text such as "2GB"; "auto": a share of the free memory.
MemoryLimit: TypeAlias = float | str

# A seed or a source of random numbers; None: a fixed seed.
Seed: TypeAlias = int | np.random.RandomState | np.random.Generator | None

# Called with the record of an iteration; returning True asks to stop.
Callback: TypeAlias = Callable[[dict[str, Any]], bool | None] | None

# The name of a scorer of scikit-learn, or a function of model, X and y; None: the model's score.
Scoring: TypeAlias = str | Callable[..., float] | None

# A number of folds, a splitter, or pairs of training and test rows.
Folds: TypeAlias = int | Splitter | Iterable[tuple[Any, Any]] | None

# A feature map of `mercer.features`, not fitted; None: the kernel itself.
Approximation: TypeAlias = Estimator | None
