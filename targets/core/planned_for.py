"""Check that the target for which a function is planned is one that is known here."""

from dataclasses import replace

from xdsl.dialects.func import FuncOp

from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.plan import model_of
from memopt.targets.cmsis_nn import CALLED, CMSIS_NN, CMSIS_NN_MVE
from memopt.targets.core.target import Target, target_named


def with_called(target: Target, model: ModelAttr) -> Target:
    """The target with what the kernels of a memory model may call besides."""
    if model.scratch.data != CALLED:
        return target
    return replace(target, isa=(CMSIS_NN_MVE if "mve" in target.isa else CMSIS_NN, *target.isa))


def runs_file(func: FuncOp) -> bool:
    """Return whether a function is planned for a runtime that reads the model's file itself."""
    return target_named(model_of(func).target.data).output == "tflite"


def target_of(func: FuncOp) -> Target:
    """The target of a function's memory model. Raises MemoptError for an unknown one."""
    model: ModelAttr = model_of(func)
    try:
        return with_called(target_named(model.target.data), model)
    except MemoptError as error:
        raise MemoptError(error.text, f"@{func.sym_name.data}") from None
