"""Operators of the signal library of TensorFlow Lite for microcontrollers, which are custom ones in
a file. What they keep from one run to the next, no tensor of the file says."""

from typing import TYPE_CHECKING, Any, Final

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Attribute, Operation

from memopt.dialects.attributes.quick import number
from memopt.frontends.core.typed import build, need
from memopt.frontends.core.types import ELEMENTS
from memopt.frontends.tflite.custom_ops import flexible_options
from memopt.frontends.tflite.node import Kind, Node

if TYPE_CHECKING:
    from memopt.dialects.operators.signal_frames import SamplesOp

INT16, INT32 = ELEMENTS["int16"], ELEMENTS["int32"]
UINT32, UINT64, FLOAT32 = ELEMENTS["uint32"], ELEMENTS["uint64"], ELEMENTS["float32"]
TRUTH = ELEMENTS["bool"]
TYPE_NUMBERS: Final = {7: INT16, 2: INT32, 0: FLOAT32}
"""Types by their number in the schema, of which the option T is one."""


def _need_types(node: Node, operands: list[Attribute], results: list[Attribute]) -> None:
    types = [node.element(i) for i in range(len(node.types))]
    need(types == operands, f"operands of {_names(types)} ({_names(operands)} have one)")
    result_types = [r.element_type for r in node.results]
    expected = f"results of {_names(result_types)} ({_names(results)} have one)"
    need(result_types == results, expected)


def _names(types: list[Attribute]) -> str:
    return " and ".join(map(str, types)) or "nothing"


def _integers(node: Node, *names: str) -> dict[str, Any]:
    """Return options that are whole numbers, as properties by their names in the file."""
    options = flexible_options(node.options)
    values = [options[name] for name in names]
    need(all(isinstance(v, int) for v in values), f"options {values}")
    return {name: number(v) for name, v in zip(names, values, strict=True)}


def _flag(node: Node, name: str) -> UnitAttr | None:
    return UnitAttr() if flexible_options(node.options)[name] else None


def window(node: Node, kind: Kind) -> Operation:
    _need_types(node, [INT16] * 2, [INT16])
    return build(kind, node.operands, node.results, _integers(node, "shift"))


def fft_auto_scale(node: Node, kind: Kind) -> Operation:
    _need_types(node, [INT16], [INT16, INT32])
    return build(kind, node.operands, node.results, {})


def _type_of(node: Node, *known: Attribute) -> Attribute:
    """Return the type that the option T names, one of those that are known."""
    type_ = TYPE_NUMBERS.get(flexible_options(node.options)["T"])
    names = " and ".join(map(str, known))
    need(type_ in known, f"numbers of {type_ or 'another type'} ({names} have one)")
    assert type_ is not None
    return type_


def transform(node: Node, kind: Kind) -> Operation:
    type_ = _type_of(node, INT16, INT32)
    _need_types(node, [type_], [type_])
    length = _integers(node, "fft_length")["fft_length"]
    return build(kind, node.operands, node.results, {"length": length})


def energy(node: Node, kind: Kind) -> Operation:
    _need_types(node, [INT16], [UINT32])
    o = _integers(node, "start_index", "end_index")
    properties = {"first": o["start_index"], "end": o["end_index"]}
    return build(kind, node.operands, node.results, properties)


def filter_bank(node: Node, kind: Kind) -> Operation:
    _need_types(node, [UINT32, *[INT16] * 5], [UINT64])
    _need_channels(node)
    return build(kind, node.operands, node.results, {})


def _need_channels(node: Node) -> None:
    count = flexible_options(node.options)["num_channels"]
    shape = node.results[0].get_shape()
    need(shape == (count,), f"a result of another size than {count} channels")


def square_root(node: Node, kind: Kind) -> Operation:
    _need_types(node, [UINT64, INT32], [UINT32])
    return build(kind, node.operands, node.results, {})


def spectral_subtraction(node: Node, kind: Kind) -> Operation:
    _need_types(node, [UINT32], [UINT32] * 2)
    _need_channels(node)
    names = {"smoothing": "smoothing", "rest": "one_minus_smoothing"}
    names |= {"odd_smoothing": "alternate_smoothing", "odd_rest": "alternate_one_minus_smoothing"}
    names |= {"least": "min_signal_remaining", "extra": "smoothing_bits"}
    names |= {"bits": "spectral_subtraction_bits"}
    o = _integers(node, *names.values())
    properties = {name: o[said] for name, said in names.items()}
    operands = [node.operand(0), node.variable(UINT32, node.results[0].get_shape())]
    clamped = {"clamped": _flag(node, "clamping")}
    return build(kind, operands, node.results, {**properties, **clamped})


def pcan(node: Node, kind: Kind) -> Operation:
    _need_types(node, [UINT32, UINT32, INT16], [UINT32])
    shift = _integers(node, "snr_shift")["snr_shift"]
    return build(kind, node.operands, node.results, {"shift": shift})


def log(node: Node, kind: Kind) -> Operation:
    _need_types(node, [UINT32], [INT16])
    o = _integers(node, "output_scale", "input_correction_bits")
    properties = {"scale": o["output_scale"], "bits": o["input_correction_bits"]}
    return build(kind, node.operands, node.results, properties)


def _remembering(
    node: Node, kind: "type[SamplesOp]", element: Attribute, properties: dict[str, Any]
) -> Operation:
    """Return an operation on samples with a variable of its own."""
    samples = node.operand(0)
    op: SamplesOp = kind.create(
        operands=[samples, samples],
        result_types=list(node.results),
        properties={k: v for k, v in properties.items() if v is not None},
    )
    size = op.state_size
    need(0 <= size < 1 << 31, f"a state of {size} elements")
    op.operands = [samples, node.variable(element, (size,))]
    return op


def framer(node: Node, kind: "type[SamplesOp]") -> Operation:
    _need_types(node, [INT16], [INT16, TRUTH])
    o = _integers(node, "frame_size", "frame_step")
    size, step = (v.value.data for v in o.values())
    need(0 < step <= size, f"frames of {size} samples, one every {step}")
    properties = {"size": o["frame_size"], "step": o["frame_step"]}
    properties["prefilled"] = _flag(node, "prefill")
    return _remembering(node, kind, INT16, properties)


def stacker(node: Node, kind: "type[SamplesOp]") -> Operation:
    _need_types(node, [INT16], [INT16, TRUTH])
    channels = flexible_options(node.options)["num_channels"]
    need(node.shape(0) == (channels,), f"a vector of another size than {channels} channels")
    names = {"left": "stacker_left_context", "right": "stacker_right_context"}
    names |= {"step": "stacker_step"}
    o = _integers(node, *names.values())
    return _remembering(node, kind, INT16, {name: o[said] for name, said in names.items()})


def delay(node: Node, kind: "type[SamplesOp]") -> Operation:
    _need_types(node, [INT16], [INT16])
    length = _integers(node, "delay_length")["delay_length"]
    return _remembering(node, kind, INT16, {"length": length})


def overlap_add(node: Node, kind: "type[SamplesOp]") -> Operation:
    type_ = _type_of(node, INT16, FLOAT32)
    _need_types(node, [type_], [type_])
    step = _integers(node, "frame_step")["frame_step"]
    return _remembering(node, kind, type_, {"step": step})
