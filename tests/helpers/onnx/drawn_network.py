# pyright: basic
"""Networks that tests of rules draw as exporters write them: nodes, constants and a generator."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from xdsl.dialects.builtin import ModuleOp

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.compile.driver import load_model
from memopt.dialects.memgraph.functions import only_function
from memopt.rewrites import apply_rules


class Drawn:
    """Nodes and constants, with random choices; values have the names of their nodes."""

    def __init__(self, seed: int):
        self.rng = np.random.default_rng(seed)
        self.nodes: list[Any] = []
        self.constants: dict[str, Any] = {}

    def const(self, array: Any) -> str:
        name = f"c{len(self.constants)}"
        self.constants[name] = np.asarray(array)
        return name

    def add(self, kind: str, *operands: str, **attributes: Any) -> str:
        name = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, operands, [name], **attributes))
        return name

    def saved(self, last: str, shape: tuple[int, ...], opset: int) -> bytes:
        """Return the model of input "x", of that shape, whose output "y" is the value `last`."""
        self.nodes.append(helper.make_node("Identity", [last], ["y"]))
        info = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)]
        ends = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
        constants = [numpy_helper.from_array(v, k) for k, v in self.constants.items()]
        graph = helper.make_graph(self.nodes, "g", info, ends, constants)
        opsets = [helper.make_opsetid("", opset)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()


def rewritten(data: bytes, rules: Sequence[str], path: Path) -> ModuleOp:
    """Return the model, which is written to `path`, after the rules, one of which applies."""
    path.write_bytes(data)
    module = load_model(path, {})
    assert apply_rules(module, rules), path
    module.verify()
    return module


def computed(module: ModuleOp, x: Any) -> Any:
    """Return the only output for the only input."""
    func = only_function(module)
    last = func.get_return_op()
    assert last is not None
    return evaluate(func, Weights.of(module), [x])[last.operands[0]]
