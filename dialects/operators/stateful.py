"""Base of all operations that keep something from one run to the next."""

from collections.abc import Sequence
from dataclasses import replace

from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def

from memopt.dialects.arithmetic.stored import Array
from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.memgraph.interface import OperatorMemory
from memopt.dialects.memgraph.structure import same_elements
from memopt.dialects.memgraph.tensors import AnyTensor
from memopt.dialects.operators.base import TYPES, ComputeOp

Left = list[tuple[SSAValue, Array]]
"""Variables, and what they hold after an operation."""


class StatefulOp(ComputeOp):
    """Base: some operands are a `memgraph.variable`, `states`, which the operation may change, so
    those that use the same one keep their order."""

    @property
    def states(self) -> tuple[SSAValue, ...]:
        """The operands that stay from one run to the next."""
        return ()

    def run(self, operands: Sequence[Array]) -> tuple[list[Array], Left]:
        """The results, as `evaluate`, and what the variables hold then."""
        return self.evaluate(operands), []

    def memory(self, model: ModelAttr) -> OperatorMemory:
        return replace(super().memory(model), effects=self.states)


@irdl_op_definition
class ReadVariableOp(StatefulOp):
    """A copy of what a variable holds."""

    name = "memgraph.read_variable"
    state = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    assembly_format = "$state " + TYPES

    def verify_(self) -> None:
        self.require(same_elements(self.state, self.result), "the variable holds another type")

    @property
    def states(self) -> tuple[SSAValue, ...]:
        return (self.state,)

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        return [operands[0].copy()]
