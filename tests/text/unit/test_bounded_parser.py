"""Short texts of values that would fill the memory are refused where they stand."""

import pytest
from xdsl.utils.exceptions import ParseError

from memopt.compile.driver import new_context
from memopt.text.ir_text import parse_module

TYPES = {
    "i16777216": "an integer type has at most 16,777,215 bits",
    "ui99999999999999999999": "an integer type has at most 16,777,215 bits",
    "9223372036854775808xi8": "a dimension is a number of 64 bits",
    f"{'9' * 5000}xi8": "a dimension is a number of 64 bits",
}
DENSE = {
    "dense<1> : tensor<4194305xi8>": "a dense attribute has at most 4,194,304 elements",
    'dense<"0x01"> : vector<4194305xi8>': "a dense attribute has at most 4,194,304 elements",
    "dense<1> : tensor<4xi65>": "a dense attribute has no elements of type i65",
    'dense<"0x01"> : tensor<9x0xi64>': "the bytes of a dense attribute are not those of its",
}


@pytest.mark.parametrize("text", TYPES)
def test_types(text: str) -> None:
    with pytest.raises(ParseError, match=TYPES[text]):
        parse_module(new_context(), f'memgraph.opaque "a"() : () -> tensor<{text}>', "t")


@pytest.mark.parametrize("text", DENSE)
def test_dense_attributes(text: str) -> None:
    with pytest.raises(ParseError, match=DENSE[text]):
        parse_module(new_context(), f'memgraph.opaque "a"() {{a = {text}}} : () -> ()', "t")


@pytest.mark.deep
@pytest.mark.parametrize(
    "text",
    [
        *("1 : i64", "0 : i16777215", "dense<1> : tensor<4194304xi1>", "dense<1> : tensor<i8>"),
        *(
            "dense<[1, 2]> : tensor<2xi8>",
            'dense<"0x0102"> : tensor<2xi8>',
            "dense<1> : tensor<i8>",
        ),
        *("dense<1.0> : vector<3xbf16>", "dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>"),
        *("dense<3> : tensor<2xindex>", "tensor<0x4xi8>", "tensor<0x10xi8>"),
    ],
)
def test_what_is_in_proportion_is_read(text: str) -> None:
    parse_module(new_context(), f'memgraph.opaque "a"() {{a = {text}}} : () -> ()', "t").verify()
