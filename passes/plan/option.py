"""Options of passes with the line that `--list-passes` prints for them.

alignment: int | None = option(None, "bytes of which every offset is a multiple")
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, fields, make_dataclass
from math import isfinite
from typing import Any, TypeVar

from xdsl.passes import ModulePass

from memopt.dialects.memgraph.errors import nearest
from memopt.solvers.registry import Option

TEXT = "text"
CHOICES = "choices"
METHOD = "method"
T = TypeVar("T")


def option(default: T, text: str, choices: Sequence[str] = ()) -> T:
    """A field of a pass with a default; `text` is one line without a full stop, `choices` are all
    values that there are, for `check_options`."""
    metadata = {TEXT: text} | ({CHOICES: tuple(choices)} if choices else {})
    return field(default=default, metadata=metadata)  # pyright: ignore[reportReturnType]


def required(text: str) -> Any:
    """A field of a pass without a default."""
    return field(metadata={TEXT: text})


P = TypeVar("P", bound=ModulePass)


def with_options(declared: Sequence[Option]) -> Callable[[type[P]], type[P]]:
    """Gives a pass the options that its methods' files declare; None of one that was not given."""

    def decorate(made: type[P]) -> type[P]:
        more: list[tuple[str, Any, Any]] = []
        for o in declared:
            metadata = {TEXT: f"{', '.join(o.methods)}: {o.text}", METHOD: True}
            first, *others = o.types
            kind: Any = first
            for other in (*others, None):
                kind = kind | other
            more.append((o.name, kind, field(default=None, metadata=metadata)))
        namespace = {key: getattr(made, key) for key in ("__doc__", "__module__", "__qualname__")}
        return make_dataclass(made.__name__, more, bases=(made,), frozen=True, namespace=namespace)

    return decorate


def method_options(made: ModulePass) -> dict[str, Any]:
    """The options for its method that a pass was given."""
    given = {f.name: getattr(made, f.name) for f in fields(made) if METHOD in f.metadata}
    return {name: value for name, value in given.items() if value is not None}


def texts(made: type[ModulePass]) -> Mapping[str, str]:
    """The line of every option of a pass that has one."""
    return {f.name: f.metadata[TEXT] for f in fields(made) if TEXT in f.metadata}


def choices(made: type[ModulePass]) -> Mapping[str, tuple[str, ...]]:
    """All values of every option of a pass that says which there are."""
    return {f.name: f.metadata[CHOICES] for f in fields(made) if CHOICES in f.metadata}


def check_options(made: ModulePass) -> None:
    """Raise ValueError, which is a wrong command line, for a value that there is not, and for a
    time limit that is not a finite number of seconds above 0."""
    for name, known in choices(type(made)).items():
        if (value := getattr(made, name)) not in known:
            raise ValueError(
                f"{name}={value}{nearest(str(value), known)}: one of {', '.join(known)}"
            )
    time_limit = getattr(made, "time_limit", None)
    if time_limit is not None and not (isfinite(time_limit) and time_limit > 0):
        raise ValueError(f"time-limit={time_limit:g}: seconds, finite and more than 0")
