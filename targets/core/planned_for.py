"""Whether the target that a function is planned for is one that is known here."""

from xdsl.dialects.func import FuncOp

from memopt.dialects.errors import MemoptError
from memopt.dialects.model_attributes import ModelAttr
from memopt.dialects.plan import model_of
from memopt.targets.core.registry import target_named
from memopt.targets.core.target import Target


def target_of(func: FuncOp) -> Target:
    """The target of a function's memory model. Raises MemoptError for an unknown one."""
    model: ModelAttr = model_of(func)
    try:
        return target_named(model.target.data)
    except MemoptError as error:
        raise MemoptError(error.text, f"@{func.sym_name.data}") from None
