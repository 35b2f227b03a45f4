"""Recurrent layers over a sequence that begin at a given state: gated recurrent units, long
short-term memory, and one gate alone, of real numbers, as ONNX defines them."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import Float32Type, FloatAttr, UnitAttr
from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, opt_operand_def, opt_prop_def, prop_def

from memopt.dialects.arithmetic.even_rounding import dequantized
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, element_of, integer_type, is_stored, unknown
from memopt.dialects.attributes.operators import ActivationAttr
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import AnyTensor, elements_of, encoding_of, shape_of
from memopt.dialects.operators.base import TYPES, OneResultOp
from memopt.dialects.operators.products import real_products

OPERANDS = "$input `,` $weights `,` $recurrent `,` $bias (`initial` $initial^)?"
ORDER = " (`time_major` $time_major^)? (`reverse` $reverse^)? (`clip` $clip^)? "


class RecurrentLayerOp(OneResultOp):
    """Base of layers that go through `input`, [batch, step, size] or with `time_major` [step,
    batch, size], from the first step on or with `reverse` from the last. A step makes what the
    layer holds, `kept` vectors of `units` numbers: the first of them is what it shows. It begins
    with `initial`, zeros without. Sums are clipped to -`clip` .. `clip` before functions of
    them. Both weights may be stored in 8 bits, with a scale or one for each row: products are of
    what they stand for."""

    GATES: ClassVar[int]
    STATES: ClassVar[int] = 1  # vectors that the next step reads
    input = operand_def(AnyTensor)
    weights = operand_def(AnyTensor)
    recurrent = operand_def(AnyTensor)
    bias = operand_def(AnyTensor)
    initial = opt_operand_def(AnyTensor)
    time_major = opt_prop_def(UnitAttr)
    reverse = opt_prop_def(UnitAttr)
    clip = opt_prop_def(FloatAttr[Float32Type])

    def verify_(self) -> None:
        shape, out = shape_of(self.input), shape_of(self.result)
        self.require(len(shape) == len(out) == 3, "a sequence has three dimensions")
        self.require(shape[:2] == out[:2], "the result has other steps or batches")
        units = self.units
        self.require(out[2] == self.kept * units, f"a result of other than {self.kept} vectors")
        gates = self.GATES * units
        self.require(shape_of(self.weights) == (gates, shape[2]), "weights of another input")
        self.require(shape_of(self.recurrent) == (gates, units), "weights of other units")
        self.require(elements_of(self.bias) == self.biases * units, "a bias of other units")
        for value in (self.weights, self.recurrent):
            self._check_stored(value, gates)
        if self.initial is not None:
            states = (self.batches, self.STATES * units)
            self.require(shape_of(self.initial) == states, "an initial state of another size")
        self.require(self.clip is None or self.clip.value.data > 0, "a clip above zero")

    def _check_stored(self, weights: SSAValue, rows: int) -> None:
        self.require(is_stored(weights) == self.is_hybrid, "one of two weights is stored")
        if self.is_hybrid:
            encoding, kind = encoding_of(weights), integer_type(element_of(weights))
            self.require(kind is not None and kind[0] == 8, "stored weights of 8 bits")
            by_row = encoding.axis.data == 0 and len(encoding.scales) == rows
            self.require(by_row or len(encoding.scales) == 1, "a scale, or one for each row")

    @property
    def is_hybrid(self) -> bool:
        """Return whether the weights are stored."""
        return is_stored(self.weights)

    @property
    def units(self) -> int:
        return shape_of(self.recurrent)[-1]

    @property
    def kept(self) -> int:
        """Return how many vectors of `units` numbers a step makes."""
        return self.STATES

    @property
    def biases(self) -> int:
        """Return how many vectors of `units` numbers the bias is."""
        return self.GATES

    @property
    def batches(self) -> int:
        return shape_of(self.input)[int(self.time_major is not None)]

    @property
    def steps(self) -> int:
        return shape_of(self.input)[int(self.time_major is None)]

    @property
    def carries(self) -> bool:
        return True

    def rows_read(self, operand: int, r: int) -> range | None:
        in_order = self.time_major is None and self.reverse is None
        return range(r, r + 1) if operand == 0 and in_order else None

    def carried(self, operands: Sequence[Array], before: Array | None) -> Array:
        source, weights, recurrent, bias, *initial = self._as_reals(operands)
        held = initial[0] if initial else np.zeros((len(source), self.STATES * self.units))
        if before is not None:
            held = before[:, 0, : self.STATES * self.units]
        products = real_products(source[:, 0], weights)
        return self._step(products, held.astype(np.float64), recurrent, bias)[:, np.newaxis]

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        """Return the results with sums and functions of a step in float64: what it makes is
        float32."""
        source, *others = self._as_reals(operands)
        sequence = source if self.time_major is not None else np.swapaxes(source, 0, 1)
        backward = self.reverse is not None
        rows: list[Array] = []
        for x in sequence[::-1] if backward else sequence:
            before = rows[-1] if rows else None
            rows.append(self.carried([x[:, np.newaxis], *others], before))
        result: Array = np.concatenate(rows[::-1] if backward else rows, 1)
        result = result if self.time_major is None else np.swapaxes(result, 0, 1)
        return [np.ascontiguousarray(result)]

    def _as_reals(self, operands: Sequence[Array]) -> list[Array]:
        """Return the operands with what stored weights stand for. Raises MemoptError unless all are
        float32 then."""
        reals = [
            dequantized(self, array, value)
            if is_stored(value) and array.dtype.kind in "iu"
            else array
            for array, value in zip(operands, self.operands, strict=False)
        ]
        if any(v.dtype != np.float32 for v in reals):
            raise unknown(self, "other numbers than float32")
        return reals

    def macs(self) -> int:
        """Return the products of weights and vectors, and of gates one by one."""
        each = elements_of(self.weights) + elements_of(self.recurrent) + self.GATES * self.units
        return self.batches * self.steps * each

    @abstractmethod
    def _step(self, products: Array, held: Array, recurrent: Array, bias: Array) -> Array:
        """Return what a step makes of the products of the input, and of what is held."""

    def _clipped(self, values: Array) -> Array:
        if self.clip is None:
            return values
        limit = np.float64(self.clip.value.data)
        return np.clip(values, -limit, limit)

    def _logistic(self, values: Array) -> Array:
        with np.errstate(over="ignore"):
            return 1 / (1 + np.exp(-self._clipped(values)))

    def _tanh(self, values: Array) -> Array:
        return np.tanh(self._clipped(values))


@operation_definition
class RnnLayerOp(RecurrentLayerOp):
    """A recurrent layer of one gate: `activation`, tanh or relu, of the products of a step with
    `weights`, of the step before with `recurrent`, and a bias."""

    name = "memgraph.rnn_layer"
    GATES: ClassVar[int] = 1
    activation = prop_def(ActivationAttr)
    assembly_format = OPERANDS + ORDER + "`activation` `` $activation " + TYPES

    def verify_(self) -> None:
        super().verify_()
        self.require(self.activation.data in ("tanh", "relu"), "tanh or relu as activation")

    def _step(self, products: Array, held: Array, recurrent: Array, bias: Array) -> Array:
        total = products + real_products(held, recurrent) + bias.reshape(-1)
        is_tanh = self.activation.data == "tanh"
        shown = self._tanh(total) if is_tanh else np.maximum(self._clipped(total), 0)
        return shown.astype(np.float32)


@operation_definition
class GruLayerOp(RecurrentLayerOp):
    """A layer of gated recurrent units: gates z and r, and new values, each of the products of a
    step with its rows of `weights` and of the step before with those of `recurrent`, and a bias.
    With `linear_before_reset` r is a factor of the product of new values, which has a fourth bias;
    without, of what is held, and that product stands behind what a step shows."""

    name = "memgraph.gru_layer"
    GATES: ClassVar[int] = 3
    linear_before_reset = opt_prop_def(UnitAttr)
    assembly_format = OPERANDS + ORDER + "(`linear_before_reset` $linear_before_reset^)? " + TYPES

    @property
    def kept(self) -> int:
        return 2 if self.linear_before_reset is None else 1

    @property
    def biases(self) -> int:
        return 3 if self.linear_before_reset is None else 4

    def _step(self, products: Array, held: Array, recurrent: Array, bias: Array) -> Array:
        n = self.units
        bias = bias.reshape(-1)
        total = products[:, : 2 * n] + real_products(held, recurrent[: 2 * n]) + bias[: 2 * n]
        gates = self._logistic(total)
        z, r = gates[:, :n], gates[:, n:]
        source = products[:, 2 * n :] + bias[2 * n : 3 * n]
        if self.linear_before_reset is not None:
            source = source + r * (real_products(held, recurrent[2 * n :]) + bias[3 * n :])
            return ((1 - z) * self._tanh(source) + z * held).astype(np.float32)
        reset = (r * held).astype(np.float32)
        source = source + real_products(reset, recurrent[2 * n :])
        shown = ((1 - z) * self._tanh(source) + z * held).astype(np.float32)
        return np.concatenate([shown, reset], 1)


@operation_definition
class LstmLayerOp(RecurrentLayerOp):
    """A layer of long short-term memory: gates i, o and f, and new values of the cell, each of the
    products of a step with its rows of `weights`, of what is shown of the step before with those of
    `recurrent`, and a bias. A step makes what is shown, and the cell behind it."""

    name = "memgraph.lstm_layer"
    GATES: ClassVar[int] = 4
    STATES: ClassVar[int] = 2
    assembly_format = OPERANDS + ORDER + TYPES

    def _step(self, products: Array, held: Array, recurrent: Array, bias: Array) -> Array:
        n = self.units
        total = products + real_products(held[:, :n], recurrent) + bias.reshape(-1)
        gates = self._logistic(total[:, : 3 * n])
        i, o, f = (gates[:, k * n : (k + 1) * n] for k in range(3))
        cell = (f * held[:, n:] + i * self._tanh(total[:, 3 * n :])).astype(np.float32)
        shown = (o * np.tanh(cell.astype(np.float64))).astype(np.float32)
        return np.concatenate([shown, cell], 1)
