"""Long short-term memory of reals, with the parts that few layers have, or with stored weights."""

from collections.abc import Mapping, Sequence
from functools import partial

from xdsl.dialects.builtin import I64, DenseArrayBase, Float32Type, FloatAttr, IntegerType, UnitAttr
from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, opt_prop_def, prop_def, var_operand_def

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, element_of, is_stored, unknown
from memopt.dialects.attributes.operators import ActivationAttr
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import AnyTensor, elements_of, encoding_of, shape_of
from memopt.dialects.operators.base import TYPES
from memopt.dialects.operators.hybrid import quantized_rows
from memopt.dialects.operators.products import real_products, whole_products
from memopt.dialects.operators.stateful import Left, SequenceOp

INPUT, FORGET, CELL, OUTPUT = GATES = range(4)
FROM_INPUT, FROM_HIDDEN, FROM_CELL, BIAS, PROJECTION, PROJECTION_BIAS = 0, 4, 8, 12, 16, 17
NORMALIZATION = 18
"""Parts by the number of their first gate; nothing comes from the cell to CELL."""

ABSENT_CELL = FROM_CELL + CELL
GUARD = 1e-8  # added to a variance


@operation_definition
class RealLstmOp(SequenceOp):
    """Long short-term memory of float32, as `lstm` is of integers, by the `parts` that it has:
    weights of the input, of `hidden` and of `cell`, and biases, of the input, forget, cell and
    output gate; a projection of what is shown, and its bias; factors of gates that are normalized.
    Without an input gate, that is one less the forget gate. Weights may be int8: each vector that
    they take is quantized as it comes, with `asymmetric` between its least and its largest
    number."""

    name = "memgraph.real_lstm"
    input = operand_def(AnyTensor)
    values = var_operand_def(AnyTensor)
    hidden = operand_def(AnyTensor)
    cell = operand_def(AnyTensor)
    parts = prop_def(DenseArrayBase.constr(I64))
    clip = prop_def(FloatAttr[Float32Type])
    projection_clip = prop_def(FloatAttr[Float32Type])
    asymmetric = opt_prop_def(UnitAttr)
    activation = prop_def(ActivationAttr)
    assembly_format = (
        "$input `values` $values `hidden` $hidden `cell` $cell `parts` $parts `clip` $clip"
        " `projection_clip` $projection_clip (`time_major` $time_major^)?"
        " (`asymmetric` $asymmetric^)? `activation` $activation " + TYPES
    )

    def verify_(self) -> None:
        self.check_sequence()
        out = shape_of(self.result)
        numbers = [int(v) for v in self.parts.get_values()]
        self.require(numbers == sorted(set(numbers)), "parts rise")
        self.require(len(numbers) == len(self.values), "as many parts as values")
        parts, wanted = self.part_of, self._shapes()
        self.require(set(parts) <= set(wanted), f"parts {numbers}")
        for number, value in parts.items():
            said = shape_of(value)
            self.require(said == wanted[number], f"part {number} of shape {said}")
        needed = {f + g for f in (FROM_INPUT, FROM_HIDDEN, BIAS) for g in (FORGET, CELL, OUTPUT)}
        self.require(needed <= set(parts), "a gate without weights or bias")
        first = [f + INPUT in parts for f in (FROM_INPUT, FROM_HIDDEN, BIAS)]
        self.require(len(set(first)) == 1, "half an input gate")
        gates = {g for g in GATES if FROM_INPUT + g in parts}
        for name, part, all_gates in (
            ("peepholes", FROM_CELL, gates - {CELL}),
            ("normalized gates", NORMALIZATION, gates),
        ):
            some_gates = {g for g in GATES if part + g in parts}
            self.require(some_gates in (set(), all_gates), f"{name} of some gates only")
        projected = PROJECTION in parts
        self.require(projected or self.units == out[2], "no projection to the result")
        self.require(projected or PROJECTION_BIAS not in parts, "a bias without projection")
        for state, size in zip(self.states, (out[2], self.units), strict=True):
            self.require(elements_of(state) == self.batches * size, "a state of another size")
        limits = (self.clip, self.projection_clip)
        self.require(min(v.value.data for v in limits) >= 0, "a negative clip")
        kinds = {str(element_of(v)) for v in self.weights}
        self.require(len(kinds) == 1, "weights of several types")
        self.check_stored(self.weights if self.is_hybrid else ())

    @property
    def part_of(self) -> Mapping[int, SSAValue]:
        """Return the operands by part."""
        return dict(zip((int(v) for v in self.parts.get_values()), self.values, strict=True))

    @property
    def weights(self) -> list[SSAValue]:
        """Return the parts that vectors are multiplied with."""
        return [v for n, v in self.part_of.items() if n < BIAS or n == PROJECTION]

    @property
    def is_hybrid(self) -> bool:
        """Return whether the weights are stored."""
        return element_of(self.weights[0]) == IntegerType(8)

    @property
    def states(self) -> tuple[SSAValue, ...]:
        return self.hidden, self.cell

    @property
    def units(self) -> int:
        """Return the number of elements of the cell."""
        return elements_of(self.part_of[BIAS + FORGET])

    def _shapes(self) -> dict[int, tuple[int, ...]]:
        size, out, units = shape_of(self.input)[2], shape_of(self.result)[2], self.units
        shapes: dict[int, tuple[int, ...]] = {PROJECTION: (out, units), PROJECTION_BIAS: (out,)}
        for g in GATES:
            shapes |= {FROM_INPUT + g: (units, size), FROM_HIDDEN + g: (units, out)}
            shapes |= {part + g: (units,) for part in (FROM_CELL, BIAS, NORMALIZATION)}
        del shapes[ABSENT_CELL]
        return shapes

    def run(self, operands: Sequence[Array]) -> tuple[list[Array], Left]:
        """Return the results of lstm_eval.cc: LstmStepFloat, LstmStepHybrid."""
        source, *values, hidden, cell = operands
        if any(str(v.dtype) != "float32" for v in (source, hidden, cell)):
            raise unknown(self, "other numbers than float32")
        parts = dict(zip(self.part_of, values, strict=True))
        return self.in_turn(source, (hidden, cell), partial(self._step, parts))

    def _step(
        self, parts: Mapping[int, Array], x: Array, shown: Array, cell_state: Array
    ) -> tuple[Array, Array]:
        given = self._taken(x), self._taken(shown)
        forget, cell = (self._gate(parts, g, given, cell_state) for g in (FORGET, CELL))
        forget, cell = _logistic(forget), self.activated_cell(cell)
        added = np.float32(1) - forget
        if FROM_INPUT + INPUT in parts:
            added = _logistic(self._gate(parts, INPUT, given, cell_state))
        cell_state = forget * cell_state + added * cell
        clip = np.float32(self.clip.value.data)
        cell_state = np.clip(cell_state, -clip, clip) if clip > 0 else cell_state
        shown = _logistic(self._gate(parts, OUTPUT, given, cell_state)) * self.activated_cell(
            cell_state
        )
        if PROJECTION in parts:
            shown = self._product(parts, PROJECTION, self._taken(shown))
            shown = shown + parts.get(PROJECTION_BIAS, np.float32(0))
            clip = np.float32(self.projection_clip.value.data)
            shown = np.clip(shown, -clip, clip) if clip > 0 else shown
        return shown.astype(np.float32), cell_state.astype(np.float32)

    def activated_cell(self, values: Array) -> Array:
        """Return the values after the activation of the cell gate and of the cell's output."""
        name = self.activation.data
        if name == "tanh":
            return np.tanh(values)
        if name not in ("relu", "relu6"):
            raise unknown(self, f"activation {name}")
        return np.clip(values, 0, 6 if name == "relu6" else np.inf)

    def _gate(
        self, parts: Mapping[int, Array], gate: int, given: tuple[Array, Array], kept: Array
    ) -> Array:
        """Return the sum that the function of a gate is applied to."""
        total = self._product(parts, FROM_INPUT + gate, given[0])
        total = total + self._product(parts, FROM_HIDDEN + gate, given[1])
        if FROM_CELL + gate in parts:
            value = self.part_of[FROM_CELL + gate]
            scale = np.float32(encoding_of(value).scales[0]) if is_stored(value) else np.float32(1)
            total = total + parts[FROM_CELL + gate] * scale * kept
        if NORMALIZATION + gate in parts:
            apart = total - total.mean(-1, keepdims=True)
            spread = np.sqrt((apart**2).mean(-1, keepdims=True) + np.float32(GUARD))
            total = apart / spread * parts[NORMALIZATION + gate]
        return total + parts[BIAS + gate]

    def _taken(self, values: Array) -> tuple[Array, Array] | Array:
        """Return vectors as products take them: unchanged, or quantized, less their zero points."""
        if not self.is_hybrid:
            return values
        return quantized_rows(values.astype(np.float32), self.asymmetric is not None)

    def _product(self, parts: Mapping[int, Array], part: int, taken: Array) -> Array:
        if not self.is_hybrid:
            return real_products(taken, parts[part])
        values, steps = taken
        sums = whole_products(values, parts[part].astype(np.int64)).astype(np.float32)
        return sums * (np.float32(encoding_of(self.part_of[part]).scales[0]) * steps)

    def macs(self) -> int:
        """Return the products of weights and vectors, and three element by element."""
        each = sum(elements_of(v) for v in self.weights) + 3 * self.units
        return self.batches * self.steps * each


def _logistic(values: Array) -> Array:
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-values))
