"""Base of all operations that keep something from one run to the next."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, opt_prop_def, result_def

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, dtype_of
from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.interface import OperatorMemory
from memopt.dialects.memgraph.tensors import AnyTensor, bytes_of, encoding_of, shape_of
from memopt.dialects.memgraph.variables import same_elements
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

    @property
    def lies_in(self) -> SSAValue | None:
        """Return the variable that the only result is, None if it is a buffer of its own."""
        return None

    def run(self, operands: Sequence[Array]) -> tuple[list[Array], Left]:
        """The results, as `evaluate`, and what the variables hold then."""
        return self.evaluate(operands), []

    def memory(self, model: ModelAttr) -> OperatorMemory:
        return replace(super().memory(model), effects=self.states)


class SequenceOp(StatefulOp):
    """Base of layers that go through operand 0 step by step, [batch, step, size] or with
    `time_major` [step, batch, size]."""

    result = result_def(AnyTensor)
    time_major = opt_prop_def(UnitAttr)

    @property
    def is_time_major(self) -> bool:
        return self.time_major is not None

    @property
    def batches(self) -> int:
        return shape_of(self.operands[0])[int(self.is_time_major)]

    @property
    def steps(self) -> int:
        return shape_of(self.operands[0])[int(not self.is_time_major)]

    def check_sequence(self) -> None:
        shape, out = shape_of(self.operands[0]), shape_of(self.result)
        self.require(len(shape) == len(out) == 3, "a sequence has three dimensions")
        self.require(shape[:2] == out[:2], "the result has other steps or batches")

    def check_stored(self, weights: Sequence[SSAValue]) -> None:
        for encoding in map(encoding_of, weights):
            plain = len(encoding.scales) == 1 and not any(encoding.zero_points)
            self.require(plain, "int8 weights with one scale and no zero point")

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        return self.run(operands)[0]

    def in_turn(
        self, source: Array, states: Sequence[Array], step: Callable[..., Sequence[Array]]
    ) -> tuple[list[Array], Left]:
        """Return what `run` does; `step` makes of a step of the source, and what the states hold,
        what they hold then. The first state is what is shown."""
        sequence = source if self.is_time_major else np.swapaxes(source, 0, 1)
        held, outputs = [state.reshape(self.batches, -1) for state in states], list[Array]()
        for x in sequence:
            held = [v.astype(s.dtype) for v, s in zip(step(x, *held), states, strict=True)]
            outputs.append(held[0])
        result: Array = np.stack(outputs).reshape(*sequence.shape[:2], -1)
        result = result.astype(dtype_of(self.results[0]))
        if not self.is_time_major:
            result = np.ascontiguousarray(np.swapaxes(result, 0, 1))
        after = (v.reshape(s.shape) for v, s in zip(held, states, strict=True))
        return [result], list(zip(self.states, after, strict=True))


@operation_definition
class ReadVariableOp(StatefulOp):
    """A copy of what a variable holds; or `in_place` the variable itself, which is changed once all
    who read it have run."""

    name = "memgraph.read_variable"
    state = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    in_place = opt_prop_def(UnitAttr)
    assembly_format = "$state (`in_place` $in_place^)? " + TYPES

    def verify_(self) -> None:
        self.require(same_elements(self.state, self.result), "the variable holds another type")

    @property
    def states(self) -> tuple[SSAValue, ...]:
        return (self.state,)

    @property
    def lies_in(self) -> SSAValue | None:
        return None if self.in_place is None else self.state

    def memory(self, model: ModelAttr) -> OperatorMemory:
        if self.in_place is None:
            return super().memory(model)
        return OperatorMemory((bytes_of(self.result.type),), executes=False)

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        return [operands[0].copy()]
