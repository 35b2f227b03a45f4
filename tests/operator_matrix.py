"""docs/reference/operators.md: every operation, its names, what computes it, what is known of it.

    python tests/operator_matrix.py      # writes the page, which a unit test reads

All of it is asked: the frontends' tables, the C backend, and the operations themselves, which
tests/dialects/property/test_rows_needed.py makes with random attributes.
"""

import importlib.util
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from xdsl.dialects.builtin import IntegerType, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.test_value import create_ssa_value

from memopt.backends.c.emit.call import element_kind
from memopt.backends.c.emit.registry import ANY, kernels_of
from memopt.dialects.arithmetic.stored import dtype_of
from memopt.dialects.attributes.operators import EncodingAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.tensors import encoding_of, shape_of
from memopt.dialects.operators import operations
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.traits import Folds, Pointwise, RealsOnly
from memopt.frontends.core.node import Entry
from memopt.frontends.onnx import operators as onnx
from memopt.frontends.tflite import operators as tflite

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/reference/operators.md"
TRIES = 30  # random attributes per operation
NUMBERS = ((0.05, 0), (1 / 256, -128), (1 / 128, 0))  # quantizations of results

HEAD = """# Operators

Every typed operation of the dialect, what it is, and what the project does with it. An operator
that is not here, or does more than the operation of its name, is a `memgraph.opaque`: planned and
written back, refused by the C backend. A test makes this page from the code, and so does
`make docs/reference/operators.md`.

**types**: those of which `evaluate` knows the result: integers as TensorFlow Lite Micro computes
them, bit for bit. Those with a C kernel are bold. **rows**: whether it can be computed row by row,
and how a row is stored. **in place**: the result may take an operand's bytes. **constant**:
computed when code is written, if all operands are constants. **activation**: applies a fused one.

| operation | what it is | TFLite | ONNX | types | rows | in place | constant | activation |
|---|---|---|---|---|---|---|---|---|
"""


def load(path: Path) -> ModuleType:
    """A test file as a module: test directories are no packages."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


sys.path[:0] = [
    str(ROOT / "tests/helpers" / folder) for folder in ("", "networks")
]  # as pytest does
rows = load(ROOT / "tests/dialects/property/test_rows_needed.py")


def called(table: Mapping[str, Entry], op: type[Operation]) -> list[str]:
    """What a source calls an operation."""
    return sorted(name for name, entry in table.items() if op in entry.kinds)


@cache
def integers(layout: str, shape: tuple[int, ...], bits: int, scale: float, zero: int) -> Attribute:
    """The type of a quantized tensor; made once, as most of the time goes into checking types."""
    encoding = EncodingAttr(layout, (scale,), (zero if bits == 8 else 0,))
    return TensorType(IntegerType(bits), shape, encoding)


def retyped(op: ComputeOp, bits: int, others: int, numbers: tuple[float, int]) -> ComputeOp:
    """The operation between stored integers: of `bits`, operands after the first of `others`."""

    def stored(v: SSAValue, width: int, quantization: tuple[float, int]) -> Attribute:
        if element_kind(v) == "bool":  # true or false of any numbers
            return v.type
        return integers(encoding_of(v).layout.data, shape_of(v), width, *quantization)

    operands = [
        create_ssa_value(stored(v, others if i else bits, (0.05, 0)))
        for i, v in enumerate(op.operands)
    ]
    results = [stored(v, bits, numbers) for v in op.results]
    return type(op).create(operands=operands, result_types=results, properties=op.properties)


def evaluates(op: ComputeOp) -> bool:
    """Whether it knows its result of small numbers."""
    try:
        op.evaluate([array_of(v, 1) for v in op.operands])
    except MemoptError:
        return False
    return True


def array_of(value: SSAValue, number: int) -> Any:
    """A tensor of one number everywhere."""
    return np.full(shape_of(value), number).astype(dtype_of(value))


def types_of(kind: type[ComputeOp], made: Iterable[ComputeOp]) -> list[str]:
    """The element types of which the result is known; bold where a portable kernel computes it."""
    known: set[str] = set()

    def note(op: ComputeOp) -> None:
        ends = [element_kind(v) for v in (op.operands[0], op.results[0])]
        types = " to ".join(dict.fromkeys(ends))
        if types not in known and evaluates(op):
            known.add(types)

    for op in made:
        note(op)
        for bits in (8, 16):
            if f"s{bits}" in known:
                continue
            for others in (8, 16):
                for numbers in NUMBERS:
                    note(retyped(op, bits, others, numbers))
    portable = [k for k in kernels_of(kind) if k.isa == "c"]
    own = {k.types for k in portable if k.op is kind and k.types in ("s8", "u8")}
    stored = not kind.has_trait(RealsOnly)
    shared = (k.types for k in portable if k.types == "f32" or "bool" in k.types or stored)
    kernels = own.union(shared)
    computed = known if ANY in kernels else kernels
    return [f"**{t}**" if t in computed else t for t in sorted(known | computed)]


def row_of(kind: type[ComputeOp]) -> str:
    """The line of an operation."""
    name = kind.name.removeprefix("memgraph.")
    rng = np.random.default_rng(1)
    made: list[ComputeOp] = [rows.GENERATORS[name](name, rng) for _ in range(TRIES)]
    modes = sorted({op.rows_mode for op in made if op.rows_mode is not None})
    columns = (
        f"`{name}`",
        vars(kind)["__doc__"].split("\n\n")[0].replace("\n   ", "").removesuffix("."),
        ", ".join(called(tflite.OPERATORS, kind)),
        ", ".join(called(onnx.OPERATORS, kind)),
        ", ".join(types_of(kind, made)),
        ", ".join(modes),
        "yes" if kind.has_trait(Pointwise) else "",
        "yes" if kind.has_trait(Folds) else "",
        "yes" if any(op.takes_activation for op in made) else "",
    )
    return f"| {' | '.join(columns)} |\n"


def page() -> str:
    """The text of docs/reference/operators.md."""
    kinds = [op for op in operations() if issubclass(op, ComputeOp)]
    return HEAD + "".join(row_of(kind) for kind in kinds)


if __name__ == "__main__":
    PAGE.write_text(page())
