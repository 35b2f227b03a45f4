"""Cells of networks as functions of their own: what SERENITY schedules."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from benchmarks.tables.graphs import shared_folder
from memopt.compile.driver import load_model
from memopt.passes.memgraph_extract import MemgraphExtractPass
from memopt.passes.memgraph_model import MemgraphModelPass
from memopt.passes.memgraph_prepare import MemgraphPreparePass


@dataclass(frozen=True)
class Cell:
    """Operators of a shared file from tensors to one; the whole network without one. ReLUs are in
    what makes their operand and reshapes are views in a graph."""

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
            MemgraphExtractPass(self.sources, self.result).apply(Context(), module)
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
        ("Relu_3_out", "Conv_3_out"),
        "Concat_2_out",
    ),
    *(Cell(f"RandWire, seed {n}", f"graphs/randwire_s{n}.onnx") for n in (0, 60, 172)),
)
