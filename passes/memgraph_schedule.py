"""`memgraph-schedule{method=auto time-limit=10}`: choose the order of operators with least peak.

With `objective=traffic on-chip=128K`, the order for which least is moved off the chip.

Before (peak 26: both branches' wide tensors are alive together):
    %a = memgraph.opaque "wide"(%x) : (tensor<1xi8>) -> tensor<10xi8>
    %b = memgraph.opaque "wide"(%x) : (tensor<1xi8>) -> tensor<10xi8>
    %c = memgraph.opaque "narrow"(%a) : (tensor<10xi8>) -> tensor<5xi8>
    ...
After: operations stand in the chosen order and carry it, the function carries what is proven
    func.func @main(...) attributes {memgraph.plan = #memgraph.plan<peak = 16, lower_bound = 16,
        proof = flow, family = order, fingerprint = "...">}
    %a = memgraph.opaque "wide"(%x) {memgraph.order = 0 : i64} : ...
    %c = memgraph.opaque "narrow"(%a) {memgraph.order = 1 : i64} : ...

A function that carries a partition (`memgraph.partition`) is scheduled part by part. If it was
made automatically, an order of the whole that is as good is taken instead, and what it does not
keep to goes, which a note says.

Hyper-nodes are opened again, so that the function is flat. Where the model has in-place execution
on, the chosen in-place results get a `memgraph.alias`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from memopt.dialects.attributes.off_chip import TRAFFIC
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import functions
from memopt.dialects.memgraph.names import place_of
from memopt.dialects.memgraph.plan import AUTOMATIC_PARTITION, plan_of, set_order
from memopt.dialects.memgraph.structure import HyperNode
from memopt.dialects.memgraph.write_plan import Facts, order_facts
from memopt.dialects.rows.operations import family_of
from memopt.formats.sizes import parse_size
from memopt.passes.memgraph_partition import drop_partition, partition_of
from memopt.passes.plan.certify import write_certificate
from memopt.passes.plan.extract import Extracted
from memopt.passes.plan.inplace import Chosen, decline, only_chosen, write_inplace
from memopt.passes.plan.moves import drop_moves
from memopt.passes.plan.notes import note
from memopt.passes.plan.option import method_options, option, with_options
from memopt.passes.plan.planned import Planned, PlanningPass, undecided
from memopt.passes.plan.reorder import inline_hyper_nodes, reorder
from memopt.solvers import clock
from memopt.solvers.problems.memory_graph import ProblemError, Profile, Proof, Schedule, profile
from memopt.solvers.scheduling import METHODS, options, partitioned, schedule
from memopt.solvers.theory.bounds import flow_bound
from memopt.solvers.theory.fusion import Sides
from memopt.solvers.theory.fusion_check import Known, is_contraction, is_safe_chain
from memopt.solvers.theory.segments import linked

CHANGED = "if the memory model changed since --fuse, put --model before it"
DROPPED = "memgraph-schedule drops the automatic partition for an order of the whole"
OBJECTIVES = ("peak", TRAFFIC)
SHARE_OF_PEAK = 0.3  # of the time limit, where the order of least peak is only where to begin
PROGRAMS = ("ilp", "ilp-olla")  # methods that leave much open where time ends


@with_options(options())
@dataclass(frozen=True)
class MemgraphSchedulePass(PlanningPass):
    """Choose the order of operators with the least peak, and say what is proven of it.

    With objective traffic it is the order with the least traffic off the chip that was found, if
    `on_chip` bytes are on it; the method's order is where the search begins.
    `certificate` names a file that gets what proves the plan's bound to anyone (certificates.md).
    What the methods' files declare goes to the method, which refuses by name what it does not have.
    """

    name = "memgraph-schedule"
    proves = True

    method: str = option("auto", "how the order is found", METHODS)
    time_limit: int | float | None = option(None, "seconds")
    assume_pure: bool = option(False, "operations of which nothing is known may move")
    certificate: str | None = option(None, "a file for what proves the bound to anyone")
    objective: str = option("peak", "what the order has least of", OBJECTIVES)
    on_chip: int | str | None = option(None, "objective traffic: bytes on the chip, such as 256K")

    def __post_init__(self) -> None:
        super().__post_init__()
        is_given = self.on_chip is not None
        if is_given != (self.objective == TRAFFIC):
            raise ValueError(f"on-chip=BYTES and objective={TRAFFIC} go together")
        if is_given and self.certificate is not None:
            raise ValueError(f"certificate: there are none of objective={TRAFFIC}")
        if is_given:
            parse_size(str(self.on_chip))  # so that a wrong one is a wrong command line

    def plan(self, func: FuncOp, known: Planned | None) -> Planned:
        how = self.method, self.time_limit, self.assume_pure
        on_chip = None if self.on_chip is None else parse_size(str(self.on_chip))
        planned, answer = order_function(func, known, *how, on_chip, **method_options(self))
        if on_chip is not None:
            return planned
        in_parts = planned.extracted.is_partitioned
        if self.method in PROGRAMS and not answer.optimal and not in_parts:
            sizes = f"{answer.peak:,} B, and at least {answer.lower_bound:,} B are needed"
            better = "--schedule=auto or --partition=auto may do better"
            note(func.sym_name.data, f"{self.method} ended open with {sizes}; {better}")
        return planned

    def plan_all(self, module: ModuleOp, known: dict[FuncOp, Planned]) -> None:
        funcs = list(functions(module))
        if self.certificate is not None and len(funcs) != 1:
            raise PassFailedException(
                f"memgraph-schedule: certificate={self.certificate}: one function is needed, "
                f"there are {len(funcs)}"
            )
        super().plan_all(module, known)
        if self.assume_pure:
            known.clear()  # who comes next does not assume it
        for func in funcs if self.certificate is not None else ():
            write_certificate(func, self.certificate or "", self.time_limit, self.assume_pure)


def order_function(
    func: FuncOp,
    known: Planned | None,
    method: str,
    time_limit: float | None,
    assume_pure: bool = False,
    on_chip: int | None = None,
    **options: object,
) -> tuple[Planned, Schedule]:
    """Put one function into the order that the method finds; the plan is not written yet.

    With bytes `on_chip` that is where the search for an order with little traffic begins, and the
    plan is written. Raises PassFailedException if a solver refuses.
    """
    started, deadline = clock.now(), clock.deadline(time_limit)
    plan = plan_of(func)
    moved = plan is not None and drop_moves(func)
    if moved or assume_pure:  # of a plan over several memories, which this one is not
        known = None
    stood = known.facts if known is not None else None
    if stood is None and plan is not None:
        stood = order_facts(plan)
    extracted = undecided(func, known, assume_pure)
    parts = partition_of(extracted) if extracted.is_partitioned else None
    by_default = method == "auto" and not options and parts is None and on_chip is None
    arranged = known.arranged(extracted.graph) if known is not None and by_default else None
    # the order has to be written too, which takes as long as it took to read the function
    share = 1.0 if on_chip is None else SHARE_OF_PEAK
    seconds = clock.left(clock.sooner(deadline, clock.now() - started), share)
    try:
        if arranged is not None:
            answer = arranged.schedule
        elif parts is None:
            answer = schedule(extracted.graph, method, seconds, **options)
        else:
            is_automatic = AUTOMATIC_PARTITION in func.attributes
            order_parts = partitioned.solve_automatic if is_automatic else partitioned.solve
            answer = order_parts(extracted.graph, parts, method, seconds, **options)
            if on_chip is None and not parts.holds(answer.order):
                drop_partition(func)
                note(func.sym_name.data, f"{DROPPED} of {answer.peak:,} B")
    except ProblemError as error:
        raise PassFailedException(f"memgraph-schedule: @{func.sym_name.data}: {error}") from error
    if on_chip is not None:
        return _order_for_traffic(extracted, answer, stood, on_chip, deadline)
    fused = None if known is None else known.extracted
    planned, answer = write_order(extracted, answer, clock.left(deadline), fused=fused)
    planned = replace(planned, arrangement=arranged)
    return (planned, answer) if stood is None else _with_bound(planned, answer, stood)


def _order_for_traffic(
    extracted: Extracted, known: Schedule, stood: Facts | None, on_chip: int, deadline: float | None
) -> tuple[Planned, Schedule]:
    """Put the function into an order with little traffic and write the plan, and what is moved."""
    traffic: Any = import_module("memopt.passes.plan.order_for_traffic")  # for the few
    chosen = traffic.order_for_traffic(extracted, known, on_chip, clock.left(deadline))
    planned, answer = write_order(extracted, chosen.schedule, chosen={})
    if stood is not None:
        planned, answer = _with_bound(planned, answer, stood)
    planned = planned.write()
    traffic.write_off_chip(planned, chosen, on_chip)
    return planned, answer


def _with_bound(planned: Planned, answer: Schedule, stood: Facts) -> tuple[Planned, Schedule]:
    """Keep the bound and proof that `stood` on a function before it was ordered again, if they say
    more: no order is below them. What is only claimed of them goes, and a note says so."""
    proven = stood.proof != "none" and stood.lower_bound <= answer.peak
    more = stood.lower_bound > answer.lower_bound or answer.proof == "none"
    if not (proven and more and stood.lower_bound >= answer.lower_bound):
        return planned, answer
    if stood.claimed:
        said = f"lower_bound = {stood.lower_bound}, proof = {stood.proof}"
        name = planned.func.sym_name.data
        note(name, f"memgraph-schedule drops {said}, which was read and is not shown here")
        return planned, answer
    answer = replace(answer, lower_bound=stood.lower_bound, proof=stood.proof)
    assert planned.facts is not None
    facts = replace(planned.facts, lower_bound=stood.lower_bound, proof=stood.proof)
    return replace(planned, facts=facts), answer


def write_order(
    extracted: Extracted,
    answer: Schedule,
    time_limit: float | None = None,
    chosen: Chosen | None = None,
    fused: Extracted | None = None,
) -> tuple[Planned, Schedule]:
    """Put a function whose plan was dropped into the order of `answer`.

    Hyper-nodes are opened, of what was `fused` in them; in-place results get their alias: of the
    operators `chosen`, or of all that can, over the first operand that dies. Returns `answer` with
    the proof that holds for the flat function, as far as that is found within `time_limit` seconds.
    Raises MemoptError if a hyper-node was not safe.
    """
    reorder(extracted.memory, answer.order)
    flat = _flatten(extracted, answer, fused)
    offered = flat
    if chosen is not None:
        flat = only_chosen(offered, chosen)
        decline(offered, flat)
    facts = _facts_of(flat, answer)
    if len(flat.graph) != len(extracted.graph):
        answer = replace(answer, proof=_flat_proof(flat, answer, time_limit))
    if write_inplace(flat, [c for c in facts.inplace if c]) or chosen is not None:
        flat = offered.again()
    set_order(flat.memory.operations)
    family = family_of(flat.memory.operations)
    return Planned(flat, Facts(answer.peak, answer.lower_bound, answer.proof, family)), answer


def _flat_proof(flat: Extracted, answer: Schedule, time_limit: float | None) -> Proof:
    """A flow through hyper-nodes is none through the flat function, unless T6 there says as much:
    else the bound rests on the searches that contracted the modules."""
    if answer.proof != "flow":
        return answer.proof
    order, enough = tuple(range(len(flat.graph))), answer.lower_bound
    bound = flow_bound(flat.graph, [order], time_limit=time_limit, enough=enough).value
    return "flow" if bound >= enough else "search"


def _flatten(extracted: Extracted, answer: Schedule, fused: Extracted | None) -> Extracted:
    """Open the hyper-nodes, now in their final places, after checking that they were safe."""
    func = extracted.func
    operations = extracted.memory.operations
    if not any(isinstance(op, HyperNode) for op in operations):
        return extracted.again()
    inner = [list(op.body.block.ops) if isinstance(op, HyperNode) else [op] for op in operations]
    place = {op: i for i, op in enumerate(operations)}
    chains = [(place_of(c[0]), [place[node] for node in c]) for c in _chains(operations)]
    inline_hyper_nodes(func)
    flat = (fused or extracted).again()
    index = {op: i for i, op in enumerate(flat.memory.operations)}
    blocks = [tuple(index[op] for op in ops if op in index) for ops in inner]
    sides, known = Sides.of(flat.graph), Known()
    for where, nodes in chains:
        first, *rest = [blocks[i] for i in nodes if blocks[i]] or [()]
        if not is_safe_chain(flat.graph, (first, *rest), sides, known):
            text = "a hyper-node that is not safe: running it in one go may cost"
            raise MemoptError(f"{text}; {CHANGED}", where)
    orders = [[v for i in nodes for v in blocks[i]] for _, nodes in chains]
    strict = linked(flat.graph, orders)
    fault = is_contraction(strict, blocks, extracted.graph, answer.order)
    if fault is not None:
        text = f"a hyper-node that hides what it does: {fault}"
        raise MemoptError(f"{text}; {CHANGED}", chains[0][0])
    flat.graph.profiled.update(strict.profiled)  # in fewer orders than are legal there, so this is
    return flat


def _facts_of(flat: Extracted, answer: Schedule) -> Profile:
    """Levels and steps of the flat function, whose block order is the schedule by now. Raises
    MemoptError if its peak is not the one of the answer."""
    facts = profile(flat.graph, range(len(flat.graph)))
    if facts.peak != answer.peak:
        name = flat.func.sym_name.data
        text = f"@{name}: {facts.peak} B flat but {answer.peak} B with hyper-nodes"
        raise MemoptError(f"{text}; {CHANGED}")
    return facts


def _chains(operations: Sequence[Operation]) -> list[list[HyperNode]]:
    """The hyper-nodes: each alone, but for segments that a chain joins, in its order."""
    result: list[list[HyperNode]] = []
    at: dict[SSAValue, list[HyperNode]] = {}
    for node in operations:
        if isinstance(node, HyperNode):
            after, chain = node.tokens
            nodes = at.get(after) if after is not None else None
            if nodes is None:
                nodes = list[HyperNode]()
                result.append(nodes)
            nodes.append(node)
            if chain is not None:
                at[chain] = nodes
    return result
