"""Functions whose keywords are the fields of a dataclass, for readers, editors and type checkers.

@with_keywords(PlanKeywords)
def plan(source: Source, options: PlanKeywords) -> Plan: ...

plan("net.tflite", target="cortex-m4", rows="all")
"""

import inspect
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import wraps
from textwrap import indent, wrap
from typing import Any, Concatenate, ParamSpec, TypeVar, get_args

from memopt.api.sources import whole_number
from memopt.compile.options import described
from memopt.dialects.memgraph.errors import nearest
from memopt.text.usage import UsageError

Fields = ParamSpec("Fields")
Options = TypeVar("Options")
Given = TypeVar("Given")
Answer = TypeVar("Answer")
OPTIONS = "    OPTIONS\n"  # of a docstring: where the options are listed


def with_keywords(
    fields: Callable[Fields, Options],
) -> Callable[[Callable[[Given, Options], Answer]], Callable[Concatenate[Given, Fields], Answer]]:
    """Return a decorator: a function of `fields` behind its first argument takes them as keywords.
    Raises TypeError for another keyword, with the nearest that there is."""
    known = inspect.signature(fields).parameters

    def decorate(
        function: Callable[[Given, Options], Answer],
    ) -> Callable[Concatenate[Given, Fields], Answer]:
        @wraps(function)
        def call(given: Given, /, *args: Fields.args, **keywords: Fields.kwargs) -> Answer:
            for name in keywords.keys() - known.keys():
                text = f"{function.__name__}() has no option {name!r}{nearest(name, list(known))}"
                raise TypeError(text)
            keywords.update({n: _read(n, v, known[n].annotation) for n, v in keywords.items()})
            return function(given, fields(*args, **keywords))

        own = inspect.signature(function)
        first, *_ = own.parameters.values()
        shown = own.replace(parameters=[first, *known.values()])
        call.__signature__ = shown  # type: ignore[attr-defined]
        call.__doc__ = (function.__doc__ or "").replace(OPTIONS, _listed())
        return call

    return decorate


def _read(name: str, value: object, kind: Any) -> object:
    """Return the value of a keyword annotated as `kind`: of a text such as "64K" the value that its
    flag has, and an int where the annotation has one. Raises ValueError, TypeError."""
    entry = next((entry for known, _, entry in described() if known == name), None)
    kinds = get_args(kind)
    if isinstance(value, str) and (entry or str in kinds):
        with in_keywords():
            return entry.read(name, value) if entry else value
    return whole_number(name, value) if int in kinds else value


@contextmanager
def in_keywords() -> Generator[None]:
    """Say of options what contradicts itself by their keywords, not by their flags."""
    try:
        yield
    except UsageError as error:
        raise UsageError(str(error).replace("--", "")) from None


def _listed() -> str:
    """Return the options of a plan with what each is, for a docstring."""
    lines: list[str] = []
    for name, _, entry in described():
        may = f" {' or '.join(map(repr, entry.choices))}." if entry.choices else ""
        text = f"{name}: {entry.help.replace('%%', '%')}.{may}"
        lines += wrap(text, 90, subsequent_indent="    ")
    return indent("\n".join(lines), "    ") + "\n"
