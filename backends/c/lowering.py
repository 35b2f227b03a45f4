"""From an executing operation to its kernel calls."""

from xdsl.ir import Operation

from memopt.backends.c.call import Constants, KernelCall
from memopt.backends.c.registry import matching


def lower(op: Operation, constants: Constants, isa: tuple[str, ...]) -> list[KernelCall]:
    """The kernel calls of one executing operation on a core with the instruction sets `isa`.
    Raises MemoptError if there is no kernel."""
    calls = matching(op, isa).lower(op, constants)
    return calls if isinstance(calls, list) else [calls]
