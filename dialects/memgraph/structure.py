"""Operations of `memgraph` around the computing ones: opaque, constants, hyper-nodes.

%w = memgraph.constant #memgraph.weights<"5f0c...", "7"> : tensor<8x3x3x3xi8>
%1 = memgraph.opaque "SVDF"(%0, %w) {memgraph.names = ["y"]} : (T0, T1) -> T3
%2 = memgraph.fused (%a = %1 : T3) -> T4 {
  %b = memgraph.relu %a : (T3) -> T4
  memgraph.yield %b : T4
}
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self, cast

from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    IntegerType,
    StringAttr,
    TensorType,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, BlockArgument, ErasedSSAValue, Operation, OpResult, Region, SSAValue
from xdsl.irdl import AttrSizedOperandSegments as OperandSegments
from xdsl.irdl import AttrSizedResultSegments as ResultSegments
from xdsl.irdl import (
    IRDLOperation,
    opt_operand_def,
    opt_prop_def,
    opt_result_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.attributes.operators import ChainType, WeightsAttr, parse_int_list
from memopt.dialects.attributes.quick import numbers, word
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.functions import is_closed
from memopt.dialects.memgraph.interface import WORLD, MemoryInterface, OperatorMemory, plain
from memopt.dialects.memgraph.tensors import bytes_of, print_constant
from memopt.dialects.memgraph.variables import VariableOp
from memopt.dialects.operators.base import INTS
from memopt.dialects.operators.by_name import ELEMENTWISE

Dense = DenseIntOrFPElementsAttr[Any]
Numbers = DenseArrayBase[IntegerType]


def _dense_type(value: Dense) -> Attribute:
    return cast("Attribute", value.type)


@operation_definition
class ConstantOp(IRDLOperation, MemoryInterface):
    """A tensor in flash: inline for small ones, else by reference into the model file."""

    name = "memgraph.constant"
    value = prop_def(Attribute)
    result = result_def(Attribute)
    traits = traits_def(Pure())

    def __init__(self, value: WeightsAttr | Dense, type_: Attribute):
        super().__init__(properties={"value": value}, result_types=[type_])

    def memory(self, model: ModelAttr) -> OperatorMemory:
        return OperatorMemory((None,), executes=False)

    def verify_(self) -> None:
        value: Attribute = self.value
        if isinstance(value, WeightsAttr):
            return
        if not isinstance(value, DenseIntOrFPElementsAttr):
            raise VerifyException("value must be dense elements or #memgraph.weights")
        if _dense_type(cast("Dense", value)) != self.result.type:
            raise VerifyException("the value's type is not the result's")

    @classmethod
    def parse(cls, parser: Parser) -> "ConstantOp":
        start = parser.pos
        value = parser.parse_attribute()
        end = parser.pos
        attributes = parser.parse_optional_attr_dict()
        if isinstance(value, DenseIntOrFPElementsAttr):
            value = cast("Dense", value)
            type_ = _dense_type(value)
        elif isinstance(value, WeightsAttr):
            parser.parse_punctuation(":")
            type_ = parser.parse_type()
        else:
            parser.raise_error("expected dense elements or #memgraph.weights", start, end)
        op = cls(value, type_)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_constant(printer, self.value)
        printer.print_op_attributes(self.attributes)
        if isinstance(self.value, WeightsAttr):
            printer.print_string(" : ")
            printer.print_attribute(self.result.type)


REASON = "memgraph.reason"
MAY_OVERWRITE = "memgraph.may_overwrite"
"""Operands, by their numbers, whose place the first result of an opaque operation may take."""

REASON_LENGTH = 200


@operation_definition
class OpaqueOp(IRDLOperation, MemoryInterface):
    """Any operator without a typed operation: scheduled, placed, written back unchanged.

    `stateful`: nothing is known of its effects, so all stateful operators keep their mutual order.
    `memgraph.may_overwrite`: operands whose place its first result may take once nobody reads them.
    `options` are the source's, for people, as is the attribute `memgraph.reason`: what of the
    operator has no typed operation.
    """

    name = "memgraph.opaque"
    op_name = prop_def(StringAttr)
    inputs = var_operand_def(Attribute)
    outputs = var_result_def(Attribute)
    stateful = opt_prop_def(UnitAttr)
    options = opt_prop_def(DictionaryAttr)

    IN_TEXT: ClassVar[Mapping[str, type[Attribute]]] = {
        "op_name": StringAttr,
        "stateful": UnitAttr,
        "options": DictionaryAttr,
    }
    """What is written outside the attribute dictionary."""

    def __init__(
        self,
        op_name: str,
        inputs: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        stateful: bool = False,
        options: DictionaryAttr | None = None,
        reason: str = "",
    ):
        properties: dict[str, Attribute] = {"op_name": word(op_name)}
        if stateful:
            properties["stateful"] = UnitAttr()
        if options and options.data:
            properties["options"] = options
        # one group of operands and one of results: nothing for IRDL to sort, which takes long
        Operation.__init__(self, operands=inputs, result_types=result_types, properties=properties)
        if reason:  # ASCII, because xDSL's text reads any other literal back as bytes
            text = reason[:REASON_LENGTH].encode("ascii", "backslashreplace").decode()
            self.attributes[REASON] = StringAttr(text)

    def __post_init__(self) -> None:
        """Leave out xDSL's search for defaults, which there are none of."""

    @property
    def reason(self) -> str:
        """Return the reason why the frontend read no typed operation; empty if it gives none."""
        attribute = self.attributes.get(REASON)
        return attribute.data if isinstance(attribute, StringAttr) else ""

    # by hand, for xDSL takes twice as long to follow an `assembly_format`, and large models consist
    # of these
    @classmethod
    def parse(cls, parser: Parser) -> "OpaqueOp":
        name = parser.parse_str_literal()
        inputs = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_unresolved_operand
        )
        stateful = parser.parse_optional_keyword("stateful") is not None
        options = None
        if parser.parse_optional_keyword("options") is not None:
            options = DictionaryAttr(parser.parse_optional_attr_dict())
        attributes = parser.parse_optional_attr_dict_with_reserved_attr_names(cls.IN_TEXT)
        parser.parse_punctuation(":")
        types = parser.parse_function_type()
        operands = parser.resolve_operands(inputs, types.inputs.data, parser.pos)
        op = cls(name, operands, types.outputs.data, stateful, options)
        op.attributes |= attributes.data if attributes else {}
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.properties["op_name"])
        printer.print_string("(")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_string(") stateful" if "stateful" in self.properties else ")")
        if options := self.properties.get("options"):
            printer.print_string(" options ")
            printer.print_attribute(options)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_operation_type(self)

    # what most have is right at first sight; xDSL, which is asked of all others, takes twenty times
    # as long to find that there is nothing to verify
    def verify(self, verify_nested_ops: bool = True) -> None:
        block, properties, kinds = self.parent, self.properties, self.IN_TEXT
        is_plain = (
            "op_name" in properties
            and all(type(given) is kinds.get(key) for key, given in properties.items())
            and not (self.regions or self.successors)
            and has_operands(self)
        )
        if not is_plain or block is None or block.last_op is self:
            super().verify(verify_nested_ops)

    def memory(self, model: ModelAttr) -> OperatorMemory:
        results = tuple([bytes_of(r.type) for r in self.results])
        variables = [  # a class is compared faster than asked for
            v for v in self.operands if isinstance(v, OpResult) and type(v.op) is VariableOp
        ]
        stateful = "stateful" in self.properties
        effects: tuple[object, ...] = (*variables, *((WORLD,) if stateful else ()))
        if not model.has_inplace and not effects:  # as nearly always
            return plain(results)
        inplace: tuple[tuple[int, int], ...] = ()
        if model.has_inplace and results:
            inplace = tuple([(0, i) for i in self._overwritable() if self._fits(i, results[0])])
        return OperatorMemory(results, inplace=inplace, effects=effects)

    def _overwritable(self) -> list[int]:
        """Return the operands that result 0 may overwrite, by what the source says or by name."""
        offered = self.attributes.get(MAY_OVERWRITE)
        if isinstance(offered, DenseArrayBase):
            indices = set(offered.get_values())
            return [i for i in range(len(self.operands)) if i in indices]
        is_known = self.op_name.data in ELEMENTWISE and len(self.results) == 1
        alike = _shape(self.results[0])
        return [i for i, v in enumerate(self.operands) if is_known and _shape(v) == alike]

    def _fits(self, operand: int, size: int | None) -> bool:
        return (bytes_of(self.operands[operand].type) or 0) >= (size or 0)


