"""The operators of a written file in their order, and what the file does with other subgraphs.

    written_order(func, model)     # [0, 1, 2, 5, 4, 3]: CALL_ONCE and VAR_HANDLE stay in front
    functions_of(module, model)    # {0: @main, 1: @subgraph_1}, which an IF of @main runs

Of variables that are found by name the IR has what they begin with, and each use; the operators
that set and find them compute nothing, and run before all others.
"""

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import functions, reached_by, subgraph_of
from memopt.formats.tflite import Model
from memopt.targets.tflm.arena import file_operators

FINDS = frozenset({"CALL_ONCE", "VAR_HANDLE"})
"""Operators of which the IR has no operation where it has the variables themselves."""
CALLERS = frozenset({"CALL_ONCE", "IF", "WHILE"})
SETS = frozenset({"ASSIGN_VARIABLE", "VAR_HANDLE"})
"""Operators of subgraphs that only say what variables begin with."""


def functions_of(module: ModuleOp, model: Model) -> dict[int, FuncOp]:
    """Return the functions of a module that run, by the numbers of their subgraphs: that of the
    first one, and those that it leads to. Raises MemoptError unless the module has those of the
    file, but for such as only say what variables begin with, by the name of the operator that runs
    one, if there is one."""
    funcs = {max(0, subgraph_of(func)): func for func in functions(module)}
    rest = {g: graph for g, graph in enumerate(model.subgraphs) if g not in funcs}
    known = 0 in funcs and len(funcs) == len(list(functions(module)))
    known &= all(op.name in SETS for graph in rest.values() for op in graph.operators)
    for g, graph in enumerate(model.subgraphs):
        for i, op in enumerate(graph.operators):
            is_call = op.name == "CALL" or op.name.startswith(("STABLEHLO_WHILE", "STABLEHLO_C"))
            if is_call or (not known and op.name in CALLERS):
                text = f"{op.name} runs another subgraph; such models cannot be written yet"
                raise MemoptError(text, f"subgraph {g} operator {i} ({op.name})")
    if not known:
        text = f"the model has {len(model.subgraphs)} subgraphs, the module {len(funcs)} functions"
        raise MemoptError(f"{text}; each has to be one of the file")
    run = {funcs[0], *reached_by(funcs[0])}
    return {g: func for g, func in funcs.items() if func in run}


def unrun_subgraphs(func: FuncOp, model: Model) -> list[int]:
    """Return the numbers of the subgraphs that nobody runs, though they are not those that say what
    variables begin with; `func` is the first one."""
    run = {max(0, subgraph_of(each)) for each in (func, *reached_by(func))}
    return [
        g
        for g, graph in enumerate(model.subgraphs)
        if g not in run and any(op.name not in SETS for op in graph.operators)
    ]


def idle_tensors(func: FuncOp, model: Model) -> list[tuple[int, int]]:
    """Return (subgraph, tensor) of all that takes memory at run time, but that no operator that
    runs touches; `func` is the first subgraph."""
    unrun = unrun_subgraphs(func, model)
    return [
        (g, index)
        for g, graph in enumerate(model.subgraphs)
        for index in (graph.in_memory if g in unrun else graph.unused)
    ]


def written_order(func: FuncOp, model: Model) -> list[int]:
    """Return the numbers of a subgraph's operators in the order in which they run: those that find
    variables as in the file, then those of the function as they are planned."""
    planned = [index for _, index in file_operators(func)]
    present = set(planned)
    operators = enumerate(model.subgraphs[max(0, subgraph_of(func))].operators)
    return [i for i, op in operators if op.name in FINDS and i not in present] + planned
