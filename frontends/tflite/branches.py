"""Conversion of IF, WHILE and calls, which run other subgraphs, to operators of the main one.

    %y = IF(%c, %x)             both branches, and memgraph.choose of what they make; one alone, if
                                it is known which
    %y = WHILE(0, %x)           the body as often as it runs, if that is known
    %y = CALL(%x)               the subgraph, and so what a STABLEHLO_COMPOSITE is composed of

A choice of branches without effects changes no value, only what is computed in vain. Only for what
is no `.tflite` again. What is not decided is refused by name.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerType, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import VerifyException

from memopt.analysis.weights import Weights
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import functions
from memopt.dialects.memgraph.names import place_of
from memopt.dialects.memgraph.structure import ConstantOp, OpaqueOp
from memopt.dialects.memgraph.tensors import elements_of, shape_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.comparison import ChooseOp
from memopt.frontends.tflite.known_shapes import (
    forget_unread,
    inferred_shapes,
    known_operation,
    known_value,
    with_known_shapes,
)

MOST_OPERATORS = 20_000  # of what a loop becomes
SIZED = ("SLICE",)  # of which a file cannot say how large their results are in each turn
SMALL = 64  # elements of integers that may count


CALLS = {"CALL": "subgraph", "STABLEHLO_COMPOSITE": "decompositionSubgraphIndex"}
"""Operators that run one subgraph, and the option that has its number."""


def is_branch(op: Operation) -> bool:
    return isinstance(op, OpaqueOp) and op.op_name.data in ("IF", "WHILE", *CALLS)


class UndecidedError(Exception):
    """It is not known what runs, or how often."""


def without_branches(module: ModuleOp) -> ModuleOp:
    """A copy of the main function alone, without branches; the module itself where it has none.
    Raises MemoptError for one of which it is not known what it runs."""
    subgraphs = list(functions(module))
    if len(subgraphs) < 2 or not any(map(is_branch, subgraphs[0].walk())):
        return module
    copy = with_known_shapes(module).clone()
    main, *others = functions(copy)
    graphs = dict(enumerate((main, *others)))
    inliner = _Inliner(main.body.block, graphs, Weights.of(copy))
    while branch := cast("OpaqueOp | None", next(filter(is_branch, main.body.block.ops), None)):
        try:
            inliner.replace(branch)
        except (UndecidedError, ValueError, VerifyException, MemoptError) as error:
            # ValueError: as many values as the other side does not have
            text = f"nothing computes {branch.op_name.data}, and what it runs is not known before"
            raise MemoptError(f"C backend: {text}", place_of(branch)) from error
    forget_unread(copy)
    main.verify()
    for func in others:
        func.detach()
        func.erase()
    return copy


@dataclass
class _Inliner:
    """The block that grows, and the subgraphs by number. Constants of these are brought once."""

    block: Block
    graphs: dict[int, FuncOp]
    weights: Weights
    constants: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    made: int = 0

    def replace(self, op: OpaqueOp) -> None:
        """The operator by what it runs."""
        operands = list(op.operands)
        name = op.op_name.data
        is_loop = name == "WHILE"
        if name in CALLS:
            results = self._run(self._number(op, CALLS[name]), operands, op)
        else:
            results = self._loop(op, operands) if is_loop else self._branch(op, operands)
        for old, new in zip(op.results, results, strict=True):
            if _plain(old.type) != _plain(new.type) and not (is_loop and _only_sized(old, new)):
                raise UndecidedError
            old.replace_all_uses_with(new)
        op.detach()
        op.erase()

    def _branch(self, op: OpaqueOp, operands: Sequence[SSAValue]) -> list[SSAValue]:
        condition, *arguments = operands
        numbers = [self._number(op, f"{side}SubgraphIndex") for side in ("then", "else")]
        known = known_value(condition, self.weights)
        if known is not None:
            return self._run(numbers[0 if known.all() else 1], arguments, op)
        chosen: list[SSAValue] = []
        both = [self._run(number, arguments, op) for number in numbers]
        for then, other, result in zip(*both, op.results, strict=True):
            choice = ChooseOp.create(operands=[condition, then, other], result_types=[result.type])
            self._insert(choice, op)
            choice.attributes.update(op.attributes)
            choice.verify_()
            chosen.append(choice.results[0])
        return chosen

    def _loop(self, op: OpaqueOp, state: list[SSAValue]) -> list[SSAValue]:
        condition, body = (self._number(op, f"{side}SubgraphIndex") for side in ("cond", "body"))
        while True:
            (goes_on,) = self._run(condition, state, op)
            known = known_value(goes_on, self.weights)
            if known is None:
                raise UndecidedError
            if not known.all():
                return state
            state = [self._folded(v, op) for v in self._run(body, state, op)]

    def _number(self, op: OpaqueOp, key: str) -> int:
        value: Any = None if op.options is None else op.options.data.get(key)
        if value is None or value.value.data not in self.graphs:
            raise UndecidedError
        return int(value.value.data)

    def _run(self, number: int, arguments: Sequence[SSAValue], before: Operation) -> list[SSAValue]:
        """The values that a subgraph returns of these, its operators `before` an operation."""
        graph = self.graphs[number].body.block
        self.made += 1  # an empty one is a turn too
        if len(graph.args) != len(arguments) or self.made > MOST_OPERATORS:
            raise UndecidedError
        values: dict[SSAValue, SSAValue] = dict(zip(graph.args, arguments, strict=True))
        for op in graph.ops:
            if isinstance(op, ReturnOp):
                return [values[v] for v in op.operands]
            if isinstance(op, ConstantOp):
                values[op.results[0]] = self._constant(op)
                continue
            stateful = isinstance(op, OpaqueOp) and op.stateful is not None and not is_branch(op)
            if stateful or not isinstance(op, ComputeOp | OpaqueOp):
                raise UndecidedError
            copy = op.clone(value_mapper=dict(values))
            if isinstance(op, ComputeOp) and list(map(shape_of, op.operands)) != list(
                map(shape_of, copy.operands)
            ):
                raise UndecidedError  # its attributes may be those of other shapes
            self._insert(copy, before)
            operator = self._known(copy, before) if isinstance(copy, OpaqueOp) else copy
            values.update(zip(op.results, operator.results, strict=True))
        raise UndecidedError

    def _insert(self, op: Operation, before: Operation) -> None:
        self.made += 1
        self.block.insert_op_before(op, before)

    def _constant(self, op: ConstantOp) -> SSAValue:
        value = op.results[0]
        if value not in self.constants:
            copy = op.clone()
            first = self.block.first_op
            assert first is not None
            self.block.insert_op_before(copy, first)
            self.constants[value] = copy.results[0]
        return self.constants[value]

    def _folded(self, value: SSAValue, before: Operation) -> SSAValue:
        """A few integers that are known are a constant, so that nothing grows from turn to turn."""
        element = cast("TensorType[Attribute]", value.type).element_type
        few = isinstance(element, IntegerType) and elements_of(value) <= SMALL
        if not few or isinstance(value.owner, ConstantOp):
            return value
        known = known_value(value, self.weights)
        if known is None:
            return value
        type_ = cast("TensorType[IntegerType]", value.type)
        numbers = [int(v) for v in known.reshape(-1)]
        constant = ConstantOp(DenseIntOrFPElementsAttr.from_list(type_, numbers), type_)
        self._insert(constant, before)
        return constant.results[0]

    def _known(self, op: OpaqueOp, before: Operation) -> Operation:
        """Return the operator that this is of known operands. Its results are as large as these say
        now: in a loop that may be another size in each turn, which the file cannot say."""
        shapes = inferred_shapes(op, self.weights)
        if shapes is None and op.op_name.data in SIZED:
            raise UndecidedError
        for result, shape in zip(op.results, shapes or (), strict=False):
            type_ = cast("TensorType[Attribute]", result.type)
            if type_.get_shape() != shape:
                wanted = TensorType(type_.element_type, shape, type_.encoding)
                Rewriter.replace_value_with_new_type(result, wanted)
        known = known_operation(op, self.weights)
        if known is None:
            return op
        known.attributes |= op.attributes
        known.location = op.location
        Rewriter.insert_op(known, InsertPoint.before(before))
        op.detach()
        op.erase()
        return known


def _only_sized(old: SSAValue, new: SSAValue) -> bool:
    """Return whether a loop makes another number of the same elements than the file says, of
    operators that are not typed by it."""
    types = [cast("TensorType[Attribute]", v.type) for v in (old, new)]
    elements = {(t.element_type, t.encoding) for t in types}
    return len(elements) == 1 and all(isinstance(u.operation, OpaqueOp) for u in old.uses)


def _plain(type_: Attribute) -> Attribute:
    """Without what only says how elements lie."""
    tensor = cast("TensorType[Attribute]", type_)
    encoding: Any = tensor.encoding
    if getattr(encoding, "quantized", False):
        return tensor
    return TensorType(tensor.element_type, tensor.get_shape())
