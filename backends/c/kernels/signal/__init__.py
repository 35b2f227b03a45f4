"""Kernels of TensorFlow Lite Micro's signal library."""

from dataclasses import replace
from typing import Any

from memopt.backends.c.emit.call import (
    Constants,
    KernelCall,
    Rows,
    Table,
    element_kind,
    refuse,
    tensor_or_table,
)
from memopt.backends.c.emit.registry import kernel
from memopt.backends.c.emit.rowwise import copy_call, moved
from memopt.dialects.arithmetic.integer_fft import half_turns, turns
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.tensors import bytes_of, elements_of, shape_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.signal_fft import (
    SignalEnergyOp,
    SignalFftAutoScaleOp,
    SignalIrfftOp,
    SignalRfftOp,
    SignalTransformOp,
)
from memopt.dialects.operators.signal_filter_bank import (
    SignalFilterBankLogOp,
    SignalFilterBankOp,
    SignalFilterBankSpectralSubtractionOp,
    SignalFilterBankSquareRootOp,
    SignalPcanOp,
    log_corrections,
)
from memopt.dialects.operators.signal_frames import (
    SignalDelayOp,
    SignalFramerOp,
    SignalOverlapAddOp,
    SignalStackerOp,
    SignalWindowOp,
)

C_TYPES = {"s16": "int16_t", "i32": "int32_t"}


def _call(op: ComputeOp, kernel: str, *fields: Any, operands: tuple[Any, ...] = ()) -> KernelCall:
    """Return the call for all of an operator, with its operands unless there are others."""
    if not elements_of(op.operands[0]):
        raise refuse(op, "a tensor without elements")
    return KernelCall(kernel, fields, operands or tuple(op.operands), Rows(1, 0, 0))


def _truth_first(call: KernelCall) -> list[KernelCall]:
    """Return the calls of an operator that changes its state in the call of result 0, and whose
    result 1 is known from the state before."""
    return [
        moved(replace(call, fields=(("part", part), *call.fields)), 0, 0, part) for part in (1, 0)
    ]


