"""A compiler from text of stablehlo to a program in C, around memopt's plan of one arena.

    python stablehloc.py network.mlir > network.c && gcc -O1 network.c -lm -o network
    ./network < inputs.bin > outputs.bin        all inputs, and all results, one after the other

It parses with memopt's reader, plans with memopt's passes, and writes a loop for each operation at
the addresses that the plan says; what it does not know it refuses by name. The arena stands between
two guards that the program looks at before it ends.
"""

import re
import sys
from collections.abc import Sequence
from math import prod
from pathlib import Path
from typing import Any, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import PassPipeline

from memopt.compile.driver import load_text, new_context
from memopt.dialects.memgraph.functions import argument_attributes, body_of, only_function
from memopt.dialects.memgraph.names import full_name, place_of
from memopt.dialects.memgraph.plan import ORDER, bytes_offset, offsets_of
from memopt.dialects.memgraph.tensors import bytes_of, shape_of
from memopt.passes.memgraph_model import MemgraphModelPass
from memopt.passes.memgraph_place import MemgraphPlacePass
from memopt.passes.memgraph_schedule import MemgraphSchedulePass
from memopt.verify.plan import verify_plan

TYPES = {"f32": "float", "f64": "double", "i32": "int32_t", "i64": "int64_t", "i1": "uint8_t"}
UNARY = {
    "tanh": "tanhf(a)",
    "exponential": "expf(a)",
    "negate": "-a",
    "sqrt": "sqrtf(a)",
    "rsqrt": "1.0f / sqrtf(a)",
    "abs": "fabsf(a)",
    "log": "logf(a)",
    "convert": "a",
    "logistic": "1.0f / (1.0f + expf(-a))",
    "sine": "sinf(a)",
    "cosine": "cosf(a)",
}
BINARY = {
    "add": "a + b",
    "subtract": "a - b",
    "multiply": "a * b",
    "divide": "a / b",
    "maximum": "a > b ? a : b",
    "minimum": "a < b ? a : b",
    "power": "powf(a, b)",
}
Loops = list[tuple[str, int]]


class UnknownError(Exception):
    """What this compiler has no code for."""


def plan(text: str, name: str) -> ModuleOp:
    """Return the module with order and addresses."""
    context = new_context()
    module = load_text(context, text, name)
    model = MemgraphModelPass(inplace="on", alignment=8)
    PassPipeline((model, MemgraphSchedulePass(), MemgraphPlacePass())).apply(context, module)
    return module


def said(op: Operation, name: str) -> list[int]:
    """Return the numbers of a property, none if there is none of that name."""
    attribute: Any = op.properties.get(name)
    return [] if attribute is None else [int(v) for v in attribute.get_values()]


def written(op: Operation, name: str, key: str = "") -> str:
    """Return the text of a property of stablehlo's own, or what stands there behind `key`."""
    text = str(op.properties[name])
    match = re.search(rf"\b{key}\s*=\s*\[([^\]]*)\]", text) if key else None
    return (match[1] if match else "") if key else text


def numbers(text: str) -> list[int]:
    return [int(n) for n in text.split(",") if n.strip()]


def element(value: SSAValue) -> str:
    """Return the C type of a tensor's elements."""
    text = str(value.type).rstrip(">").rpartition("x")[2].rpartition("<")[2]
    if text not in TYPES:
        raise UnknownError(f"elements of type {text}")
    return TYPES[text]


def at(shape: Sequence[int], indices: Sequence[str]) -> str:
    """Return the place of an element in a row-major tensor, as C."""
    steps = [prod(shape[k + 1 :]) for k in range(len(shape))]
    terms = [f"({i}) * {s}" for i, s, n in zip(indices, steps, shape, strict=True) if n > 1]
    return " + ".join(terms) or "0"


def nest(loops: Loops, body: str) -> str:
    """Return `body` inside loops, the first one outermost."""
    heads = "".join(f"for (int {name} = 0; {name} < {n}; {name}++) " for name, n in loops)
    return f"{heads}{{ {body} }}"


def over(shape: Sequence[int], prefix: str = "i") -> tuple[Loops, list[str]]:
    """Return loops over all elements of a shape, and their indices."""
    names = [f"{prefix}{k}" for k in range(len(shape))]
    return list(zip(names, shape, strict=True)), names


