"""`memgraph-traffic{on-chip=256K}`: what a run moves from and to memory off the chip.

Before:  func.func @main(...) attributes {...}
After:   func.func @main(...) attributes {..., memgraph.off_chip = #memgraph.off_chip<
             on_chip = 262144, rule = belady, moved = 12288, lower_bound = 0, proof = none>}

SERENITY's measure, with Belady's rule on whole tensors, another one, or the least traffic; of the
order in which the operations stand. Nothing else changes. Model: `solvers/memories/traffic.py`.
"""

from collections import Counter
from dataclasses import dataclass

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from memopt.analysis.function_memory import function_memory, memory_of
from memopt.analysis.storage_groups import BlockMemory
from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.attributes.off_chip import OffChipAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of, has_kind, read_values
from memopt.dialects.memgraph.names import name_of, place_of
from memopt.dialects.memgraph.plan import OFF_CHIP, model_of, plan_of
from memopt.dialects.memgraph.structure import HyperNode
from memopt.dialects.memgraph.tensors import bytes_of
from memopt.formats.sizes import parse_size
from memopt.passes.plan.extract import refuse_virtual
from memopt.passes.plan.option import option, required
from memopt.passes.plan.planned import Planned, PlanningPass
from memopt.solvers.memories.traffic import (
    RULES,
    Kept,
    Tensor,
    TrafficProblem,
    least_moved,
    least_traffic,
)
from memopt.solvers.problems.memory_graph import ProblemError, round_up
from memopt.verify.off_chip import check_outside
from memopt.verify.plan import verify_plan


@dataclass(frozen=True)
class MemgraphTrafficPass(PlanningPass):
    """Say how many bytes a run moves from and to memory off the chip.

    `on_chip` in bytes; `rule` is who decides what stays there: belady, packing or exact (CP-SAT).
    """

    name = "memgraph-traffic"

    on_chip: int | str = required("bytes on the chip, such as 256K")
    rule: str = option("belady", "who decides what is kept on the chip", RULES)
    time_limit: int | float | None = option(None, "seconds")

    def __post_init__(self) -> None:
        super().__post_init__()
        parse_size(str(self.on_chip))  # so that a wrong one is a wrong command line

    def plan(self, func: FuncOp, known: Planned | None) -> Planned | None:
        written = known.write() if known is not None else None
        memory = written.extracted.again().memory if written is not None else None
        measure_function(func, parse_size(str(self.on_chip)), self.rule, self.time_limit, memory)
        return written


def measure_function(
    func: FuncOp,
    on_chip: int,
    rule: str = "belady",
    time_limit: float | None = None,
    known: BlockMemory | None = None,
) -> OffChipAttr:
    """Measure one function in the order in which it stands, and write down what was found; `known`
    are the storage groups of one whose plan, if it has one, was made here.

    Raises MemoptError for hyper-nodes, in-place results and a stale plan, and PassFailedException
    for scratch that does not fit on the chip.
    """
    place = f"@{func.sym_name.data}"
    if plan_of(func) is not None and known is None:
        verify_plan(func)
    problem = traffic_problem(func, on_chip, known)
    try:
        answer = least_traffic(problem, rule, time_limit)
    except ProblemError as error:
        raise PassFailedException(f"memgraph-traffic: {place}: {error}") from error
    outside = () if rule == "belady" else outside_of(answer.kept)  # belady's follow from the order
    attribute = OffChipAttr(
        on_chip, rule, answer.moved, answer.lower_bound, answer.proof, outside=outside
    )
    func.attributes[OFF_CHIP] = attribute
    return attribute


def outside_of(kept: Kept) -> tuple[int, ...]:
    """Return the numbers of the gaps that are not kept on the chip, counted tensor by tensor."""
    return tuple(i for i, stays in enumerate(k for gaps in kept for k in gaps) if not stays)


