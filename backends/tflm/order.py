"""The operators of a written file in their order, and what the file does with other subgraphs.

    written_order(func, model)     # [0, 1, 2, 5, 4, 3]: CALL_ONCE and VAR_HANDLE stay in front

Of variables that are found by name the IR has what they begin with, and each use; the operators
that set and find them compute nothing, and run before all others.
"""

from xdsl.dialects.func import FuncOp

from memopt.formats.tflite import Model
from memopt.targets.tflm.arena import file_operators

FINDS = frozenset({"CALL_ONCE", "VAR_HANDLE"})
"""Operators of which the IR has no operation where it has the variables themselves."""
SETS = frozenset({"ASSIGN_VARIABLE", "VAR_HANDLE"})
"""Operators of subgraphs that only say what variables begin with."""


def sets_variables_only(model: Model) -> bool:
    """Return whether subgraphs besides the first only say what variables begin with."""
    return all(op.name in SETS for graph in model.subgraphs[1:] for op in graph.operators)


def written_order(func: FuncOp, model: Model) -> list[int]:
    """Return the numbers of the first subgraph's operators in the order in which they run: those
    that find variables as in the file, then those of the function as they are planned."""
    planned = [index for _, index in file_operators(func)]
    present = set(planned)
    operators = enumerate(model.subgraphs[0].operators)
    return [i for i, op in operators if op.name in FINDS and i not in present] + planned
