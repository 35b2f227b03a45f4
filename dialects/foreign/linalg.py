"""The `linalg` dialect's memory behaviour: destination-passing operations.

%1 = linalg.matmul ins(%a, %b) outs(%0)    lies where its init lies, and overwrites it
%3 = linalg.add ins(%1, %1) outs(%2)       %2 = tensor.empty is no buffer, so neither is it read

All are pure. What computes in a region computes scalars. Of an operation that xDSL does not have,
the last of `operandSegmentSizes` says which operands are inits.
"""

from xdsl.ir import Operation, SSAValue

from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.foreign.descriptions import numbers_of, result_bytes
from memopt.dialects.memgraph.behaviour import careful, check_planned, destinations, in_destinations
from memopt.dialects.memgraph.interface import OperatorMemory
from memopt.dialects.memgraph.names import UNREGISTERED

GENERIC_BY = "mlir-opt --mlir-print-op-generic"
"""The command that prints any release's text in generic form."""

DESTINATION = (
    *("abs", "add", "batch_matmul", "batch_matmul_transpose_a", "batch_matmul_transpose_b"),
    *("batch_matvec", "batch_mmt4d", "batch_reduce_matmul", "batch_vecmat", "broadcast"),
    *("ceil", "contract", "conv_1d", "conv_1d_ncw_fcw", "conv_1d_nwc_wcf", "conv_2d"),
    *("conv_2d_nchw_fchw", "conv_2d_ngchw_fgchw", "conv_2d_ngchw_gfchw"),
    *("conv_2d_ngchw_gfchw_q", "conv_2d_nhwc_fhwc", "conv_2d_nhwc_fhwc_q"),
    *("conv_2d_nhwc_hwcf", "conv_2d_nhwc_hwcf_q", "conv_3d", "conv_3d_ncdhw_fcdhw"),
    *("conv_3d_ndhwc_dhwcf", "conv_3d_ndhwc_dhwcf_q", "copy", "depthwise_conv_1d_ncw_cw"),
    *("depthwise_conv_1d_nwc_wc", "depthwise_conv_1d_nwc_wcm"),
    *("depthwise_conv_2d_nchw_chw", "depthwise_conv_2d_nhwc_hwc"),
    *("depthwise_conv_2d_nhwc_hwc_q", "depthwise_conv_2d_nhwc_hwcm"),
    *("depthwise_conv_2d_nhwc_hwcm_q", "depthwise_conv_3d_ncdhw_cdhw"),
    *("depthwise_conv_3d_ndhwc_dhwc", "depthwise_conv_3d_ndhwc_dhwcm", "div"),
    *("div_unsigned", "dot", "elementwise", "elemwise_binary", "elemwise_unary", "erf"),
    *("exp", "fill", "fill_rng_2d", "floor", "generic", "log", "map", "matmul"),
    *("matmul_transpose_a", "matmul_transpose_b", "matvec", "max", "min", "mmt4d", "mul"),
    *("negf", "pack", "pooling_nchw_max", "pooling_nchw_sum", "pooling_ncw_max"),
    *("pooling_ncw_sum", "pooling_ndhwc_max", "pooling_ndhwc_min", "pooling_ndhwc_sum"),
    *("pooling_nhwc_max", "pooling_nhwc_max_unsigned", "pooling_nhwc_min"),
    *("pooling_nhwc_min_unsigned", "pooling_nhwc_sum", "pooling_nwc_max"),
    *("pooling_nwc_max_unsigned", "pooling_nwc_min", "pooling_nwc_min_unsigned"),
    *("pooling_nwc_sum", "powf", "quantized_batch_matmul", "quantized_matmul"),
    *("reciprocal", "reduce", "round", "rsqrt", "select", "softmax", "sqrt", "square"),
    *("sub", "tanh", "transpose", "unpack", "vecmat", "winograd_filter_transform"),
    *("winograd_input_transform", "winograd_output_transform"),
)
IN_REGION = ("index", "yield")


def _destination(op: Operation, model: ModelAttr) -> OperatorMemory:
    """Describe a destination-passing operation."""
    check_planned(op)
    return OperatorMemory(result_bytes(op), in_destinations(op, _inits(op)))


def _inits(op: Operation) -> tuple[SSAValue, ...]:
    """Return the operands that the results are written over."""
    sizes = numbers_of(op, "operandSegmentSizes")
    if op.name != UNREGISTERED or not sizes:
        return destinations(op)
    last = tuple(op.operands[len(op.operands) - sizes[-1] :])
    return last if [v.type for v in last] == [r.type for r in op.results] else ()


MEMORY = {
    f"linalg.{name}": describe
    for names, describe in ((DESTINATION, _destination), (IN_REGION, careful))
    for name in names
}
