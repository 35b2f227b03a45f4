"""Random functions of memrefs on one arena: what they compute, the least order and the least arena
by exhaustive search, and planners that forget one condition."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace as replace_in
from itertools import permutations
from typing import Any

import pytest
from memref_functions import Interpreter, Writer, outcome, random_function, random_module
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp
from xdsl.ir import Block, Operation

from memopt.compile.driver import build_pipeline, load_text, new_context
from memopt.dialects.buffers import accesses
from memopt.dialects.buffers.accesses import Access, access_of
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.memgraph.plan import plan_of
from memopt.passes import memgraph_plan_memrefs
from memopt.passes.memref import aliases, live_ranges, order, replace
from memopt.solvers.problems.placement import PlacementProblem
from memopt.verify import memrefs as verify_memrefs

STARTS = (-5, 3)  # of the input: a flag is its sign


def read(text: str) -> ModuleOp:
    return load_text(new_context(), text, "in.mlir")


def planned(text: str, options: str = "") -> ModuleOp:
    module = read(text)
    build_pipeline(f"memgraph-plan-memrefs{{{options}}}")[0].apply(new_context(), module)
    module.verify()
    return module


def outcomes(module: ModuleOp) -> list[bytes]:
    return [outcome(module, first) for first in STARTS]


def test_random_functions_compute_the_same(fuzz: float) -> None:
    for seed in range(max(2, int(600 * fuzz))):
        text = random_module(seed)
        want = outcomes(read(text))
        for way in ("fixed", "free"):
            assert outcomes(planned(text, f"order={way}")) == want, (seed, way)


# -- exhaustive search ----------------------------------------------------------------------------


class Trace(Interpreter):
    """Records the arrays that each operation of @main reads and writes, by their owner."""

    def __init__(self, module: ModuleOp) -> None:
        super().__init__(module)
        self.touched: list[tuple[set[int], set[int]]] = []
        self.bytes: dict[int, int] = {}
        self.kept: list[Any] = []

    def _run(self, op: Operation, given: list[Any], values: dict[Any, Any]) -> list[Any]:
        results = super()._run(op, given, values)
        self.kept += results
        access = accesses.access_of(op)
        if isinstance(op, accesses.AllocationOp):
            aligned = 64 if op.alignment is not None else 16
            self.bytes[id(results[0])] = -(-results[0].nbytes // aligned) * aligned
        elif access.reads or access.writes:
            owners = {v: _owner(values[v]) for v in (*access.reads, *access.writes)}
            reads, writes = ({owners[v] for v in vs} for vs in (access.reads, access.writes))
            self.touched.append((reads, writes))
        return results


def _owner(array: Any) -> int:
    while array.base is not None:
        array = array.base
    return id(array)


def level(trace: Trace, done: int, v: int) -> int:
    """Return the bytes of what was touched by `v` or before it, and by `v` or behind it."""
    total = 0
    for owner, size in trace.bytes.items():
        users = [k for k, (reads, writes) in enumerate(trace.touched) if owner in reads | writes]
        begun = any(k == v or done >> k & 1 for k in users)
        total += size if begun and any(not done >> k & 1 for k in users) else 0
    return total


def peaks_of(trace: Trace) -> tuple[int, int]:
    """Return the peak of the order as it stands, and the least of all orders in which no two
    operations change places of which one writes what the other touches."""
    touched = trace.touched
    needs = [
        sum(
            1 << i
            for i in range(j)
            if writes & (touched[i][0] | touched[i][1]) or reads & touched[i][1]
        )
        for j, (reads, writes) in enumerate(touched)
    ]
    count = len(touched)
    stood = max(level(trace, (1 << v) - 1, v) for v in range(count))
    least = {0: 0}
    for done in range(1 << count):  # a set comes before all that have it inside
        if done not in least:
            continue
        for v in range(count):
            if not done >> v & 1 and not needs[v] & ~done:
                after, peak = done | 1 << v, max(least[done], level(trace, done, v))
                least[after] = min(peak, least.get(after, peak))
    return stood, least[(1 << count) - 1]


def least_arena(problem: PlacementProblem) -> int:
    """Return the least arena: in some order every buffer lies as low as those before it let it."""
    buffers, best = problem.buffers, sum(b.size + b.alignment for b in problem.buffers)
    for chosen in permutations(range(len(buffers))):
        at: dict[int, int] = {}
        for i in chosen:
            b = buffers[i]
            met = [
                (at[j], at[j] + buffers[j].size)
                for j in at
                if buffers[j].lower < b.upper and b.lower < buffers[j].upper
            ]
            offset = 0
            for low, high in sorted(met):
                if low < offset + b.size:
                    offset = max(offset, -(-high // b.alignment) * b.alignment)
            at[i] = offset
        best = min(best, max((at[i] + buffers[i].size for i in at), default=0))
    return best


def test_order_and_arena_by_exhaustive_search(
    fuzz: float, record_property: Callable[[str, object], None]
) -> None:
    moved = 0
    for seed in range(max(8, int(400 * fuzz))):
        text = random_function(seed, Writer.STRAIGHT, 3)
        module = read(text)
        trace = Trace(module)
        x = trace.noise.integers(1, 9, 8).astype("int32")
        trace.run("main", [x, x])  # a caller may do so, and order has to mind it
        stood, least = peaks_of(trace)
        for way, peak in (("fixed", stood), ("free", least)):
            func = only_function(planned(text, f"order={way} replace=false"))
            plan = plan_of(func)
            assert plan is not None
            assert plan.peak.data == peak, (seed, way)
            problem = live_ranges.Reading(func, live_ranges.Called({}, {})).problem
            assert plan.arena == least_arena(problem), (seed, way)
        moved += least < stood
    assert moved > 0
    record_property("brute force", ("orders of memrefs", 8, moved))


# -- planners that forget a condition -------------------------------------------------------------


def only_users(keep: Callable[[Operation, Operation, int], bool]) -> Callable[..., None]:
    """Return a reading that knows the users of an allocation for which `keep` says so."""
    whole = live_ranges.Reading.__init__

    def reading(self: Any, *arguments: Any) -> None:
        whole(self, *arguments)
        for root, users in self.users.items():
            self.users[root] = [u for k, u in enumerate(users) if keep(root, u[0], k)]

    return reading


def without_readers(self: Any) -> tuple[tuple[int, ...], ...]:
    """Forget that what is read is not overwritten before."""
    whole, ops = WHOLE["_predecessors"](self), self.operations
    return tuple(
        tuple(p for p in ps if ops[p].results or self.writes[p] & (self.reads[v] | self.writes[v]))
        for v, ps in enumerate(whole)
    )


WHOLE: dict[str, Any] = {
    "_predecessors": order.Steps._predecessors,  # pyright: ignore[reportPrivateUsage]
    "_storages": live_ranges.Reading._storages,  # pyright: ignore[reportPrivateUsage]
}


def loose_ancestor(block: Block, op: Operation) -> Operation:
    return block.find_ancestor_op_in_block(op) or op


def no_frames(self: Any) -> Iterator[Any]:
    return (s for s in WHOLE["_storages"](self) if not isinstance(s.op, CallOp))


def reads_directly(root: Operation, user: Operation, _: int) -> bool:
    return root.results[0] in user.operands


def is_early(_: Operation, __: Operation, index: int) -> bool:
    return index < 2


def answer(value: object) -> Callable[..., Any]:
    """Return a function that answers one thing whatever it is asked."""
    return lambda *_: value


def second(_: object, value: Any, *__: object) -> Any:
    return value


def own_block(_: object, op: Operation) -> Block | None:
    return op.parent


Patch = tuple[Any, str, Callable[..., Any]]
READING = live_ranges.Reading
MUTANTS: dict[str, list[Patch]] = {
    "views": [(READING, "__init__", only_users(reads_directly))],
    "last use": [(READING, "__init__", only_users(is_early))],
    "loops": [(live_ranges, "ancestor_in", second)],
    "yields": [(READING, "_home", own_block), (live_ranges, "ancestor_in", loose_ancestor)],
    "iter_args": [(aliases.Aliases, "_carried", second)],
    "turns": [(READING, "_copies", answer(1))],
    "deallocations": [(order, "is_free", answer(False)), (replace, "is_free", answer(False))],
    "frames": [(READING, "_storages", no_frames)],
    "alignment": [(live_ranges, "alignment_of", answer(4))],
    "order": [(order.Steps, "_predecessors", without_readers)],
}


# the first function that shows it
FIRST = {"iter_args": 3, "turns": 3, "frames": 3, "deallocations": 1, "order": 18}


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the verifier, or, where the order or the code is wrong, by what is computed."""
    for seed in range(FIRST.get(name, 0), 60):
        text = random_module(seed, 5)
        want = outcomes(read(text))
        with monkeypatch.context() as patch:
            for owner, attribute, value in MUTANTS[name]:
                patch.setattr(owner, attribute, value)
            if name not in ("deallocations", "order", "alignment", "frames"):
                # what the order needs is then not what is placed, which is seen earlier
                patch.setattr(memgraph_plan_memrefs, "in_order", _stands)
            try:
                module = planned(text, "order=free")
            except MemoptError:
                return
            if outcomes(module) != want:
                return
    pytest.fail("nobody saw it")


WRONG: dict[str, Callable[[Access], Access]] = {
    "reads are forgotten": lambda access: replace_in(access, reads=()),
    "writes are forgotten": lambda access: replace_in(access, writes=()),
    "nothing is touched": lambda access: replace_in(access, reads=(), writes=()),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_table_of_accesses_is_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the verifier, which has its own: whoever asks the planner's gets the wrong answer."""

    def wrong(op: Operation) -> Access:
        return WRONG[name](access_of(op))

    assert not hasattr(verify_memrefs, "access_of")
    for asks in (aliases, live_ranges, order):
        monkeypatch.setattr(asks, "access_of", wrong)
    monkeypatch.setattr(memgraph_plan_memrefs, "in_order", _stands)
    for seed in range(60):
        try:
            planned(random_module(seed, 5), "order=free")
        except MemoptError as error:
            assert re.search("is overwritten by then|the peak is", error.text), error.text
            return
    pytest.fail("nobody saw it")


def _stands(reading: Any, method: Any) -> order.Ordered:
    return order.Ordered(reading.problem.load, 0, "none")
