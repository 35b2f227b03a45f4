"""Outputs that `-t` names: `mlir`, `tflite`, or `c{name=net}`, whose functions are called
`net_...`.

One file per output, found by its name, with `write(module, wanted)`. It says `BINARY = True` if it
gives bytes, and has `named(options)` if something may stand in braces behind its name. What a
backend makes of a plan alone is a row of `OF_PLANS`.
"""

import argparse
import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from xdsl.dialects.builtin import ModuleOp

from memopt.backends.c.emit.c_text import file_name
from memopt.compile.driver import check_off_chip
from memopt.modules import load, modules_in
from memopt.text.usage import STDOUT

if TYPE_CHECKING:
    from memopt.backends.checked import Checked

# module, function, and whether it is told that bound and proof are only claimed
OF_PLANS = {
    "c-calls": ("c.emit.memref_calls", "memref_calls", False),
    "html": ("report", "module_html", True),
    "json": ("exports", "module_json", True),
    "minimalloc-csv": ("exports", "module_csv", False),
    "svg": ("report", "module_svg", True),
}
_FOUND = modules_in("memopt.outputs")
TARGETS = tuple(sorted({*_FOUND, *OF_PLANS}))
SOURCES = (".c", ".h")


class Target(NamedTuple):
    """A target, and what its functions are called if that was said."""

    kind: str
    name: str | None = None


@dataclass(frozen=True)
class Wanted:
    """The `folder` that the output is written to (None: stdout), MLIR's `generic` form, what begins
    the names of everything public in C, and whether bound and proof are only `claimed`: the plan
    was read, and nothing has proved them since. `known` is the module's only function, if its plan
    was verified already."""

    folder: Path | None = None
    generic: bool = False
    name: str = "model"
    claimed: bool = False
    known: "Checked | None" = None


def _form(kind: str) -> Any:
    return load(_FOUND[kind], "write") if kind in _FOUND else None


def is_binary(kind: str) -> bool:
    """Return whether an output is bytes, which no terminal should get."""
    return getattr(_form(kind), "BINARY", False)


def emit(module: ModuleOp, kind: str, wanted: Wanted) -> str | bytes:
    """Return the module as `kind`. Raises MemoptError for what that cannot say, and for what a plan
    says of traffic off the chip and cannot be; the form looks at the plan itself."""
    if kind != "mlir":
        check_off_chip(module)
    if kind not in OF_PLANS:
        written: str | bytes = _form(kind).write(module, wanted)
        return written
    backend, function, is_told = OF_PLANS[kind]
    claims = {"claimed": wanted.claimed} if is_told else {}
    write: Callable[..., str] = getattr(import_module(f"memopt.backends.{backend}"), function)
    return write(module, known=wanted.known, **claims)


def target_text(text: str) -> Target:
    """For `type=`: a target with its option. Raises ArgumentTypeError."""
    match = re.fullmatch(r"([\w-]*)(?:\{(.*)\})?", text)
    kind, options = (match[1], match[2]) if match else (text, None)
    if kind not in TARGETS:
        known = ", ".join(map(repr, TARGETS))
        raise argparse.ArgumentTypeError(f"invalid choice: {text!r} (choose from {known})")
    if options is None:
        return Target(kind)
    named = getattr(_form(kind), "named", None)
    if named is None:
        raise argparse.ArgumentTypeError(f"{kind} takes no options, not {{{options}}}")
    return Target(kind, named(options))


def model_name(target: Target, source: str, output: str) -> str:
    """Return the name of the functions: as said, else of the C file, else of the file that was
    read."""
    if target.name is not None:
        return target.name
    if output != STDOUT and Path(output).suffix in SOURCES:
        return file_name(Path(output).stem)
    return "model" if source == "stdin" else file_name(Path(source).stem)
