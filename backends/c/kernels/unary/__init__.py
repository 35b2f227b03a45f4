"""Functions of one value. Those of an int8 are tables of 256: what the operation evaluates to."""

from memopt.backends.c.emit.call import (
    Constants,
    KernelCall,
    Table,
    element_kind,
    per_tensor,
    refuse,
)
from memopt.backends.c.emit.int8 import WIDE
from memopt.backends.c.emit.int16 import sigmoids
from memopt.backends.c.emit.registry import ROUNDINGS, kernel
from memopt.backends.c.emit.rowwise import lookup, rowwise
from memopt.backends.c.rows.row_calls import own_rows
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.scalars import FLOAT32_MAX, quantize_multiplier, quantized_range
from memopt.dialects.arithmetic.stored import is_stored, limits_of
from memopt.dialects.operators.activations import BoundedOp, GeluOp, Relu0To1Op, ReluN1To1Op
from memopt.dialects.operators.comparison import LogicalNotOp
from memopt.dialects.operators.formula import CALLS, REGISTERS, FormulaOp, registers_of
from memopt.dialects.operators.lookup import LookupOp
from memopt.dialects.operators.real_functions import AbsOp, NegOp, RsqrtOp
from memopt.dialects.operators.rectifiers import LeakyReluOp
from memopt.dialects.operators.unary import (
    FunctionOp,
    LogisticOp,
    Relu6Op,
    ReluOp,
    SigmoidOp,
    TanhOp,
)


@kernel(FunctionOp, "s8", rounding=ROUNDINGS, rows=own_rows)
@kernel(FunctionOp, "u8", rounding="tflm_double", rows=own_rows)
def function_of_byte(op: FunctionOp, constants: Constants) -> KernelCall:
    return lookup(op)


@kernel(LookupOp, "s8, u8", rows=own_rows)
def table_of_bytes(op: LookupOp, constants: Constants) -> KernelCall:
    return lookup(op)


@kernel((LogisticOp, TanhOp), "s16", rounding="tflm_double", rows=own_rows)
def sigmoid_s16(op: SigmoidOp, constants: Constants) -> KernelCall:
    multiplier, shift = op.in_units()
    fields = (("multiplier", multiplier), ("shift", shift), ("table", sigmoids()))
    return rowwise(op, f"{op.name.removeprefix('memgraph.')}_s16", fields)


@kernel((ReluOp, Relu6Op, LeakyReluOp, AbsOp), "s16", rounding="tflm_double", rows=own_rows)
def rectifier_s16(op: ReluOp | Relu6Op | LeakyReluOp | AbsOp, constants: Constants) -> KernelCall:
    """A line on each side of zero, within what the function leaves."""
    op.of_stored(16, limits_of(op, op.input))  # refuses what has no meaning
    (in_scale, in_zero), (out_scale, out_zero) = per_tensor(op, op.input), per_tensor(op, op.result)
    above = below = quantize_multiplier(in_scale / out_scale)
    low, high = limits_of(op, op.result)
    if isinstance(op, LeakyReluOp):
        below, above = op.slopes
    elif isinstance(op, AbsOp):
        below = -above[0], above[1]
    else:
        name = op.name.removeprefix("memgraph.")
        low, high = quantized_range(name, out_scale, out_zero, low, high)
    fields = (
        *(("input_zero_point", in_zero), ("output_zero_point", out_zero)),
        *(("above_multiplier", above[0]), ("above_shift", above[1] + WIDE)),
        *(("below_multiplier", below[0]), ("below_shift", below[1] + WIDE)),
        *(("act_min", low), ("act_max", high)),
    )
    return rowwise(op, "rectify_s16", fields)


@kernel(RsqrtOp, "s16", rounding="tflm_double", rows=own_rows)
def rsqrt_s16(op: RsqrtOp, constants: Constants) -> KernelCall:
    multiplier, shift = op.multiplier
    fields = (("multiplier", multiplier), ("shift", max(shift, -31)))  # of 20 bits nothing is left
    return rowwise(op, "rsqrt_s16", fields)


@kernel((ReluOp, Relu6Op), "f32", rows=own_rows)
def relu_f32(op: ReluOp | Relu6Op, constants: Constants) -> KernelCall:
    high = 6.0 if isinstance(op, Relu6Op) else FLOAT32_MAX
    return rowwise(op, "clamp_range_f32", (("act_min", 0.0), ("act_max", high)))


@kernel((ReluN1To1Op, Relu0To1Op), "f32", rows=own_rows)
def bounded_f32(op: BoundedOp, constants: Constants) -> KernelCall:
    low, high = op.ENDS
    return rowwise(op, "clamp_range_f32", (("act_min", low), ("act_max", high)))


@kernel(LogicalNotOp, "bool", rows=own_rows)
def logical_not(op: LogicalNotOp, constants: Constants) -> KernelCall:
    """By the table of bytes; what is true is any byte but 0."""
    table = (np.arange(-128, 128) == 0).astype(np.int8)
    of_bytes = Table("int8_t", table, is_looked_up=True)
    return rowwise(op, "lookup_s8", (("table", of_bytes),))


@kernel(GeluOp, "f32", rows=own_rows)
def gelu_f32(op: GeluOp, constants: Constants) -> KernelCall:
    return rowwise(op, "gelu_f32", (("approximate", int(op.approximate is not None)),))


@kernel(FormulaOp, "f32", rows=own_rows)
def formula_f32(op: FormulaOp, constants: Constants) -> KernelCall:
    """Each step in four bytes: its function, where it writes, and its operands."""
    steps, code = op.steps, list[int]()
    places, functions = registers_of(steps), list(CALLS)
    numbers = [v for step in steps for v in step.operands if isinstance(v, float)]
    known = iter(range(REGISTERS, REGISTERS + len(numbers)))
    for place, step in zip(places[1:], steps, strict=True):
        operands = [places[v] if isinstance(v, int) else next(known) for v in step.operands]
        code += [functions.index(step.call), place, operands[0], operands[-1]]
    needs = tuple(sorted({f"FORMULA_{step.call.upper()}" for step in steps}))
    fields = (
        *(("step_n", len(steps)), ("steps", Table("uint8_t", np.array(code, np.uint8), needs))),
        ("numbers", Table("float", np.array(numbers, np.float32))),
    )
    return rowwise(op, "formula_f32", fields)


@kernel(FunctionOp, lambda op: "f32" if op.C else "", rows=own_rows)
def function_f32(op: FunctionOp, constants: Constants) -> KernelCall:
    """Return the call of the kernel that the operation's C expression makes."""
    return rowwise(op, f"{op.name.removeprefix('memgraph.')}_f32")


@kernel((AbsOp, NegOp), "i32, i64", rows=own_rows)
def function_of_integers(op: AbsOp | NegOp, constants: Constants) -> KernelCall:
    kind = element_kind(op.result)
    if is_stored(op.input) or is_stored(op.result):
        raise refuse(op, "quantized int32 or int64")
    return rowwise(op, f"{op.name.removeprefix('memgraph.')}_{kind}")


@kernel(LeakyReluOp, "f32", rows=own_rows)
def leaky_relu_f32(op: LeakyReluOp, constants: Constants) -> KernelCall:
    return rowwise(op, "leaky_relu_f32", (("alpha", op.alpha.value.data),))