def _shape(value: SSAValue) -> tuple[int, ...] | None:
    type_ = value.type
    return (
        cast("TensorType[Attribute]", type_).get_shape() if isinstance(type_, TensorType) else None
    )


def has_operands(op: Operation) -> bool:
    """Return whether all that an operation reads is there, which xDSL asks of each."""
    return ErasedSSAValue not in [type(v) for v in op.operands]


class NamesRows:
    """Mark of operations whose operand says of which tensor they have rows; they read nothing of
    it."""


class Yielding:
    """Base of operations whose body ends in `memgraph.yield`."""


@operation_definition
class YieldOp(IRDLOperation):
    """Ends a hyper-node, or the operator of rows, and names its results."""

    name = "memgraph.yield"
    values = var_operand_def(Attribute)
    traits = traits_def(IsTerminator(), Pure())
    assembly_format = "attr-dict ($values^ `:` type($values))?"

    def __init__(self, values: Sequence[SSAValue]):
        Operation.__init__(self, operands=values)  # one group, as for opaque operators

    def verify(self, verify_nested_ops: bool = True) -> None:
        block, more = self.parent, self.properties or self.results or self.regions
        ends = block is not None and block.last_op is self and not (more or self.successors)
        if not (ends and isinstance(self.parent_op(), Yielding) and has_operands(self)):
            super().verify(verify_nested_ops)  # which finds what is wrong

    def verify_(self) -> None:
        if not isinstance(self.parent_op(), Yielding):
            raise VerifyException(f"{self.name} ends a hyper-node or a memgraph.row_kernel")


