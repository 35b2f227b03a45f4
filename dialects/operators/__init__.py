"""Typed compute operations of `memgraph`: what real models use, with the source's exact semantics.

    %1 = memgraph.conv_2d %0, %w, %b window<[3, 3], stride = [2, 2], pad = [0, 0, 1, 1]>
           activation<relu> rounding<tflm_double> : (T0, T1, T2) -> T3

Tensors are NHWC or NCHW as their encoding says; convolution weights are `ohwi` (depthwise: `ihwo`)
for NHWC and `oihw` for NCHW. Anything that has no typed operation is a `memgraph.opaque`. One file
per family; an operation is part of the dialect by standing in one.
"""

from collections.abc import Iterable
from functools import cache

from xdsl.ir import Operation

from memopt.modules import load, mentioning, modules_in


def operations() -> tuple[type[Operation], ...]:
    """The operations of every family, by name."""
    return tuple(sorted(_defined(modules_in(__name__).values()), key=lambda op: op.name))


@cache
def operator_named(name: str, in_any: bool = True) -> type[Operation] | None:
    """Return the operation of that name, `memgraph.add`, None if there is none; no families are
    loaded but plugins' and those whose files have the name, as long as one of them defines it. Only
    those are looked at, unless it may stand `in_any`."""
    for word in (f'"{name}"', f'"{name.partition(".")[2]}"'):
        for kind in _defined(mentioning((word,), __name__)):
            if kind.name == name:
                return kind
    every = operations() if in_any else ()
    return next((kind for kind in every if kind.name == name), None)


@cache
def operator_called(attribute: str, name: str) -> type[Operation] | None:
    """Return the operation of which `attribute`, such as `ONNX`, is that name, None if there is
    none; of the families only plugins' and those are loaded whose files have the name."""
    kinds = _defined(mentioning((f'"{name}"',), __name__))
    return next((kind for kind in kinds if getattr(kind, attribute, "") == name), None)


def _defined(modules: Iterable[str]) -> set[type[Operation]]:
    return {
        value
        for module in modules
        for value in vars(load(module)).values()
        if isinstance(value, type) and "name" in vars(value) and Operation in value.__mro__
    }
