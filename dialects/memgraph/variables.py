"""Variables of `memgraph`: state that lives from one run to the next.

%s = memgraph.variable "state" : tensor<1x64xi8>
memgraph.assign_variable %0, %s : tensor<1x64xi8>, tensor<1x64xi8>
"""

from typing import Any, cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation, operand_def, opt_prop_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.attributes.operators import WeightsAttr
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.interface import MemoryInterface, OperatorMemory
from memopt.dialects.memgraph.tensors import AnyTensor, bytes_of, shape_of

Dense = DenseIntOrFPElementsAttr[Any]


@operation_definition
class VariableOp(IRDLOperation, MemoryInterface):
    """State that lives from one inference to the next: in memory, but not in the arena.

    Operations that use the same variable keep their mutual order. `initial` is what it holds
    before the first run; without, int8 hold their zero point and others zeros.
    """

    name = "memgraph.variable"
    sym = prop_def(StringAttr)
    initial = opt_prop_def(Attribute)
    result = result_def(Attribute)
    assembly_format = "$sym (`initial` $initial^)? attr-dict `:` type($result)"

    def __init__(self, name: str, type_: Attribute, initial: WeightsAttr | Dense | None = None):
        properties: dict[str, Attribute] = {"sym": StringAttr(name)}
        if initial is not None:
            properties["initial"] = initial
        super().__init__(properties=properties, result_types=[type_])

    def verify_(self) -> None:
        if not isinstance(self.initial, WeightsAttr | DenseIntOrFPElementsAttr | None):
            raise VerifyException("initial must be dense elements or #memgraph.weights")

    def memory(self, model: ModelAttr) -> OperatorMemory:
        return OperatorMemory((None,), executes=False)


@operation_definition
class AssignVariableOp(IRDLOperation, MemoryInterface):
    """A variable holds a copy of the operand from here on, also in the next run."""

    name = "memgraph.assign_variable"
    input = operand_def(Attribute)
    state = operand_def(Attribute)
    assembly_format = "$input `,` $state attr-dict `:` type($input) `,` type($state)"

    def __init__(self, value: SSAValue, state: SSAValue):
        super().__init__(operands=[value, state])

    def memory(self, model: ModelAttr) -> OperatorMemory:
        after = reads_in_place(self.state, model)
        return OperatorMemory((), effects=(self.state,), after=after)

    def verify_(self) -> None:
        if bytes_of(self.input.type) is None or not same_elements(self.input, self.state):
            raise VerifyException(f"{self.name}: the variable holds another type")


def reads_in_place(variable: SSAValue, model: ModelAttr) -> tuple[Operation, ...]:
    """Return who reads bytes of a variable where it lies, as they are when a run begins."""
    users, readers = (use.operation for use in variable.uses), dict[Operation, None]()
    waiting = [op.results[0] for op in users if "in_place" in op.properties]
    while waiting:
        for op in (use.operation for use in waiting.pop().uses):
            is_stateful = any(isinstance(v.owner, VariableOp) for v in op.operands)
            if is_stateful or not isinstance(op, MemoryInterface) or op.memory(model).executes:
                readers[op] = None
            else:
                waiting += op.results
    return tuple(readers)


def same_elements(one: SSAValue, other: SSAValue) -> bool:
    """Return whether two tensors have one shape and one type of elements."""
    if shape_of(one) != shape_of(other):
        return False
    first, second = [cast("AnyTensor", v.type).element_type for v in (one, other)]
    return first == second


VARIABLES: tuple[type[Operation], ...] = (AssignVariableOp, VariableOp)