def check_traffic(func: FuncOp) -> OffChipAttr | None:
    """Return the function's claim of what a run moves, if it has one and it can be true.

    It must be exactly what Belady's rule moves, or what the gaps `outside` that it lists move, or,
    of a claim that lists none, between a bound of every rule and Belady's bytes. The proof of a
    solver is not derived again, so the bounds stay a claim. Raises MemoptError.
    """
    claim = func.attributes.get(OFF_CHIP)
    if claim is None:
        return None
    place = f"@{func.sym_name.data}"
    if not isinstance(claim, OffChipAttr):
        raise MemoptError("memgraph.off_chip must be a #memgraph.off_chip", place)
    if claim.rule.data not in RULES:
        text = f"memgraph.off_chip: rule {claim.rule.data!r} is not one of: {', '.join(RULES)}"
        raise MemoptError(text, place)
    problem = traffic_problem(func, claim.on_chip.data)
    try:
        belady, least = least_traffic(problem, "belady").moved, least_moved(problem)
    except ProblemError as error:
        raise MemoptError(f"memgraph.off_chip: {error}", place) from error
    moved, rule = claim.moved.data, claim.rule.data
    if rule == "belady" and moved != belady:
        raise MemoptError(f"memgraph.off_chip: belady moves {belady} B, not {moved} B", place)
    if len(claim.outside):
        check_outside(func, claim)
    if moved < least:
        text = f"memgraph.off_chip: every rule moves {least} B or more, not {moved} B"
        raise MemoptError(text, place)
    if moved > belady:
        text = f"memgraph.off_chip: {moved} B are more than the {belady} B of belady"
        raise MemoptError(text, place)
    return claim


def traffic_problem(
    func: FuncOp, on_chip: int, known: BlockMemory | None = None, who: str = "memgraph-traffic"
) -> TrafficProblem:
    """A tensor for every argument and every result of an operator that is in the arena; `known` are
    the function's storage groups, if they are known, and `who` is the pass that asks.

    Views are what they show: who reads one reads the tensors below it. Raises MemoptError.
    """
    model = model_of(func)
    block = body_of(func)
    place = f"@{func.sym_name.data}"
    if has_kind(block.ops, HyperNode):
        raise MemoptError("the function has hyper-nodes; run --schedule to get a flat one", place)
    memory = function_memory(func, model) if known is None else known
    if memory.overwrites:
        op = memory.operations[memory.overwrites[0][0]]
        raise MemoptError(f"{who}: in-place results are not modelled", place_of(op))
    refuse_virtual(memory, who, place)
    position = {op: i for i, op in enumerate(memory.operations)}
    written = _written(memory, list(block.args))
    shows = _shown(memory, model, written)
    reads: dict[SSAValue, set[int]] = {v: set() for v in written}
    for op, step in position.items():
        for v in read_values(op):
            for w in shows.get(v, ()):
                reads[w].add(step)
    last = block.last_op
    held = {w for v in (last.operands if last is not None else ()) for w in shows.get(v, ())}
    if model.io.data == "kept":
        held.update(v for v in block.args if v in reads)
    parts = Counter(memory.of_value[v][0] for v in written)
    tensors = tuple(
        Tensor(
            name_of(v),
            _size(v, model, parts[memory.of_value[v][0]]),
            bytes_of(v.type) or 0,
            position[v.owner] if isinstance(v.owner, Operation) else -1,
            tuple(sorted(reads[v])),
            v in held,
        )
        for v in written
    )
    workspace = tuple(
        sum(round_up(w, model.alignment.data) for w in m.workspace) for m in memory.memory
    )
    return TrafficProblem(tensors, len(memory.operations), workspace, on_chip)


def _size(value: SSAValue, model: ModelAttr, parts: int) -> int:
    """Bytes that a tensor takes up, rounded up; as they are where it is one of several parts of a
    buffer, which lie side by side."""
    size = bytes_of(value.type) or 0
    return size if parts > 1 else round_up(size, model.alignment.data)


def _written(memory: BlockMemory, arguments: list[SSAValue]) -> list[SSAValue]:
    """The values with bytes of their own in the arena, in the order in which they are made."""
    results = [r for op in memory.operations for r in op.results]
    return [
        v
        for v in (*arguments, *results)
        if v in memory.of_value and memory.groups[memory.of_value[v][0]].in_arena
    ]


def _shown(
    memory: BlockMemory, model: ModelAttr, written: list[SSAValue]
) -> dict[SSAValue, frozenset[SSAValue]]:
    """For every value the written ones whose bytes it shows."""
    shows = {v: frozenset((v,)) for v in written}
    for op in memory.views:
        for alias in memory_of(op, model).aliases:
            result, operand = op.results[alias.result], op.operands[alias.operand]
            below = shows.get(operand, frozenset())
            shows[result] = shows.get(result, frozenset()) | below
    return shows
