"""The fingerprint writes plain tensor types without the printer: the text is the printer's."""

import pytest
from xdsl.dialects.builtin import (
    ComplexType,
    FloatAttr,
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
from memopt.dialects.memgraph.fingerprint import (
    LONG,
    _texts,  # pyright: ignore[reportPrivateUsage]
    is_plain,
    printed,
    tensor_text,
)

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


def test_texts_are_kept_by_object_and_not_by_value() -> None:
    """0.0 and -0.0 have two, and a text goes with its object, whose number another one may get."""
    for value in (0.0, -0.0):
        for _ in range(3):
            attr = FloatAttr(value, f32)
            assert printed(attr) == printed(attr) == str(attr)
            number = id(attr)
            assert number in _texts
            del attr
            assert number not in _texts
    long = StringAttr("a" * LONG)
    assert printed(long) == str(long) and id(long) not in _texts
