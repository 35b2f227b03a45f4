"""PAD."""

from memopt.backends.c.emit.call import (
    Constants,
    KernelCall,
    Rows,
    element_kind,
    four,
    per_tensor,
    refuse,
)
from memopt.backends.c.emit.registry import kernel
from memopt.backends.c.rows.row_calls import no_image, pad_rows
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.operators.pad import PadOp


@kernel(PadOp, "s8, u8, s16, f32", rows=pad_rows, stays=no_image)
def pad(op: PadOp, constants: Constants) -> KernelCall:
    shape, out = shape_of(op.input), shape_of(op.result)
    if len(shape) > 4:
        raise refuse(op, f"a pad of {len(shape)} dimensions")
    before = four(tuple(int(v) for v in op.before.get_values()), 0)
    kind = element_kind(op.input)
    value: int | float = float(op.value.value.data)
    if kind != "f32":
        same = per_tensor(op, op.input) == per_tensor(op, op.result)
        if not same or value != 0.0:
            raise refuse(op, "an int8 pad with another value than zero, or another quantization")
        value = per_tensor(op, op.result)[1]
    if kind == "u8":
        value, kind = value - (256 if value > 127 else 0), "s8"  # whatever sign the bytes have
    (n, h, w, c), (_, out_h, out_w, out_c) = four(shape), four(out)
    names = ("in_images", "in_h", "in_w", "in_c", "out_h", "out_w", "out_c")
    befores = ("before_images", "before_h", "before_w", "before_c")
    return KernelCall(
        f"pad_{kind}",
        (
            *zip(names, (n, h, w, c, out_h, out_w, out_c), strict=True),
            *zip(befores, before, strict=True),
            ("value", value),
        ),
        (op.input,),
        Rows.of(op, four(out)[0] * out_h, w * c, out_w * out_c),
    )
