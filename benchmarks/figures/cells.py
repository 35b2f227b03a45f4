"""Cells of networks as functions of their own: what SERENITY schedules."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from benchmarks.tables.graphs import shared_folder
from memopt.compile.driver import load_model
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.memgraph.names import name_of
from memopt.passes.memgraph_model import MemgraphModelPass
from memopt.passes.memgraph_prepare import MemgraphPreparePass


@dataclass(frozen=True)
class Cell:
    """Operators of a shared file between the values `sources` and `result`; without a result the
    whole network. ReLUs are in what makes their operand and reshapes are views in a graph."""

    title: str
    file: str
    sources: tuple[str, ...] = ()
    result: str = ""

    @property
    def path(self) -> Path:
        return shared_folder() / self.file

    def module(self) -> ModuleOp:
        """Return the cell as a module without results in place. Raises MemoptError, OSError."""
        module = load_model(self.path, {})
        if self.result:
            module = between(module, self.sources, self.result)
        is_graph = self.path.suffix == ".onnx"
        model = MemgraphModelPass("generic", alignment=1 if is_graph else 16)
        model.apply(Context(), module)
        if is_graph:
            conventions: Any = ("frelu", "view")
            MemgraphPreparePass(conventions=conventions).apply(Context(), module)
        return module


SWIFTNET = "models/swiftnet_cell_vww_uint8.tflite"
CELLS = (
    Cell(
        "SwiftNet Cell A",
        SWIFTNET,
        ("maxpool_pre2/max_pooling2d/MaxPool",),
        "swiftnet_2_1/activation",
    ),
    Cell("SwiftNet Cell B", SWIFTNET, ("pool_2/max_pooling2d/MaxPool",), "swiftnet_3_1/activation"),
    Cell("SwiftNet Cell C", SWIFTNET, ("pool_3/max_pooling2d/MaxPool",), "swiftnet_4_1/activation"),
    Cell(
        "DARTS, first normal cell",
        "graphs/darts_imagenet.onnx",
        ("Conv_2_out", "Conv_3_out"),
        "Concat_2_out",
    ),
    *(Cell(f"RandWire, seed {n}", f"graphs/randwire_s{n}.onnx") for n in (0, 60, 172)),
)


def between(module: ModuleOp, sources: tuple[str, ...], result: str) -> ModuleOp:
    """Return the operators that make `result` of `sources`, as a function of these, in their order.

    Raises MemoptError where there is no such value, or one is needed that is none of `sources`.
    """
    body = body_of(only_function(module))
    named = {name_of(v): v for op in body.ops for v in op.results}
    missing = [name for name in (*sources, result) if name not in named]
    if missing:
        raise MemoptError(f"no value is called {missing[0]!r}")
    given = [named[name] for name in sources]
    needed: set[Operation] = set()
    waiting: list[SSAValue] = [named[result]]
    while waiting:
        value = waiting.pop()
        if value in given or value.owner in needed:
            continue
        if not isinstance(value.owner, Operation):
            raise MemoptError(f"{result!r} also needs {name_of(value)!r}")
        needed.add(value.owner)
        waiting += value.owner.operands
    block = Block(arg_types=[v.type for v in given])
    values: dict[SSAValue, SSAValue] = dict(zip(given, block.args, strict=True))
    for op in body.ops:
        if op in needed:
            block.add_op(op.clone(values))
    output = values[named[result]]
    block.add_op(ReturnOp(output))
    types = [v.type for v in given], [output.type]
    return ModuleOp([FuncOp("main", types, Region(block))], dict(module.attributes))
