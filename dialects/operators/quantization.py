"""From real to stored numbers, back, and from one type to another."""

from typing import ClassVar

from xdsl.irdl import (
    irdl_op_definition,
)

from memopt.dialects.operators.unary import UnaryOp


@irdl_op_definition
class QuantizeOp(UnaryOp):
    """Real to stored, or one quantization to another; the types say which."""

    name = "memgraph.quantize"
    FOLDS: ClassVar[bool] = True


@irdl_op_definition
class DequantizeOp(UnaryOp):
    """Stored to real (also float16 to float32)."""

    name = "memgraph.dequantize"
    FOLDS: ClassVar[bool] = True


@irdl_op_definition
class CastOp(UnaryOp):
    """Another element type, same values."""

    name = "memgraph.cast"
    FOLDS: ClassVar[bool] = True
