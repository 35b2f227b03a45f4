"""Fourier transforms, as products with constant matrices of cosines and sines."""

from math import prod
from typing import TYPE_CHECKING

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.frontends.onnx.expansions import expands
from memopt.frontends.onnx.scope import INT64, Scope

if TYPE_CHECKING:
    from memopt.frontends.onnx.scope import Array


@expands("DFT")
def transform(s: Scope) -> bool:
    """Along one axis; the last one has real numbers, or real and imaginary parts."""
    shape, out = s.shape(), s.out_shape()
    axes = s.ints(2) if s.has(2) else [s.get("axis", 1 if s.opset < 20 else -2)]
    if not s.is_float or axes is None:
        return False
    if s.get("inverse", 0):
        return s.lacks("inverse = 1 (0 has one)")
    axis = axes[0] % len(shape)
    lengths = s.ints(1) if s.has(1) else [shape[axis]]
    if lengths is None:
        return False
    order = [*(i for i in range(len(shape) - 1) if i != axis), axis, len(shape) - 1]
    rows = s.transposed(s.x, order)
    points, parts, bins = shape[axis], shape[-1], out[axis]
    matrix = _waves(points, lengths[0], bins)[:, :parts].reshape(points * parts, -1)
    flat = s.reshaped(rows, [prod(shape) // (points * parts), points * parts])
    spectrum = s.reshaped(s.add("MatMul", flat, s.const(matrix)), [out[i] for i in order])
    back = [order.index(i) for i in range(len(order))]
    return s.done("Identity", s.transposed(spectrum, back))


@expands("STFT")
def short_time_transform(s: Scope) -> bool:
    """Return whether it became a convolution of the signal with windowed cosines and sines."""
    steps, shape = s.ints(1), s.shape()
    window = s.array(2) if s.has(2) else None
    if not s.is_float or steps is None or (s.has(2) and window is None):
        return False
    if "onesided" not in s.attributes:
        return s.lacks("no onesided (onnx infers 0 and onnxruntime takes 1; a stated one has one)")
    if len(shape) == 3 and shape[2] != 1:
        return s.lacks("a complex signal (a real one has one)")
    lengths = s.ints(3) if s.has(3) else None if window is None else [window.size]
    if lengths is None:
        return s.lacks("a frame length that is computed (a constant has one)")
    (length,), bins = lengths, s.out_shape()[2]
    weights = _waves(length, length, bins)[:, 0].reshape(length, -1).T
    weights = weights * (np.ones(length) if window is None else window)
    signal = s.reshaped(s.x, [shape[0], 1, shape[1]])
    filters = s.const(weights.reshape(2 * bins, 1, length))
    frames = s.add("Conv", signal, filters, strides=steps)
    turned = s.add("Transpose", frames, perm=[0, 2, 1])
    return s.done("Reshape", turned, s.const(list(s.out_shape()), INT64))


def _waves(points: int, length: int, bins: int) -> "Array":
    """Return [points, part, bins, part], what each real and imaginary part adds to those of each
    frequency, of a transform of so many points: what is beyond `length` adds nothing."""
    turns = np.outer(np.arange(points), np.arange(bins)) % length * (2 * np.pi / length)
    cosine, sine = np.cos(turns), np.sin(turns)
    waves = np.array([[cosine, -sine], [sine, cosine]]).transpose(2, 0, 3, 1)
    waves[length:] = 0
    return waves
