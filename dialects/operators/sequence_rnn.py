"""Recurrent layer over a sequence, which reads its own result of the step before."""

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerType, UnitAttr
from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, opt_prop_def

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, element_of, unknown
from memopt.dialects.attributes.operators import ActivationAttr
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import AnyTensor, elements_of, encoding_of, shape_of
from memopt.dialects.operators.base import ACTIVATION, TYPES
from memopt.dialects.operators.hybrid import quantized_rows
from memopt.dialects.operators.products import real_products, whole_products
from memopt.dialects.operators.stateful import Left, SequenceOp


@operation_definition
class SequenceRnnOp(SequenceOp):
    """Products of each step of `input`, [batch, step, size] or with `time_major` [step, batch,
    size], with `weights`, those of what `hidden` holds of the step before with `recurrent`, and a
    bias. Weights may be int8: each vector is quantized as it comes, with `asymmetric` between its
    least and its largest number."""

    name = "memgraph.sequence_rnn"
    input = operand_def(AnyTensor)
    weights = operand_def(AnyTensor)
    recurrent = operand_def(AnyTensor)
    bias = operand_def(AnyTensor)
    hidden = operand_def(AnyTensor)
    asymmetric = opt_prop_def(UnitAttr)
    activation = opt_prop_def(ActivationAttr)
    assembly_format = (
        "$input `,` $weights `,` $recurrent `,` $bias `hidden` $hidden (`time_major` $time_major^)?"
        " (`asymmetric` $asymmetric^)?" + ACTIVATION + " " + TYPES
    )

    def verify_(self) -> None:
        self.check_sequence()
        shape, out = shape_of(self.input), shape_of(self.result)
        units = out[2]
        self.require(shape_of(self.weights) == (units, shape[2]), "weights of another input")
        self.require(shape_of(self.recurrent) == (units, units), "weights of other units")
        self.require(elements_of(self.bias) == units, "a bias of other units")
        self.require(elements_of(self.hidden) == self.batches * units, "a state of another size")
        pair = self.weights, self.recurrent
        self.require(len({str(element_of(v)) for v in pair}) == 1, "weights of two types")
        self.check_stored(pair if self.is_hybrid else ())

    @property
    def states(self) -> tuple[SSAValue, ...]:
        return (self.hidden,)

    @property
    def is_hybrid(self) -> bool:
        """Return whether the weights are stored."""
        return element_of(self.weights) == IntegerType(8)

    def macs(self) -> int:
        each = elements_of(self.weights) + elements_of(self.recurrent)
        return self.batches * self.steps * each

    def run(self, operands: Sequence[Array]) -> tuple[list[Array], Left]:
        """Return the results of kernel_utils.cc: RnnBatchStep."""
        source, weights, recurrent, bias, hidden = operands
        if any(str(v.dtype) != "float32" for v in (source, bias, hidden)):
            raise unknown(self, "other numbers than float32")

        def step(x: Array, shown: Array) -> list[Array]:
            total = self._product(x, weights, self.weights)
            total = total + self._product(shown, recurrent, self.recurrent) + bias.reshape(-1)
            return [self._bent(total)]

        return self.in_turn(source, [hidden], step)

    def _bent(self, values: Array) -> Array:
        is_tanh = self.activation is not None and self.activation.data == "tanh"
        return np.tanh(values) if is_tanh else self.activated(values)

    def _product(self, values: Array, weights: Array, operand: SSAValue) -> Array:
        if not self.is_hybrid:
            return real_products(values, weights)
        integers, steps = quantized_rows(values, self.asymmetric is not None)
        sums = whole_products(integers, weights.astype(np.int64))
        return sums.astype(np.float32) * (steps * np.float32(encoding_of(operand).scales[0]))
