"""Reading kernels: `parse` reads what `repr` writes, `from_spec` what `spec` writes; no eval.

expression = term {"+" term}          term   = factor {"*" factor}
factor     = item ["**" number]       item   = atom {"." method "(" arguments ")"}
atom       = number | Name "(" arguments ")" | "(" expression ")"

An argument is a value, such as a number or a text, or an expression, of a kernel that takes one.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from .. import checks
from ..checks import KernelError, ParseError, sentence
from .algebra import Around, _Terms
from .base import Kernel
from .operators import combine, registry

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<text>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
    r"|(?P<sign>\*\*|[-+*.,()\[\]=]))"
)
_METHODS = ("exp", "normalized", "on", "of", "rescaled", "metric")
_WORDS = {"True": True, "False": False, "None": None}
_DEPTH = 100
_LENGTH = 100_000


def parse(text: str, functions: Mapping[str, Any] | None = None) -> Kernel:
    """Return the kernel that a text describes, so that parse(repr(k)) == k.

    Nothing is executed: a grammar reads the text.

    Parameters
    ----------
    text : str
        An expression such as "Gaussian(gamma=0.5) + 2*Linear()".
    functions : mapping of str to callable, default=None
        The functions that the text names, in `of`, `rescaled` and `FunctionKernel`.

    Returns
    -------
    Kernel
        The kernel.

    Examples
    --------
    >>> from mercer import parse
    >>> parse("0.5*Gaussian(gamma=0.1) + (Linear() + 1)**2")
    0.5*Gaussian(gamma=0.1) + (Linear() + 1.0)**2
    """
    if not isinstance(text, str):
        raise checks.InputTypeError(sentence("parse", "text must be a string", checks.show(text)))
    if len(text) > _LENGTH:
        raise KernelError(
            sentence("parse", f"text must have at most {_LENGTH} characters", len(text))
        )
    return _Reader(text, functions or {}).read()


def constructors() -> dict[str, type[Kernel]]:
    """Return the kernels that are written as a name with arguments."""
    return {name: kind for name, kind in registry.items() if not issubclass(kind, _Terms | Around)}


@dataclass(frozen=True)
class _Token:
    kind: str
    value: str
    position: int


class _Reader:
    """Recursive descent over the tokens of one text."""

    def __init__(self, text: str, functions: Mapping[str, Any]) -> None:
        self.text, self.functions = text, functions
        self.tokens = self._tokens()
        self.index = self.depth = 0

    def _tokens(self) -> list[_Token]:
        found, position, end = [], 0, len(self.text.rstrip())
        while position < end:
            match = _TOKEN.match(self.text, position)
            if match is None:
                while self.text[position].isspace():
                    position += 1
                raise ParseError(self.text, position, f"unexpected {self.text[position]!r}")
            kind = str(match.lastgroup)
            found.append(_Token(kind, match[kind], match.start(kind)))
            position = match.end()
        return [*found, _Token("end", "", len(self.text))]

    def fail(self, problem: str, token: _Token | None = None) -> ParseError:
        where = token or self.tokens[self.index]
        return ParseError(self.text, where.position, problem)

    def next(self) -> _Token:
        token = self.tokens[self.index]
        self.index += token.kind != "end"
        return token

    def accept(self, sign: str) -> bool:
        token = self.tokens[self.index]
        found = token.kind == "sign" and token.value == sign
        self.index += found
        return found

    def expect(self, sign: str) -> None:
        if not self.accept(sign):
            token = self.tokens[self.index]
            shown = repr(token.value) if token.value else "the end"
            raise self.fail(f"expected {sign!r}, found {shown}")

    def read(self) -> Kernel:
        result = self.expression()
        if self.tokens[self.index].kind != "end":
            raise self.fail(f"unexpected {self.tokens[self.index].value!r}")
        if not isinstance(result, Kernel):
            raise self.fail("expected a kernel, found a number", self.tokens[0])
        if _depth(result) > _DEPTH:
            raise self.too_deep(self.tokens[0])
        return result

    def too_deep(self, token: _Token | None = None) -> ParseError:
        return self.fail(f"expressions may be nested {_DEPTH} deep at most", token)

    def inside(self, read: Callable[..., Any], *arguments: Any) -> Any:
        """Return what is read between brackets."""
        self.depth += 1
        if self.depth > _DEPTH:
            raise self.too_deep()
        result = read(*arguments)
        self.depth -= 1
        return result

    def expression(self) -> Any:
        return self.chain("+", "Sum", self.term)

    def term(self) -> Any:
        return self.chain("*", "Product", self.factor)

    def chain(self, sign: str, kind: str, part: Callable[[], Any]) -> Any:
        """Return parts with signs between them; neighbouring kernels are joined in one go."""
        run = [part()]
        while self.accept(sign):
            right = part()
            if isinstance(run[-1], Kernel) and isinstance(right, Kernel):
                run.append(right)
            else:
                run = [self.apply(kind, self.joined(kind, run), right)]
        return self.joined(kind, run)

    @staticmethod
    def joined(kind: str, run: list[Any]) -> Any:
        return registry[kind](tuple(run)) if len(run) > 1 else run[0]  # type: ignore[call-arg]

    def factor(self) -> Any:
        result = self.item()
        return self.apply("Power", result, self.value()) if self.accept("**") else result

    def apply(self, kind: str, left: Any, right: Any) -> Kernel:
        if not isinstance(left, Kernel) and (kind == "Power" or not isinstance(right, Kernel)):
            raise self.fail("expected a kernel, found a number", self.tokens[self.index - 1])
        return combine(kind, left, right)

    def item(self) -> Any:
        result = self.atom()
        while self.accept("."):
            token = self.next()
            if token.kind != "name" or token.value not in _METHODS:
                hint = checks.nearest(token.value, _METHODS)
                raise self.fail(f"unknown method {token.value!r}. {hint}".rstrip(". "), token)
            if not isinstance(result, Kernel):
                raise self.fail("expected a kernel, found a number", token)
            result = self.call(token, getattr(result, token.value), self.value)
        return result

    def atom(self) -> Any:
        token = self.next()
        if token.kind == "number":
            return float(token.value)
        if token.kind == "sign" and token.value == "(":
            result = self.inside(self.expression)
            self.expect(")")
            return result
        if token.value == "-":
            raise self.fail("a negative coefficient breaks the Mercer property, found '-'", token)
        if token.kind != "name":
            shown = repr(token.value) if token.value else "the end"
            raise self.fail(f"expected a kernel, found {shown}", token)
        kinds = constructors()
        if token.value not in kinds:
            hint = checks.nearest(token.value, kinds)
            raise self.fail(f"unknown kernel {token.value!r}. {hint}".rstrip(". "), token)
        return self.call(token, kinds[token.value], self.argument)

    def call(self, token: _Token, function: Any, read: Callable[[], Any]) -> Kernel:
        self.expect("(")
        positional: list[Any] = []
        named: dict[str, Any] = {}
        while not self.accept(")"):
            if positional or named:
                self.expect(",")
                if self.accept(")"):
                    break
            ahead = self.tokens[self.index : self.index + 2]
            if len(ahead) == 2 and ahead[0].kind == "name" and ahead[1].value == "=":
                if ahead[0].value in named:
                    raise self.fail(f"{ahead[0].value} is given twice")
                self.index += 2
                named[ahead[0].value] = read()
            else:
                positional.append(read())
        try:
            made: Kernel = function(*positional, **named)
        except TypeError as error:
            if isinstance(error, checks.MercerError):
                raise
            known = registry.get(token.value)
            names = ", ".join(f.name for f in fields(known)) if known else "as in Python"  # type: ignore[arg-type]
            raise self.fail(
                f"wrong arguments of {token.value}: it takes {names or 'none'}", token
            ) from None
        return made

    def argument(self) -> Any:
        """Return a value, or the kernel that another one takes as a parameter."""
        return self.inside(self.expression) if self.is_kernel_ahead() else self.value()

    def is_kernel_ahead(self) -> bool:
        """Return whether there is a call of a kernel before the argument ends."""
        depth, kinds = 0, constructors()
        for place in range(self.index, len(self.tokens) - 1):
            token, after = self.tokens[place : place + 2]
            if token.kind == "name" and token.value in kinds and after.value == "(":
                return True
            if token.kind == "sign":
                depth += (token.value in "([") - (token.value in ")]")
                if depth < 0 or (depth == 0 and token.value == ","):
                    return False
        return False

    def value(self) -> Any:
        token = self.next()
        if token.kind == "number":
            return _number(token.value)
        if token.kind == "text":
            return self.string(token)
        if token.value == "-":
            number = self.next()
            if number.kind == "number":
                return -_number(number.value)
            raise self.fail("expected a number", number)
        if token.value in ("[", "("):
            return self.inside(self.sequence, "]" if token.value == "[" else ")")
        if token.value in _WORDS:
            return _WORDS[token.value]
        if token.kind == "name":
            if token.value in self.functions:
                return self.functions[token.value]
            problem = f"unknown name {token.value!r}; hand it in: functions={{{token.value!r}: …}}"
            raise self.fail(problem, token)
        raise self.fail("expected a value", token)

    def string(self, token: _Token) -> str:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", SyntaxWarning)
                return str(ast.literal_eval(token.value))
        except (SyntaxError, ValueError):
            raise self.fail("a text must be a Python string", token) from None

    def sequence(self, closing: str) -> tuple[Any, ...]:
        found: list[Any] = []
        while not self.accept(closing):
            if found:
                self.expect(",")
                if self.accept(closing):
                    break
            found.append(self.value())
        return tuple(found)


def _number(text: str) -> int | float:
    return int(text) if text.isdigit() and len(text) < 20 else float(text)


def _depth(kernel: Kernel) -> int:
    depth, level = 0, [kernel]
    while level:
        depth, level = depth + 1, [child for node in level for child in node.children()]
    return depth


def from_spec(
    spec: Mapping[str, Any], functions: Mapping[str, Any] | None = None, depth: int = 0
) -> Kernel:
    """Return the kernel of `kernel.spec()`; unknown names and fields are refused.

    Parameters
    ----------
    spec : mapping
        Plain data with the name of a kernel and its parameters.
    functions : mapping of str to callable, default=None
        The functions that the data name, in `of`, `rescaled` and `FunctionKernel`.
    depth : int, default=0
        How deep this part is nested; leave it out.

    Returns
    -------
    Kernel
        The kernel.

    Examples
    --------
    >>> from mercer.kernels import from_spec
    >>> from_spec({"kernel": "Gaussian", "gamma": 0.5})
    Gaussian(gamma=0.5)
    """
    if not isinstance(spec, Mapping) or not isinstance(spec.get("kernel"), str):
        raise KernelError(
            sentence("from_spec", "a spec must be a mapping with 'kernel'", checks.show(spec))
        )
    if depth > _DEPTH:
        raise KernelError(
            sentence("from_spec", f"specs may be nested {_DEPTH} deep at most", "more")
        )
    name = spec["kernel"]
    if name not in registry:
        hint = checks.nearest(name, registry)
        raise KernelError(sentence("from_spec", "the kernel must be known", repr(name), hint))
    kind = registry[name]
    known = [f.name for f in fields(kind)]  # type: ignore[arg-type]
    values = {key: value for key, value in spec.items() if key != "kernel"}
    unknown = sorted(set(values) - set(known))
    if unknown:
        raise KernelError(
            sentence("from_spec", f"fields of {name} are {', '.join(known)}", unknown[0])
        )
    for key, value in values.items():
        if key == "inner" or isinstance(value, Mapping):
            values[key] = from_spec(value, functions, depth + 1)
        elif key == "terms" and isinstance(value, list | tuple):
            values[key] = tuple(from_spec(term, functions, depth + 1) for term in value)
        elif isinstance(value, list):
            values[key] = _tuples(value)
        elif key in ("f", "phi", "fn") or (key == "M" and isinstance(value, str)):
            if not isinstance(value, str) or value not in (functions or {}):
                hint = f"Hand it in: functions={{{value!r}: …}}."
                raise KernelError(
                    sentence("from_spec", "functions must be given", repr(value), hint)
                )
            values[key] = (functions or {})[value]
    try:
        return kind(**values)
    except TypeError as error:
        if isinstance(error, checks.MercerError):
            raise
        raise KernelError(
            sentence("from_spec", f"{name} needs {', '.join(known)}", checks.show(values))
        ) from None


def _tuples(value: Any) -> Any:
    """Return lists within lists as tuples: JSON has no others."""
    return tuple(map(_tuples, value)) if isinstance(value, list | tuple) else value
