"""Random builtin operators of a forged file that hardly any network has."""

import importlib
import struct
from typing import Any

import numpy as np
from forge_model import BOOL, FLOAT32, INT8, INT32, INT64, SAME, VALID, Forge, schema
from forge_operators import random_shape

BUILTIN, KINDS = schema.BuiltinOperator, schema.BuiltinOptions
COMPLEX64 = schema.TensorType.COMPLEX64


def _input(forge: Forge, shape: Any, element: int = FLOAT32) -> int:
    index = forge.tensor(shape, element)
    forge.graph.inputs.append(index)
    return index


def _real(forge: Forge, value: float) -> int:
    return forge.tensor([], FLOAT32, np.array(value))


def add_local_response(forge: Forge) -> None:
    shape = [*random_shape(forge, 3), int(forge.rng.integers(1, 20))]
    options: Any = schema.LocalResponseNormalizationOptionsT()
    options.radius, options.bias = int(forge.rng.integers(0, 9)), float(forge.pick(1, 0.5))
    options.alpha, options.beta = float(forge.pick(1e-4, 0.3)), float(forge.pick(0.75, 0.5, 1))
    source, result = _input(forge, shape), forge.tensor(shape, FLOAT32)
    kind = KINDS.LocalResponseNormalizationOptions
    forge.operator(BUILTIN.LOCAL_RESPONSE_NORMALIZATION, [source], result, options, kind)


def add_atan2(forge: Forge) -> None:
    shape = random_shape(forge, 3)
    inputs = [_input(forge, shape) for _ in range(2)]
    result = forge.tensor(shape, FLOAT32)
    forge.operator(BUILTIN.ATAN2, inputs, result, schema.ATan2OptionsT(), KINDS.ATan2Options)


def add_segment_sum(forge: Forge) -> None:
    """Add sums of rising numbers, as the operator wants them, or of any for the unsorted one."""
    count, rest = int(forge.rng.integers(1, 9)), random_shape(forge, 2)
    element, is_sorted = forge.pick(FLOAT32, INT32), bool(forge.rng.random() < 0.5)
    numbers = np.cumsum([0, *forge.rng.integers(0, 2, count - 1)])
    segment_count = int(numbers.max()) + 1
    source = _input(forge, [count, *rest], element)
    result = forge.tensor([segment_count, *rest], element)
    if is_sorted:
        inputs = [source, forge.tensor([count], INT32, numbers)]
        options, kind = schema.SegmentSumOptionsT(), KINDS.SegmentSumOptions
        forge.operator(BUILTIN.SEGMENT_SUM, inputs, result, options, kind)
        return
    numbers = forge.rng.permutation(numbers)
    numbers[0] = forge.pick(-1, numbers[0])
    inputs = [source, forge.tensor([count], INT32, numbers), forge.tensor([], INT32, segment_count)]
    options, kind = schema.UnsortedSegmentSumOptionsT(), KINDS.UnsortedSegmentSumOptions
    forge.operator(BUILTIN.UNSORTED_SEGMENT_SUM, inputs, result, options, kind)


def add_update(forge: Forge) -> None:
    """Add an update, which may not fit where its indices say."""
    shape = random_shape(forge, int(forge.rng.integers(1, 5)))
    inner = [int(forge.rng.integers(1, n + 1)) for n in shape]
    element, wide = forge.pick(FLOAT32, INT8, INT64, BOOL), forge.pick(INT32, INT64)
    starts = forge.tensor([len(shape)], wide, forge.rng.integers(-1, 5, len(shape)))
    inputs = [*(_input(forge, s, element) for s in (shape, inner)), starts]
    result = forge.tensor(shape, element)
    forge.operator(BUILTIN.DYNAMIC_UPDATE_SLICE, inputs, result, None, KINDS.NONE)


