"""Samples over time, as the signal library of TensorFlow Lite for microcontrollers cuts and joins
them. What a run leaves for the next lies in a variable of one dimension."""

from collections.abc import Sequence

from xdsl.dialects.builtin import I64, IntegerAttr, UnitAttr
from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import AnyTensor, elements_of, shape_of
from memopt.dialects.operators.base import TYPES, OneResultOp
from memopt.dialects.operators.signal_fft import need_numbers
from memopt.dialects.operators.stateful import Left, StatefulOp

Number = IntegerAttr[I64]


@operation_definition
class SignalWindowOp(OneResultOp):
    """Each frame of samples times the weights, shifted down by `shift`, at the ends of the type
    where that is outside."""

    name = "memgraph.signal_window"
    input = operand_def(AnyTensor)
    weights = operand_def(AnyTensor)
    shift = prop_def(Number)
    assembly_format = "$input `,` $weights `shift` $shift " + TYPES

    def verify_(self) -> None:
        shape = shape_of(self.input)
        self.require(len(shape) > 0 and shape == shape_of(self.result), "shapes differ")
        self.require(shape_of(self.weights) == shape[-1:], "a weight for each sample of a frame")
        self.require(0 <= self.shift.value.data < 32, "a shift by 0 to 31 bits")

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        """Return the results of window.cc."""
        need_numbers(self, operands[0], "int16")
        products = operands[0].astype(np.int64) * operands[1] >> self.shift.value.data
        return [products.clip(-32768, 32767).astype(np.int16)]


class SamplesOp(StatefulOp):
    """Base: vectors of samples along the last dimension, of which each remembers samples."""

    input = operand_def(AnyTensor)
    state = operand_def(AnyTensor)

    @property
    def states(self) -> tuple[SSAValue, ...]:
        return (self.state,)

    @property
    def vectors(self) -> int:
        """Return how many vectors of samples there are."""
        size = shape_of(self.input)[-1]
        return elements_of(self.input) // size if size else 0

    @property
    def state_size(self) -> int:
        """Return the elements of the state."""
        raise NotImplementedError

    def check_state(self) -> None:
        size = self.state_size
        self.require(shape_of(self.state) == (size,), f"a state of {size} elements")

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        return self.run(operands)[0]


