"""Functions of a module: which there are, their body, their arguments."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, cast
from weakref import ref

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, ModuleOp, UnitAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.traits import IsolatedFromAbove

from memopt.dialects.attributes.operators import SourceAttr
from memopt.dialects.foreign import LOOP, region_kind
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.names import name_of, place_of
from memopt.dialects.memgraph.tensors import is_buffer

# Options that name what an operator runs: IF, WHILE, and CALL_ONCE, which does so in its first run.
SUBGRAPHS = frozenset(f"{name}SubgraphIndex" for name in ("then", "else", "cond", "body", "init"))
UNRUN = "memgraph.unrun"  # on a function that nobody runs, beside the one that is the model


def read_values(op: Operation) -> list[SSAValue]:
    """Operands, and for operations with regions what these capture from outside."""
    values = list(op.operands)
    if not op.regions or op.has_trait(IsolatedFromAbove, value_if_unregistered=False):
        return values
    for region in op.regions:
        for inner in region.walk():
            for v in inner.operands:
                owner = v.owner
                block = owner if isinstance(owner, Block) else owner.parent
                if block is not None and not op.is_ancestor(block):
                    values.append(v)
    return values


def is_closed(region: Region) -> bool:
    """Return whether a region is one block of operations without regions that read nothing from
    outside, which is found in less time than what is read."""
    block = region.blocks.first
    if block is None or block is not region.blocks.last:
        return False
    return not any(
        op.regions or any(v.owner is not block and v.owner.parent is not block for v in op.operands)
        for op in block.ops
    )


def has_kind(operations: Iterable[Operation], kind: type | tuple[type, ...]) -> bool:
    """Return whether one of the operations is of this kind; each class is looked at once."""
    return any(issubclass(class_, kind) for class_ in {type(op) for op in operations})


def body_of(func: FuncOp) -> Block:
    """The only block of a function. Raises MemoptError if there is none or there are several."""
    if len(func.body.blocks) != 1:
        raise MemoptError(
            f"a function of {len(func.body.blocks)} blocks cannot be planned, only of one",
            f"@{func.sym_name.data}",
        )
    return func.body.block


def functions(module: Operation) -> Iterator[FuncOp]:
    """The functions of a module that have a body, in order."""
    if isinstance(module, ModuleOp):
        for op in module.body.block.ops:
            if isinstance(op, FuncOp) and op.body.blocks:
                yield op


def callees_first(module: Operation) -> list[FuncOp]:
    """Return the functions of a module, each after those that its operators run, else in order."""
    present = list(functions(module))
    done: dict[FuncOp, None] = {}

    def add(func: FuncOp, callers: tuple[FuncOp, ...]) -> None:
        if func in done or func in callers:
            return
        for callees in runs_of(func).values() if len(present) > 1 else ():
            for callee in callees:
                add(callee, (*callers, func))
        done[func] = None

    for func in present:
        add(func, ())
    return list(done)


def only_function(module: Operation) -> FuncOp:
    """Return the function of a module of one, or the one whose operators run all others (IF and
    WHILE of a .tflite), but for those that say that nobody runs them. Raises MemoptError otherwise,
    with the names."""
    candidates = [func for func in functions(module) if UNRUN not in func.attributes]
    if len(candidates) == 1:
        return candidates[0]
    table = _numbered(module)
    run = {func for caller in candidates for op in caller.walk() for func in run_by(op, table)}
    roots = [func for func in candidates if func not in run]
    if len(roots) != 1:
        names = ", ".join("@" + f.sym_name.data for f in candidates) or "none"
        raise MemoptError(f"a model of one function is needed, this one has: {names}")
    return roots[0]


Numbered = Callable[[], Mapping[int, FuncOp]]


def _numbered(op: Operation) -> Numbered:
    """Return what returns the functions of the module of `op` by the numbers of their subgraphs,
    found when it is asked first."""

    @cache
    def table() -> dict[int, FuncOp]:
        module = _module_of(op)
        return {} if module is None else {subgraph_of(func): func for func in functions(module)}

    return table


def run_by(op: Operation, table: Numbered | None = None) -> tuple[FuncOp, ...]:
    """Return the functions that an operator runs: those of the subgraphs that its options name, or
    those that it calls. `table` has those of its module by number, for who asks of many
    operators."""
    return _named_by_options(op, table) or called_by(op)


def called_by(op: Operation) -> tuple[FuncOp, ...]:
    """Return the functions with a body that an operation of a function calls, itself or in its
    regions; a call in the regions of another operation is that one's."""
    parent = op.parent_op()
    if not isinstance(parent, FuncOp) or not (op.regions or type(op) is CallOp):
        return ()
    calls = [inner for inner in op.walk() if isinstance(inner, CallOp)]
    module = _module_of(op) if calls else None
    if module is None:
        return ()
    callees = (_named(module, call.callee.string_value()) for call in calls)
    return tuple(dict.fromkeys(func for func in callees if func is not None))


