"""Resizing of images."""

from xdsl.dialects.builtin import (
    UnitAttr,
)
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from memopt.dialects.operators.base import TYPES, ComputeOp
from memopt.dialects.tensors import AnyTensor, encoding_of, shape_of


class ResizeBase(ComputeOp):
    input = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    align_corners = opt_prop_def(UnitAttr)
    half_pixel_centers = opt_prop_def(UnitAttr)
    traits = traits_def(Pure())
    assembly_format = (
        "$input (`align_corners` $align_corners^)? (`half_pixel_centers` $half_pixel_centers^)? "
        + TYPES
    )

    def verify_(self) -> None:
        shape, out = shape_of(self.input), shape_of(self.result)
        first = 2 if encoding_of(self.input).layout.data == "nchw" else 1
        fits = (
            len(shape) == len(out) == 4
            and shape[:first] == out[:first]
            and shape[first + 2 :] == out[first + 2 :]
        )
        self.require(fits, f"only height and width may change from {shape} to {out}")


@irdl_op_definition
class ResizeBilinearOp(ResizeBase):
    name = "memgraph.resize_bilinear"


@irdl_op_definition
class ResizeNearestOp(ResizeBase):
    name = "memgraph.resize_nearest"
