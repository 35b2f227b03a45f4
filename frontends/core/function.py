"""A function while it is imported, and the module of all of them.

draft = Draft[str]()
draft.take(["x"], ["x"], [type_])             arguments: keys, names for people, types
draft.constant("w", "w", elements, type_)     before the operators, on first use
draft.add(op, ["y"], ["y"], source)           an operator, its results by their keys
draft.function("main", ["y"])
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    ModuleOp,
    StringAttr,
    TensorType,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from memopt.analysis.weights import refer_to
from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.attributes.operators import SourceAttr, WeightsAttr
from memopt.dialects.attributes.quick import array, string
from memopt.dialects.memgraph.structure import ConstantOp

Key = TypeVar("Key")
Type = TensorType[Attribute]


@dataclass
class Draft(Generic[Key]):
    """The values known so far by what the format calls them; `head` comes to stand before what the
    block has. Operators go to it at once: the first one's links to its neighbours then belong to
    those that Python keeps for all without a dictionary each."""

    values: dict[Key, SSAValue] = field(default_factory=dict[Key, SSAValue])
    block: Block = field(default_factory=Block)
    inputs: list[str] = field(default_factory=list[str])
    head: list[Operation] = field(default_factory=list[Operation])

    def take(self, keys: Sequence[Key], names: Sequence[str], types: Sequence[Type]) -> None:
        """The function's arguments."""
        self.inputs += names
        for key, type_ in zip(keys, types, strict=True):
            self.values[key] = self.block.insert_arg(type_, len(self.block.args))

    def origin(self, op: Operation, key: Key, name: str | None) -> SSAValue:
        """Add an operation that makes a value before any operator runs, and return the value.

        Without a `name` the value has one of its own.
        """
        if name is not None:
            name_results(op, [name])
        self.head.append(op)
        self.values[key] = op.results[0]
        return op.results[0]

    def constant(
        self, key: Key, name: str, elements: "WeightsAttr | DenseIntOrFPElementsAttr", type_: Type
    ) -> SSAValue:
        return self.origin(ConstantOp(elements, type_), key, name)

    def add(
        self,
        op: Operation,
        keys: Sequence[Key],
        names: Sequence[str],
        source: SourceAttr,
        own: str = "",
        early: bool = False,
    ) -> None:
        """An operator with the names of its results, where it stands in the file, and the name of
        its own unless that says nothing new. With `early` it stands before all others, beside the
        constants that it is made of."""
        name_results(op, names)
        if own and [own] != list(names):
            op.attributes["memgraph.operator"] = StringAttr(own)
        op.attributes["memgraph.source"] = source
        self.values.update(zip(keys, op.results, strict=True))
        if early:
            self.head.append(op)
        else:
            self.block.add_op(op)

    def function(self, name: str, returned: Sequence[SSAValue]) -> FuncOp:
        """The function with the default memory model. Of `head` only what is used stays: an attempt
        at a typed operation may have asked for constants in vain."""
        end = ReturnOp(*returned)
        self.block.add_op(end)
        self.block.insert_ops_before(self.head, self.block.first_op or end)
        types = [a.type for a in self.block.args], [v.type for v in returned]
        func = FuncOp(name, types, Region(self.block))
        if self.inputs:
            names = [DictionaryAttr({"memgraph.name": StringAttr(n)}) for n in self.inputs]
            func.arg_attrs = ArrayAttr(names)
        func.attributes["memgraph.model"] = ModelAttr()
        for op in reversed(self.head):
            if not any(r.uses for r in op.results):
                op.detach()
                op.erase()
        return func


def name_results(op: Operation, names: Sequence[str]) -> None:
    op.attributes["memgraph.names"] = array([string(n) for n in names])


def sha256_of(data: bytes) -> str:
    """Return the hash by which weights of a file are referred to, beside their key in it."""
    return hashlib.sha256(data).hexdigest()


def module_of(functions: Sequence[FuncOp], sha256: str, name: str, path: Path | None) -> ModuleOp:
    """The module; its weights lie in `path`, without one in what is called `name`."""
    module = ModuleOp(list(functions))
    refer_to(module, sha256, str(path) if path is not None else name)
    return module
