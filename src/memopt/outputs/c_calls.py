"""`-t c-calls`: operations of ours as C functions, which what `memgraph-to-memref` makes calls."""

from xdsl.dialects.builtin import ModuleOp

from memopt.backends.c.emit.memref_calls import memref_calls
from memopt.outputs import Wanted


def write(module: ModuleOp, wanted: Wanted) -> str:
    """Raises MemoptError for what has no kernel."""
    return memref_calls(module, known=wanted.known)
