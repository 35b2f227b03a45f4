"""`-t toy-list`: a line per operator, as the toy board's simulator reads it."""

from xdsl.dialects.builtin import ModuleOp

from memopt.dialects.memgraph.functions import functions
from memopt.outputs import Wanted


def write(module: ModuleOp, wanted: Wanted) -> str:
    """Names of the operators in their order."""
    return "".join(f"{op.name}\n" for func in functions(module) for op in func.body.block.ops)
