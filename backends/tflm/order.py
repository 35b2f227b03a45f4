"""The operators of a written file in their order, and what the file does with other subgraphs.

    written_order(func, model)     # [0, 1, 2, 5, 4, 3]: CALL_ONCE and VAR_HANDLE stay in front
    functions_of(module, model)    # {0: @main, 1: @subgraph_1}, which an IF of @main runs

Of variables that are found by name the IR has what they begin with, and each use; the operators
that set and find them compute nothing, and run before all others.
"""

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import functions, run_by, subgraph_of
from memopt.formats.tflite import Model
from memopt.targets.tflm.arena import file_operators

FINDS = frozenset({"CALL_ONCE", "VAR_HANDLE"})
"""Operators of which the IR has no operation where it has the variables themselves."""
CALLERS = frozenset({"CALL", "CALL_ONCE", "IF", "WHILE"})
SETS = frozenset({"ASSIGN_VARIABLE", "VAR_HANDLE"})
"""Operators of subgraphs that only say what variables begin with."""


def functions_of(module: ModuleOp, model: Model) -> dict[int, FuncOp]:
    """Return the functions of a module by the numbers of their subgraphs: those of the file, but
    for such as only say what variables begin with. Raises MemoptError for others, by the name of
    the operator that runs one, if there is one."""
    funcs = {max(0, subgraph_of(func)): func for func in functions(module)}
    rest = {g: graph for g, graph in enumerate(model.subgraphs) if g not in funcs}
    run = {each for func in functions(module) for op in func.body.walk() for each in run_by(op)}
    roots = [func for func in functions(module) if func not in run]
    known = len(funcs) == len(list(functions(module))) and roots == [funcs.get(0)]
    if known and all(op.name in SETS for graph in rest.values() for op in graph.operators):
        return funcs
    for g, graph in enumerate(model.subgraphs):
        for i, op in enumerate(graph.operators):
            if op.name in CALLERS or op.name.startswith(("STABLEHLO_WHILE", "STABLEHLO_C")):
                text = f"{op.name} runs another subgraph; such models cannot be written yet"
                raise MemoptError(text, f"subgraph {g} operator {i} ({op.name})")
    text = f"the model has {len(model.subgraphs)} subgraphs, the module {len(funcs)} functions"
    raise MemoptError(f"{text}; each has to be one of the file")


def written_order(func: FuncOp, model: Model) -> list[int]:
    """Return the numbers of a subgraph's operators in the order in which they run: those that find
    variables as in the file, then those of the function as they are planned."""
    planned = [index for _, index in file_operators(func)]
    present = set(planned)
    operators = enumerate(model.subgraphs[max(0, subgraph_of(func))].operators)
    return [i for i, op in operators if op.name in FINDS and i not in present] + planned
