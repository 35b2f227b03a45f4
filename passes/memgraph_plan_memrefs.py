"""`memgraph-plan-memrefs{order=fixed}`: one arena for the allocations of bufferized functions.

Before:
    func.func @main(%x: memref<16xf32>, %y: memref<16xf32>) {
      %a = memref.alloc() : memref<16xf32>
      linalg.exp ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
      linalg.exp ins(%a : memref<16xf32>) outs(%y : memref<16xf32>)
      memref.dealloc %a : memref<16xf32>
      func.return
    }
After:
    func.func @main(%x: memref<16xf32>, %y: memref<16xf32>) {
      %0 = memref.alloc() {alignment = 16 : i64} : memref<64xi8>
      %1 = arith.constant 0 : index
      %a = memref.view %0[%1][] : memref<64xi8> to memref<16xf32>
      linalg.exp ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
      linalg.exp ins(%a : memref<16xf32>) outs(%y : memref<16xf32>)
      memref.dealloc %0 : memref<64xi8>
      func.return
    }

With `replace=false` the plan stays in the IR as attributes; a function that carries such a plan
keeps it. Both are verified first (verify/memrefs.py). Views, regions, iter_args and calls are
followed (passes/memref/); what cannot be followed is refused by name and place.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of, functions
from memopt.dialects.memgraph.names import full_name, place_of
from memopt.dialects.memgraph.plan import bytes_offset, offsets_of, plan_of, scratch_list
from memopt.dialects.memgraph.write_plan import Facts
from memopt.passes.memref import attributes
from memopt.passes.memref.live_ranges import Called, Frame, Reading
from memopt.passes.memref.order import Method, in_order
from memopt.passes.memref.replace import replace_allocations
from memopt.passes.plan.option import check_options, option
from memopt.solvers import clock, placement
from memopt.solvers.problems.memory_graph import ProblemError
from memopt.verify.memrefs import frame_alignment, verify_memrefs

ORDERS = ("fixed", "free")
ARENAS = ("alloc", "argument")


@dataclass(frozen=True)
class MemgraphPlanMemrefsPass(ModulePass):
    """Place the allocations of bufferized functions in one arena.

    `arena=argument` makes the arena the first argument of every function; else only of those that
    are called.
    """

    name = "memgraph-plan-memrefs"
    lowers: ClassVar[bool] = True  # the plan becomes addresses, so nothing of it is lost

    order: str = option("fixed", "whether operations may change places", ORDERS)
    method: str = option("auto", "how the offsets are found", placement.METHODS)
    arena: str = option("alloc", "where a function that nobody calls has its arena from", ARENAS)
    replace: bool = option(True, "put the arena in; false: only write the plan")
    time_limit: int | float | None = option(None, "seconds")

    def __post_init__(self) -> None:
        check_options(self)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        deadline = clock.deadline(self.time_limit)
        called = Called({}, {})
        callers = callers_of(op)
        readings: list[Reading] = []
        for func in callees_first(op):
            if plan_of(func) is None:
                self._plan(func, called, deadline)
            plan = plan_of(func)
            assert plan is not None
            verify_memrefs(func)
            reading = Reading(func, called)
            readings.append(reading)
            name = func.sym_name.data
            called.returned[name] = reading.aliases.returns
            called.frames[name] = Frame(plan.arena, frame_alignment(func))
            if plan.arena:
                check_callers(func, callers.get(name, []))
        for reading in readings if self.replace else ():
            name = reading.func.sym_name.data
            frame = called.frames[name]
            # a call hands over no bytes where none are needed
            is_argument = frame.bytes > 0 if name in callers else self.arena == "argument"
            replace_allocations(reading, _places(reading), frame, is_argument)

    def _plan(self, func: FuncOp, called: Called, deadline: float | None) -> None:
        """Write the plan of one function."""
        method = Method("source" if self.order == "fixed" else "auto", deadline)
        try:
            ordered = in_order(Reading(func, called), method)
            reading = Reading(func, called)  # in its new order
            placed = placement.place(reading.problem, self.method, clock.left(deadline))
        except ProblemError as error:
            name = func.sym_name.data
            raise PassFailedException(f"{self.name}: @{name}: {error}") from error
        if reading.problem.load != ordered.peak:
            text = f"the buffers need {reading.problem.load} B, their order {ordered.peak} B"
            raise MemoptError(text, f"@{func.sym_name.data}")
        facts = Facts(ordered.peak, ordered.lower_bound, ordered.proof)
        facts = facts.in_one_arena(placed.arena, ordered.lower_bound)
        attributes.write(func, reading.storages, placed.offsets, facts)


def _places(reading: Reading) -> dict[Operation, int]:
    """Return the offset of each allocation, and of the frame of each call, as the plan says."""
    places: dict[Operation, int] = {}
    for storage in reading.storages:
        op = storage.op
        if isinstance(op, CallOp):
            scratch = next(iter(scratch_list(op) or ()))
            places[op] = scratch.offset.data
        else:
            offset = bytes_offset((offsets_of(op) or (None,))[0])
            assert offset is not None  # it was verified
            places[op] = offset
    return places


def calls_in(func: FuncOp) -> Iterator[CallOp]:
    """Yield the calls of a function."""
    for op in func.body.walk():
        if isinstance(op, CallOp):
            yield op


def callers_of(module: ModuleOp) -> dict[str, list[Operation]]:
    """Return for each name what names it: calls, and what takes its address."""
    callers: dict[str, list[Operation]] = {}
    for op in module.walk():
        for attribute in (*op.properties.values(), *op.attributes.values()):
            if isinstance(attribute, SymbolRefAttr):
                callers.setdefault(attribute.string_value(), []).append(op)
    return callers


def callees_first(module: ModuleOp) -> list[FuncOp]:
    """Return the functions of a module, each behind those that it calls. Raises MemoptError for
    one that calls itself."""
    by_name = {func.sym_name.data: func for func in functions(module)}
    order: dict[str, FuncOp] = {}

    def visit(func: FuncOp, path: tuple[str, ...]) -> None:
        body_of(func)
        for call in calls_in(func):
            name = call.callee.string_value()
            if name in path:
                raise MemoptError(f"@{name} calls itself, so it has no one frame", place_of(call))
            if name in by_name and name not in order:
                visit(by_name[name], (*path, name))
        order.setdefault(func.sym_name.data, func)

    for name, func in by_name.items():
        visit(func, (name,))
    return list(order.values())


def check_callers(func: FuncOp, callers: list[Operation]) -> None:
    """Raise MemoptError for a function that gets its arena as an argument, but is called by those
    who are not known."""
    name = func.sym_name.data
    for op in callers:
        if not isinstance(op, CallOp):
            text = f"{full_name(op)} takes the address of @{name}, which needs an arena"
            raise MemoptError(text, place_of(op))
    visibility = func.sym_visibility
    if callers and (visibility is None or visibility.data != "private"):
        text = f"@{name} is called and gets its arena as an argument, but it is not private"
        raise MemoptError(text, place_of(callers[0]))
