"""Whether the target that a function is planned for is one that is known here."""

from dataclasses import replace

from xdsl.dialects.func import FuncOp

from memopt.dialects.attributes.model import CALLED, ModelAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.plan import model_of
from memopt.targets.core.registry import target_named
from memopt.targets.core.target import Target

CMSIS_NN = "cmsis-nn"
CMSIS_NN_MVE = "cmsis-nn-mve"
"""Instruction sets, as it were, of kernels that call CMSIS-NN, with the vector extension too."""


def with_called(target: Target, model: ModelAttr) -> Target:
    """The target with what the kernels of a memory model may call besides."""
    if model.scratch.data != CALLED:
        return target
    return replace(target, isa=(CMSIS_NN_MVE if "mve" in target.isa else CMSIS_NN, *target.isa))


def target_of(func: FuncOp) -> Target:
    """The target of a function's memory model. Raises MemoptError for an unknown one."""
    model: ModelAttr = model_of(func)
    try:
        return with_called(target_named(model.target.data), model)
    except MemoptError as error:
        raise MemoptError(error.text, f"@{func.sym_name.data}") from None