def add_convolution_3d(forge: Forge) -> None:
    """Add a convolution with dilations of 1, as LiteRT has no others."""
    rng = forge.rng
    size, kernel, stride = ([int(v) for v in rng.integers(1, n, 3)] for n in (7, 4, 3))
    padding, (images, channels, filters) = forge.pick(SAME, VALID), rng.integers(1, 4, 3)
    if padding == VALID:
        size = [max(s, k) for s, k in zip(size, kernel, strict=True)]
    same = padding == SAME
    out = [
        -(-(s if same else s - k + 1) // t) for s, k, t in zip(size, kernel, stride, strict=True)
    ]
    options: Any = schema.Conv3DOptionsT()
    options.padding, options.fusedActivationFunction = padding, forge.pick(0, 1, 3)
    options.strideD, options.strideH, options.strideW = stride
    options.dilationDFactor = options.dilationHFactor = options.dilationWFactor = 1
    source = _input(forge, [images, *size, channels])
    shape = [*kernel, channels, filters]
    inputs = [source, forge.tensor(shape, FLOAT32, rng.normal(size=shape))]
    if rng.random() < 0.7:
        inputs.append(forge.tensor([filters], FLOAT32, rng.normal(size=filters)))
    result = forge.tensor([images, *out, filters], FLOAT32)
    forge.operator(BUILTIN.CONV_3D, inputs, result, options, KINDS.Conv3DOptions)


def add_spectrum(forge: Forge) -> None:
    """Add a transform, larger or smaller than its operand, and parts of its complex numbers."""
    height, width = (2 ** int(v) for v in forge.rng.integers(0, (3, 6)))
    height, width = (height, max(width, 2))
    before = random_shape(forge, int(forge.rng.integers(0, 3)))
    shape = [*before, *(int(v) for v in forge.rng.integers(1, (6, 40)))]
    sizes = forge.tensor([2], INT32, [height, width])
    result_shape = [*before, height, width // 2 + 1]
    numbers = forge.tensor(result_shape, COMPLEX64)
    inputs, kind = [_input(forge, shape), sizes], KINDS.Rfft2dOptions
    forge.operator(BUILTIN.RFFT2D, inputs, numbers, schema.Rfft2dOptionsT(), kind)
    forge.graph.outputs.pop()  # which is of no type of C
    for code in (BUILTIN.REAL, BUILTIN.IMAG, BUILTIN.COMPLEX_ABS):
        forge.operator(code, [numbers], forge.tensor(result_shape, FLOAT32), None, KINDS.NONE)


def add_suppression(forge: Forge) -> None:
    """Add boxes given by any two corners, some of no area."""
    count, limit, rng = int(forge.rng.integers(1, 20)), int(forge.rng.integers(1, 9)), forge.rng
    inputs = [_input(forge, [count, 4]), _input(forge, [count])]
    inputs += [forge.tensor([], INT32, limit), _real(forge, 0.3), _real(forge, forge.pick(-9, 0.1))]
    numbers, box_count = forge.tensor([limit], INT32), forge.tensor([], INT32)
    if rng.random() < 0.5:
        kind, options = KINDS.NonMaxSuppressionV4Options, schema.NonMaxSuppressionV4OptionsT()
        forge.operator(BUILTIN.NON_MAX_SUPPRESSION_V4, inputs, [numbers, box_count], options, kind)
        return
    inputs.append(_real(forge, forge.pick(0, 0.5)))
    kind, options = KINDS.NonMaxSuppressionV5Options, schema.NonMaxSuppressionV5OptionsT()
    results = [numbers, forge.tensor([limit], FLOAT32), box_count]
    forge.operator(BUILTIN.NON_MAX_SUPPRESSION_V5, inputs, results, options, kind)


ADDED = {
    "local response": add_local_response,
    "atan2": add_atan2,
    "segments": add_segment_sum,
    "update": add_update,
    "convolution 3d": add_convolution_3d,
    "spectrum": add_spectrum,
    "suppression": add_suppression,
}


def add_unpooling(forge: Forge) -> None:
    """Add MediaPipe's pool that remembers places, and the inverse that puts elements back there."""
    rng, padding = forge.rng, int(forge.rng.integers(1, 3))
    images, height, width, channels = (int(v) for v in rng.integers(1, 5, 4))
    k_h, k_w = (int(v) for v in rng.integers(1, 4, 2))
    large, small = [images, height * k_h, width * k_w, channels], [images, height, width, channels]
    options = struct.pack("<10i", padding, k_w, k_h, k_w, k_h, 0, 0, 0, 0, 0)
    source = _input(forge, large)
    results = [forge.tensor(small, FLOAT32) for _ in range(2)]
    forge.custom("MaxPoolingWithArgmax2D", [source], results, options)
    forge.custom("MaxUnpooling2D", results, [forge.tensor(large, FLOAT32)], options)


def add_landmarks(forge: Forge) -> None:
    """Add MediaPipe's part of an image around landmarks, and landmarks of it in the image."""
    rng, flexbuffers = forge.rng, importlib.import_module("flatbuffers.flexbuffers")
    count, channels = int(rng.integers(2, 9)), int(rng.integers(1, 4))
    height, width, high, wide = (int(v) for v in rng.integers(2, 9, 4))
    options = {"subset_idxs": [int(v) for v in rng.integers(0, count, 3)], "left_rotation_idx": 0}
    options |= {"right_rotation_idx": 1, "target_rotation_radians": float(rng.normal())}
    sizes = {"output_height": high, "output_width": wide}
    options |= {**sizes, "scale_x": 1.5, "scale_y": 2.0}
    marks, image = _input(forge, [1, count, 3]), _input(forge, [1, height, width, channels])
    matrix, part = (forge.tensor(s, FLOAT32) for s in ([1, 4, 4], [1, high, wide, channels]))
    moved = forge.tensor([1, count, 3], FLOAT32)
    for name, inputs, result, said in (
        ("Landmarks2TransformMatrix", [marks], matrix, options),
        ("TransformTensorBilinear", [image, matrix], part, sizes),
        ("TransformLandmarks", [marks, matrix], moved, {"dimensions": 3}),
    ):
        forge.custom(name, inputs, [result], bytes(flexbuffers.Dumps(said)))
