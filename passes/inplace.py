"""In-place decisions written into the IR: `memgraph.alias` on the operation that overwrites.

`memgraph.chosen_inplace` beside it tells them from those that stood in the source, which every
later schedule keeps.
"""

from xdsl.dialects.builtin import ArrayAttr, UnitAttr

from memopt.dialects.model_attributes import AliasAttr
from memopt.dialects.plan import ALIAS, CHOSEN, alias_lists
from memopt.passes.extract import Extracted
from memopt.solvers.problems.memory_graph import InPlace


def write_inplace(extracted: Extracted, choices: list[InPlace]) -> bool:
    """Give the results that take the place of an operand their alias; forced ones have it. True if
    one was written."""
    memory = extracted.memory
    forced = {v for v, _, _ in memory.overwrites}
    block_groups = {g: i for i, g in enumerate(extracted.group_of) if g is not None}
    chosen = [c for c in choices if c.operator not in forced]
    for choice in chosen:
        op = memory.operations[choice.operator]
        result, operand = block_groups[choice.result], block_groups[choice.operand]
        lists = [list(e) for e in alias_lists(op)] or [[] for _ in op.results]
        for r, value in enumerate(op.results):
            if memory.of_value.get(value, (None,))[0] == result:
                source = [memory.of_value.get(v) for v in op.operands].index((operand, 0))
                lists[r].append(AliasAttr(source, "inplace"))
        op.attributes[ALIAS] = ArrayAttr([ArrayAttr(e) for e in lists])
        op.attributes[CHOSEN] = UnitAttr()
    return bool(chosen)
