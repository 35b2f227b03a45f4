"""One operator on its way into the IR: what every format's entry asks of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.operators import operations
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.stateful import StatefulOp
from memopt.dialects.operators.traits import KeepsDimensions, Moves, Pointwise, Spatial, Weights
from memopt.frontends.core.typed import NotTyped, need

NO_OPERATION: Final = "no operation of memopt computes it"


@dataclass(frozen=True)
class Node:
    """An operator. `types[i]` is the type of operand i, None where it is left out; `operand(i)`
    brings the value into the IR. What is not there raises NotTyped."""

    kind: str
    options: Mapping[str, Any]
    types: Sequence[TensorType[Attribute] | None]
    results: Sequence[TensorType[Attribute]]
    value: Callable[[int], SSAValue]

    def has(self, index: int) -> bool:
        return index < len(self.types) and self.types[index] is not None

    def type(self, index: int) -> TensorType[Attribute]:
        type_ = self.types[index] if index < len(self.types) else None
        if type_ is None:
            raise NotTyped(f"operand {index} is left out")
        return type_

    def shape(self, index: int) -> tuple[int, ...]:
        return self.type(index).get_shape()

    def element(self, index: int) -> Attribute:
        return self.type(index).element_type

    def operand(self, index: int) -> SSAValue:
        need(self.has(index), f"operand {index} is left out")
        return self.value(index)

    def optional(self, index: int) -> SSAValue | None:
        return self.value(index) if self.has(index) else None

    @property
    def operands(self) -> list[SSAValue]:
        """All of them; none may be left out."""
        return [self.operand(i) for i in range(len(self.types))]

    @property
    def result(self) -> TensorType[Attribute]:
        """The only one."""
        need(len(self.results) == 1, f"{len(self.results)} results (one has one)")
        return self.results[0]

    def get(self, name: str, default: Any = None) -> Any:
        return self.options.get(name, default)


def short_name(kind: type[Operation]) -> str:
    """Return the name of an operation without its dialect's."""
    return kind.name.removeprefix("memgraph.")


@cache
def _kinds() -> Mapping[str, type[ComputeOp]]:
    """Return the operations of `dialects/operators/` by short name."""
    return {short_name(kind): kind for kind in operations() if issubclass(kind, ComputeOp)}


class Entry:
    """Table entry of a format's operator: `build(node, *kinds)` makes one of the operations of
    these names.

    So a table is all that knows both names; what is asked of the operator is asked of its kinds.
    """

    def __init__(self, build: Callable[..., Operation], *names: str) -> None:
        self.build = build
        self.kinds = kinds = tuple(_kinds()[name] for name in names)
        self.is_spatial = any(k.has_trait(Spatial) for k in kinds)
        self.keeps_dimensions = any(
            k.has_trait(Pointwise) or k.has_trait(KeepsDimensions) for k in kinds
        )
        self.moves = any(k.has_trait(Moves) for k in kinds)
        self.keeps_state = any(issubclass(k, StatefulOp) for k in kinds)

    def weights(self, layout: str) -> str | None:
        """Return how operand 1 is laid out beside images of that layout, None if not said."""
        layouts = (w.beside(layout) for k in self.kinds if (w := k.get_trait(Weights)))
        return next(filter(None, layouts), None)


def typed(table: Mapping[str, Entry], node: Node) -> Operation | str:
    """Return the typed operation that means the same, by a format's table, or why there is none."""
    entry = table.get(node.kind)
    if entry is None:
        return NO_OPERATION
    try:
        op = entry.build(node, *entry.kinds)
        op.verify_()
    except (NotTyped, VerifyException, MemoptError) as reason:
        return " ".join(str(reason).split())
    except KeyError as missing:  # the file gives no options, or a newer schema's
        return f"the file does not say {missing.args[0]}"
    return op
