"""In-place decisions written into the IR: `memgraph.alias` on the operation that overwrites.

`memgraph.chosen_inplace` beside it tells them from those that stood in the source, which every
later schedule keeps. Without an alias it says that the result has bytes of its own, though it need
not have (`method=joint` of memgraph-place may choose that, or another operand).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from xdsl.dialects.builtin import ArrayAttr, UnitAttr
from xdsl.ir import Operation

from memopt.dialects.attributes.model import AliasAttr
from memopt.dialects.memgraph.plan import ALIAS, CHOSEN, alias_lists
from memopt.passes.plan.extract import Extracted
from memopt.solvers.joint.in_place_choices import restricted
from memopt.solvers.problems.memory_graph import InPlace, profile

Chosen = Mapping[Operation, int]
"""The operators that run in place, each with the operand that it overwrites."""


def chosen_by(extracted: Extracted, choices: Sequence[InPlace]) -> Chosen:
    """A solver's choice in the words of the IR, where another order has other numbers."""
    return {extracted.memory.operations[c.operator]: operand_of(extracted, c) for c in choices}


def operand_of(extracted: Extracted, choice: InPlace) -> int:
    """Return the operand that is overwritten: of several that lie there, as a tensor and its
    reshaped form do, the first that the operation offers."""
    memory, group = extracted.memory, extracted.block_groups[choice.operand]
    operands = memory.operations[choice.operator].operands
    offered = {operand for _, operand in memory.memory[choice.operator].inplace}
    place = (group, choice.inside)
    overwritten = [k for k, v in enumerate(operands) if memory.of_value.get(v) == place]
    return next((k for k in overwritten if k in offered), overwritten[0])


def only_chosen(extracted: Extracted, chosen: Chosen) -> Extracted:
    """Return the problem with no other candidates than those `chosen`, and those of the source."""
    operations = extracted.memory.operations
    candidates = tuple(
        c
        for c in extracted.graph.inplace
        if chosen.get(operations[c.operator]) == operand_of(extracted, c)
    )
    return replace(extracted, graph=restricted(extracted.graph, candidates))


def decline(extracted: Extracted, chosen: Extracted) -> None:
    """Mark the results that could lie over an operand in block order, but do not as `chosen`."""
    order = range(len(extracted.graph))
    offered, taken = (profile(e.graph, order).inplace for e in (extracted, chosen))
    for op, could, does in zip(extracted.memory.operations, offered, taken, strict=True):
        if could is not None and does is None:
            op.attributes[CHOSEN] = UnitAttr()


def write_inplace(extracted: Extracted, choices: list[InPlace]) -> bool:
    """Give the results that take the place of an operand their alias; forced ones have it. True if
    one was written."""
    memory = extracted.memory
    chosen = [c for c in choices if not c.forced]
    for choice in chosen:
        op = memory.operations[choice.operator]
        result, source = extracted.block_groups[choice.result], operand_of(extracted, choice)
        lists = [list(e) for e in alias_lists(op)] or [[] for _ in op.results]
        for r, value in enumerate(op.results):
            if memory.of_value.get(value, (None,))[0] == result:
                lists[r].append(AliasAttr(source, "inplace"))
        op.attributes[ALIAS] = ArrayAttr([ArrayAttr(e) for e in lists])
        op.attributes[CHOSEN] = UnitAttr()
    return bool(chosen)
