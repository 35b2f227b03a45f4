"""`-t minimalloc-csv`: the buffers of the plan, for `memopt place`."""

from xdsl.dialects.builtin import ModuleOp

from memopt.backends.exports import module_csv
from memopt.outputs import Wanted


def write(module: ModuleOp, wanted: Wanted) -> str:
    """Raises MemoptError for a module without a plan that this can show."""
    return module_csv(module, wanted.known)