_by_name: list[tuple[ref[ModuleOp], dict[str, FuncOp]]] = []  # of the module asked last, if any


def _named(module: ModuleOp, name: str) -> FuncOp | None:
    """Return the function of a module that has a name and a body, from a table that is made again
    where it has no function that is still there under this name."""
    table = _by_name[0][1] if _by_name and _by_name[0][0]() is module else {}
    func = table.get(name)
    if func is None or func.parent is not module.body.block or func.sym_name.data != name:
        table = {f.sym_name.data: f for f in module.body.block.ops if isinstance(f, FuncOp)}
        _by_name[:] = [(ref(module), table)]
        func = table.get(name)
    return func if func is not None and func.body.blocks else None


def callees_in(block: Block) -> set[str]:
    """Return the names of the functions that a block calls, in regions too, whether they are here
    or not."""
    return {op.callee.string_value() for op in block.walk() if isinstance(op, CallOp)}


def _named_by_options(op: Operation, table: Numbered | None = None) -> tuple[FuncOp, ...]:
    """Return the functions of the subgraphs that an operator's options name."""
    options = op.properties.get("options")
    if options is None or not isinstance(options, DictionaryAttr):
        return ()
    numbers = [
        cast("IntegerAttr[Any]", value).value.data
        for key, value in options.data.items()
        if key in SUBGRAPHS
    ]
    if not numbers:
        return ()
    by_number = (table or _numbered(op))()
    return tuple(by_number[number] for number in dict.fromkeys(numbers) if number in by_number)


@dataclass(frozen=True)
class CalleeScratch:
    """Bytes that an operator works in, for `functions` of which one runs at a time. With a `level`
    they are those that several operators run, at the same bytes in all of these. With a `value`
    they are for a tensor that is made in its regions."""

    functions: tuple[FuncOp, ...] = ()
    level: int | None = None
    value: SSAValue | None = None


def callee_scratch(op: Operation) -> list[CalleeScratch]:
    """Return what an operator works in because it runs functions, in the order of its scratch.

    One is for those that it alone runs. A function that several operators run has its bytes once:
    in the function that nobody runs, where every operator that leads to it works in them. A
    function that is called has bytes in each of its callers, and before the tensors of regions.
    """
    direct = _named_by_options(op)
    if not direct:
        called, values = called_by(op), region_values(op)
        first = [CalleeScratch(called)] if called or values else []
        return [*first, *(CalleeScratch(value=v) for v in values)]
    shared = shared_functions(op)
    own = tuple(f for f in direct if f not in shared)
    blocks = [CalleeScratch(own)] if own else []
    if shared and not is_run(_function_of(op)):
        inside = reached_by(op)
        for level, functions_at in enumerate(levels_of(shared)):
            callees = tuple(f for f in functions_at if f in inside)
            blocks += [CalleeScratch(callees, level)] if callees else []
    return blocks


def region_values(op: Operation) -> list[SSAValue]:
    """Return the results of calls in an operation's regions that need bytes of their own: all, but
    those that a region that runs once ends with, which are results of the operation."""
    if not op.regions or isinstance(op, FuncOp):
        return []
    values: list[SSAValue] = []
    for block in (block for region in op.regions for block in region.blocks):
        ended = set(block.last_op.operands) if block.last_op is not None else set[SSAValue]()
        called = [r for call in block.ops if isinstance(call, CallOp) for r in call.results]
        is_loop = bool(called) and region_kind(op) == LOOP
        values += [r for r in called if is_buffer(r.type) and (is_loop or r not in ended)]
    return values


def levels_of(shared: Sequence[FuncOp]) -> list[list[FuncOp]]:
    """Return the functions that several operators run in levels, of which each leads to none of its
    own: so one of a level runs at a time."""
    levels: list[list[FuncOp]] = []
    remaining = list(shared)
    reached = {each: reached_by(each) for each in shared}
    while remaining:
        inside = {func for each in remaining for func in reached[each]}
        outer = [func for func in remaining if func not in inside]
        levels.append(outer or remaining)  # which run themselves, and are refused by who asks
        remaining = [func for func in remaining if func in inside and outer]
    return levels


