"""Base of all computing operations: their memory behaviour and the parts of their syntax."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeVar, cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerType, TensorType, i64
from xdsl.ir import Attribute, Block, OpResult, SSAValue
from xdsl.irdl import IRDLOperation, operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from memopt.dialects.arithmetic.even_rounding import dequantized, quantized, real_type, rounds_even
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.scalars import quantized_range
from memopt.dialects.arithmetic.stored import (
    Array,
    dtype_of,
    is_stored,
    limits_of,
    per_tensor,
    unknown,
)
from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.attributes.runtimes import interpreter_of
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.interface import (
    Alias,
    MemoryInterface,
    OperatorMemory,
    is_constant_like,
)
from memopt.dialects.memgraph.tensors import AnyTensor, bytes_of, rows_of, same_channels, shape_of
from memopt.dialects.operators.traits import (
    Alike,
    ByChannel,
    ByPixel,
    Folds,
    IgnoresActivation,
    Monotone,
    Moves,
    Pointwise,
    Spatial,
    View,
    Written,
)
from memopt.dialects.rows.questions import RowsMode, answers_of, rows_mode, rows_needed

T = TypeVar("T", bound=IRDLOperation)
INTS = DenseArrayBase.constr(i64)

Range = tuple[Array, Array]
"""The least and the greatest that elements may be."""

Places = tuple[int, tuple[int, ...]]
"""An element of a tensor, and how many there are from it to the next along each dimension."""

TYPES = "attr-dict `:` functional-type(operands, results)"

ACTIVATION = " (`activation` `` $activation^)?"

ROUNDING = " (`rounding` `` $rounding^)?"

REAL_RANGES = {"": (None, None), "relu": (0, None), "relu6": (0, 6), "relu_n1_to_1": (-1, 1)}
"""What a fused activation leaves of the real numbers."""


def is_constant_expression(value: SSAValue, model: ModelAttr) -> bool:
    """Return whether `value` is known before run time: a constant, or a folding operation on such.

    An interpreter runs every operator of its file, so there only constants themselves are constant,
    and what no file has.
    """
    waiting: list[SSAValue] = [value]
    seen: set[SSAValue] = {value}
    while waiting:
        v = waiting.pop()
        if not isinstance(v, OpResult):
            return False
        op = v.op
        if not isinstance(op, ComputeOp):
            if is_constant_like(op):
                continue
            return False
        if not op.operands or not op.has_trait(Folds) or not op.is_worth_flash:
            return False
        if interpreter_of(model) and not op.has_trait(Written):
            return False
        waiting += [o for o in op.operands if o not in seen]
        seen.update(op.operands)
    return True


def constant_bytes(value: SSAValue) -> int | None:
    """Return the bytes of the constants from which alone `value` follows by folding operations,
    whether their results are worth their flash or not; None for others."""
    waiting, seen, size = [value], {value}, 0
    while waiting:
        v = waiting.pop()
        if not isinstance(v, OpResult):
            return None
        op = v.op
        if isinstance(op, ComputeOp) and op.operands and op.has_trait(Folds):
            waiting += [o for o in op.operands if o not in seen]
            seen.update(op.operands)
        elif not isinstance(op, ComputeOp) and is_constant_like(op):
            size += bytes_of(v.type) or 0
        else:
            return None
    return size


def follows_from_constants(value: SSAValue) -> bool:
    """Return whether folding operations make `value` of constants alone, be it worth its flash or
    not."""
    return constant_bytes(value) is not None


def derived(base: type[T], name: str, text: str, **fields: Any) -> type[T]:
    """Return the operation `memgraph.<name>`, which is `base` with these fields; `text` says what
    it computes."""
    constants = {"__annotations__": {k: ClassVar[Any] for k in fields if k.isupper()}}
    given = {"__doc__": text, "__module__": base.__module__, "name": f"memgraph.{name}"}
    kind = type(f"{name.title().replace('_', '')}Op", (base,), {**fields, **constants, **given})
    return operation_definition(cast("type[T]", kind))


class ComputeOp(IRDLOperation, MemoryInterface):
    """Base of the typed operations: pure, fresh results.

    An operation says what it is by its traits (traits.py), and by overriding what depends on its
    operands; each default here is the safe answer. docs/reference/operator-interface.md has all of
    them, with examples.
    """

    @property
    def names_no_activation(self) -> bool:
        """Return whether the operation can name an activation, and names none yet."""
        known = "activation" in self.get_irdl_definition().properties
        return known and "activation" not in self.properties

    @property
    def takes_activation(self) -> bool:
        """Return whether the operation can apply an activation to its result, and applies none
        yet."""
        return self.names_no_activation and not self.has_trait(IgnoresActivation)

    @property
    def is_worth_flash(self) -> bool:
        """Return whether a result that follows from constants alone is written rather than computed
        at run time."""
        return True

    def memory(self, model: ModelAttr) -> OperatorMemory:
        if is_constant_expression(self.results[0], model):
            return OperatorMemory((None,) * len(self.results), executes=False)
        results = tuple(bytes_of(r.type) for r in self.results)
        if self.has_trait(View) and model.has_views:
            return OperatorMemory(results, (Alias(0, 0, "view"),), executes=False)
        return OperatorMemory(results, inplace=self._inplace(model))

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        """The results of these operands, as numpy arrays of the stored types and shapes.

        Integers are those of TFLite's reference kernels, bit for bit; of float32 each element is
        computed by itself, so that it does not depend on the others. Raises MemoptError for types
        and attributes to which no runtime gives a meaning, or none that is known here.
        """
        raise unknown(self, "there is no rule for it")

    def extremes(self, least: Sequence[Array], most: Sequence[Array]) -> list[Range] | None:
        """(least, greatest) of each result, element by element, for operands between `least` and
        `most`; None where nobody knows. Raises MemoptError as `evaluate` does."""
        if not self.has_trait(Monotone):
            return None
        return list(zip(self.evaluate(least), self.evaluate(most), strict=True))

    def channels_read(self, operand: int, result: int) -> tuple[int, ...] | None:
        """The channel of an operand that each channel of a result is made of, element by element,
        -1 for none of it; without other channels' elements, and without knowing its own number.
        None where that is not so."""
        if not self.has_trait(ByChannel):
            return None
        return same_channels(self.operands[operand], self.results[result])

    @property
    def is_function(self) -> bool:
        """Return whether each element of the only result is a function of the operand's element
        there."""
        return len(self.operands) == len(self.results) == 1 and self.has_trait(Pointwise)

    @property
    def is_made_by_reader(self) -> bool:
        """Return whether the only reader of the only result, if it works element by element, can
        make each element of it as it goes, so that it need not be a buffer."""
        uses = list(self.results[0].uses)
        reader = uses[0].operation if len(uses) == 1 else None
        return isinstance(reader, ComputeOp) and self.may_be_made_by(reader)

    def may_be_made_by(self, reader: "ComputeOp") -> bool:
        """Return whether `reader`, if it is the only one, can make each element of the result as it
        goes."""
        return False

    def reads_parts(self, operand: int) -> bool:
        """Return whether a kernel can read that operand pixel by pixel, the channels of one from
        several tensors, from pixels that lie apart."""
        by_pixel = operand == 0 and (self.has_trait(Spatial) or self.has_trait(ByPixel))
        return by_pixel or self.has_trait(Pointwise)

    def reads_stack(self, operand: int, axis: int) -> bool:
        """Return whether a kernel can read that operand as tensors joined along `axis`, another
        dimension than the channels."""
        return False

    def reordered(self, order: Sequence[int]) -> Mapping[str, Attribute] | None:
        """The properties of the operation where dimension i of each image, operands and results
        alike, is what dimension `order[i]` was, or new, of size 1; None where it cannot be said
        so. Weights lie as the trait says."""
        return self.properties if self.has_trait(Pointwise) or self.has_trait(Spatial) else None

    @property
    def along(self) -> Sequence[Sequence[int]] | None:
        """The indices along each dimension of the first operand, of which the only result has the
        elements; None where it is anything else."""
        return None

    def over_vectors(self, rank: int) -> Mapping[str, Attribute] | None:
        """The properties of the operation where the vectors along the last dimension of operand 0
        and the results, of all operands if it is pointwise or joins them, stand in other
        dimensions, `rank` with the last one; None where it does not work vector by vector."""
        return self.properties if self.has_trait(Pointwise) else None

    def rows_needed(self, operand: int, r: int) -> range | None:
        """The rows of an operand that step `r` reads, None if it needs all of the operand.

        Step `r` computes row `r` of every result; with `rows_mode` part it adds row `r` of
        operand 0 to the result. Raises IndexError if there is no such step.
        """
        answers, question = answers_of(self).needed, (operand, r)
        if question not in answers:
            answers[question] = rows_needed(self, self.name, operand, r)
        return answers[question]

    @property
    def rows_mode(self) -> RowsMode | None:
        """Return how a row is stored: fresh, carried (fresh, and read by the row after it), in
        place of an operand's row, or as a part of the only result; None if the operation is
        computed as a whole only."""
        answers = answers_of(self)
        if not answers.mode:
            answers.mode = (self._mode(),)
        return answers.mode[0]

    def _mode(self) -> RowsMode | None:
        """Return what `rows_mode` answers where no other operation like it was asked."""
        mode = rows_mode(self, self.name)
        if mode == "fresh" and self.carries:
            return "carried"
        if mode != "fresh" or not self.has_trait(Pointwise):
            return mode
        size, shape = bytes_of(self.results[0].type) or 0, shape_of(self.results[0])
        fits = any(shape_of(v) == shape and size <= (bytes_of(v.type) or 0) for v in self.operands)
        return "inplace" if fits else "fresh"

    @property
    def accumulates(self) -> bool:
        """Return whether the result is a sum, or a largest, over the rows of operand 0."""
        return False

    @property
    def accumulator(self) -> AnyTensor:
        """Return the type of the result before the last of the rows that are summed: sums of stored
        integers in 32 bits, else reals of the result's type."""
        result = self.results[0]
        tensor = cast("AnyTensor", result.type)
        element = IntegerType(32) if is_stored(result) else tensor.element_type
        return TensorType(element, tensor.get_shape())

    def part(self, operands: Sequence[Array], r: int, before: Array | None) -> Array:
        """The accumulator with row `r` of operand 0 (an array of one row), from the one before it.

        Integers are exact; reals are kept in float64, as in `evaluate`.
        """
        raise unknown(self, "its rows are not summed")

    def over_rows(self, operands: Sequence[Array]) -> Array:
        """The accumulator of all rows, in the order in which they are summed."""
        total: Array | None = None
        for r in range(rows_of(self.operands[0]) or 0):
            if self.rows_read(0, r):
                total = self.part([operands[0][:, r : r + 1], *operands[1:]], r, total)
        return total

    def finished(self, operands: Sequence[Array], total: Array) -> list[Array]:
        """The results, from the accumulator of all rows; `operands` as for `part`."""
        raise unknown(self, "its rows are not summed")

    @property
    def carries(self) -> bool:
        """Return whether row `r` of the only result is made of its row `r` - 1 too."""
        return False

    def carried(self, operands: Sequence[Array], before: Array | None) -> Array:
        """A row of the result, from a row of each operand that has rows, and from the row before
        it, None for the first."""
        raise unknown(self, "its rows are not made of each other")

    def alike(self, r: int) -> bool:
        """Return whether row `r` of the results is the function of the rows it reads that others
        are."""
        return self.has_trait(Alike)

    def rows_read(self, operand: int, r: int) -> range | None:
        """`rows_needed` of tensors that have rows."""
        return None

    @property
    def activation_name(self) -> str:
        """The activation that the operation applies to its result, "" for none."""
        attribute = self.properties.get("activation")
        return cast("str", attribute.data) if attribute is not None else ""  # type: ignore[attr-defined]

    def activated(self, values: Array) -> Array:
        """Real numbers after the operation's activation. Raises MemoptError for one of no rule."""
        name = self.activation_name
        if name not in REAL_RANGES:
            raise unknown(self, f"the activation {name}")
        low, high = REAL_RANGES[name]
        return values if name == "" else np.clip(values, low, high)

    def stored(self, values: Array) -> Array:
        """Integers before the zero point is added, as the result stores them: clamped to what its
        type and the activation leave."""
        low, high = self.stored_range()
        zero_point = per_tensor(self, self.results[0])[1]
        clamped = np.minimum(np.maximum(values + zero_point, low), high)
        return clamped.astype(dtype_of(self.results[0]))

    def stored_range(self) -> tuple[int, int]:
        """Return the least and the greatest integer that the result's type and the activation
        leave, ends that are rounded as the operation rounds. Raises MemoptError as `evaluate`."""
        scale, zero_point = per_tensor(self, self.results[0])
        limits = limits_of(self, self.results[0])
        if self.activation_name not in REAL_RANGES:
            raise unknown(self, f"the activation {self.activation_name}")
        if rounds_even(self):
            return self._even_range(*limits)
        return quantized_range(self.activation_name, scale, zero_point, *limits)

    @property
    def takes_stored(self) -> bool:
        """Return whether it does the same to stored integers of one quantization as to the numbers
        that they stand for."""
        return self.has_trait(Moves)

    def _even_range(self, low: int, high: int) -> tuple[int, int]:
        """Return the part of the integers that the activation leaves, its ends rounded as ONNX
        does."""
        ends = REAL_RANGES[self.activation_name]
        least, greatest = (
            end if real is None else int(quantized(self, np.float32(real), self.results[0]).item())
            for end, real in zip((low, high), ends, strict=True)
        )
        return least, greatest

    def by_reals(self, operands: Sequence[Array]) -> list[Array]:
        """The results of stored integers by what they stand for, as ONNX says: dequantized, the
        operation of real numbers, quantized. Raises MemoptError as `evaluate`."""
        pairs = list(zip(operands, self.operands, strict=True))
        reals = [dequantized(self, array, value) for array, value in pairs]
        twin = type(self).create(
            operands=Block(arg_types=list(map(real_type, self.operands))).args,
            result_types=list(map(real_type, self.results)),
            properties={k: v for k, v in self.properties.items() if k != "rounding"},
        )
        try:
            results = twin.evaluate(reals)
        finally:
            twin.drop_all_references()
        return [quantized(self, a, v) for a, v in zip(results, self.results, strict=True)]

    def one_by_one(self) -> Sequence["ComputeOp"]:
        """Operations of which each makes one result, where those have rows and this has none; of
        one result, the operation in another form."""
        return ()

    def begins_at(self, result: int, operand: int) -> int | None:
        """The element of an operand at which a result begins, if it is one stretch of it; negative
        if the operand is a stretch of the result. None if neither is."""
        return None

    def may_overwrite(self, operand: int) -> bool:
        """Return whether the only result can be written over an operand, from its first byte on:
        element i of it reads element i of the operand and nothing after, or what it read is kept in
        scratch."""
        if not self.has_trait(Pointwise):
            return False
        return shape_of(self.operands[operand]) == shape_of(self.results[0])

    def lies_at(self, result: int, operand: int) -> Places | None:
        """Return where the elements of a result lie in an operand, if all of them are its elements;
        None if they are not."""
        return None

    def macs(self) -> int:
        """Multiplications of one run, those with padding included; what only moves, compares or
        rescales has none."""
        return 0

    def _inplace(self, model: ModelAttr) -> tuple[tuple[int, int], ...]:
        """The operands in whose place the result may lie."""
        if not model.has_inplace:
            return ()
        size = bytes_of(self.results[0].type) or 0
        pairs: list[tuple[int, int]] = []
        for i, v in enumerate(self.operands):
            fits = self.may_overwrite(i) and size <= (bytes_of(v.type) or 0)
            if fits and not is_constant_expression(v, model):
                pairs.append((0, i))
        return tuple(pairs)

    def require(self, condition: bool, text: str) -> None:
        if not condition:
            raise VerifyException(f"{self.name}: {text}")


class OneResultOp(ComputeOp):
    """Base of what makes one tensor, and does nothing else."""

    result = result_def(AnyTensor)
    traits = traits_def(Pure())


class OfOneOp(OneResultOp):
    """Base of what makes one tensor of one."""

    input = operand_def(AnyTensor)
    assembly_format = "$input " + TYPES
    TFLITE: ClassVar[str] = ""
    """The operator of `.tflite` that is this operation, with `TFLITE_OPTIONS` and no others."""
    TFLITE_OPTIONS: ClassVar[Mapping[str, str]] = {}
    """Property -> the operator's option that is this whole number."""