class HyperNode(IRDLOperation, Yielding):
    """Base of operations that run a fixed inner order as one step.

    `kept` lists the operands that are still needed after it; the others die inside, where their
    last inner reader is. The hill and the levels are never stored: they follow from the region.
    """

    kept = prop_def(INTS)
    inputs = var_operand_def(Attribute)
    outputs = var_result_def(Attribute)
    body = region_def("single_block")

    @property
    def kept_operands(self) -> tuple[int, ...]:
        return tuple(int(v) for v in self.kept.get_values())

    def verify_(self) -> None:
        block = self.body.block
        if [a.type for a in block.args] != [v.type for v in self.inputs]:
            raise VerifyException(f"{self.name}: arguments do not match the operands")
        last = block.last_op
        if not isinstance(last, YieldOp):
            raise VerifyException(f"{self.name}: the body must end in memgraph.yield")
        if [v.type for v in last.values] != [r.type for r in self.outputs]:
            raise VerifyException(f"{self.name}: yielded values do not match the results")
        if any(isinstance(op, HyperNode) for op in block.ops):
            raise VerifyException(f"{self.name}: hyper-nodes do not nest")
        listed = list(self.kept_operands)
        if listed != sorted(set(listed)) or not set(listed) <= set(range(len(self.inputs))):
            raise VerifyException(f"{self.name}: kept must list operands, ascending")

    @property
    def tokens(self) -> tuple[SSAValue | None, SSAValue | None]:
        """The chain operand and the chain result, where there are some."""
        return (None, None)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        def binding() -> tuple[Parser.UnresolvedArgument, UnresolvedOperand, Attribute]:
            argument = parser.parse_argument(expect_type=False)
            parser.parse_punctuation("=")
            operand = parser.parse_unresolved_operand()
            parser.parse_punctuation(":")
            return argument, operand, parser.parse_type()

        bindings = parser.parse_comma_separated_list(parser.Delimiter.PAREN, binding)
        after = None
        if parser.parse_optional_keyword("after"):
            after = parser.resolve_operand(parser.parse_unresolved_operand(), ChainType())
        kept_operands: tuple[int, ...] = ()
        if parser.parse_optional_keyword("kept"):
            kept_operands = parse_int_list(parser)
        parser.parse_punctuation("->")
        types = parser.parse_optional_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_type
        )
        types = [parser.parse_type()] if types is None else types
        attributes = parser.parse_optional_attr_dict_with_keyword()
        body = parser.parse_region([a.resolve(t) for a, _, t in bindings])
        operands = [parser.resolve_operand(o, t) for _, o, t in bindings]
        op = cls.create_node(operands, types, kept_operands, body, after)
        op.attributes |= attributes.data if attributes else {}
        return op

    def print(self, printer: Printer) -> None:
        after, _ = self.tokens

        def binding(pair: tuple[BlockArgument, SSAValue]) -> None:
            printer.print_ssa_value(pair[0])
            printer.print_string(" = ")
            printer.print_ssa_value(pair[1])
            printer.print_string(" : ")
            printer.print_attribute(pair[1].type)

        printer.print_string(" (")
        printer.print_list(list(zip(self.body.block.args, self.inputs, strict=True)), binding)
        printer.print_string(")")
        if after is not None:
            printer.print_string(" after ")
            printer.print_ssa_value(after)
        if self.kept_operands:
            printer.print_string(f" kept {list(self.kept_operands)}")
        printer.print_string(" -> ")
        types = list(self.result_types)  # the chain's at the end
        if len(types) == 1:
            printer.print_attribute(types[0])
        else:
            with printer.in_parens():
                printer.print_list(types, printer.print_attribute)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)

    @classmethod
    def create_node(
        cls,
        inputs: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        kept: Sequence[int],
        body: Region,
        after: SSAValue | None = None,
    ) -> Self:
        """Build one. A result type `!memgraph.chain` at the end is the chain result."""
        types = list(result_types)
        chained = bool(types) and isinstance(types[-1], ChainType)
        chain = [types.pop()] if chained else []
        segment = issubclass(cls, SegmentOp)
        if not segment and (chained or after is not None):
            raise VerifyException(f"{cls.name}: only a memgraph.segment has a chain")
        properties = {"kept": numbers(kept)}
        if not segment:  # of operands and results there is one group each
            return cls.create(
                operands=inputs, result_types=types, properties=properties, regions=[body]
            )
        return cls(
            operands=[list(inputs), [after] if after else []],
            result_types=[types, chain],
            properties=properties,
            regions=[body],
        )


