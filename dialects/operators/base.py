"""What all computing operations share: their memory behaviour and the parts of their syntax."""

from typing import ClassVar

from xdsl.dialects.builtin import (
    DenseArrayBase,
    i64,
)
from xdsl.ir import OpResult, SSAValue
from xdsl.irdl import (
    IRDLOperation,
)
from xdsl.utils.exceptions import VerifyException

from memopt.dialects.interface import Alias, MemoryInterface, OperatorMemory, is_constant_like
from memopt.dialects.plan_attributes import ModelAttr
from memopt.dialects.tensors import bytes_of, shape_of

INTS = DenseArrayBase.constr(i64)


TYPES = "attr-dict `:` functional-type(operands, results)"


ACTIVATION = " (`activation` `` $activation^)?"


ROUNDING = " (`rounding` `` $rounding^)?"


def is_constant_expression(value: SSAValue, model: ModelAttr) -> bool:
    """Whether `value` is known before run time: a constant, or a folding operation on such.

    TFLite Micro runs every operator of its file, so there only constants themselves are constant.
    """
    waiting: list[SSAValue] = [value]
    seen: set[SSAValue] = {value}
    while waiting:
        v = waiting.pop()
        if not isinstance(v, OpResult):
            return False
        if is_constant_like(v.op):
            continue
        folds = isinstance(v.op, ComputeOp) and v.op.FOLDS and model.target.data != "tflm"
        if not folds or not v.op.operands:
            return False
        waiting += [o for o in v.op.operands if o not in seen]
        seen.update(v.op.operands)
    return True


class ComputeOp(IRDLOperation, MemoryInterface):
    """Base of the typed operations: pure, fresh results.

    `ELEMENTWISE`: results may take an operand's place. `FOLDS`: evaluated at compile time when all
    operands are constants. `IS_VIEW`: the result is operand 0, with another shape. `AS_ACTIVATION`:
    the activation that means the same in the operation before.
    `APPLIES_ACTIVATION`: runtimes clamp what the operation stores, where its `activation` says so.
    """

    ELEMENTWISE: ClassVar[bool] = False
    FOLDS: ClassVar[bool] = False
    IS_VIEW: ClassVar[bool] = False
    AS_ACTIVATION: ClassVar[str | None] = None
    APPLIES_ACTIVATION: ClassVar[bool] = True

    @property
    def takes_activation(self) -> bool:
        """Whether the operation can apply an activation to its result, and applies none yet."""
        known = "activation" in self.get_irdl_definition().properties
        return known and self.APPLIES_ACTIVATION and "activation" not in self.properties

    def memory(self, model: ModelAttr) -> OperatorMemory:
        if is_constant_expression(self.results[0], model):
            return OperatorMemory((None,) * len(self.results), executes=False)
        results = tuple(bytes_of(r.type) for r in self.results)
        if self.IS_VIEW and model.has_views:
            return OperatorMemory(results, (Alias(0, 0, "view"),), executes=False)
        return OperatorMemory(results, inplace=self._inplace(model))

    def macs(self) -> int:
        """Multiplications of one run, those with padding included; what only moves, compares or
        rescales has none."""
        return 0

    def _inplace(self, model: ModelAttr) -> tuple[tuple[int, int], ...]:
        """Candidates: element i of the result reads element i of the operand and nothing after."""
        if not (self.ELEMENTWISE and model.has_inplace):
            return ()
        shape, size = shape_of(self.results[0]), bytes_of(self.results[0].type) or 0
        return tuple(
            (0, i)
            for i, v in enumerate(self.operands)
            if shape_of(v) == shape
            and size <= (bytes_of(v.type) or 0)
            and not is_constant_expression(v, model)
        )

    def require(self, condition: bool, text: str) -> None:
        if not condition:
            raise VerifyException(f"{self.name}: {text}")
