"""What `-t` names: `mlir`, `tflite`, or `c{name=net}`, whose functions are called `net_...`."""

import argparse
import re
from pathlib import Path
from typing import NamedTuple

from memopt.backends.c.text import file_name, identifier
from memopt.usage import STDOUT

TARGETS = ("mlir", "c", "tflite", "json", "svg", "html", "minimalloc-csv")
BINARY = ("tflite",)
SOURCES = (".c", ".h")


class Target(NamedTuple):
    """A target, and what its functions are called if that was said."""

    kind: str
    name: str | None = None


def target_text(text: str) -> Target:
    """For `type=`: a target with its option. Raises ArgumentTypeError."""
    match = re.fullmatch(r"([\w-]*)(?:\{(.*)\})?", text)
    kind, options = (match[1], match[2]) if match else (text, None)
    if kind not in TARGETS:
        known = ", ".join(map(repr, TARGETS))
        raise argparse.ArgumentTypeError(f"invalid choice: {text!r} (choose from {known})")
    if options is None:
        return Target(kind)
    if kind != "c":
        raise argparse.ArgumentTypeError(f"{kind} takes no options, not {{{options}}}")
    given = re.fullmatch(r'\s*name=("?)([^"]*)\1\s*', options)
    if given is None:
        raise argparse.ArgumentTypeError(f"c takes {{name=net}}, not {{{options}}}")
    name = given[2]
    if name != identifier(name) or name.startswith("memopt_"):
        raise argparse.ArgumentTypeError(
            f"{text}: a name is a C identifier in lower case that does not begin with memopt_"
        )
    return Target(kind, name)


def model_name(target: Target, source: str, output: str) -> str:
    """What to call the functions: as said, else as the C file, else as the file that was read."""
    if target.name is not None:
        return target.name
    if output != STDOUT and Path(output).suffix in SOURCES:
        return file_name(Path(output).stem)
    return "model" if source == "stdin" else file_name(Path(source).stem)