@kernel(SignalWindowOp, "s16")
def signal_window(op: SignalWindowOp, constants: Constants) -> KernelCall:
    size = shape_of(op.input)[-1]
    operands = op.input, tensor_or_table(op, op.weights, constants)
    fields = (("frames", elements_of(op.input) // max(size, 1)), ("size", size))
    shift = ("shift", op.shift.value.data)
    return _call(op, "signal_window", *fields, shift, operands=operands)


def _exponent_bytes(op: SignalFftAutoScaleOp) -> int:
    return 4


@kernel(SignalFftAutoScaleOp, "s16 to i32 and s16", workspace=_exponent_bytes)
def signal_fft_auto_scale(op: SignalFftAutoScaleOp, constants: Constants) -> list[KernelCall]:
    """Return the call that finds the exponent, and the one that scales by it."""
    return _truth_first(_call(op, "signal_fft_auto_scale", ("count", elements_of(op.input))))


@kernel((SignalRfftOp, SignalIrfftOp), "s16, i32")
def signal_fft(op: SignalTransformOp, constants: Constants) -> KernelCall:
    kind, count = element_kind(op.input), op.count // 2
    in_n, is_inverse = shape_of(op.input)[-1], isinstance(op, SignalIrfftOp)
    tables = [f(count, 16 if kind == "s16" else 32, is_inverse) for f in (turns, half_turns)]
    both = zip(("turns", "half_turns"), tables, strict=True)
    return _call(
        op,
        f"signal_fft_{kind}",
        *(("vectors", elements_of(op.input) // in_n), ("in_n", in_n), ("count", count)),
        ("is_inverse", int(is_inverse)),
        *((name, Table(C_TYPES[kind], values, is_looked_up=True)) for name, values in both),
    )


@kernel(SignalEnergyOp, "s16 to ui32")
def signal_energy(op: SignalEnergyOp, constants: Constants) -> KernelCall:
    first, end = op.range_
    fields = (("count", elements_of(op.result)), ("first", first), ("end", end))
    return _call(op, "signal_energy", *fields)


@kernel(SignalFilterBankOp, "ui32 to ui64")
def signal_filter_bank(op: SignalFilterBankOp, constants: Constants) -> KernelCall:
    names = ("weights", "unweights", "starts", "weight_starts", "widths")
    tables = [constants(v) for v in op.operands[1:]]
    if any(table is None for table in tables):
        raise refuse(op, "weights or parts that are only known at run time")
    try:
        op.check_parts(tables[2:])
    except MemoptError:
        raise refuse(op, "a part outside of the spectrum or the weights") from None
    fields = [(n, Table("int16_t", t)) for n, t in zip(names, tables, strict=True)]
    channels = ("channels", elements_of(op.result))
    return _call(op, "signal_filter_bank", channels, *fields, operands=(op.input,))


@kernel(SignalFilterBankSquareRootOp, "ui64 to ui32")
def signal_square_root(op: SignalFilterBankSquareRootOp, constants: Constants) -> KernelCall:
    operands = op.input, tensor_or_table(op, op.bits, constants)
    count = ("count", elements_of(op.input))
    return _call(op, "signal_filter_bank_square_root", count, operands=operands)


@kernel(SignalFilterBankSpectralSubtractionOp, "ui32")
def signal_spectral_subtraction(
    op: SignalFilterBankSpectralSubtractionOp, constants: Constants
) -> list[KernelCall]:
    """Return the call that subtracts the noise, and the one that copies it to its result."""
    extra, bits = op.shifts
    properties = (op.smoothing, op.odd_smoothing, op.rest, op.odd_rest, op.least)
    smoothing, odd_smoothing, rest, odd_rest, least = (v.value.data for v in properties)
    size = bytes_of(op.noise.type) or 0
    call = _call(
        op,
        "signal_filter_bank_spectral_subtraction",
        ("count", elements_of(op.input)),
        *(("smoothing", smoothing), ("rest", rest)),
        *(("odd_smoothing", odd_smoothing), ("odd_rest", odd_rest)),
        *(("least", least), ("extra", extra), ("bits", bits)),
        ("is_clamped", int(op.clamped is not None)),
    )
    return [call, replace(copy_call(op.state, 1, size, (size, size)), result=1)]


@kernel(SignalPcanOp, "ui32")
def signal_pcan(op: SignalPcanOp, constants: Constants) -> KernelCall:
    operands = op.input, op.noise, tensor_or_table(op, op.gains, constants)
    fields = (("count", elements_of(op.input)), ("shift", op.shift.value.data))
    return _call(op, "signal_pcan", *fields, operands=operands)


@kernel(SignalFilterBankLogOp, "ui32 to s16")
def signal_log(op: SignalFilterBankLogOp, constants: Constants) -> KernelCall:
    table = Table("int16_t", log_corrections().astype(np.int16), is_looked_up=True)
    fields = (("scale", op.scale.value.data), ("bits", op.bits.value.data))
    count = ("count", elements_of(op.input))
    return _call(op, "signal_filter_bank_log", count, *fields, ("corrections", table))


@kernel(SignalFramerOp, "s16 to bool and s16")
def signal_framer(op: SignalFramerOp, constants: Constants) -> list[KernelCall]:
    size, step = op.sizes
    count = shape_of(op.input)[-1] // step
    sizes = (("vectors", op.vectors), ("count", count), ("size", size), ("step", step))
    before = (("held", op.held), ("before", op.steps_before))
    return _truth_first(_call(op, "signal_framer", *sizes, *before))


@kernel(SignalStackerOp, "s16 to bool and s16")
def signal_stacker(op: SignalStackerOp, constants: Constants) -> list[KernelCall]:
    sizes = (("size", shape_of(op.input)[0]), ("stacked", op.stacked))
    steps = (("left", op.left.value.data), ("step", op.step.value.data))
    return _truth_first(_call(op, "signal_stacker", *sizes, *steps))


@kernel(SignalDelayOp, "s16")
def signal_delay(op: SignalDelayOp, constants: Constants) -> KernelCall:
    sizes = (("vectors", op.vectors), ("size", shape_of(op.input)[-1]))
    return _call(op, "signal_delay", *sizes, ("length", op.length.value.data))


@kernel(SignalOverlapAddOp, "s16, f32")
def signal_overlap_add(op: SignalOverlapAddOp, constants: Constants) -> KernelCall:
    frames, size = shape_of(op.input)[-2:]
    fields = (("vectors", op.lines), ("frames", frames), ("size", size))
    step = ("step", op.step.value.data)
    return _call(op, f"signal_overlap_add_{element_kind(op.input)}", *fields, step)
