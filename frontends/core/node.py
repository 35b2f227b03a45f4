"""One operator on its way into the IR: what every format's entry asks of it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.operators import operations, operator_called, operator_named
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


class Entry:
    """Table entry of a format's operator: `build(node, *kinds)` makes one of the operations of
    these names.

    So a table is all that knows both names; what is asked of the operator is asked of its kinds,
    which are loaded then.
    """

    def __init__(self, build: Callable[..., Operation], *names: str) -> None:
        self.build = build
        self.names = names

    @cached_property
    def kinds(self) -> tuple[type[ComputeOp], ...]:
        """The operations. Raises MemoptError for a name without one."""
        return tuple(map(self._kind, self.names))

    def _kind(self, name: str) -> type[ComputeOp]:
        kind = operator_named(f"memgraph.{name}")
        if kind is None or not issubclass(kind, ComputeOp):
            names = ", ".join(self.names)
            raise MemoptError(f"entry of a frontend for {names}: memgraph.{name} is no operator")
        return kind

    @cached_property
    def is_spatial(self) -> bool:
        return any(k.has_trait(Spatial) for k in self.kinds)

    @cached_property
    def keeps_dimensions(self) -> bool:
        return any(k.has_trait(Pointwise) or k.has_trait(KeepsDimensions) for k in self.kinds)

    @cached_property
    def moves(self) -> bool:
        return any(k.has_trait(Moves) for k in self.kinds)

    @cached_property
    def keeps_state(self) -> bool:
        return any(issubclass(k, StatefulOp) for k in self.kinds)

    def weights(self, layout: str) -> str | None:
        """Return how operand 1 is laid out beside images of that layout, None if not said."""
        layouts = (w.beside(layout) for k in self.kinds if (w := k.get_trait(Weights)))
        return next(filter(None, layouts), None)


class Table(Mapping[str, Entry]):
    """Operators of a format: those that are `written` here, and those that an operation names in
    its `attribute`, of which `entry_of` makes the entry, None if it is none of the format's. The
    families of operations are loaded for who asks for the operators that they have."""

    def __init__(
        self,
        written: Mapping[str, Entry],
        attribute: str,
        entry_of: Callable[[type[Operation]], Entry | None],
    ) -> None:
        self._entries: dict[str, Entry | None] = {**written}
        self._attribute, self._entry_of = attribute, entry_of

    def __getitem__(self, name: str) -> Entry:
        if name not in self._entries:
            kind = operator_called(self._attribute, name)
            self._entries[name] = None if kind is None else self._entry_of(kind)
        entry = self._entries[name]
        if entry is None:
            raise KeyError(name)
        return entry

    def __iter__(self) -> Iterator[str]:
        named = (getattr(kind, self._attribute, "") for kind in operations())
        names = dict.fromkeys(name for name in (*self._entries, *named) if name)
        return iter([name for name in names if name in self])

    def __len__(self) -> int:
        return sum(1 for _ in self)


def typed(table: Mapping[str, Entry], node: Node) -> Operation | str:
    """Return the typed operation that means the same, by a format's table, or why there is none."""
    entry = table.get(node.kind)
    if entry is None:
        return NO_OPERATION
    kinds = entry.kinds
    try:
        op = entry.build(node, *kinds)
        op.verify_()
    except (NotTyped, VerifyException, MemoptError) as reason:
        return " ".join(str(reason).split())
    except KeyError as missing:  # the file gives no options, or a newer schema's
        return f"the file does not say {missing.args[0]}"
    return op
