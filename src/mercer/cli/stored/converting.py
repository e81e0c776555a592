"""Models of other programs in, models for other programs out."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from ..errors import data_error, usage
from ..outputs import STANDARD, check_outputs, save_model, size_text, writing
from .models import read_model

if TYPE_CHECKING:
    from ..screen import Screen

WHO = "mercer convert"
ENDINGS = {
    ".mercer": "mercer",
    ".onnx": "onnx",
    ".model": "libsvm",
    ".libsvm": "libsvm",
    ".txt": "libsvm",
}
MARK = b'{"__metadata__"'  # of a file of mercer, after its first eight bytes


def run_convert(screen: Screen, source: str, target: str, to: str | None, force: bool) -> None:
    """Convert a model and say what was written."""
    kind = to or ENDINGS.get(os.path.splitext(target)[1].lower())
    if kind is None:
        must = f"the name of TARGET must end in one of {', '.join(ENDINGS)}"
        raise usage(WHO, must, repr(target), "Or write --to mercer, libsvm or onnx.")
    check_outputs(WHO, {"TARGET": target}, force, [source])
    screen.results_to_stderr = target == STANDARD
    is_ours = source != STANDARD and _is_ours(source)
    if is_ours and kind == "mercer":
        raise usage(WHO, "SOURCE and TARGET must be of different kinds", "two files of mercer")
    if not is_ours and kind != "mercer":
        raise usage(WHO, "SOURCE must be a model file of mercer", f"{source!r}, another file")
    if kind == "mercer":
        from ...convert import read_libsvm

        given: Any = sys.stdin.buffer if source == STANDARD else source
        save_model(read_libsvm(given), target, None)
    else:
        _write(read_model(source, WHO).model, target, kind)
    if target != STANDARD:
        screen.show(f"{target} ({size_text(target)}) is written for {_program(kind)}.")
    screen.result |= {"source": source, "target": target, "to": kind}


def _program(kind: str) -> str:
    return {"mercer": "mercer", "libsvm": "LIBSVM", "onnx": "ONNX Runtime"}[kind]


def _is_ours(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(8 + len(MARK))[8:] == MARK
    except OSError as error:
        got = f"{path!r}: {error.strerror or error}"
        raise data_error(WHO, "SOURCE must be a readable file", got) from None


def _write(model: Any, target: str, kind: str) -> None:
    with writing():
        if kind == "libsvm":
            from ...convert import write_libsvm

            write_libsvm(model, sys.stdout.buffer if target == STANDARD else target)
            return
        from ...convert import to_onnx
        from ...storage import atomic

        data = to_onnx(model)
        if target == STANDARD:
            sys.stdout.buffer.write(data)
        else:
            atomic.write(target, [data])