@operation_definition
class FusedOp(HyperNode):
    """A contracted module that runs in one piece (theory.md T3). Isolated from above."""

    name = "memgraph.fused"
    traits = traits_def(IsolatedFromAbove())

    # many are made at once, and xDSL takes ten times as long to find that nothing is wrong
    def verify(self, verify_nested_ops: bool = True) -> None:
        if not self._is_plain():
            super().verify(verify_nested_ops)
            return
        if verify_nested_ops:
            self.regions[0].verify()
        try:
            HyperNode.verify_(self)
        except VerifyException:
            super().verify(False)  # which says where

    def _is_plain(self) -> bool:
        """Return whether all holds that xDSL asks of this operation."""
        block, listed = self.parent, self.properties.get("kept")
        if block is None or block.last_op is self or self.successors or len(self.properties) != 1:
            return False
        if not (
            isinstance(listed, DenseArrayBase) and has_operands(self) and len(self.regions) == 1
        ):
            return False
        return cast("Numbers", listed).elt_type == i64 and is_closed(self.regions[0])


@operation_definition
class SegmentOp(HyperNode):
    """One segment of a module's canonical chain (theory.md T2); the chain fixes the sequence."""

    name = "memgraph.segment"
    inputs = var_operand_def(Attribute)  # again, because fields are numbered in this order
    after = opt_operand_def(ChainType)
    outputs = var_result_def(Attribute)
    chain = opt_result_def(ChainType)

    @property
    def tokens(self) -> tuple[SSAValue | None, SSAValue | None]:
        return (self.after, self.chain)

    traits = traits_def(IsolatedFromAbove())
    irdl_options = (OperandSegments(as_property=True), ResultSegments(as_property=True))


STRUCTURE: tuple[type[Operation], ...] = (ConstantOp, FusedOp, OpaqueOp, SegmentOp, YieldOp)
