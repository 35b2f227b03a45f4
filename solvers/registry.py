"""Methods and strategies, found by their files: `fwd_rpo.py` in a folder of methods is `fwd-rpo`.

    METHODS = modules_in("memopt.solvers.scheduling.methods", "memopt.solvers.published.scheduling")

So a new one is one new file, and nothing is imported before it is asked for
(`src/memopt/modules.py`).
"""

import re
from ast import AST, AnnAssign, Assign, FunctionDef, Name, literal_eval, parse, stmt, unparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from typing import Any

from memopt.modules import load
from memopt.solvers.errors import ProblemError


def function_of(
    methods: Mapping[str, str], name: str, kind: str, *functions: str
) -> Callable[..., Any]:
    """The first of `functions` that the file of method `name` has. Raises ProblemError."""
    if name not in methods:
        raise ProblemError(f"unknown {kind} {name!r}: one of {', '.join(methods)}")
    module = load(methods[name], *functions)
    return next(function for f in functions if (function := getattr(module, f, None)) is not None)


def options_of(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of a method's options: all parameters but the first, which is the problem."""
    return tuple(signature(function).parameters)[1:]


def check_options(method: str, options: Iterable[str], known: Sequence[str]) -> None:
    """Raise ProblemError for an option that is not among those that `method` has."""
    for name in options:
        if name not in known:
            raise ProblemError(f"{method} has no option {name.replace('_', '-')!r}")


@dataclass(frozen=True)
class Option:
    """An option of methods: its types, one line for people, the methods that take it."""

    name: str
    types: tuple[type, ...]
    text: str
    methods: tuple[str, ...]


def declared_options(methods: Mapping[str, str], *functions: str) -> tuple[Option, ...]:
    """The options that the methods' files declare for people, each with every method that takes it.

    A file has `OPTIONS = {parameter: line}` for parameters of the first of `functions` that it has;
    what another method calls the same is the same. The files are read and not imported: that would
    load numpy and OR-Tools for `--list-passes`.
    """
    declarations = {name: _declared(module, functions) for name, module in methods.items()}
    options: dict[str, Option] = {}
    for lines, parameters in declarations.values():
        for name, text in lines.items():
            takers = tuple(m for m, (_, taken) in declarations.items() if name in taken)
            types = tuple(_TYPES[t] for t in parameters[name] if t in _TYPES)
            options.setdefault(name, Option(name, types, text, takers))
    return tuple(options.values())


_TYPES = {"int": int, "str": str, "bool": bool, "float": float}


def _declared(
    module: str, functions: Sequence[str]
) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """Return the `OPTIONS` of a file, and its function's parameters with their types' names."""
    spec = find_spec(module)
    assert spec is not None and spec.origin is not None
    statements = _statements(Path(spec.origin).read_text(encoding="utf-8"), functions)
    lines: dict[str, str] = {}
    for statement in statements:
        match statement:
            case Assign([Name("OPTIONS")], given) | AnnAssign(Name("OPTIONS"), _, AST() as given):
                lines = literal_eval(given)
            case _:
                pass
    known = {s.name: s.args for s in statements if isinstance(s, FunctionDef)}
    arguments = next(known[f] for f in functions if f in known)
    options = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs][1:]
    types = {a.arg: unparse(a.annotation).split(" | ") for a in options if a.annotation}
    return lines, {name: tuple(type_names) for name, type_names in types.items()}


def _statements(text: str, functions: Sequence[str]) -> list[stmt]:
    """Return the statements of a file that matter: those that begin with these words, where each
    stands once and outside of strings, else all, which takes ten times as long."""
    begin = re.compile(rf"^(OPTIONS|def (?:{'|'.join(functions)}))\b", re.MULTILINE)
    starts = [match.start() for match in begin.finditer(text)]
    words = [match[1] for match in begin.finditer(text)]
    quoted = any(text.count(quotes, 0, start) % 2 for start in starts for quotes in QUOTES)
    if words and not quoted and len(set(words)) == len(words):
        ends = [match.start() if (match := _NEXT.search(text, s + 1)) else None for s in starts]
        with suppress(SyntaxError):
            return [s for a, e in zip(starts, ends, strict=True) for s in parse(text[a:e]).body]
    return parse(text).body


QUOTES = ('"""', "'''")
_NEXT = re.compile(r"^[A-Za-z_@]", re.MULTILINE)
