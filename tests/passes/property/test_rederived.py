"""A memory graph that is derived of the one before is the one that the function says."""

import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial

import pytest
from random_functions import random_function
from xdsl.dialects.builtin import ArrayAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from memopt.dialects.attributes.placement import ScratchAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.memgraph.plan import SCRATCH, drop_plan
from memopt.passes.plan import extract as extracting
from memopt.passes.plan.extract import Extracted, extract
from memopt.passes.plan.inplace import write_inplace
from memopt.passes.plan.reorder import reorder
from memopt.solvers.problems.memory_graph import ProblemError, profile


def said(derive: Callable[[], Extracted]) -> tuple[bool, object]:
    """Return all that an extracted function says, or why it is refused."""
    try:
        extracted = derive()
    except MemoptError as error:
        return False, error.text
    memory = extracted.memory
    groups = memory.groups, memory.of_value, memory.overwrites, memory.views, memory.sums
    return True, (
        (memory.operations, memory.memory, groups, list(memory.virtual.items())),
        (extracted.graph, extracted.group_of),
    )


def any_order(rng: random.Random, extracted: Extracted) -> list[int]:
    predecessors, order = extracted.graph.predecessors, list[int]()
    while len(order) < len(predecessors):
        ready = [v for v, ps in enumerate(predecessors) if v not in order and set(ps) <= {*order}]
        order.append(rng.choice(ready))
    return order


def change(rng: random.Random, extracted: Extracted) -> str:
    """Change what the passes change, or what they do not."""
    func, memory = extracted.func, extracted.memory
    kind = rng.choice(("order", "in place", "undone", "scratch", "operand", "gone", "nothing"))
    if kind == "order":
        reorder(memory, any_order(rng, extracted))
    elif kind == "in place":
        with suppress(ProblemError):  # what the file has in place may need another order
            choices = profile(extracted.graph, range(len(extracted.graph))).inplace
            write_inplace(extracted, [c for c in choices if c is not None])
    elif kind == "undone":
        drop_plan(func)
    elif kind == "scratch" and memory.operations:
        op = rng.choice(memory.operations)
        op.attributes[SCRATCH] = ArrayAttr([ScratchAttr(rng.choice((4, 64)))])
    elif kind == "operand":
        swap_operand(rng, func)
    elif kind == "gone":
        unread = [op for op in memory.operations if not any(r.uses for r in op.results)]
        for op in unread[:1]:
            op.detach()
    return kind


def swap_operand(rng: random.Random, func: FuncOp) -> None:
    """Let an operation read another value of the type, of those before it."""
    values = list[SSAValue](func.body.block.args)
    op = rng.choice(list(func.body.block.ops))
    for earlier in func.body.block.ops:
        if earlier is op:
            break
        values += earlier.results
    for k, operand in enumerate(op.operands):
        alike = [v for v in values if v.type == operand.type]
        if alike:
            op.operands[k] = rng.choice(alike)


def test_what_is_derived_again_is_what_is_extracted(
    fuzz: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Change functions as passes do, and otherwise: the answer is that of the function as it is."""
    did, derived, calls = Counter[str](), Counter[str](), list[FuncOp]()

    def counted(func: FuncOp, *how: bool) -> Extracted:
        calls.append(func)
        return extract(func, *how)

    monkeypatch.setattr(extracting, "extract", counted)
    for seed in range(round(1500 * fuzz)):
        rng = random.Random(seed)
        func = only_function(random_function(rng, 12))
        with suppress(MemoptError):
            known = extract(func)
            for _ in range(4):
                kind = change(rng, known)
                calls.clear()
                again = said(known.again)
                assert again == said(partial(extract, func)), (seed, kind)
                did[kind] += 1
                derived[kind] += not calls
                known = extract(func) if rng.random() < 0.3 else known.again()
    for kind in ("order", "in place", "undone", "scratch", "nothing"):
        assert derived[kind] > 0.8 * did[kind] > 0, kind
    assert derived["operand"] < did["operand"] and derived["gone"] < did["gone"]
