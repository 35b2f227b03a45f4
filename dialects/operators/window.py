"""What slides a window over height and width."""

from xdsl.ir import SSAValue

from memopt.dialects.attributes import WindowAttr
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.tensors import encoding_of, shape_of


class WindowedOp(ComputeOp):
    """Base of what slides a window: the result's height and width follow from it."""

    def check_window(self, window: WindowAttr, source: SSAValue, result: SSAValue) -> None:
        shape, out = shape_of(source), shape_of(result)
        self.require(len(shape) == len(out) == len(window.kernel) + 2, "rank does not fit window")
        first = 2 if encoding_of(source).layout.data == "nchw" else 1
        kernel, stride, dilation, pad = window.sizes
        n = len(kernel)
        for i in range(n):
            span = dilation[i] * (kernel[i] - 1) + 1
            expected = (shape[first + i] + pad[i] + pad[i + n] - span) // stride[i] + 1
            self.require(
                out[first + i] == expected,
                f"dimension {first + i} of the result is {out[first + i]}, not {expected}",
            )
        self.require(shape[0] == out[0], f"{shape[0]} batches in, {out[0]} out")