@operation_definition
class SignalFramerOp(SamplesOp):
    """Frames of `size` samples, one every `step` samples, and whether all of them are there: before
    the first frame, where the runtime leaves any numbers, all are 0. With `prefilled` zeros stand
    before the first sample. The state is the samples that frames to come need, of each vector, and
    behind them how many steps have come, as far as that matters."""

    name = "memgraph.signal_framer"
    size = prop_def(Number)
    step = prop_def(Number)
    prefilled = opt_prop_def(UnitAttr)
    result = result_def(AnyTensor)
    valid = result_def(AnyTensor)
    assembly_format = (
        "$input `state` $state `size` $size `step` $step (`prefilled` $prefilled^)? " + TYPES
    )

    def verify_(self) -> None:
        shape, (size, step) = shape_of(self.input), self.sizes
        self.require(0 < step <= size, f"a step of 1 to {size} samples")
        length = shape[-1] if shape else 0
        self.require(length >= step, "a vector of at least a step")
        self.require(length % step == 0, "a vector of whole steps")
        expected = (*shape[:-1], length // step, size)
        self.require(shape_of(self.result) == expected, f"the result's shape must be {expected}")
        self.require(elements_of(self.valid) == 1, "one truth")
        self.require(self.steps_before < 1 << 15, "a frame of fewer steps")
        self.check_state()

    @property
    def sizes(self) -> tuple[int, int]:
        """Return the samples of a frame, and those from one frame to the next."""
        return self.size.value.data, self.step.value.data

    @property
    def steps_before(self) -> int:
        """Return how many steps come before that of the first frame; 0 where zeros do."""
        return 0 if self.prefilled is not None else -(-self.sizes[0] // self.sizes[1]) - 1

    @property
    def held(self) -> int:
        """Return the samples of a vector that are remembered."""
        size, step = self.sizes
        return size - step if self.prefilled is not None else self.steps_before * step

    @property
    def state_size(self) -> int:
        return self.vectors * self.held + 1

    def run(self, operands: Sequence[Array]) -> tuple[list[Array], Left]:
        """Return the results of framer.cc."""
        need_numbers(self, operands[0], "int16")
        (size, step), held = self.sizes, self.held
        before = operands[1][:-1].reshape(self.vectors, held)
        samples = np.concatenate([before, operands[0].reshape(self.vectors, -1)], 1)
        count, first = operands[0].shape[-1] // step, int(operands[1][-1])
        frames = np.stack([samples[:, i * step : i * step + size] for i in range(count)], 1)
        missing = max(self.steps_before - first, 0)
        frames[:, :missing] = 0
        steps = min(first + count, self.steps_before)
        after = np.concatenate([samples[:, samples.shape[1] - held :].reshape(-1), [steps]])
        results = [
            frames.reshape(shape_of(self.result)),
            np.full(shape_of(self.valid), not missing),
        ]
        return results, [(self.state, after.astype(np.int16))]


@operation_definition
class SignalStackerOp(SamplesOp):
    """A vector with `left` vectors before it and `right` behind it, after every `step` of them, and
    whether it is there: the runtime leaves any numbers where it is not, here all are 0. The first
    vector stands for those before it. The state is the vectors that come before the next one, and
    one more than how many of them count, 0 before the first run."""

    name = "memgraph.signal_stacker"
    left = prop_def(Number)
    right = prop_def(Number)
    step = prop_def(Number)
    result = result_def(AnyTensor)
    valid = result_def(AnyTensor)
    assembly_format = "$input `state` $state `left` $left `right` $right `step` $step " + TYPES

    def verify_(self) -> None:
        shape = shape_of(self.input)
        self.require(len(shape) == 1, "a vector")
        self.require(self.left.value.data >= 0 <= self.right.value.data, "vectors beside it")
        self.require(self.stacked < (1 << 15) - 1, "fewer vectors beside it")
        self.require(0 < self.step.value.data <= self.stacked, f"a step of 1 to {self.stacked}")
        expected = (shape[0] * self.stacked,)
        self.require(shape_of(self.result) == expected, f"the result's shape must be {expected}")
        self.require(elements_of(self.valid) == 1, "one truth")
        self.check_state()

    @property
    def stacked(self) -> int:
        """Return how many vectors a result is made of."""
        return self.left.value.data + self.right.value.data + 1

    @property
    def state_size(self) -> int:
        return (self.stacked - 1) * shape_of(self.input)[0] + 1

    def run(self, operands: Sequence[Array]) -> tuple[list[Array], Left]:
        """Return the results of stacker.cc."""
        need_numbers(self, operands[0], "int16")
        vector, count = operands[0], int(operands[1][-1])
        before = operands[1][:-1] if count else np.tile(vector, self.stacked - 1)
        stack = np.concatenate([before, vector])
        count = count or self.left.value.data + 1
        is_whole = count == self.stacked
        counted = count + 1 - (self.step.value.data if is_whole else 0)
        after = np.concatenate([stack[len(vector) :], [counted]]).astype(np.int16)
        valid = np.full(shape_of(self.valid), is_whole)
        return [stack if is_whole else np.zeros_like(stack), valid], [(self.state, after)]


@operation_definition
class SignalDelayOp(SamplesOp):
    """Samples of `length` samples before, at first zeros. The state is the last ones of each
    vector."""

    name = "memgraph.signal_delay"
    length = prop_def(Number)
    result = result_def(AnyTensor)
    assembly_format = "$input `state` $state `length` $length " + TYPES

    def verify_(self) -> None:
        shape = shape_of(self.input)
        self.require(len(shape) > 0 and shape == shape_of(self.result), "shapes differ")
        self.require(self.length.value.data > 0, "a delay of no samples")
        self.check_state()

    @property
    def state_size(self) -> int:
        return self.vectors * self.length.value.data

    def run(self, operands: Sequence[Array]) -> tuple[list[Array], Left]:
        """Return the results of delay.cc."""
        need_numbers(self, operands[0], "int16")
        before = operands[1].reshape(self.vectors, -1)
        samples = np.concatenate([before, operands[0].reshape(self.vectors, -1)], 1)
        size = shape_of(self.input)[-1]
        result, after = samples[:, :size], samples[:, size:]
        return [result.reshape(shape_of(self.result))], [(self.state, after.reshape(-1))]


@operation_definition
class SignalOverlapAddOp(SamplesOp):
    """The sums of frames that begin `step` samples apart, as far as no frame to come adds to them.
    Integers stay at the ends of their type. The state is a frame of sums to come for each vector of
    frames."""

    name = "memgraph.signal_overlap_add"
    step = prop_def(Number)
    result = result_def(AnyTensor)
    assembly_format = "$input `state` $state `step` $step " + TYPES

    def verify_(self) -> None:
        shape, step = shape_of(self.input), self.step.value.data
        self.require(len(shape) >= 2, "frames in two dimensions and more")
        self.require(0 < step <= shape[-1], f"a step of 1 to {shape[-1]} samples")
        expected = (*shape[:-2], shape[-2] * step)
        self.require(shape_of(self.result) == expected, f"the result's shape must be {expected}")
        self.check_state()

    @property
    def state_size(self) -> int:
        return self.lines * shape_of(self.input)[-1]

    @property
    def lines(self) -> int:
        """Return how many vectors of samples are made of frames."""
        return elements_of(self.result) // max(shape_of(self.result)[-1], 1)

    def run(self, operands: Sequence[Array]) -> tuple[list[Array], Left]:
        """Return the results of overlap_add.cc."""
        need_numbers(self, operands[0], "int16", "float32")
        frames = operands[0].reshape(self.lines, *operands[0].shape[-2:])
        step = self.step.value.data
        sums, results = operands[1].reshape(self.lines, -1), list[Array]()
        for i in range(frames.shape[1]):
            sums = self._sum(sums, frames[:, i])
            results.append(sums[:, :step])
            sums = np.concatenate([sums[:, step:], np.zeros_like(sums[:, :step])], 1)
        result = np.concatenate(results, 1).reshape(shape_of(self.result))
        return [result], [(self.state, sums.reshape(-1))]

    def _sum(self, one: Array, other: Array) -> Array:
        if str(one.dtype) == "float32":
            return one + other
        return (one.astype(np.int64) + other).clip(-32768, 32767).astype(np.int16)
