"""Facts of runtimes, by the words of a #memgraph.model that stand for them.

    interpreter_of(model)       # who runs the operators of its file itself; "" for generated code
    scratch_requests(model)     # the scratch of each operation, by the kernels that are counted

`targets/` knows the runtimes and nothing here does. Whoever knows both says so before the first
memory model is made (`src/memopt/compile/connections.py`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.ir import Operation

    from memopt.dialects.attributes.model import ModelAttr

Requests = Callable[["Operation", "ModelAttr"], "tuple[int, ...] | None"]
"""Bytes of each scratch buffer of an operation, not rounded up; None where nobody knows them."""


@dataclass(frozen=True)
class Runtimes:
    """Answers for every runtime.

    `scratches`: the words that `scratch` of a memory model may be. `requests(word)`: what the
    kernels of that word request, None if scratch is what is written at the operations.
    `interpreter(target)`: the name of the runtime that runs a target's files, every operator by a
    kernel of its own; "" for targets whose code is generated.
    """

    scratches: tuple[str, ...]
    requests: Callable[[str], Requests | None]
    interpreter: Callable[[str], str]


_connected: list[Runtimes] = []


def connect_runtimes(runtimes: Runtimes) -> None:
    """Let `runtimes` answer from now on."""
    _connected[:] = [runtimes]


def scratch_words() -> tuple[str, ...]:
    """Return the words that `scratch` of a memory model may be."""
    return _connected[0].scratches


def scratch_requests(model: "ModelAttr") -> Requests | None:
    """Return the requests of the kernels whose scratch the model counts, None if it counts what is
    written at the operations."""
    return _connected[0].requests(model.scratch.data)


def interpreter_of(model: "ModelAttr") -> str:
    """Return the name of the runtime that interprets a file of the model's target, "" for none."""
    return _connected[0].interpreter(model.target.data)
