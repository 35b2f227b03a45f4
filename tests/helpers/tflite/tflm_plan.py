"""From a .tflite file to its planned self, as `memopt compile --target=tflm` does it."""

from pathlib import Path
from typing import Any, Literal

import numpy as np
from pass_functions import place_function, schedule_function
from tflite_builder import Extra, Graph, Op, T, build
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from memopt.backends.tflm import write_tflm
from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.memgraph.functions import functions
from memopt.dialects.memgraph.plan import MODEL
from memopt.frontends.tflite.read import read

TFLM = ModelAttr("tflm", 16, "arena", views=False, inplace=False, scratch="tflm")
Schedule = Literal["auto", "source", "greedy", "rpo"]


def import_for_tflm(data: bytes, name: str = "model.tflite") -> tuple[ModuleOp, FuncOp]:
    """The imported module and its first function, with TFLM's memory model."""
    module = read(data, name)
    func = next(functions(module))
    func.attributes[MODEL] = TFLM
    return module, func


def planned(
    data: bytes, schedule: Schedule = "auto", place: Any = "auto"
) -> tuple[ModuleOp, FuncOp]:
    module, func = import_for_tflm(data)
    schedule_function(func, schedule, 20)
    place_function(func, place, 20)
    return module, func


def write(module: ModuleOp, data: bytes) -> bytes:
    return write_tflm(module, Path(), source=data)


def diamond(extra: Extra | None = None, *, stateful: bool = False) -> bytes:
    """x(16) -> wide a, b (1024 each) -> narrow c, d (16): depth first is better than the file."""
    tensors = [T("x", [16], "FLOAT32"), T("a", [1024]), T("b", [1024]), T("c", [16]), T("d", [16])]
    tensors += [T("y", [32]), T("w", [3], data=np.arange(3, dtype=np.int8))]
    kind = "CUSTOM:k" if stateful else "LOG"
    ops = [
        Op(kind, [0], [1], None, b"abc" if stateful else b""),
        Op(kind, [0, 6], [2]),
        Op("EXP", [1], [3]),
        Op("EXP", [2], [4]),
        Op("CONCATENATION", [3, 4], [5], ("Concatenation", {"axis": 0})),
    ]
    return build(Graph(tensors, ops, [0], [5]), extra=extra)
