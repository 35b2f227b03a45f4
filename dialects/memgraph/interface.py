"""Interface between the compiler and an operation.

An operation answers it by deriving `MemoryInterface` (all memgraph operations do), or another
package registers its operations by class or by name:

    from memopt.dialects.memgraph.interface import OperatorMemory, register
    register(MyConv, lambda op, model: OperatorMemory(results=(4096,), workspace=(512,)))

and says, if it has rows, which rows of its operands they read:

    register(MyConv, memory, rows=lambda op: OperatorRows(lambda operand, r: range(r, r + 3)))

What is not registered gets careful defaults (dialects/memgraph/behaviour.py).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeGuard

from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from memopt.dialects.attributes.model import AliasKind, ModelAttr
from memopt.dialects.memgraph.names import UNREGISTERED, full_name

WORLD = "world"  # the effect of an operation of which nothing is known

BARRIER = "barrier"  # nothing may move across

SUCCEED = ("inplace", "move")  # kinds of aliases whose operand dies as the result begins


@dataclass(frozen=True)
class Alias:
    """Result `result` lies at address(operand) + byte_offset. See `#memgraph.alias`."""

    result: int
    operand: int
    kind: AliasKind
    byte_offset: int = 0

    @property
    def ties(self) -> bool:
        """Return whether the two lie in one piece for good."""
        return self.kind in ("view", "slice")

    @property
    def of_part(self) -> bool:
        """Return whether one of the two is a part of the other that comes or dies alone."""
        return self.kind in ("part", "join")


@dataclass(frozen=True)
class OperatorMemory:
    """Effect of an operation on memory. Sizes are bytes, not rounded.

    `results`: bytes per result, None where a result is no buffer (a scalar, a token, a constant).
    `inplace`: (result, operand) pairs that may share an address if the operand dies here, in the
    order of preference. `sums`: these operands lie in one buffer, to which each is added, in any
    order or, `in_order`, in theirs. `workspace`: bytes of each buffer of its own.
    `effects`: operations that share an effect keep their mutual order; none means pure. `after`:
    what reads bytes that the operation overwrites, so it runs before. `hill`, the greatest level
    inside a hyper-node minus `level_in`, is -1 for ordinary operations.
    """

    results: tuple[int | None, ...]
    aliases: tuple[Alias, ...] = ()
    inplace: tuple[tuple[int, int], ...] = ()
    sums: range = range(0)
    in_order: bool = False
    workspace: tuple[int, ...] = ()
    executes: bool = True
    effects: tuple[object, ...] = ()
    after: tuple[Operation, ...] = ()
    hill: int = -1
    level_in: int = 0
    level_out: int = 0


@lru_cache(1 << 12)
def plain(results: tuple[int | None, ...]) -> OperatorMemory:
    """An operation that does no more than make its results; one answer for all that are alike."""
    return OperatorMemory(results)


class MemoryInterface(ABC):
    """Derived by operations that know their own memory behaviour."""

    @abstractmethod
    def memory(self, model: ModelAttr) -> OperatorMemory:
        """Return the effect of this operation on memory under `model`."""


@dataclass(frozen=True)
class OperatorRows:
    """The rows of an operation: row `r` of every result can be computed by itself.

    `read(operand, r)`: the rows of an operand that row `r` reads, none of them outside of it; None
    if it needs all of the operand. It is asked of operands that have rows, images of one batch with
    channels last. `accumulator`: the only result is a sum, or a largest, over the rows of operand
    0: `r` counts these, `read(0, r)` is row `r` or none, and what is known before the last row has
    this type.
    """

    read: Callable[[int, int], range | None]
    accumulator: Attribute | None = None


Describe = Callable[[Operation, ModelAttr], OperatorMemory]

DescribeRows = Callable[[Operation], OperatorRows | None]


@dataclass(frozen=True)
class Registered:
    """Registration of a foreign operation."""

    memory: Describe
    rows: DescribeRows | None


_registry: dict[type[Operation] | str, Registered] = {}


def register(
    operation: type[Operation] | str, describe: Describe, rows: DescribeRows | None = None
) -> None:
    """Register the memory behaviour of a foreign operation, by class or by full name, and its rows,
    which take as much workspace as all of it does and lie where all of it may lie."""
    _registry[operation] = Registered(describe, rows)


CONSTANTS = (
    *("memgraph.constant", "arith.constant", "onnx.Constant"),
    *("tosa.const", "tosa.const_shape", "stablehlo.constant"),
)


def is_constant_like(op: Operation) -> bool:
    """Return whether an operation is a constant, of ours or of a foreign dialect."""
    return op.name in CONSTANTS or (op.name == UNREGISTERED and full_name(op) in CONSTANTS)


def is_constant_value(value: SSAValue) -> TypeGuard[OpResult]:
    """Return whether a value is made by a constant."""
    return isinstance(value, OpResult) and is_constant_like(value.op)


def registered(op: Operation) -> Registered | None:
    """Return the registration of an operation's class or its name, None if there is none."""
    return _registry.get(type(op)) or _registry.get(full_name(op))
