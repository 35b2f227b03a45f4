"""Kernels of CONV_3D."""

from memopt.backends.c.emit.call import Constants, KernelCall, Rows, Table, refuse
from memopt.backends.c.emit.float32 import float_bias, float_result_range, float_weights
from memopt.backends.c.emit.registry import kernel
from memopt.dialects.memgraph.tensors import elements_of, shape_of
from memopt.dialects.operators.convolution_3d import Conv3DOp

AXES = ("d", "h", "w")


@kernel(Conv3DOp, "f32")
def conv_3d(op: Conv3DOp, constants: Constants) -> KernelCall:
    """Return the call that computes all images, one after the other."""
    shape, weights, out = (shape_of(v) for v in (op.input, op.weights, op.result))
    if not elements_of(op.result) or not elements_of(op.weights):
        raise refuse(op, "a tensor without elements")
    sizes = {"in": shape[1:4], "out": out[1:4], "k": weights[:3], "pad": op.numbers("pad")}
    sizes |= {"stride": op.numbers("strides"), "dilation": op.numbers("dilations")}
    fields = (
        ("images", shape[0]),
        *((f"{name}_{a}", n) for name, ns in sizes.items() for a, n in zip(AXES, ns, strict=True)),
        *(("in_c", shape[4]), ("out_c", out[4])),
        *float_result_range(op),
        ("weights", Table("float", float_weights(op, op.weights, constants))),
        ("bias", float_bias(op, op.bias, out[4], constants)),
    )
    return KernelCall("conv_3d_f32", fields, (op.input,), Rows(1, 0, 0))
