"""What all operations share that keep something from one run to the next."""

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from xdsl.ir import SSAValue

from memopt.dialects.interface import OperatorMemory
from memopt.dialects.model_attributes import ModelAttr
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.stored import Array

Left = list[tuple[SSAValue, Array]]
"""Variables, and what they hold after an operation."""


class StatefulOp(ComputeOp):
    """Base: some operands are a `memgraph.variable`, `states`, which the operation may change, so
    those that use the same one keep their order."""

    WHOLE: ClassVar[bool] = True

    @property
    def states(self) -> tuple[SSAValue, ...]:
        """The operands that stay from one run to the next."""
        return ()

    def run(self, operands: Sequence[Array]) -> tuple[list[Array], Left]:
        """The results, as `evaluate`, and what the variables hold then."""
        return self.evaluate(operands), []

    def memory(self, model: ModelAttr) -> OperatorMemory:
        return replace(super().memory(model), effects=self.states)
