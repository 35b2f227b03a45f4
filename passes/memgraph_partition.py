"""`memgraph-partition{k=4 method=multilevel balance=0.5}`: cut a function into parts.

Before:
    %a = memgraph.opaque "A"(%x) : (tensor<8xi8>) -> tensor<16xi8>
    %b = memgraph.opaque "B"(%a) : (tensor<16xi8>) -> tensor<8xi8>
After: every operation that executes names its part, in the order in which the parts run
    %a = memgraph.opaque "A"(%x) {memgraph.partition = 0 : i64} : ...
    %b = memgraph.opaque "B"(%a) {memgraph.partition = 1 : i64} : ...

Where `k=auto` and no method is named the function carries `memgraph.automatic_partition`: the parts
are intervals of the best order of the whole, which scheduling takes unless the parts lead to a
better one.

No edge leads to an earlier part. Scheduling then takes one part after the other and keeps the
attributes (solvers/scheduling/partitioned.py). Operations inside a hyper-node carry its part too,
so that they still have it when scheduling has opened the node.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import IntegerAttr, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import PassFailedException

from memopt.analysis.function_memory import executing
from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.attributes.quick import number
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.names import operator_name, place_of
from memopt.dialects.memgraph.plan import AUTOMATIC_PARTITION, PARTITION
from memopt.dialects.memgraph.structure import HyperNode
from memopt.passes.plan.extract import Extracted
from memopt.passes.plan.option import option
from memopt.passes.plan.planned import Planned, PlanningPass, undecided
from memopt.solvers import clock
from memopt.solvers.partitioning import METHODS, Partition, is_automatic, partition
from memopt.solvers.problems.memory_graph import ProblemError


@dataclass(frozen=True)
class MemgraphPartitionPass(PlanningPass):
    """Cut a function into parts that are scheduled one after the other.

    `k` is the number of parts, or auto: about 128 operators each, along the best order of the
    whole. `balance` says how much larger than the mean a part may be: 0.5 for half. `method=naive`
    cuts a breadth-first order into equal pieces, to compare with. After `time_limit` seconds the
    best that was found is taken.
    """

    name = "memgraph-partition"

    k: int | str = option("auto", "how many parts, or auto")
    method: str = option("auto", "how the parts are found", METHODS)
    balance: int | float | None = option(None, "how far parts may exceed the mean; 0.5 is half")
    seed: int | None = option(None, "of the random choices")
    time_limit: int | float | None = option(None, "seconds")
    assume_pure: bool = option(False, "operations of which nothing is known may move")

    def plan(self, func: FuncOp, known: Planned | None) -> Planned | None:
        given = {"balance": self.balance, "seed": self.seed}
        options = {name: value for name, value in given.items() if value is not None}
        # of a function that may move more than the pass before has, and the one behind may
        pure = self.assume_pure
        started, deadline = clock.now(), clock.deadline(self.time_limit)
        extracted = undecided(func, None if pure else known, pure)
        # the parts have to be written too, which takes no longer than reading the function
        seconds = clock.left(clock.sooner(deadline, clock.now() - started))
        _write_parts(extracted, self.k, self.method, seconds, **options)
        return None if pure else Planned(extracted)


def _write_parts(
    extracted: Extracted, k: int | str, method: str, time_limit: float | None, **options: object
) -> Partition:
    func, model = extracted.func, extracted.model
    drop_partition(func)
    try:
        partitioned = partition(extracted.graph, k, method, time_limit, **options)
    except ProblemError as error:
        name = func.sym_name.data
        raise PassFailedException(f"memgraph-partition: @{name}: {error}") from error
    for op, part in zip(extracted.memory.operations, partitioned.part, strict=True):
        for inner in (op, *_inside(op, model)):
            inner.attributes[PARTITION] = number(part)
    if is_automatic(k, method):
        func.attributes[AUTOMATIC_PARTITION] = UnitAttr()
    return partitioned


def drop_partition(func: FuncOp) -> None:
    """Take the partition out of a function."""
    func.attributes.pop(AUTOMATIC_PARTITION, None)
    for op in func.body.walk():
        op.attributes.pop(PARTITION, None)


def partition_of(extracted: Extracted) -> Partition | None:
    """The partition that a function carries, None if no operation that executes has a part.

    Numbers that no operation has, as after dead code is gone, are closed up. Raises MemoptError
    with the operation's place if some have a part and it has none, if it is no number, if a
    hyper-node's operations disagree, or if an operation needs one of a later part.
    """
    operations = extracted.memory.operations
    parts = [_part(op, extracted.model) for op in operations]
    known = sorted({p for p in parts if p is not None})
    if not known:
        return None
    closed = {p: i for i, p in enumerate(known)}
    for v, (op, mine) in enumerate(zip(operations, parts, strict=True)):
        name = operator_name(op)
        if mine is None:
            raise MemoptError(
                f"{name!r} has no {PARTITION}, other operations have: partition again", place_of(op)
            )
        for u in extracted.graph.predecessors[v]:
            theirs = parts[u]
            if theirs is not None and theirs > mine:
                raise MemoptError(
                    f"{name!r} is in part {mine} but needs {operator_name(operations[u])!r} of "
                    f"part {theirs}: partition again",
                    place_of(op),
                )
    return Partition(tuple(closed[p] for p in parts if p is not None), len(known))


def _part(op: Operation, model: ModelAttr) -> int | None:
    """The operation's part; a hyper-node without one has that of all its operations."""
    attr = op.attributes.get(PARTITION)
    if attr is None:
        if not isinstance(op, HyperNode) or not any(PARTITION in x.attributes for x in op.walk()):
            return None  # which of them execute takes longer to find
        inner = {_part(x, model) for x in _inside(op, model)}
        if len(inner) > 1:
            raise MemoptError(
                f"{operator_name(op)!r} holds operations of several parts: partition again",
                place_of(op),
            )
        return inner.pop() if inner else None
    if not isinstance(attr, IntegerAttr) or attr.value.data < 0:
        raise MemoptError(f"{PARTITION} must be a number from 0 on", place_of(op))
    return attr.value.data


def _inside(op: Operation, model: ModelAttr) -> Iterator[Operation]:
    """The operations that execute inside a hyper-node."""
    if isinstance(op, HyperNode):
        for inner, _ in executing(op.body.block, model):
            yield inner
