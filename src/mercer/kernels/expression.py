"""A kernel as an expression: its parts, its parameters, its text."""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass
from dataclasses import replace as replace_fields
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from .. import checks
from ..checks import Array, InputError, KernelError, sentence
from ..inputs import ANY, Input, as_input
from ..typing import PointsLike, Weights
from .parameters import data_bandwidth

if TYPE_CHECKING:
    from .base import Kernel


class Expression:
    """A frozen value whose fields are parameters and other kernels."""

    domain: frozenset[str] = ANY
    nonnegative: ClassVar[bool] = False
    precedence: ClassVar[int] = 4  # of its text: 1 sum, 2 product, 3 power, 4 call

    # --- structure --------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name of the class."""
        return type(self).__name__

    def children(self) -> tuple[Kernel, ...]:
        """Return the kernels this one is made of.

        Returns
        -------
        tuple of Kernel
            The terms of a sum, the kernel inside a power, ….
        """
        return ()

    def with_children(self, children: tuple[Kernel, ...]) -> Kernel:
        """Return the same expression of other kernels.

        Parameters
        ----------
        children : tuple of Kernel
            As many as `children` returns.

        Returns
        -------
        Kernel
            The new expression.
        """
        return cast("Kernel", self)

    def child_input(self, points: Input) -> Input:
        """Return the points as the children see them.

        Parameters
        ----------
        points : Input
            The points of this kernel.

        Returns
        -------
        Input
            The same points, or their chosen columns, or what phi makes of them.
        """
        return points

    def needs_nonnegative(self) -> bool:
        """Return whether any part of the expression refuses negative entries.

        Returns
        -------
        bool
            True for kernels of histograms and expressions that contain one.
        """
        return self.nonnegative or any(child.needs_nonnegative() for child in self.children())

    def is_user_defined(self) -> bool:
        """Return whether a function or a matrix from the user is part of the expression.

        Nothing is known of those, not even that they are symmetric.

        Returns
        -------
        bool
            True for `FunctionKernel`, `Precomputed` and expressions that contain one.
        """
        return any(child.is_user_defined() for child in self.children())

    def walk(self, points: Input) -> list[tuple[Kernel, Input]]:
        """Return every node of the expression with the points it sees.

        Parameters
        ----------
        points : Input
            The points of the whole expression.

        Returns
        -------
        list of (Kernel, Input)
            The kernel itself first, then its children.
        """
        inner = self.child_input(points) if self.children() else points
        below = [item for child in self.children() for item in child.walk(inner)]
        return [(cast("Kernel", self), points), *below]

    # --- parameters -------------------------------------------------------------------------

    def unresolved(self) -> list[str]:
        """Return the parameters that still wait for data, such as gamma="scale".

        Returns
        -------
        list of str
            Their names, with that of the kernel.

        Examples
        --------
        >>> from mercer.kernels import Gaussian, Linear
        >>> (Gaussian() + Linear()).unresolved()
        ['Gaussian.gamma']
        """
        if self.children():
            return [name for child in self.children() for name in child.unresolved()]
        return [f"{self.name}.{name}" for name in self._waiting()]

    def _waiting(self) -> list[str]:
        words = ("scale", "auto")
        return [name for name, value in self.get_params().items() if value in words]

    def require_resolved(self) -> Self:
        """Return the kernel itself, or refuse while a parameter waits for data.

        Returns
        -------
        Kernel
            The kernel itself.
        """
        waiting = self.unresolved()
        if waiting:
            raise KernelError(
                sentence(
                    self.name,
                    "every parameter must be a number before the kernel is evaluated",
                    f"{', '.join(waiting)} still to be taken from data",
                    "Call kernel.resolve(X) with the training data first.",
                )
            )
        return self

    def resolve(self, X: PointsLike, sample_weight: Weights = None) -> Kernel:
        """Return the kernel with parameters such as gamma="scale" taken from the data.

        Parameters
        ----------
        X : array-like, sequence or data frame of n points
            The training points.
        sample_weight : array-like of shape (n,), default=None
            How much each point counts.

        Returns
        -------
        Kernel
            The kernel with numbers in place of "scale" and "auto"; itself if it has none of them.

        Examples
        --------
        >>> from mercer.kernels import Gaussian
        >>> Gaussian().resolve([[0.0, 1.0], [2.0, 3.0]])
        Gaussian(gamma=0.4)
        """
        if not self.unresolved():
            return cast("Kernel", self)
        points = as_input(X, self.domain, self.name)
        weight = checks.sample_weight(self.name, sample_weight, len(points))
        return self._resolve(points, weight)

    def _resolve(self, points: Input, weight: Array | None) -> Kernel:
        if not self.unresolved():
            return cast("Kernel", self)
        if not self.children():
            found = {name: self.from_data(name, points, weight) for name in self._waiting()}
            return self.replace(**found)
        inner = self.child_input(points)
        return self.with_children(tuple(child._resolve(inner, weight) for child in self.children()))

    def from_data(self, name: str, points: Input, weight: Array | None) -> float:
        """Return the value of a parameter given as "scale" or "auto".

        Parameters
        ----------
        name : str
            Name of the parameter.
        points : Input
            The training points.
        weight : ndarray of shape (n,) or None
            How much each point counts.

        Returns
        -------
        float
            The number that takes its place.
        """
        return data_bandwidth(getattr(self, name), points, weight)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, as scikit-learn does.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include the parameters of the kernels inside; those of terms are named
            k1__gamma and so on.

        Returns
        -------
        dict
            Names and values.

        Examples
        --------
        >>> from mercer.kernels import Gaussian, Linear
        >>> sorted((Gaussian(0.5) + Linear()).get_params())
        ['k1', 'k1__coef', 'k1__gamma', 'k2', 'k2__coef']
        """
        if not is_dataclass(self):
            must, hint = "a kernel must be a frozen dataclass", "Write @dataclass(frozen=True)."
            raise KernelError(sentence(self.name, must, "a plain class", hint))
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def replace(self, **changes: Any) -> Kernel:
        """Return a new kernel with other parameters; nested names are as in `get_params`.

        Parameters
        ----------
        **changes : object
            Names of parameters with their new values.

        Returns
        -------
        Kernel
            The new kernel; this one stays as it is.

        Examples
        --------
        >>> from mercer.kernels import Gaussian, Linear
        >>> (Gaussian(0.5) + Linear()).replace(k1__gamma=2.0)
        Gaussian(gamma=2.0) + Linear()
        """
        known = self.get_params()
        for key in changes:
            if key not in known:
                names = ", ".join(sorted(known)) or "none"
                raise InputError(
                    sentence(
                        self.name,
                        f"its parameters are {names}",
                        repr(key),
                        checks.nearest(key, known),
                    )
                )
        made: Kernel = replace_fields(self, **changes)  # type: ignore[type-var,assignment]
        return made

    def __sklearn_clone__(self) -> Self:
        return self

    def _set(self, **values: Any) -> None:
        """Store checked fields while the value is being made."""
        for key, value in values.items():
            object.__setattr__(self, key, value)

    # --- text -------------------------------------------------------------------------------

    def __repr__(self) -> str:
        parts = []
        for f in fields(self):  # type: ignore[arg-type]
            value = getattr(self, f.name)
            if f.default is MISSING:
                parts.append(repr(value))
            elif value != f.default:
                parts.append(f"{f.name}={value!r}")
        return f"{self.name}({', '.join(parts)})"

    def text(self, least: int) -> str:
        """Return the expression, in brackets where its operator binds weaker than `least`.

        Parameters
        ----------
        least : int
            Precedence of what is around it: 1 sum, 2 product, 3 power, 4 call.

        Returns
        -------
        str
            The text.
        """
        return repr(self) if self.precedence >= least else f"({self!r})"

    def spec(self) -> dict[str, Any]:
        """Return the expression as plain JSON data; `mercer.kernels.from_spec` reads it.

        Returns
        -------
        dict
            The name of the class and its parameters, nested.

        Examples
        --------
        >>> from mercer.kernels import Linear
        >>> (2 * Linear()).spec()
        {'kernel': 'Scaled', 'inner': {'kernel': 'Linear'}, 'coef': 2.0}
        """
        data: dict[str, Any] = {"kernel": self.name}
        for f in fields(self):  # type: ignore[arg-type]
            value = getattr(self, f.name)
            if isinstance(value, Expression):
                value = value.spec()
            data[f.name] = list(value) if isinstance(value, tuple) else value
        return data
