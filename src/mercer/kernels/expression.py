"""A kernel as an expression: its parts, its parameters, its text."""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass
from dataclasses import replace as replace_fields
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from .. import checks
from ..checks import InputError, KernelError, sentence
from ..inputs import Input

if TYPE_CHECKING:
    from .base import Kernel


class Expression:
    """A frozen value whose fields are parameters and other kernels."""

    precedence: ClassVar[int] = 4  # of its text: 1 sum, 2 product, 3 power, 4 call

    # --- structure --------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return type(self).__name__

    def children(self) -> tuple[Kernel, ...]:
        """Return the kernels this one is made of."""
        return ()

    def with_children(self, children: tuple[Kernel, ...]) -> Kernel:
        """Return the same expression of other kernels."""
        return cast("Kernel", self)

    def child_input(self, points: Input) -> Input:
        """Return the points as the children see them."""
        return points

    # --- parameters -------------------------------------------------------------------------

    def unresolved(self) -> list[str]:
        """Return the parameters that still wait for data, such as gamma="scale"."""
        if self.children():
            return [name for child in self.children() for name in child.unresolved()]
        return [f"{self.name}.{name}" for name in self._waiting()]

    def _waiting(self) -> list[str]:
        words = ("scale", "auto")
        return [name for name, value in self.get_params().items() if value in words]

    def require_resolved(self) -> Self:
        """Return itself, or refuse while a parameter waits for data."""
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

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return parameters by name; those of terms as k1__name (scikit-learn's convention)."""
        if not is_dataclass(self):
            must, hint = "a kernel must be a frozen dataclass", "Write @dataclass(frozen=True)."
            raise KernelError(sentence(self.name, must, "a plain class", hint))
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def replace(self, **changes: Any) -> Kernel:
        """Return a new kernel with other parameters; nested names as in `get_params`."""
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
        """Return the expression, in brackets where its operator binds weaker than `least`."""
        return repr(self) if self.precedence >= least else f"({self!r})"

    def spec(self) -> dict[str, Any]:
        """Return the expression as plain JSON data; `mercer.kernels.from_spec` reads it."""
        data: dict[str, Any] = {"kernel": self.name}
        for f in fields(self):  # type: ignore[arg-type]
            value = getattr(self, f.name)
            if isinstance(value, Expression):
                value = value.spec()
            data[f.name] = list(value) if isinstance(value, tuple) else value
        return data
