"""ONNX's names of the types of elements."""

from typing import Final

from xdsl.ir import Attribute

from memopt.frontends.core import types

NAMES: Final[dict[int, str]] = {  # TensorProto.DataType -> key of the table of all formats
    1: "float32",
    2: "uint8",
    3: "int8",
    4: "uint16",
    5: "int16",
    6: "int32",
    7: "int64",
    8: "string",
    9: "bool",
    10: "float16",
    11: "float64",
    12: "uint32",
    13: "uint64",
    14: "complex64",
    15: "complex128",
    16: "bfloat16",
    17: "float8_e4m3fn",
    18: "float8_e4m3fnuz",
    19: "float8_e5m2",
    20: "float8_e5m2fnuz",
    21: "uint4",
    22: "int4",
    23: "float4_e2m1fn",
    24: "float8_e8m0fnu",
    25: "uint2",
    26: "int2",
}
ELEMENTS: Final[dict[int, Attribute]] = {n: types.ELEMENTS[name] for n, name in NAMES.items()}
STRING: Final = 8
