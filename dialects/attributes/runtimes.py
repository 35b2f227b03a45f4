"""Facts of runtimes, by the words of a #memgraph.model that stand for them.

    interpreter_of(model)       # who runs the operators of its file itself; "" for generated code
    scratch_requests(model)     # the scratch of each operation, by the kernels that are counted

`targets/` knows the runtimes and nothing here does. Whoever knows both says so before the first
memory model is made (`src/memopt/compile/connections.py`), and that module is loaded when it is
asked.
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from xdsl.ir import Operation

    from memopt.dialects.attributes.model import ModelAttr

Requests = Callable[["Operation", "ModelAttr"], "tuple[int, ...] | None"]
"""Bytes of each scratch buffer of an operation, not rounded up; None where nobody knows them."""


class Runtimes(Protocol):
    """Interface of a module that answers for every runtime.

    `SCRATCHES`: the words that `scratch` of a memory model may be. `requests(word)`: what the
    kernels of that word request, None if scratch is what is written at the operations.
    `interpreter(target)`: the name of the runtime that runs a target's files, every operator by a
    kernel of its own; "" for targets whose code is generated.
    """

    SCRATCHES: tuple[str, ...]

    def requests(self, word: str) -> Requests | None: ...
    def interpreter(self, target: str) -> str: ...


_connected: list[str] = []


def connect_runtimes(module: str) -> None:
    """Let a module, a Runtimes, answer from now on."""
    _connected[:] = [module]
    _runtimes.cache_clear()


@cache
def _runtimes() -> Runtimes:
    return cast("Runtimes", import_module(_connected[0]))


def scratch_words() -> tuple[str, ...]:
    """Return the words that `scratch` of a memory model may be."""
    return _runtimes().SCRATCHES


def scratch_requests(model: "ModelAttr") -> Requests | None:
    """Return the requests of the kernels whose scratch the model counts, None if it counts what is
    written at the operations."""
    return _runtimes().requests(model.scratch.data)


def interpreter_of(model: "ModelAttr") -> str:
    """Return the name of the runtime that interprets a file of the model's target, "" for none."""
    return _runtimes().interpreter(model.target.data)
