"""Allocations that each memref of a function may lie in, followed through views and regions.

    aliases = Aliases(func, returned)
    aliases.of[subview]          # {(alloc, 0)}
    aliases.of[iter_arg]         # {(OUTSIDE, 0), (alloc, 1)}: the caller's, or the alloc of one
                                 # iteration before

A token is an allocation and how many iterations ago it ran, at most OLDEST, which stands for all
before. All that is not allocated here is OUTSIDE: arguments and globals.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Block, Operation, SSAValue

from memopt.dialects.buffers.accesses import (
    AllocationOp,
    access_of,
    allocated_bytes,
    is_memref,
    memrefs,
)
from memopt.dialects.buffers.control_flow import PARALLEL, blocks_of, flows, is_structured
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of
from memopt.dialects.memgraph.names import full_name, name_of, place_of

OUTSIDE = None
OLDEST = 2
Token = tuple[Operation | None, int]
Returned = dict[str, tuple[frozenset[int], ...]]  # of a function, per result: arguments


@dataclass(frozen=True)
class Follows:
    """A value that lies where another lies; behind `loop`, of the iteration before."""

    source: SSAValue
    target: SSAValue
    loop: Operation | None = None


class Aliases:
    """The tokens of every memref of a function. `returned` says of the functions that it calls
    which arguments each result may lie in. Raises MemoptError, by name and place, for what cannot
    be followed."""

    def __init__(self, func: FuncOp, returned: Returned) -> None:
        self.func, self.returned = func, returned
        self.of: dict[SSAValue, frozenset[Token]] = {}
        self.carried_by: dict[Operation, set[Operation]] = {}  # allocation: loops
        self.allocations: list[AllocationOp] = []
        edges = self._edges()
        self._spread(edges)
        self._check()

    def allocations_of(self, value: SSAValue) -> set[Operation]:
        """Return the allocations that a memref may lie in."""
        return {root for root, _ in self.of.get(value, ()) if root is not None}

    @property
    def returns(self) -> tuple[frozenset[int], ...]:
        """Return the arguments that each result may lie in."""
        block = body_of(self.func)
        last = block.last_op
        assert last is not None
        inputs: dict[SSAValue, frozenset[int]] = {a: frozenset((a.index,)) for a in block.args}
        everything = frozenset(a.index for a in block.args if is_memref(a.type))
        return tuple(inputs.get(v, everything) for v in last.operands)

    def _edges(self) -> list[Follows]:
        """Set the tokens that do not depend on others, and return what follows what."""
        edges: list[Follows] = []
        block = body_of(self.func)
        for argument in memrefs(block.args):
            self.of[argument] = frozenset({(OUTSIDE, 0)})
        for op in operations_in(block):
            access = access_of(op)
            if isinstance(op, AllocationOp):
                allocated_bytes(op)
                self._check_parallel(op)
                self.allocations.append(op)
                self.of[op.memref] = frozenset({(op, 0)})
            elif isinstance(op, CallOp):
                edges += self._call_edges(op)
            elif access.views:
                given = memrefs(op.operands)  # a shape that is only read is nobody's place
                sources = [v for v in given if v not in access.reads] or given
                for result in memrefs(op.results):
                    edges += [Follows(source, result) for source in sources]
                    if not sources:  # a global
                        self.of[result] = frozenset({(OUTSIDE, 0)})
            edges += [
                Follows(flow.source, flow.target, op if flow.is_back else None)
                for flow in flows(op)
                if is_memref(flow.source.type)
            ]
        return edges

    def _call_edges(self, op: CallOp) -> Iterator[Follows]:
        known = self.returned.get(op.callee.string_value())
        for k, result in enumerate(op.results):
            if is_memref(result.type):
                self.of[result] = frozenset({(OUTSIDE, 0)})  # it may be a global
                for i in sorted(known[k]) if known is not None else ():
                    yield Follows(op.operands[i], result)

    def _check_parallel(self, op: Operation) -> None:
        parent = op.parent_op()
        while parent is not None and parent is not self.func:
            if not is_structured(parent):
                kind = full_name(parent)
                what = "whose iterations may run at one time" if kind in PARALLEL else "unknown"
                raise MemoptError(f"{op.name} inside {kind}, {what}", place_of(op))
            parent = parent.parent_op()

    def _spread(self, edges: list[Follows]) -> None:
        """Follow all edges until nothing changes."""
        out: dict[SSAValue, list[Follows]] = {}
        for edge in edges:
            out.setdefault(edge.source, []).append(edge)
        waiting = list(self.of)
        while waiting:
            value = waiting.pop()
            for edge in out.get(value, ()):
                tokens = self._carried(self.of[value], edge.loop)
                known = self.of.get(edge.target, frozenset[Token]())
                if not tokens <= known:
                    self.of[edge.target] = known | tokens
                    waiting.append(edge.target)

    def _carried(self, tokens: frozenset[Token], loop: Operation | None) -> frozenset[Token]:
        """Return tokens as the next iteration of `loop` sees them."""
        if loop is None:
            return tokens
        carried: set[Token] = set()
        for root, age in tokens:
            if root is not None and loop.is_ancestor(root):
                self.carried_by.setdefault(root, set()).add(loop)
                carried.add((root, min(age + 1, OLDEST)))
            else:
                carried.add((root, age))
        return frozenset(carried)

    def _check(self) -> None:
        """Raise MemoptError for allocations that are returned, freed with what is the caller's,
        handed to a function that is not known, or carried by several loops."""
        for op in operations_in(body_of(self.func)):
            access = access_of(op)
            touched = (*access.reads, *access.writes, *(op.operands if access.frees else ()))
            for value in touched:
                if not self.of.get(value):
                    text = f"{full_name(op)} uses {name_of(value)}, whose bytes are not known"
                    raise MemoptError(text, place_of(op))
            if access.frees:
                roots = {root for root, _ in self.of[op.operands[0]]}
                if OUTSIDE in roots and len(roots) > 1:
                    text = f"{op.name} frees an allocation or what is the caller's"
                    raise MemoptError(text, place_of(op))
            if isinstance(op, CallOp) and op.callee.string_value() not in self.returned:
                for value in memrefs(op.operands):
                    if self.allocations_of(value):
                        text = f"{name_of(value)} escapes into @{op.callee.string_value()}"
                        raise MemoptError(f"{text}, which has no body", place_of(op))
        last = body_of(self.func).last_op
        for value in memrefs(last.operands) if last is not None else ():
            if self.allocations_of(value):
                text = f"{name_of(value)} is allocated here and returned"
                hint = "make it an argument with mlir-opt --buffer-results-to-out-params"
                raise MemoptError(f"{text}; {hint}", place_of(last) if last is not None else "")
        for op, loops in self.carried_by.items():
            if len(loops) > 1:
                raise MemoptError(f"{op.name} is carried by {len(loops)} loops", place_of(op))


def operations_in(block: Block) -> Iterator[Operation]:
    """Yield the operations of a block and of all regions inside it, outer ones first. Raises
    MemoptError for a region of several blocks."""
    for op in block.ops:
        yield op
        for inner in blocks_of(op):
            yield from operations_in(inner)
