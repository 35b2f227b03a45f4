"""Methods and strategies, found by their files: `fwd_rpo.py` in a folder of methods is `fwd-rpo`.

    METHODS = methods_in("memopt.solvers.scheduling.methods", "memopt.solvers.published.scheduling")

So a new one is one new file, and nothing is imported before it is asked for.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from inspect import signature
from pkgutil import iter_modules
from typing import Any

from memopt.solvers.errors import ProblemError


def methods_in(*packages: str) -> dict[str, str]:
    """Name -> module of every file of these packages: `auto` first, then by name."""
    found = {
        info.name.replace("_", "-"): f"{package}.{info.name}"
        for package in packages
        for info in iter_modules(import_module(package).__path__)
    }
    return dict(sorted(found.items(), key=lambda entry: (entry[0] != "auto", entry[0])))


def function_of(
    methods: Mapping[str, str], name: str, kind: str, *functions: str
) -> Callable[..., Any]:
    """The first of `functions` that the file of method `name` has. Raises ProblemError."""
    if name not in methods:
        raise ProblemError(f"unknown {kind} {name!r}: one of {', '.join(methods)}")
    module = import_module(methods[name])
    return next(found for f in functions if (found := getattr(module, f, None)) is not None)


def options_of(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of a method's options: all parameters but the first, which is the problem."""
    return tuple(signature(function).parameters)[1:]
