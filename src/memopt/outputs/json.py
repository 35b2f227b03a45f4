"""`-t json`: the plan as JSON."""

from xdsl.dialects.builtin import ModuleOp

from memopt.backends.exports import module_json
from memopt.outputs import Wanted


def write(module: ModuleOp, wanted: Wanted) -> str:
    """Raises MemoptError for a module without a plan that this can show."""
    return module_json(module, wanted.claimed, wanted.known)
