"""Checks of a function before it is written, and of the file before it is returned."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, OpResult

from memopt.analysis.weights import Weights
from memopt.backends.tflm.extent import has_bytes_behind
from memopt.backends.tflm.order import FINDS, unrun_subgraphs
from memopt.dialects.attributes.operators import SourceAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of, functions, subgraph_of
from memopt.dialects.memgraph.names import place_of
from memopt.dialects.memgraph.plan import model_of
from memopt.dialects.memgraph.structure import OpaqueOp
from memopt.dialects.memgraph.variables import AssignVariableOp, VariableOp
from memopt.formats.tflite import Model, Subgraph, read_model
from memopt.formats.tflite_control import KEY
from memopt.targets.tflm.arena import ALIGNMENT, file_operators, tensor_indices
from memopt.targets.tflm.scratch import requested
from memopt.verify.channels import check_channels
from memopt.verify.plan import verify_plan

# Vela compiles addresses into the command stream: its plan and its model are one.
BOUND_TO_PLAN = ("CUSTOM:ethos-u",)


def check_function(func: FuncOp, model: Model, number: int, weights: Weights) -> None:
    """Raise MemoptError unless `func` is planned for TFLM and is subgraph `number` of the file,
    reordered."""
    place = f"@{func.sym_name.data}"
    verify_plan(func, placed=True)
    check_channels(func, weights.array)
    memory = model_of(func)
    if memory.target.data != "tflm":
        text = (
            f"planned for target {memory.target.data}, not for tflm; plan with --model=target=tflm"
        )
        raise MemoptError(text, place)
    if memory.alignment.data % ALIGNMENT:
        raise MemoptError(f"TFLM aligns to {ALIGNMENT}, the plan to {memory.alignment.data}", place)
    if memory.io.data == "caller":
        raise MemoptError("TFLM has inputs and outputs in its arena, the plan has not", place)
    requests = (requested(op, memory) for op, _ in file_operators(func))
    if memory.io.data == "kept" and any(sizes != () for sizes in requests):
        text = "inputs cannot be kept: TFLM lays scratch over an input once it has been read"
        raise MemoptError(text, place)
    graph = model.subgraphs[number]
    for index, operator in enumerate(graph.operators):
        if operator.name in BOUND_TO_PLAN:
            raise MemoptError(
                "was compiled for the plan that is in the file, another one would break it",
                f"subgraph {number} operator {index} ({operator.name})",
            )
    _check_operators(func, graph)


def check_unrun(func: FuncOp, model: Model) -> None:
    """Raise MemoptError for an operator that asks for scratch in a subgraph that nobody runs; the
    first one is `func`. TFLM prepares it, but notes no size where it looks at who runs when."""
    unrun, module, memory = unrun_subgraphs(func, model), func.parent_op(), model_of(func)
    for each in functions(module) if unrun and module is not None else ():
        for op, index in file_operators(each) if subgraph_of(each) in unrun else ():
            if requested(op, memory) != ():
                name = model.subgraphs[subgraph_of(each)].operators[index].name
                text = (
                    "asks for scratch in a subgraph that nobody runs: TFLM lays out any size for it"
                )
                raise MemoptError(text, f"subgraph {subgraph_of(each)} operator {index} ({name})")


def _check_operators(func: FuncOp, graph: Subgraph) -> None:
    """Check that the function has the file's operators on the file's tensors, each once."""
    operators, block = file_operators(func), body_of(func)
    handles = _handles(func, graph)
    _check_present(func, graph, [index for _, index in operators], handles)
    tensor = tensor_indices(func)
    for op, index in operators:
        if index >= len(graph.operators):
            raise MemoptError(f"the file has no operator {index}", place_of(op))
        inputs = [i for i in graph.operators[index].inputs if i >= 0 and not constant(graph, i)]
        expected = [handles.get(i, i) for i in inputs]
        operands = reversed(op.operands) if isinstance(op, AssignVariableOp) else op.operands
        reads = [tensor[v] for v in operands if v in tensor]
        makes = [tensor.get(v, -1) for v in op.results]
        if reads != expected or makes != [i for i in graph.operators[index].outputs if i >= 0]:
            raise MemoptError("reads or makes other tensors than in the file", place_of(op))
    _check_effects(operators)
    returned = [tensor[v] for v in block.last_op.operands if v in tensor] if block.last_op else []
    arguments = [tensor.get(a, -1) for a in block.args]
    outputs = [i for i in graph.outputs if not constant(graph, i)]
    if returned != outputs or arguments != list(graph.inputs):
        raise MemoptError("inputs or outputs are not the file's", f"@{func.sym_name.data}")


def _check_present(
    func: FuncOp, graph: Subgraph, numbers: Sequence[int], handles: Mapping[int, int]
) -> None:
    """Check that each operator of the file, but for what finds variables, is there, and once."""
    present, place = set(numbers), f"@{func.sym_name.data}"
    if len(present) != len(numbers):
        twice = next(i for i in numbers if numbers.count(i) > 1)
        raise MemoptError(f"operator {twice} of the file appears twice", place)
    for index, operator in enumerate(graph.operators):
        finds = operator.name in FINDS and handles.keys() >= {*operator.outputs} and handles
        if index not in present and not finds:
            raise MemoptError(f"operator {index} ({operator.name}) of the file is missing", place)


def _handles(func: FuncOp, graph: Subgraph) -> dict[int, int]:
    """Tensors by which variables are found -> the first one of the same variable."""
    first_handle: dict[int, int] = {}
    for op in body_of(func).ops:
        source = op.attributes.get("memgraph.source")
        if isinstance(op, VariableOp) and isinstance(source, SourceAttr):
            handles = [i for i in source.tensor_ids if graph.tensors[i].type == "RESOURCE"]
            first_handle |= dict.fromkeys(handles, source.tensor_ids[0])
    return first_handle


def _check_effects(found: list[tuple[Operation, int]]) -> None:
    """Stateful operators, and those that share a variable, run in the file's order."""
    last: dict[object, int] = {}
    for op, index in found:
        effects: list[object] = [
            v for v in op.operands if isinstance(v, OpResult) and isinstance(v.op, VariableOp)
        ]
        if isinstance(op, OpaqueOp) and op.stateful is not None:
            effects.append("stateful")
        for effect in effects:
            if last.get(effect, -1) > index:
                text = f"must run before operator {last[effect]} of the file: both have state"
                raise MemoptError(text, place_of(op))
            last[effect] = index


