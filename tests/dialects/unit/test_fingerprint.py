"""The fingerprint writes plain tensor types without the printer: the text is the printer's."""

import pytest
from xdsl.dialects.builtin import (
    ComplexType,
    StringAttr,
    TensorType,
    VectorType,
    f32,
    i1,
    i8,
    i64,
)
from xdsl.ir import Attribute

from memopt.dialects.attributes.operators import EncodingAttr, RuntimeType
from memopt.dialects.memgraph.fingerprint import is_plain, tensor_text

ELEMENTS = (i1, i8, f32, ComplexType(f32), VectorType(i8, [4]), RuntimeType(StringAttr("variant")))


@pytest.mark.parametrize("element", ELEMENTS, ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (7,), (1, 96, 96, 3)])
def test_a_plain_tensor_has_the_printers_text(element: Attribute, shape: tuple[int, ...]) -> None:
    tensor = TensorType(element, shape)
    assert is_plain(tensor)
    assert tensor_text(tensor, str(element)) == str(tensor)


@pytest.mark.parametrize(
    "attr",
    [TensorType(i8, [-1, 2]), TensorType(i8, [2], EncodingAttr()), VectorType(i8, [2]), i64],
    ids=str,
)
def test_others_are_printed(attr: Attribute) -> None:
    assert not is_plain(attr)
