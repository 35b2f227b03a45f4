"""Options of passes with the line that `--list-passes` prints for them.

alignment: int | None = option(None, "bytes of which every offset is a multiple")
"""

from collections.abc import Mapping, Sequence
from dataclasses import field, fields
from typing import Any, TypeVar

from xdsl.passes import ModulePass

TEXT = "text"
CHOICES = "choices"
T = TypeVar("T")


def option(default: T, text: str, choices: Sequence[str] = ()) -> T:
    """A field of a pass with a default; `text` is one line without a full stop, `choices` are all
    values that there are, for `check_choices`."""
    metadata = {TEXT: text} | ({CHOICES: tuple(choices)} if choices else {})
    return field(default=default, metadata=metadata)  # pyright: ignore[reportReturnType]


def required(text: str) -> Any:
    """A field of a pass without a default."""
    return field(metadata={TEXT: text})


def texts(made: type[ModulePass]) -> Mapping[str, str]:
    """The line of every option of a pass that has one."""
    return {f.name: f.metadata[TEXT] for f in fields(made) if TEXT in f.metadata}


def choices(made: type[ModulePass]) -> Mapping[str, tuple[str, ...]]:
    """All values of every option of a pass that says which there are."""
    return {f.name: f.metadata[CHOICES] for f in fields(made) if CHOICES in f.metadata}


def check_choices(made: ModulePass) -> None:
    """Raise ValueError, which is a wrong command line, for a value that there is not."""
    for name, known in choices(type(made)).items():
        if (value := getattr(made, name)) not in known:
            raise ValueError(f"{name}={value}: one of {', '.join(known)}")