def constant(graph: Subgraph, index: int) -> bool:
    return graph.tensors[index].is_constant


def check_written(
    data: bytes,
    model: Model,
    result: bytes,
    orders: Sequence[Sequence[int]],
    plan: bytes,
    name: str,
) -> None:
    """Read the written file again: the same model, in the new orders, with exactly this plan.

    Raises MemoptError otherwise: that would be a bug of ours, and nothing must be written then.
    """
    again = read_model(result, f"{name} (written)")

    def fail(what: str) -> None:
        raise MemoptError(f"internal error: the written file differs in {what}", name)

    def bare(graph: Subgraph, order: Sequence[int]) -> Subgraph:
        plain = [replace(o, options=(), custom_options=(0, 0)) for o in graph.operators]
        return replace(graph, operators=tuple(plain[i] for i in order))

    same = [range(len(graph.operators)) for graph in again.subgraphs]
    if [*map(bare, model.subgraphs, orders)] != [*map(bare, again.subgraphs, same)]:
        fail("its subgraphs")
    replaced = {b for key, b in model.metadata if key in (KEY, "OfflineMemoryAllocation")}
    for index, (old, new) in enumerate(zip(model.buffers, again.buffers, strict=False)):
        if index not in replaced and data[slice(*old)] != result[slice(*new)]:
            fail(f"buffer {index}")
    for index, (start, stop) in enumerate(again.buffers):
        if stop > start and start % ALIGNMENT:
            fail(f"the alignment of buffer {index}")
    plans = [b for key, b in again.metadata if key == "OfflineMemoryAllocation"]
    if has_bytes_behind(result):
        fail("where its bytes lie")
    if len(plans) != 1 or result[slice(*again.buffers[plans[0]])] != plan:
        fail("its plan")
    for number, order in enumerate(orders):
        before, after = (m.subgraphs[number].operators for m in (model, again))
        for new, old in enumerate(order):
            a, b = before[old], after[new]
            if data[slice(*a.custom_options)] != result[slice(*b.custom_options)]:
                fail(f"the custom options of operator {new}")
            kinds = [[kind for _, kind in op.options] for op in (a, b)]
            if kinds[0] != kinds[1]:
                text = f"its options (type {max(kinds[0])}) are of a newer schema and would be lost"
                raise MemoptError(text, f"{name}: subgraph {number} operator {old} ({a.name})")