def kernel(op: Operation) -> str:
    """Return C that computes an operation: operands are x0, x1 ..., its result is y. Raises
    UnknownError."""
    kind = full_name(op).removeprefix("stablehlo.")
    out, shapes = shape_of(op.results[0]), [shape_of(v) for v in op.operands]
    loops, indices = over(out)
    y, type_ = f"y[{at(out, indices)}]", element(op.results[0])
    if kind in UNARY or kind in BINARY:
        values = " ".join(
            f"{element(v)} {n} = x{k}[i];"
            for k, (v, n) in enumerate(zip(op.operands, "ab", strict=False))
        )
        expression = UNARY.get(kind) or BINARY[kind]
        return nest([("i", prod(out))], f"{values} y[i] = ({type_})({expression});")
    if kind == "reshape":
        return nest([("i", prod(out))], "y[i] = x0[i];")
    if kind == "iota":
        return nest(loops, f"{y} = ({type_})i{int(op.properties['iota_dimension'].value.data)};")  # type: ignore[attr-defined]
    if kind == "select":
        return nest([("i", prod(out))], "y[i] = x0[i] ? x1[i] : x2[i];")
    if kind == "broadcast_in_dim":
        axes = said(op, "broadcast_dimensions")
        return nest(loops, f"{y} = x0[{at(shapes[0], [indices[a] for a in axes])}];")
    if kind == "transpose":
        order = said(op, "permutation")
        source = [indices[order.index(k)] for k in range(len(order))]
        return nest(loops, f"{y} = x0[{at(shapes[0], source)}];")
    if kind == "slice":
        pairs = zip(indices, said(op, "start_indices"), said(op, "strides"), strict=True)
        return nest(loops, f"{y} = x0[{at(shapes[0], [f'{b} + {i} * {s}' for i, b, s in pairs])}];")
    if kind == "concatenate":
        return _concatenate(op, out, shapes)
    if kind == "dot_general":
        return _dot(op, out, shapes)
    if kind == "reduce":
        return _reduce(op, out, shapes)
    if kind == "convolution":
        return _convolution(op, out, shapes)
    raise UnknownError(full_name(op))


def _concatenate(op: Operation, out: Sequence[int], shapes: list[tuple[int, ...]]) -> str:
    axis: int = op.properties["dimension"].value.data  # type: ignore[attr-defined]
    lines, begin = list[str](), 0
    for k, shape in enumerate(shapes):
        loops, indices = over(shape)
        target = [f"{i} + {begin}" if d == axis else i for d, i in enumerate(indices)]
        lines.append(nest(loops, f"y[{at(out, target)}] = x{k}[{at(shape, indices)}];"))
        begin += shape[axis]
    return "\n  ".join(lines)


def _dot(op: Operation, out: Sequence[int], shapes: list[tuple[int, ...]]) -> str:
    """Batch dimensions come first in the result, then those that are left of each operand."""
    name, sides = "dot_dimension_numbers", ("lhs", "rhs")
    batch = [numbers(written(op, name, f"{s}_batching_dimensions")) for s in sides]
    inner = [numbers(written(op, name, f"{s}_contracting_dimensions")) for s in sides]
    loops, indices = over(out)
    sums, summed = over([shapes[0][d] for d in inner[0]], "k")
    taken, free = len(batch[0]), list[list[str]]()
    for side, shape in enumerate(shapes):
        place = dict(zip(batch[side], indices, strict=False)) | dict(
            zip(inner[side], summed, strict=True)
        )
        for d in range(len(shape)):
            if d not in place:
                place[d], taken = indices[taken], taken + 1
        free.append([place[d] for d in range(len(shape))])
    a, b = f"x0[{at(shapes[0], free[0])}]", f"x1[{at(shapes[1], free[1])}]"
    added = nest(sums, f"s += {a} * {b};")
    return nest(loops, f"{element(op.results[0])} s = 0; {added} y[{at(out, indices)}] = s;")


def _reduce(op: Operation, out: Sequence[int], shapes: list[tuple[int, ...]]) -> str:
    inner = full_name(op.regions[0].block.first_op).removeprefix("stablehlo.")  # type: ignore[arg-type]
    if len(op.results) != 1 or inner not in BINARY:
        raise UnknownError(f"stablehlo.reduce by {inner}")
    axes = said(op, "dimensions")
    loops, indices = over(out)
    sums, summed = over([shapes[0][d] for d in axes], "k")
    rest = iter(indices)
    source = [summed[axes.index(d)] if d in axes else next(rest) for d in range(len(shapes[0]))]
    type_ = element(op.results[0])
    step = f"{type_} b = x0[{at(shapes[0], source)}]; a = {BINARY[inner]};"
    return nest(loops, f"{type_} a = x1[0]; {nest(sums, step)} y[{at(out, indices)}] = a;")


