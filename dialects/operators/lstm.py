"""Long short-term memory: a layer that goes through a sequence step by step."""

from collections.abc import Sequence
from functools import partial

from xdsl.dialects.builtin import Float32Type, FloatAttr
from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, opt_prop_def, prop_def, var_operand_def

from memopt.dialects.arithmetic import int16_tables
from memopt.dialects.arithmetic.fixed_point import by_table, rescale, rescale_wide
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.scalars import float32, quantize_multiplier
from memopt.dialects.arithmetic.stored import (
    Array,
    is_stored,
    limits_of,
    need_double_rounding,
    need_reals,
    per_tensor,
    stored_bits,
    unknown,
)
from memopt.dialects.attributes.operators import RoundingAttr
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import AnyTensor, elements_of, shape_of
from memopt.dialects.operators.base import ROUNDING, TYPES
from memopt.dialects.operators.products import real_products, whole_products
from memopt.dialects.operators.stateful import Left, SequenceOp

GATE_SCALE = 2.0**-12
"""Of what the functions of the gates take; what they give has 2**-15 (lstm_eval_common.cc)."""

INPUT, FORGET, CELL, OUTPUT = range(4)


@operation_definition
class LstmOp(SequenceOp):
    """Long short-term memory over the steps of `input`, [batch, step, size] or with `time_major`
    [step, batch, size]: four gates are made of each step and of `hidden`, the output of the step
    before; they say what is kept of `cell`, what is added to it, and what is shown as the result
    and in `hidden`. `gates` are weights of the input and of `hidden`, and biases, each of the
    input, forget, cell and output gate. The values in `cell` are at most `clip`, unless that is
    0."""

    name = "memgraph.lstm"
    input = operand_def(AnyTensor)
    gates = var_operand_def(AnyTensor)
    hidden = operand_def(AnyTensor)
    cell = operand_def(AnyTensor)
    clip = prop_def(FloatAttr[Float32Type])
    rounding = opt_prop_def(RoundingAttr)
    assembly_format = (
        "$input `gates` $gates `hidden` $hidden `cell` $cell `clip` $clip"
        " (`time_major` $time_major^)?" + ROUNDING + " " + TYPES
    )

    def verify_(self) -> None:
        shape, out = shape_of(self.input), shape_of(self.result)
        self.check_sequence()
        self.require(len(self.gates) == 12, f"{len(self.gates)} weights and biases, not 12")
        units = out[2]
        wanted = [(units, shape[2])] * 4 + [(units, units)] * 4 + [(units,)] * 4
        self.require([shape_of(v) for v in self.gates] == wanted, "weights of other shapes")
        for state in self.states:
            count = elements_of(state)
            self.require(count == self.batches * units, f"a state of {count} elements")
        self.require(self.clip.value.data >= 0, "a negative clip")

    @property
    def states(self) -> tuple[SSAValue, ...]:
        return self.hidden, self.cell

    def gate_reals(self, gate: int) -> tuple[float, float]:
        """Return the numbers by which sums of products of the input and of `hidden` are multiplied
        to be those of a gate; two scales are multiplied as floats
        (GetQuantizedConvolutionMultipler)."""
        pairs = (self.input, self.gates[gate]), (self.hidden, self.gates[4 + gate])
        scales = ([per_tensor(self, v)[0] for v in pair] for pair in pairs)
        first, second = (float32(a * b) / GATE_SCALE for a, b in scales)
        return first, second

    @property
    def product_reals(self) -> tuple[float, float, float]:
        """Return the numbers for the products forget gate x cell, input gate x cell gate, and
        output gate x function of the cell (CreateInterGateMulParams)."""
        cell, hidden = (float32(per_tensor(self, v)[0]) for v in (self.cell, self.hidden))
        return 2.0**-15, 2.0**-30 / cell, 2.0**-30 / hidden

    @property
    def cell_units(self) -> tuple[int, int]:
        """(multiplier, shift to the right) from steps of `cell` to those of its function's table.
        Raises MemoptError unless its scale is a power of two."""
        scale, zero = per_tensor(self, self.cell)
        power = int16_tables.power_of_two(scale)
        if power is None or not -30 <= power + 12 <= 12 or zero:
            raise unknown(self, f"a cell of scale {scale}")
        return (3, -12 - power) if power < -12 else (3 << power + 12, 0)

    @property
    def stored_clip(self) -> int:
        """The most that `cell` holds, 0 if that is anything (CreateLstmCellStateInfo)."""
        real = float(self.clip.value.data)
        return int(min(real / float32(per_tensor(self, self.cell)[0]), 32767.0))

    def run(self, operands: Sequence[Array]) -> tuple[list[Array], Left]:
        """lstm_eval.h: LstmStep. Four gates, which take what is hidden before the step."""
        source, *gates, hidden, cell = operands
        step = self._stored_step if self._is_stored() else self._real_step
        if not self._is_stored():
            need_reals(self, *operands)
        return self.in_turn(source, (hidden, cell), partial(step, gates))

    def _is_stored(self) -> bool:
        return is_stored(self.input)

    def _real_step(
        self, gates: Sequence[Array], x: Array, hidden: Array, cell: Array
    ) -> tuple[Array, Array]:
        sums = [
            real_products(x, gates[g]) + gates[8 + g] + real_products(hidden, gates[4 + g])
            for g in range(4)
        ]
        with np.errstate(over="ignore"):
            open_ = [1 / (1 + np.exp(-s)) for s in sums]
        next_cell = open_[FORGET] * cell + open_[INPUT] * np.tanh(sums[CELL])
        clip = float(self.clip.value.data)
        next_cell = np.clip(next_cell, -clip, clip) if clip > 0 else next_cell
        return open_[OUTPUT] * np.tanh(next_cell), next_cell

    def _stored_step(
        self, gates: Sequence[Array], x: Array, hidden: Array, cell: Array
    ) -> tuple[Array, Array]:
        need_double_rounding(self)
        sums = [self._gate(g, x, gates, hidden) for g in range(4)]
        functions = [int16_tables.logistic] * 4
        functions[CELL] = int16_tables.tanh
        gate_values = [by_table(3 * s, f) for s, f in zip(sums, functions, strict=True)]
        forget, added, shown = (quantize_multiplier(real) for real in self.product_reals)
        next_cell = _int16(
            _int16(
                rescale(self, gate_values[FORGET] * cell.astype(np.int64), *map(np.int64, forget))
            )
            + _int16(rescale(self, gate_values[INPUT] * gate_values[CELL], *map(np.int64, added)))
        )
        if clip := self.stored_clip:
            next_cell = np.clip(next_cell, -clip, clip)
        numbers = self.cell_units
        bent = by_table(next_cell, lambda v: int16_tables.tanh(int16_tables.in_units(v, *numbers)))
        out = rescale(self, bent * gate_values[OUTPUT], *map(np.int64, shown))
        low, high = limits_of(self, self.hidden)
        return np.clip(out + per_tensor(self, self.hidden)[1], low, high), next_cell

    def _gate(self, gate: int, x: Array, gates: Sequence[Array], hidden: Array) -> Array:
        """Return the argument of a gate's function: two sums, each brought to 16 bits."""
        wide = stored_bits(self, self.input, self.result) == 16
        zeros = [per_tensor(self, v)[1] for v in (self.input, self.hidden)]
        biases = gates[8 + gate].astype(np.int64), 0
        parts = zip((x, hidden), (gates[gate], gates[4 + gate]), zeros, biases, strict=True)
        total: Array = 0
        for (values, weights, zero, bias), real in zip(parts, self.gate_reals(gate), strict=True):
            sums = whole_products(values.astype(np.int64) - zero, weights) + bias
            numbers = [np.int64(v) for v in quantize_multiplier(real)]
            brought = rescale_wide(sums, *numbers) if wide else rescale(self, sums, *numbers)
            total = total + _int16(brought)
        return _int16(total)

    def macs(self) -> int:
        """Every gate takes the input and what is hidden; three products are element by element."""
        units, size = shape_of(self.result)[2], shape_of(self.input)[2]
        return self.batches * self.steps * units * (4 * (size + units) + 3)


def _int16(values: Array) -> Array:
    return np.clip(values, -32768, 32767)
