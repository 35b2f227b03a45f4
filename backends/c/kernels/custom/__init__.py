"""Custom operators, of which the user has declared what they need and writes the function."""

from xdsl.ir import SSAValue

from memopt.backends.c.emit.c_text import float_literal
from memopt.backends.c.emit.call import (
    Constants,
    KernelCall,
    Rows,
    Table,
    element_kind,
    refuse,
    tensor_or_table,
)
from memopt.backends.c.emit.custom import function_name
from memopt.backends.c.emit.registry import ANY, kernel
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.memgraph.custom import CUSTOM, has_state, options_of, scratch_of
from memopt.dialects.memgraph.structure import OpaqueOp
from memopt.dialects.memgraph.tensors import bytes_of, encoding_of, shape_of

TENSORS, DIMENSIONS = 16, 8  # of memopt_custom_params
TYPES = {
    "f32": "MEMOPT_FLOAT32",
    "s8": "MEMOPT_INT8",
    "u8": "MEMOPT_UINT8",
    "s16": "MEMOPT_INT16",
    "i32": "MEMOPT_INT32",
    "i64": "MEMOPT_INT64",
    "bool": "MEMOPT_BOOL",
    "ui16": "MEMOPT_UINT16",
    "ui32": "MEMOPT_UINT32",
    "ui64": "MEMOPT_UINT64",
}


def _scratch(op: OpaqueOp) -> int:
    return scratch_of(op) if CUSTOM in op.attributes else 0


@kernel(OpaqueOp, ANY, workspace=_scratch)
def custom(op: OpaqueOp, constants: Constants) -> KernelCall:
    inputs, state = list(op.operands), list[SSAValue]()
    if has_state(op):
        state = [inputs.pop()]
    tensors = [*inputs, *op.results]
    if len(tensors) > TENSORS:
        raise refuse(op, f"{len(tensors)} inputs and outputs, only up to {TENSORS}")
    operands: list[SSAValue | Table] = []
    for value in tensors:
        kind = element_kind(value)
        if kind not in TYPES or len(shape_of(value)) > DIMENSIONS:
            raise refuse(op, f"{kind} in {len(shape_of(value))} dimensions")
        operands.append(tensor_or_table(op, value, constants))
    facts = ", ".join(_facts(value) for value in tensors)
    options = np.frombuffer(options_of(op), np.uint8)
    fields = (
        ("function", function_name(op)),
        ("inputs", len(inputs)),
        ("outputs", len(op.results)),
        ("has_state", len(state)),
        ("facts", "{" + facts + "}"),
        ("options", Table("uint8_t", options)),
        ("options_bytes", options.size),
    )
    return KernelCall("custom", fields, (*operands, *state), Rows(1, 0, 0))


def _facts(value: SSAValue) -> str:
    """A `memopt_custom_facts`."""
    encoding, shape = encoding_of(value), shape_of(value)
    one = len(encoding.scales) == 1
    scale = float_literal(encoding.scales[0] if one else 0.0)
    zero = encoding.zero_points[0] if one else 0
    sizes = ", ".join(map(str, shape or (1,)))
    kind = TYPES[element_kind(value)]
    return f"{{{kind}, {bytes_of(value.type)}, {len(shape)}, {{{sizes}}}, {scale}, {zero}}}"
