"""`-t svg`: a picture of the plan."""

from xdsl.dialects.builtin import ModuleOp

from memopt.backends.report import module_svg
from memopt.outputs import Wanted


def write(module: ModuleOp, wanted: Wanted) -> str:
    """Raises MemoptError for a module without a plan that this can show."""
    return module_svg(module, wanted.claimed, wanted.known)
