"""Operation that replaces the elements of a tensor that indices say."""

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, opt_prop_def, result_def, traits_def
from xdsl.traits import Pure

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, is_stored, need_same_numbers, unknown
from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.interface import OperatorMemory
from memopt.dialects.memgraph.tensors import AnyTensor, shape_of
from memopt.dialects.memgraph.variables import reads_in_place
from memopt.dialects.operators.base import TYPES
from memopt.dialects.operators.gathering import FROM_END, IndexingOp
from memopt.dialects.operators.stateful import Left, StatefulOp
from memopt.dialects.operators.traits import RealsOnly

REDUCTIONS = ("add", "mul", "max", "min")


class ScatteringOp(IndexingOp):
    """Base of what puts pieces of a tensor where indices say."""

    input = operand_def(AnyTensor)
    indices = operand_def(AnyTensor)
    updates = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    reduction = opt_prop_def(StringAttr)
    assembly_format = (
        "$input `,` $indices `,` $updates (`reduction` $reduction^)?" + FROM_END + TYPES
    )

    @property
    def indexed(self) -> tuple[int, ...]:
        return shape_of(self.input)[: self.depth]

    @property
    def how(self) -> str:
        """Return the reduction, "" for none."""
        return "" if self.reduction is None else self.reduction.data

    def verify_(self) -> None:
        shape, at = shape_of(self.input), shape_of(self.indices)
        self.require(bool(at) and 0 < at[-1] <= len(shape), "indices of the first dimensions")
        pieces = (*at[:-1], *shape[at[-1] :])
        self.require(shape_of(self.updates) == pieces, f"the updates' shape must be {pieces}")
        self.require(shape_of(self.result) == shape, f"the result's shape must be {shape}")
        self.require(self.how in ("", *REDUCTIONS), f"no reduction {self.how}")

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        source, indices, updates = operands
        need_same_numbers(self, self.input, self.updates, self.result)
        if self.how and (is_stored(self.input) or source.dtype.kind == "b"):
            raise unknown(self, "sums of stored integers or truths")
        at = self.places(indices)
        inside = ((at >= 0) & (at < np.array(self.indexed))).all(-1)
        result = source.copy()
        functions = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}
        with np.errstate(over="ignore"):  # integers wrap
            for row, piece in zip(at[inside].tolist(), updates[inside], strict=True):
                place = tuple(row)
                result[place] = functions[self.how](result[place], piece) if self.how else piece
        return [result]


@operation_definition
class ScatterUpdateOp(ScatteringOp):
    """The first operand, of which the element or the piece at each row of indices of the second,
    which are of its first dimensions, is that of the third, the last of several; or, with a
    `reduction` (add, mul, max, min), what that makes of both. What has an index that there is not,
    which runtimes refuse, is left out. With `from_end` indices below zero count from the end."""

    name = "memgraph.scatter_update"
    traits = traits_def(Pure(), RealsOnly())

    def may_overwrite(self, operand: int) -> bool:
        """Return whether `operand` is the first one, of which all that is not replaced stays."""
        return operand == 0


@operation_definition
class UpdateVariableOp(ScatteringOp, StatefulOp):
    """A variable with pieces written into it where indices say, as `scatter_update` makes it of its
    first operand; the result is the variable itself, which holds it from here on."""

    name = "memgraph.update_variable"
    traits = traits_def(RealsOnly())

    @property
    def states(self) -> tuple[SSAValue, ...]:
        return (self.input,)

    @property
    def lies_in(self) -> SSAValue | None:
        return self.input

    def memory(self, model: ModelAttr) -> OperatorMemory:
        effect = super().memory(model)
        return replace(effect, after=reads_in_place(self.input, model))

    def run(self, operands: Sequence[Array]) -> tuple[list[Array], Left]:
        (result,) = self.evaluate(operands)
        return [result], [(self.input, result)]
