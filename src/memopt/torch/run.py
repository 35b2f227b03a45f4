"""A step executed by a plan: PyTorch's operators in the planned order, with every tensor that the
plan has, and the operators' workspace, at its address in one arena.

    graph = memopt.torch.capture(step, measured=True)
    plan = memopt.plan(graph, pipeline=memopt.torch.PIPELINE)
    done = memopt.torch.run(step, plan)
    done.value, done.peak

The allocations of an operator are those that were recorded when the step was measured; each gets
its planned address. What an operator allocates otherwise, or in another thread than the caller's,
comes from the system and is counted (`outside`); a result that does not lie where it is planned is
an error.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from memopt.api.plans import Plan
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.memgraph.names import name_of
from memopt.dialects.memgraph.plan import bytes_offset, model_of, places_of, scratch_list
from memopt.dialects.memgraph.structure import OpaqueOp
from memopt.torch.allocator import ALIGNMENT, Counters, Script, installed, script
from memopt.torch.graph import Drawn, tensors_in
from memopt.torch.interpreter import Program, address_of, copied, program_of, run_program
from memopt.torch.lazy import pytorch
from memopt.torch.measure import check_device, described, made_by, taken_by
from memopt.torch.trace import Step
from memopt.verify.plan import verify_plan

PIPELINE = f"memgraph-model{{alignment={ALIGNMENT}}}"
"""Passes before the planner's: tensors lie as PyTorch's own allocator has them."""

GUARD = 4096  # bytes on either side of the arena that nobody may write
CANARY = 0xA5


@dataclass(frozen=True)
class Allocation:
    """`size` bytes that an operator allocates: at `offset` in the arena, or, None, outside."""

    size: int
    offset: int | None


@dataclass(frozen=True)
class Operator:
    """An operator of a plan: its arguments, what it allocates in its order, and the offset of each
    tensor that it makes."""

    name: str
    kind: str
    takes: tuple[str, ...]
    makes: tuple[str, ...]
    allocations: tuple[Allocation, ...]
    offsets: Mapping[str, int]


@dataclass(frozen=True)
class Layout:
    """Operators in their planned order, the bytes of the arena, and the tensors returned."""

    operators: tuple[Operator, ...]
    arena: int
    returned: tuple[str, ...]


@dataclass(frozen=True)
class Run:
    """A step that ran by a plan; `value` is what it returned, in memory of its own.

    `peak` are the bytes that were there at one time beside the step's state and inputs: the arena,
    and at most `outside_peak` from the system. `served` allocations had a planned address,
    `outside` had none, and `unused` were planned and did not come.
    """

    value: Any
    arena: int
    served: int
    outside: int
    unused: int
    outside_peak: int

    @property
    def peak(self) -> int:
        return self.arena + self.outside_peak


@dataclass(frozen=True)
class Executable:
    """A program with the places of all that it allocates, and an arena."""

    program: Program
    layout: Layout
    memory: Any  # a tensor: guard, arena, guard
    captured: tuple[str, ...]
    """What each leaf of state and inputs was when the step was captured."""
    results: Mapping[str, tuple[tuple[int, int], ...]]
    """For each operator (number of a tensor that it makes, offset)."""

    @property
    def base(self) -> int:
        """Return the address of the arena."""
        return address_of(self.memory) + GUARD

    def run(self, state: Any, inputs: Sequence[Any]) -> Run:
        """Run the step once. Raises MemoptError for other sizes or types than were captured, and
        for a result that does not lie where it is planned."""
        torch, tree = pytorch(), pytorch("torch.utils._pytree")
        leaves = tree.tree_leaves((state, *inputs))
        self._check_leaves(leaves)
        base = self.base
        scripts = {o.name: _script(o, base) for o in self.layout.operators}
        nothing = script(())
        with torch.no_grad(), installed((base, base + self.layout.arena)) as allocator:

            def call(node: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
                allocator.serve(scripts.get(node.name, nothing))
                value = node.target(*args, **kwargs)
                _check_places(node, value, self.results.get(node.name, ()), base)
                return value

            value = run_program(self.program, leaves, call)
            allocator.serve(nothing)
            counters = allocator.counters()
        value = self._apart(value)
        self._check_guards()
        return _run(value, self.layout.arena, counters)

    def _check_leaves(self, leaves: Sequence[Any]) -> None:
        if len(leaves) != len(self.captured):
            text = f"the step is given {len(leaves)} tensors, but was captured with"
            raise MemoptError(f"{text} {len(self.captured)}")
        for leaf in leaves:
            check_device(leaf)
        names = self.program.traced.names
        for name, now, known in zip(names, _leaves(names, leaves), self.captured, strict=True):
            if known != now:
                raise MemoptError(f"{name} is {now}, but was captured as {known}")

    def _apart(self, value: Any) -> Any:
        """Return the result with what lies in the arena copied out of it."""
        torch, tree = pytorch(), pytorch("torch.utils._pytree")
        base = self.base

        def is_inside(leaf: Any) -> bool:
            return isinstance(leaf, torch.Tensor) and 0 <= address_of(leaf) - base < max(
                self.layout.arena, 1
            )

        leaves, spec = tree.tree_flatten(value)
        inside = iter(copied([leaf for leaf in leaves if is_inside(leaf)]))
        return tree.tree_unflatten([next(inside) if is_inside(v) else v for v in leaves], spec)

    def _check_guards(self) -> None:
        for part in (self.memory[:GUARD], self.memory[GUARD + self.layout.arena :]):
            if not bool((part == CANARY).all()):
                raise MemoptError("bytes beside the arena were overwritten")


def _run(value: Any, arena: int, counters: Counters) -> Run:
    return Run(
        value, arena, counters.served, counters.outside, counters.unused, counters.outside_peak
    )


def eager(step: Step) -> Run:
    """Run a step once as PyTorch does, on its own state and inputs: there is no arena, and all that
    is allocated is `outside`."""
    with installed() as allocator:
        value = step.function(step.state, *step.inputs)
        counters = allocator.counters()
    return _run(value, 0, counters)


def executable(step: Step, drawn: Drawn, layout: Layout) -> Executable:
    """Return the program of a layout with an arena. Raises MemoptError for one of another step."""
    torch, tree = pytorch(), pytorch("torch.utils._pytree")
    graph = drawn.traced.graph_module.graph
    nodes = {n.name: n for n in graph.nodes if n.op.startswith("call_")}
    for operator in layout.operators:
        node = nodes.get(operator.name)
        if node is None:
            raise MemoptError(f"the plan is of another step: this one has no {operator.name}")
        for ours, planned in (
            (str(node.target), operator.kind),
            (", ".join(taken_by(drawn, node)), ", ".join(operator.takes)),
            (", ".join(made_by(node)), ", ".join(operator.makes)),
        ):
            if ours != planned:
                text = f"the plan is of another step: there {operator.name} is {planned}"
                raise MemoptError(f"{text}, here {ours}")
    planned_names = {operator.name for operator in layout.operators}
    for entry in drawn.graph["nodes"]:
        if entry["name"] not in planned_names:
            raise MemoptError(f"the plan is of another step: it has no {entry['name']}")
    returned = tuple(drawn.graph["graph_outputs"])
    if set(returned) != set(layout.returned):
        text = f"there {', '.join(layout.returned)} are returned, here {', '.join(returned)}"
        raise MemoptError(f"the plan is of another step: {text}")
    program = program_of(drawn.traced, [o.name for o in layout.operators])
    memory = torch.full((2 * GUARD + layout.arena,), CANARY, dtype=torch.uint8)
    leaves = tree.tree_leaves((step.state, *step.inputs))
    results = {o.name: _results(drawn, nodes[o.name], o.offsets) for o in layout.operators}
    captured = tuple(_leaves(drawn.traced.names, leaves))
    return Executable(program, layout, memory, captured, results)


def layout_of(plan: Plan) -> Layout:
    """Return what a plan says of each operator, after the verifier has checked it.

    Raises MemoptError for a plan that is stale or wrong, has several memories, or is of a graph
    that was not measured.
    """
    if plan.memories:
        raise MemoptError("a plan with several memories cannot be executed in PyTorch")
    func = only_function(plan.module)
    verify_plan(func, placed=True)
    if model_of(func).alignment.data % ALIGNMENT:
        text = f"the plan is aligned to {model_of(func).alignment.data} B; PyTorch needs"
        raise MemoptError(f"{text} {ALIGNMENT}: plan with pipeline=memopt.torch.PIPELINE")
    last = func.body.block.last_op
    returned = tuple(name_of(v) for v in last.operands) if last is not None else ()
    return Layout(tuple(_operators(func)), plan.arena, returned)


def _operators(func: FuncOp) -> list[Operator]:
    places = places_of(func)
    operators: list[Operator] = []
    for op in func.body.block.ops:
        if not isinstance(op, OpaqueOp):
            continue
        title = op.attributes.get("memgraph.operator")
        name = title.data if isinstance(title, StringAttr) else name_of(op.results[0])
        options: Mapping[str, Attribute] = op.options.data if op.options else {}
        if not {"allocates", "makes", "takes"} <= options.keys():
            text = f"the plan does not say what {name} allocates:"
            raise MemoptError(f"{text} capture the step with measured=True")
        results = [bytes_offset(places.get(value)) for value in op.results]
        placed = zip(op.results, results, strict=True)
        offsets = {name_of(value): at for value, at in placed if at is not None}
        scratch = scratch_list(op)
        workspace = scratch[0].offset.data if scratch else 0
        entries = _list(options["allocates"])
        allocations = tuple(_allocation(entry, results, workspace) for entry in entries)
        takes, makes = (tuple(map(_text, _list(options[k]))) for k in ("takes", "makes"))
        operators.append(Operator(name, op.op_name.data, takes, makes, allocations, offsets))
    return operators


def _list(attribute: Attribute) -> Sequence[Attribute]:
    return cast("ArrayAttr[Attribute]", attribute).data


def _allocation(entry: Attribute, results: Sequence[int | None], workspace: int) -> Allocation:
    size, kind, number, inside = _list(entry)
    places = {"result": results, "workspace": [workspace]}.get(_text(kind), [])
    start = places[_number(number)] if places else None
    return Allocation(_number(size), None if start is None else start + _number(inside))


def _number(attribute: Attribute) -> int:
    return cast("IntegerAttr[Any]", attribute).value.data


def _text(attribute: Attribute) -> str:
    return cast("StringAttr", attribute).data


def _script(operator: Operator, base: int) -> Script:
    return script(
        [(a.size, 0 if a.offset is None else base + a.offset) for a in operator.allocations]
    )


def _results(drawn: Drawn, node: Any, offsets: Mapping[str, int]) -> tuple[tuple[int, int], ...]:
    """Return (number of a tensor that a node makes, its offset)."""
    names = [drawn.name(fake) for fake in tensors_in(node.meta.get("val"))]
    return tuple((i, offsets[name]) for i, name in enumerate(names) if name in offsets)


def _check_places(node: Any, value: Any, expected: Sequence[tuple[int, int]], base: int) -> None:
    """Raise MemoptError for a result that does not lie where it is planned."""
    tensors = list(tensors_in(value))
    for number, offset in expected:
        address = address_of(tensors[number])
        if address not in (0, base + offset):  # 0: it has no bytes
            raise MemoptError(f"{node.name} allocates otherwise than it did when it was measured")


def _leaves(names: Sequence[str], leaves: Sequence[Any]) -> Iterator[str]:
    """Yield what each leaf of state and inputs is, and with which one before it shares a storage,
    so that what is written into one changes the other."""
    owners: dict[int, str] = {}
    for name, leaf in zip(names, leaves, strict=True):
        if not isinstance(leaf, pytorch().Tensor):
            yield repr(leaf)
            continue
        owner = owners.setdefault(leaf.untyped_storage()._cdata, name)
        yield described(leaf) + (f" in the storage of {owner}" if owner != name else "")