def _convolution(op: Operation, out: Sequence[int], shapes: list[tuple[int, ...]]) -> str:
    """Images and filters with dimensions in any order, without groups and dilated inputs."""
    for name in ("feature_group_count", "batch_group_count"):
        if op.properties[name].value.data != 1:  # type: ignore[attr-defined]
            raise UnknownError(f"stablehlo.convolution with {name}")
    if set(said(op, "lhs_dilation")) - {1} or any(said(op, "window_reversal")):
        raise UnknownError("stablehlo.convolution of a dilated or reversed input")
    layouts: list[list[str]] = [
        part.split(", ") for part in re.findall(r"\[([^\]]*)\]", written(op, "dimension_numbers"))
    ]
    spatial = len(out) - 2
    stride = said(op, "window_strides") or [1] * spatial
    dilation = said(op, "rhs_dilation") or [1] * spatial
    pad = (said(op, "padding") or [0] * 2 * spatial)[::2]
    loops, indices = over(out)
    result = dict(zip(layouts[2], indices, strict=True))
    window, taps = over([shapes[1][layouts[1].index(str(d))] for d in range(spatial)], "k")
    places = [
        f"{result[str(d)]} * {stride[d]} - {pad[d]} + {taps[d]} * {dilation[d]}"
        for d in range(spatial)
    ]
    sizes = [shapes[0][layouts[0].index(str(d))] for d in range(spatial)]
    image = {"b": result["b"], "f": "c"} | {str(d): f"p{d}" for d in range(spatial)}
    filter_ = {"i": "c", "o": result["f"]} | {str(d): taps[d] for d in range(spatial)}
    a = f"x0[{at(shapes[0], [image[n] for n in layouts[0]])}]"
    b = f"x1[{at(shapes[1], [filter_[n] for n in layouts[1]])}]"
    inside = " && ".join(f"p{d} >= 0 && p{d} < {n}" for d, n in enumerate(sizes))
    moved = " ".join(f"int p{d} = {p};" for d, p in enumerate(places))
    channels = nest([("c", shapes[1][layouts[1].index("i")])], f"s += {a} * {b};")
    body = f"{element(op.results[0])} s = 0; {nest(window, f'{moved} if ({inside}) {channels}')}"
    return nest(loops, f"{body} y[{at(out, indices)}] = s;")


PROGRAM = """#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static union {{ unsigned char bytes[{arena} + 128]; double align; }} memory;
#define arena (memory.bytes + 64)
{constants}
static void run(void) {{
{steps}
}}

int main(void) {{
  memset(memory.bytes, 0xa5, sizeof memory.bytes);
{reads}
  run();
{writes}
  for (int i = 0; i < 64; i++)
    if (memory.bytes[i] != 0xa5 || arena[{arena} + i] != 0xa5) return 2;
  return 0;
}}
"""


def compiled(text: str, name: str) -> str:
    """Return the program of a module's only function. Raises UnknownError, and memopt's errors."""
    func = only_function(plan(text, name))
    block, arena = body_of(func), verify_plan(func, placed=True).arena
    where: dict[SSAValue, str] = {}
    constants, steps, reads = list[str](), list[str](), list[str]()
    for value, attributes in zip(block.args, argument_attributes(func), strict=True):
        offset: int = attributes["memgraph.offset"].value.data  # type: ignore[attr-defined]
        where[value] = f"(arena + {offset})"
        size = bytes_of(value.type)
        reads.append(f"  if (fread({where[value]}, 1, {size}, stdin) != {size}) return 1;")
    for op in list(block.ops)[:-1]:
        (result,) = op.results
        if full_name(op) == "stablehlo.constant":
            where[result] = f"c{len(constants)}"
            data: bytes = cast("Any", op.properties["value"]).data.data
            listed = ", ".join(map(str, data))
            constants.append(
                f"static const _Alignas(8) unsigned char {where[result]}[] = {{{listed}}};"
            )
            continue
        offset_ = bytes_offset((offsets_of(op) or [None])[0])  # type: ignore[arg-type]
        where[result] = f"(arena + {offset_})"
        if ORDER not in op.attributes:
            continue  # a view, or a piece: it lies there already
        try:
            body = kernel(op)
        except UnknownError as error:
            raise SystemExit(f"{place_of(op)}: error: no code for {error}") from None
        pointers = [
            f"const {element(v)} *x{k} = (const void *){where[v]};"
            for k, v in enumerate(op.operands)
        ]
        pointers.append(f"{element(result)} *y = (void *){where[result]};")
        steps.append(f"  {{ /* {full_name(op)} */\n  {' '.join(pointers)}\n  {body}\n  }}")
    last = block.last_op
    returned: list[SSAValue] = [] if last is None else list(last.operands)
    writes = [f"  fwrite({where[v]}, 1, {bytes_of(v.type)}, stdout);" for v in returned]
    return PROGRAM.format(
        arena=arena,
        constants="\n".join(constants),
        steps="\n".join(steps),
        reads="\n".join(reads),
        writes="\n".join(writes),
    )


if __name__ == "__main__":
    print(compiled(Path(sys.argv[1]).read_text(), sys.argv[1]))
