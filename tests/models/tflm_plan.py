"""From a .tflite file to its planned self, as `memopt compile --target=tflm` does it."""

from pathlib import Path
from typing import Any, Literal

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from memopt.backends.tflm import write_tflm
from memopt.dialects.plan import MODEL, functions
from memopt.dialects.plan_attributes import ModelAttr
from memopt.frontends.tflite import read
from memopt.passes.memgraph_place import place_function
from memopt.passes.memgraph_schedule import schedule_function

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
