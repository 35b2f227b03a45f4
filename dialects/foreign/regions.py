"""Control flow with tensors: an operation whose regions call functions is one step, as a call is.

%r:2 = stablehlo.while(%a = %x, %b = %y)     loop: the values that it carries lie where its results
  cond { %p = call @cond(%a)                 do; what its regions make, %p, %m and %n, is workspace,
         return %p }                         and so are the arenas of @cond and @body, over each
  do { %m, %n = call @body(%a, %b)           other. An init may lie in place of its result
       return %m, %n }
%s = stablehlo.if(%p) { call @then(%x) }     branch: what a region ends with is the result
       { call @else(%x) }
%t = call @f(%x)                             workspace: the arena of @f

A region has no tensors but its arguments and what it calls, of which the bodies are here;
`memgraph-outline` makes it so. It runs the effects of what it calls.
"""

from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator, Pure

from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.foreign import LOOP, region_kind
from memopt.dialects.foreign.descriptions import largest, origin_of, result_bytes
from memopt.dialects.memgraph.behaviour import behaviour_of, careful, check_memrefs
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import (
    body_of,
    called_by,
    callees_in,
    reached_by,
    read_values,
)
from memopt.dialects.memgraph.interface import (
    BARRIER,
    OperatorMemory,
    is_constant_like,
    is_constant_value,
)
from memopt.dialects.memgraph.names import full_name, name_of, place_of
from memopt.dialects.memgraph.plan import model_of
from memopt.dialects.memgraph.tensors import is_buffer

OUTLINE = "run --outline first"


def call(op: Operation, model: ModelAttr) -> OperatorMemory:
    """Describe a call: of a function whose body is here, a step that works in its arena."""
    if not called_by(op):
        return careful(op, model)
    check_memrefs(op)
    return OperatorMemory(result_bytes(op), effects=_effects(op))


def step_of_regions(op: Operation, model: ModelAttr) -> OperatorMemory:
    """Describe a loop or a branch. Raises MemoptError for regions that make tensors themselves, or
    others than the results."""
    _check_ends(op)
    for region in op.regions:
        for block in region.blocks:
            _check(op, block)
    inplace = _in_place_of_inits(op) if model.has_inplace else ()
    return OperatorMemory(result_bytes(op), inplace=inplace, effects=_effects(op))


def exchanges(block: Block) -> list[SSAValue]:
    """Return the arguments that a loop's block ends with at another place than their own, which
    would be overwritten before they are read."""
    last, op = block.last_op, block.parent_op()
    if last is None or op is None or region_kind(op) != LOOP:
        return []
    carried = block.args[len(block.args) - len(last.operands) :]
    is_next = len(last.operands) == len(op.results) == len(carried)
    return [
        v
        for k, v in enumerate(last.operands)
        if v in block.args and is_buffer(v.type) and not (is_next and carried[k] is v)
    ]


def _check(op: Operation, block: Block) -> None:
    """Raise MemoptError for a region's tensor that is nobody's."""
    if block is not block.parent_region().blocks[0]:  # pyright: ignore[reportOptionalMemberAccess]
        raise MemoptError(f"{full_name(op)} has a region of several blocks", place_of(op))
    for inner in block.walk():
        buffers = [r for r in inner.results if is_buffer(r.type)]
        is_call = isinstance(inner, CallOp) and inner.parent is block
        if buffers and not is_call and not is_constant_like(inner):
            text = f"{full_name(op)} has the buffer {name_of(buffers[0])} in a region, which is not"
            raise MemoptError(f"{text} planned; {OUTLINE}", place_of(op))
    if absent := sorted(callees_in(block) - {func.sym_name.data for func in called_by(op)}):
        text = f"a region of {full_name(op)} calls @{absent[0]}, of which no body is here"
        raise MemoptError(f"{text}; {OUTLINE}", place_of(op))
    calls = [inner for inner in block.ops if isinstance(inner, CallOp)]
    if len(calls) > 1:
        text = f"a region of {full_name(op)} calls {len(calls)} functions"
        raise MemoptError(f"{text}; {OUTLINE}", place_of(op))
    for value in exchanges(block):
        text = f"{full_name(op)} carries {name_of(value)} to another place"
        raise MemoptError(f"{text}; {OUTLINE}", place_of(op))


def _check_ends(op: Operation) -> None:
    """Raise MemoptError where a region ends with other values than the results, in whose bytes they
    are put, or a loop begins with others."""
    wanted = [r.type for r in op.results]
    blocks = [region.blocks[0] for region in op.regions if region.blocks]
    ends = [b.last_op.operands if b.last_op else () for b in blocks]
    if region_kind(op) == LOOP:  # it ends with its last region, the first may be a condition
        ends = [op.operands[-len(wanted) :], *ends[-1:]]
    for values in ends if wanted else ():
        if [v.type for v in values] != wanted:
            text = f"{full_name(op)}: the types of {', '.join(map(name_of, values)) or 'no value'}"
            raise MemoptError(f"{text} are not those of its results", place_of(op))


def _in_place_of_inits(op: Operation) -> tuple[tuple[int, int], ...]:
    """Return which result may lie where its init lies: where nothing else of it is read, since the
    loop overwrites it. An operator has one in place at most, here the largest."""
    if region_kind(op) != LOOP:
        return ()
    first = len(op.operands) - len(op.results)
    origins = [origin_of(v)[0] for v in read_values(op)]
    fitting = (
        (k, first + k)
        for k, (result, init) in enumerate(zip(op.results, op.operands[first:], strict=True))
        if init.type == result.type
        and is_buffer(init.type)
        and not is_constant_value(init)
        and origins.count(origin_of(init)[0]) == 1
    )
    return largest(op, fitting)


def _effects(op: Operation) -> tuple[object, ...]:
    """Return the effects of what an operation runs. Raises MemoptError for one that runs the
    function that it is in."""
    parent = op.parent_op()
    if parent in reached_by(op):
        assert isinstance(parent, FuncOp)
        text = f"{full_name(op)} runs @{parent.sym_name.data}, which it is in, so it has no one"
        raise MemoptError(f"{text} arena", place_of(op))
    effects: dict[object, None] = {}
    for func in called_by(op):
        model = model_of(func)
        for inner in body_of(func).ops:
            effects.update(dict.fromkeys(behaviour_of(inner, model).effects))
    for inner in op.walk():
        known = isinstance(inner, CallOp) or is_constant_like(inner) or _is_pure(inner)
        if inner is not op and not known:
            effects[BARRIER] = None
    return tuple(effects)


def _is_pure(op: Operation) -> bool:
    ends = op.parent is not None and op.parent.last_op is op and not op.results
    return ends or any(op.has_trait(t, value_if_unregistered=False) for t in (Pure, IsTerminator))
