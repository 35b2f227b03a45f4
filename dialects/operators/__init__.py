"""Typed compute operations of `memgraph`: what real models use, with the source's exact semantics.

    %1 = memgraph.conv_2d %0, %w, %b window<[3, 3], stride = [2, 2], pad = [0, 0, 1, 1]>
           activation<relu> rounding<tflm_double> : (T0, T1, T2) -> T3

Tensors are NHWC or NCHW as their encoding says; convolution weights are `ohwi` (depthwise: `ihwo`)
for NHWC and `oihw` for NCHW. Anything that has no typed operation is a `memgraph.opaque`. One file
per family; an operation is part of the dialect by standing in one.
"""

from importlib import import_module
from pkgutil import iter_modules

from xdsl.ir import Operation


def operations() -> tuple[type[Operation], ...]:
    """The operations of every family, by name."""
    kinds = {
        value
        for info in iter_modules(__path__, f"{__name__}.")
        for value in vars(import_module(info.name)).values()
        if isinstance(value, type) and issubclass(value, Operation) and "name" in vars(value)
    }
    return tuple(sorted(kinds, key=lambda op: op.name))
