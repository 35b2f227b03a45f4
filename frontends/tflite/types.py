"""Tensor types: from a .tflite file's to `tensor<...>` with layout and quantization."""

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from memopt.formats.tflite import Tensor
from memopt.frontends.core import types


def tensor_type(tensor: Tensor, layout: str = "") -> TensorType[Attribute]:
    """The IR's type; a scheme of quantization that is not affine leaves no trace in it.

    The schema calls elements what `types.ELEMENTS` does, in capitals.
    """
    q = tensor.quantization
    affine = q is not None and q.readable
    quantization = types.Quantization(q.scale, q.zero_point, q.axis) if q and affine else None
    return types.tensor_type(tensor.type.lower(), tensor.shape, layout, quantization)