def shared_functions(op: Operation) -> list[FuncOp]:
    """Return the functions of the module of `op` that several operators run, in order."""
    module = _module_of(op)
    present = [] if module is None else list(functions(module))
    if len(present) < 2:
        return []
    table, counts = _numbered(op), dict[FuncOp, int]()
    for caller in present:
        for each in caller.walk():
            for func in _named_by_options(each, table):
                counts[func] = counts.get(func, 0) + 1
    return [func for func in present if counts.get(func, 0) > 1]


def reached_by(op: Operation) -> set[FuncOp]:
    """Return the functions that run while an operation does, or that a function leads to."""
    reached: set[FuncOp] = set()
    waiting, table = [op], _numbered(op)
    while waiting:
        for inner in waiting.pop().walk():
            fresh = [func for func in run_by(inner, table) if func not in reached]
            reached.update(fresh)
            waiting += fresh
    return reached


def mark_unrun(module: Operation) -> None:
    """Write on the functions of a file that nobody runs that this is so: its first subgraph is the
    model, with those that it leads to."""
    present = list(functions(module))
    first = [func for func in present if subgraph_of(func) == 0]
    run = {func for root in first for func in (root, *reached_by(root))}
    for func in present:
        if first and func not in run:
            func.attributes[UNRUN] = UnitAttr()


def is_run(func: FuncOp) -> bool:
    """Return whether an operator of the module runs `func`."""
    module = _module_of(func)
    present = [] if module is None else list(functions(module))
    table = _numbered(func)
    return len(present) > 1 and any(func in run_by(op, table) for f in present for op in f.walk())


def _function_of(op: Operation) -> FuncOp:
    parent: Operation | None = op
    while parent is not None and not isinstance(parent, FuncOp):
        parent = parent.parent_op()
    assert parent is not None
    return parent


def _module_of(op: Operation) -> ModuleOp | None:
    parent: Operation | None = op
    while parent is not None and not isinstance(parent, ModuleOp):
        parent = parent.parent_op()
    return parent


def runs_of(func: FuncOp) -> dict[Operation, tuple[FuncOp, ...]]:
    """Return the operators of a function that run others, with these."""
    table = _numbered(func)
    return {op: callees for op in func.body.walk() if (callees := run_by(op, table))}


def depth_of(func: FuncOp) -> int:
    """Return how deep the functions are nested that operators run: 0 for one that runs none. Raises
    MemoptError for one that runs itself."""
    return _depth_of(func, {})


def _depth_of(func: FuncOp, depths: dict[FuncOp, int | None]) -> int:
    """Return `depth_of` a function, once of each: in `depths` None is one that is looked at."""
    if func not in depths:
        depths[func] = None
        inner = (f for callees in runs_of(func).values() for f in callees)
        depths[func] = max((1 + _depth_of(f, depths) for f in inner), default=0)
    depth = depths[func]
    if depth is None:
        raise MemoptError("runs itself", f"@{func.sym_name.data}")
    return depth


def subgraph_of(func: FuncOp) -> int:
    """Return the number of the subgraph that a function was in its file, -1 if it was none."""
    source = func.attributes.get("memgraph.source")
    return source.subgraph.data if isinstance(source, SourceAttr) else -1


def argument_attributes(func: FuncOp) -> list[dict[str, Attribute]]:
    """A copy of the attribute dictionary of each argument."""
    count = len(func.body.blocks[0].args)
    if func.arg_attrs is None:
        return [{} for _ in range(count)]
    return [dict(d.data) for d in func.arg_attrs.data]


def set_argument_attributes(func: FuncOp, attributes: Sequence[Mapping[str, Attribute]]) -> None:
    if any(attributes):
        func.arg_attrs = ArrayAttr([DictionaryAttr(dict(a)) for a in attributes])
    else:
        func.arg_attrs = None


def check_definitions(block: Block) -> None:
    """Raise MemoptError if a value is used before it is made (xDSL does not look)."""
    defined: set[SSAValue] = set(block.args)
    for op in block.ops:
        for v in read_values(op):
            if v in defined:  # as all should be
                continue
            inside = isinstance(v, OpResult) and v.op.parent is block
            if inside or isinstance(v, BlockArgument):
                raise MemoptError(f"{name_of(v)} is used before it is made", place_of(op))
        defined.update(op.results)
