"""Targets, found by their files: `cortex_m4.py` in targets/ is `cortex-m4`, its TARGET the facts.

    target_names("c")              # ('cortex-m3', 'cortex-m4', 'cortex-m7', ...)
    target_named("cortex-m4").isa  # ('dsp', 'c')

So a new board is one new file, and no list elsewhere repeats the names.
"""

import re
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from memopt import targets
from memopt.dialects.memgraph.errors import MemoptError, nearest
from memopt.targets.core.target import Target

SHARED = ("core", "cmsis_nn")  # what targets share, and a library that they call


@cache
def all_targets() -> dict[str, Target]:
    """Name -> target, numbers in names in the order of numbers."""
    names = [info.name for info in iter_modules(targets.__path__) if info.name not in SHARED]
    by_name: dict[str, Target] = {}
    for module in sorted(names, key=_natural):
        target = import_module(f"{targets.__name__}.{module}").TARGET
        assert isinstance(target, Target), module
        name = module.replace("_", "-")
        by_name[name] = target.called(name)
    return by_name


def _natural(name: str) -> list[tuple[str, int]]:
    return [(word, int(number or 0)) for word, number in re.findall(r"(\D+)(\d*)", name)]


def target_names(*outputs: str) -> tuple[str, ...]:
    """The names of all targets, or of those with one of these outputs."""
    return tuple(n for n, t in all_targets().items() if not outputs or t.output in outputs)


def target_named(name: str, *outputs: str) -> Target:
    """The target of that name, with one of these outputs if there are any. Raises MemoptError."""
    names = target_names(*outputs)
    if name not in names:
        text = f"target {name!r}{nearest(name, names)} is not one of: {', '.join(names)}"
        raise MemoptError(text)
    return all_targets()[name]
