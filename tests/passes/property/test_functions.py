"""Every exact method on random functions with views, slices and concats: the optimum, verified.

What the solvers see of a view is its base's storage group. Here the problem is drawn one step
earlier, in the IR; exhaustive search works on what `extract` makes of it, and the plan verifier
goes back to the IR alone.
"""

import random
from collections import Counter
from collections.abc import Callable

import pytest
from exhaustive import optimum
from features import features
from pass_functions import schedule_function
from random_functions import random_function
from xdsl.dialects.func import FuncOp
from xdsl.ir import OpResult

from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import functions
from memopt.dialects.memgraph.plan import ALIAS, CHOSEN, drop_plan
from memopt.passes.plan.extract import Extracted, extract
from memopt.solvers.scheduling.integer import ALONE
from memopt.verify.plan import verify_plan

FUNCTIONS: dict[str, int] = {
    "auto": 4_000,
    "search": 4_000,
    "dp": 4_000,
    "liberis": 4_000,
    "ilp": 500,
    "ilp-olla": 500,
}


def drawn(rng: random.Random, operators: int) -> tuple[FuncOp, Extracted]:
    """A random function that can be planned, and its problem.

    What is written in place is given; the scheduler decides the rest, where the model lets it.
    """
    while True:
        func = next(functions(random_function(rng, operators)))
        drop_plan(func)
        try:
            return func, extract(func)
        except MemoptError:
            continue  # aliases that contradict each other


def shared_by(found: Extracted) -> set[str]:
    """How values share storage in a function: by name of the operation that says so."""
    names: set[str] = set()
    for group in found.memory.groups:
        if group.in_arena and len(group.members) > 1:
            names |= {v.owner.name for v, _ in group.members if isinstance(v, OpResult)}
    return names


@pytest.mark.parametrize("method", FUNCTIONS)
def test_every_exact_method_is_optimal_on_functions(
    method: str, fuzz: float, record_property: Callable[[str, object], None]
) -> None:
    rng = random.Random(method)
    count, telling = int(FUNCTIONS[method] * fuzz), 0
    for _ in range(count):
        func, found = drawn(rng, 6 if method.startswith("ilp") else 9)
        written = {op: op.attributes.get(ALIAS) for op in func.body.block.ops}
        answer = schedule_function(func, method, None, **(ALONE if method == "ilp" else {}))
        kept = (op for op in func.body.block.ops if CHOSEN not in op.attributes)
        assert all(op.attributes.get(ALIAS) == written[op] for op in kept), str(func)
        assert (answer.peak, answer.optimal) == (optimum(found.graph), True), str(func)
        verify_plan(func, placed=False)
        telling += len(found.graph) > 2
    record_property("brute force", (f"functions, {method}", count, telling))


def test_random_functions_share_storage_in_every_way() -> None:
    rng = random.Random(0)
    shared: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    for _ in range(300):
        _, found = drawn(rng, 9)
        shared.update(shared_by(found))
        seen.update(features(found.graph))
    assert {"memgraph.reshape", "memgraph.slice", "memgraph.concat"} <= set(shared)
    assert {"in place", "several writers", "workspace", "kept input", "alignment"} <= set(seen)
    assert min(shared.values()) > 3
