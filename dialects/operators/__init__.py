"""Typed compute operations of `memgraph`: what real models use, with the source's exact semantics.

    %1 = memgraph.conv_2d %0, %w, %b window<[3, 3], stride = [2, 2], pad = [0, 0, 1, 1]>
           activation<relu> rounding<tflm_double> : (T0, T1, T2) -> T3

Tensors are NHWC or NCHW as their encoding says; convolution weights are `ohwi` (depthwise: `ihwo`)
for NHWC and `oihw` for NCHW. Anything that has no typed operation is a `memgraph.opaque`. One file
per family; an operation is part of the dialect by standing in one.
"""

from xdsl.ir import Operation

from memopt.modules import load, modules_in


def operations() -> tuple[type[Operation], ...]:
    """The operations of every family, by name."""
    kinds = {
        value
        for module in modules_in(__name__).values()
        for value in vars(load(module)).values()
        if isinstance(value, type) and "name" in vars(value) and Operation in value.__mro__
    }
    return tuple(sorted(kinds, key=lambda op: op.name))
