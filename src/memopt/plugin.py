"""Dialect and passes for every xDSL tool, loaded when they are used.

A pass is a file: `passes/memgraph_fuse.py` holds the class whose `name` is `memgraph-fuse`.
"""

from collections.abc import Callable
from functools import partial

from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.universe import Universe

from memopt.modules import fault, load, modules_in

PREFIX = "memgraph-"  # the other files of that room are what passes share


def _dialect() -> Dialect:
    from memopt.dialects.memgraph.dialect import MEMGRAPH

    return MEMGRAPH


def _pass(name: str, module: str) -> type[ModulePass]:
    """The class of that name in a pass's file."""
    for c in vars(load(module)).values():
        if isinstance(c, type) and issubclass(c, ModulePass) and getattr(c, "name", None) == name:
            return c
    raise fault(module, f"has no pass with the name {name!r}")


PASSES: dict[str, Callable[[], type[ModulePass]]] = {
    name: partial(_pass, name, module)
    for name, module in modules_in("memopt.passes").items()
    if name.startswith(PREFIX)
}

UNIVERSE = Universe(all_dialects={"memgraph": _dialect}, all_passes=dict(PASSES))
