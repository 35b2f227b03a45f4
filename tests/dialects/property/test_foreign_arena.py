"""Random functions of stablehlo run in the arena that was planned: views, pieces, concatenations
and results in place, each operation computed there, give what numpy gives.

An operation that does not run moves nothing: if it lay elsewhere than its description says, what
its readers find would be wrong.
"""

import os
import random

import numpy as np
import pytest
from xdsl.ir import Operation, SSAValue

from memopt.compile.driver import load_text, new_context
from memopt.dialects.memgraph.functions import argument_attributes, body_of, only_function
from memopt.dialects.memgraph.names import full_name
from memopt.dialects.memgraph.plan import OFFSET, ORDER, bytes_offset, offsets_of, plan_of
from memopt.dialects.memgraph.tensors import shape_of
from memopt.passes.memgraph_model import MemgraphModelPass
from memopt.passes.memgraph_place import MemgraphPlacePass
from memopt.passes.memgraph_schedule import MemgraphSchedulePass
from memopt.verify.plan import verify_plan

COUNT = max(40, int(3000 * float(os.environ.get("MEMOPT_FUZZ", "0"))))
Array = np.ndarray


def tensor(shape: tuple[int, ...]) -> str:
    return f"tensor<{''.join(f'{n}x' for n in shape)}i8>"


def network(rng: random.Random) -> str:
    """Return a function of vectors and matrices; each of its values is read or returned."""
    shapes: dict[str, tuple[int, ...]] = {"x": (4, rng.choice((2, 4))), "y": (8,)}
    lines: list[str] = []
    unread = set(shapes)

    def add(kind: str, operands: list[str], shape: tuple[int, ...], properties: str = "") -> None:
        name = f"v{len(lines)}"
        types = ", ".join(tensor(shapes[v]) for v in operands)
        listed = ", ".join(f"%{v}" for v in operands)
        said = f" <{{{properties}}}>" if properties else ""
        lines.append(f'%{name} = "stablehlo.{kind}"({listed}){said} : ({types}) -> {tensor(shape)}')
        unread.difference_update(operands)
        unread.add(name)
        shapes[name] = shape

    for _ in range(rng.randint(3, 12)):
        v = rng.choice(list(shapes))
        shape = shapes[v]
        alike = [w for w in shapes if shapes[w][1:] == shape[1:]]
        match rng.choice(("negate", "add", "reshape", "slice", "slice", "join", "join", "update")):
            case "negate":
                add("negate", [v], shape)
            case "add":
                add("add", [v, rng.choice([w for w in shapes if shapes[w] == shape])], shape)
            case "reshape":
                size = int(np.prod(shape))
                add(
                    "reshape",
                    [v],
                    (size,) if len(shape) > 1 else (size // 2, 2) if size % 2 == 0 else (size, 1),
                )
            case "slice":
                axis = rng.randrange(len(shape))
                start = rng.randrange(shape[axis])
                stop = rng.randint(start + 1, shape[axis])
                starts = [start if k == axis else 0 for k in range(len(shape))]
                stops = [stop if k == axis else n for k, n in enumerate(shape)]
                add(
                    "slice",
                    [v],
                    tuple(b - a for a, b in zip(starts, stops, strict=True)),
                    f"start_indices = array<i64: {str(starts)[1:-1]}>, "
                    f"limit_indices = array<i64: {str(stops)[1:-1]}>, "
                    f"strides = array<i64: {str([1] * len(shape))[1:-1]}>",
                )
            case "join":
                parts = [rng.choice(alike) for _ in range(rng.randint(1, 3))]
                rows = sum(shapes[w][0] for w in parts)
                if rows <= 32:
                    add("concatenate", parts, (rows, *shape[1:]), "dimension = 0 : i64")
            case _:
                fitting = [w for w in alike if shapes[w][0] <= shape[0]]
                add("dynamic_update_slice", [v, rng.choice(fitting)], shape)
    returned = sorted(unread - {"x", "y"}) or ["v0"]
    types = ", ".join(tensor(shapes[v]) for v in returned)
    arguments = f"%x: {tensor(shapes['x'])}, %y: {tensor(shapes['y'])}"
    body = "\n  ".join(lines)
    end = f"return {', '.join(f'%{v}' for v in returned)} : {types}"
    return f"func.func @f({arguments}) -> ({types}) {{\n  {body}\n  {end}\n}}\n"


def computed(op: Operation, operands: list[Array]) -> Array:
    """Return what an operation computes; an update begins at 0, so it has no indices."""
    first, shape = operands[0], shape_of(op.results[0])
    match full_name(op).removeprefix("stablehlo."):
        case "negate":
            return -first
        case "add":
            return first + operands[1]
        case "reshape":
            return first.reshape(shape)
        case "concatenate":
            return np.concatenate(operands)
        case "slice":
            starts = [int(n) for n in op.properties["start_indices"].get_values()]  # type: ignore[attr-defined]
            return first[tuple(slice(a, a + n) for a, n in zip(starts, shape, strict=True))]
        case _:
            updated = first.copy()
            updated[: len(operands[1])] = operands[1]
            return updated


def run(text: str, inplace: str) -> None:
    """Plan a function, run it in an arena as planned, and compare all results."""
    context = new_context()
    module = load_text(context, text, "net.mlir")
    MemgraphModelPass(inplace=inplace, alignment=1).apply(context, module)
    MemgraphSchedulePass().apply(context, module)
    MemgraphPlacePass().apply(context, module)
    func = only_function(module)
    verify_plan(func, placed=True)
    plan = plan_of(func)
    assert plan is not None
    rng = np.random.default_rng(len(text))
    arena = np.full(plan.arena, 99, np.int8)  # type: ignore[arg-type]
    whole: dict[SSAValue, Array] = {}
    at: dict[SSAValue, int] = {}

    def place(value: SSAValue) -> Array:
        shape = shape_of(value)
        return arena[at[value] : at[value] + int(np.prod(shape))].reshape(shape)

    block = body_of(func)
    for value, attributes in zip(block.args, argument_attributes(func), strict=True):
        whole[value] = rng.integers(-128, 128, shape_of(value), np.int8)
        if OFFSET in attributes:
            at[value] = attributes[OFFSET].value.data  # type: ignore[attr-defined]
            place(value)[...] = whole[value]
    for op in block.ops:
        if not op.results:
            break
        whole[op.results[0]] = computed(op, [whole[v] for v in op.operands])
        offsets = offsets_of(op)
        offset = bytes_offset(offsets[0]) if offsets else None
        assert offset is not None
        at[op.results[0]] = offset
        if ORDER in op.attributes:
            place(op.results[0])[...] = computed(op, [place(v).copy() for v in op.operands])
    for value in block.last_op.operands:  # type: ignore[union-attr]
        np.testing.assert_array_equal(place(value), whole[value], text)


@pytest.mark.parametrize("inplace", ["on", "off"])
def test_what_runs_in_the_planned_arena_is_what_numpy_computes(inplace: str) -> None:
    rng = random.Random(41)
    for _ in range(COUNT):
        run(network(rng), inplace)
