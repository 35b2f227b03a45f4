"""Operators that say themselves how their tensors are stored, as operators between pairs.

ONNX's `QLinearConv` and the like, and those of onnxruntime (`com.microsoft`), are what stands
between `DequantizeLinear` and `QuantizeLinear` elsewhere: they are read as that, so that types can
be inferred, and the rule `qdq-fold` makes one operation of it again.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from onnx import AttributeProto, NodeProto, TensorProto, helper, numpy_helper

from memopt.formats.onnx_weights import array_of

OWN, MICROSOFT = "", "com.microsoft"


@dataclass(frozen=True)
class Form:
    """The real operator, and which operands are what: of each tensor itself, its scale and its zero
    point; of the result scale and zero point; the bias, of integers of the product's steps.
    `filters`: the dimension of the second tensor along which scales may stand."""

    kind: str
    tensors: tuple[tuple[int, int, int], ...]
    result: tuple[int, int]
    bias: int | None = None
    filters: int = 0


TWO = ((0, 1, 2), (3, 4, 5))
FORMS: Mapping[tuple[str, str], Form] = {
    (OWN, "QLinearConv"): Form("Conv", TWO, (6, 7), bias=8),
    (OWN, "QLinearMatMul"): Form("MatMul", TWO, (6, 7), filters=1),
    (MICROSOFT, "QGemm"): Form("Gemm", TWO, (7, 8), bias=6),
    (MICROSOFT, "QLinearAdd"): Form("Add", TWO, (6, 7)),
    (MICROSOFT, "QLinearMul"): Form("Mul", TWO, (6, 7)),
    (MICROSOFT, "QLinearSigmoid"): Form("Sigmoid", TWO[:1], (3, 4)),
    (MICROSOFT, "QLinearLeakyRelu"): Form("LeakyRelu", TWO[:1], (3, 4)),
    (MICROSOFT, "QLinearAveragePool"): Form("AveragePool", TWO[:1], (3, 4)),
    (MICROSOFT, "QLinearGlobalAveragePool"): Form("GlobalAveragePool", TWO[:1], (3, 4)),
}
LAID_OUT = "channels_last"  # an attribute of onnxruntime's pools


def expanded(node: NodeProto, constants: dict[str, TensorProto], folder: str) -> list[NodeProto]:
    """The nodes that mean the same, itself where there are none, or would not be one operation
    again; new constants are added. Those of other files lie in `folder`."""
    form = _form(node)
    attributes = {a.name: a for a in node.attribute}
    if form is None or _is_channels_last(attributes.pop(LAID_OUT, None)):
        return [node]
    if form.bias is not None or form.filters:
        weights, _, zero = (node.input[k] for k in form.tensors[1])
        if weights not in constants or not _is_middle(constants.get(zero), folder):
            return [node]
    names = _Names(node.output[0])
    before: list[NodeProto] = []
    inputs: list[str] = []
    for k, (tensor, scale, zero) in enumerate(form.tensors):
        step = [node.input[tensor], node.input[scale], *_given(node, zero)]
        inputs.append(next(names))
        before.append(helper.make_node("DequantizeLinear", step, inputs[-1:]))
        if k == 1:
            before[-1].attribute.append(helper.make_attribute("axis", _axis(form, attributes)))
    if form.bias is not None and _given(node, form.bias):
        scales = [_reals(constants.get(node.input[t[1]]), folder) for t in form.tensors]
        if scales[0] is None or scales[1] is None:
            return [node]
        product = np.asarray(scales[0] * scales[1], np.float32)
        steps = numpy_helper.from_array(product, next(names))
        constants[steps.name] = steps
        inputs.append(next(names))
        read = [node.input[form.bias], steps.name]
        before.append(helper.make_node("DequantizeLinear", read, inputs[-1:], axis=0))
    real = helper.make_node(form.kind, inputs, [next(names)])
    real.attribute.extend(attributes.values())
    step = [real.output[0], node.input[form.result[0]], *_given(node, form.result[1])]
    nodes = [*before, real, helper.make_node("QuantizeLinear", step, [node.output[0]])]
    for one in nodes:
        one.name = node.name
    return nodes


def _form(node: NodeProto) -> Form | None:
    if (node.domain, node.op_type) == (MICROSOFT, "QLinearConcat"):
        parts = tuple((k, k + 1, k + 2) for k in range(2, len(node.input) - 2, 3))
        return Form("Concat", parts, (0, 1))
    domain = OWN if node.domain == "ai.onnx" else node.domain
    return FORMS.get((domain, node.op_type))


def _is_channels_last(attribute: AttributeProto | None) -> bool:
    return attribute is not None and attribute.i != 0


def _is_middle(zero: TensorProto | None, folder: str) -> bool:
    """Return whether the zero point is that of integers around zero."""
    values = _reals(zero, folder)
    middle = 128 if zero is not None and zero.data_type == TensorProto.UINT8 else 0
    return values is not None and bool((values == middle).all())


def _axis(form: Form, attributes: Mapping[str, AttributeProto]) -> int:
    """The dimension along which the weights' scales stand."""
    if form.kind == "Gemm":
        return 0 if "transB" in attributes and attributes["transB"].i else 1
    return form.filters


def _given(node: NodeProto, index: int) -> list[str]:
    """The operand, in a list that is empty where it is left out."""
    return [node.input[index]] if index < len(node.input) and node.input[index] else []


def _reals(tensor: TensorProto | None, folder: str) -> "np.ndarray | None":
    """Return the elements of a constant, None if it is none."""
    return None if tensor is None else array_of(tensor, folder).astype(np.float32)


class _Names(Iterator[str]):
    """Names for what stands between, none of which a file has."""

    def __init__(self, result: str) -> None:
        self.result, self.count = result, 0

    def __next__(self) -> str:
        self.count += 1
        return f"{self.result}/real{self.count}"
