"""Options of passes with the line that `--list-passes` prints for them.

alignment: int | None = option(None, "bytes of which every offset is a multiple")
"""

from collections.abc import Iterable, Mapping
from dataclasses import field, fields
from typing import Any, TypeVar

from xdsl.passes import ModulePass

TEXT = "text"
T = TypeVar("T")


def option(default: T, text: str) -> T:
    """A field of a pass with a default; `text` is one line without a full stop."""
    return field(default=default, metadata={TEXT: text})  # pyright: ignore[reportReturnType]


def required(text: str) -> Any:
    """A field of a pass without a default."""
    return field(metadata={TEXT: text})


def texts(made: type[ModulePass]) -> Mapping[str, str]:
    """The line of every option of a pass that has one."""
    return {f.name: f.metadata[TEXT] for f in fields(made) if TEXT in f.metadata}


def check_method(method: str, known: Iterable[str]) -> None:
    """Raise ValueError, which is a wrong command line, unless there is such a method."""
    if method not in known:
        raise ValueError(f"method={method}: one of {', '.join(known)}")
