"""Functions that the stock mlir-opt lowers from linalg and tosa, planned and run by its runner
between guard pages: every bit is that of the unplanned run, in less than MLIR's static planner
needs. `MEMOPT_FUZZ=1` runs 50 of them."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from standard_functions import BUFFERIZE, INPUT, LOOPS, standard_function, type_of
from standard_mlir import LOWER, SIDES, SUPPORT, inside, library, need_mlir, run, standard

from memopt.cli.opt import main as opt
from memopt.compile.driver import load_text, new_context
from memopt.dialects.memgraph.functions import functions
from memopt.dialects.memgraph.plan import plan_of
from memopt.passes.memref.live_ranges import Called, Reading
from memopt.solvers.placement import place

FORM = ("--print-op-generic", "--allow-unregistered-dialect")  # of linalg xDSL has a part

COPY = r"""
#include <stdint.h>
#include <string.h>
typedef struct { char *allocated, *aligned; int64_t offset, numbers[]; } strided;
typedef struct { int64_t rank; strided *of; } unranked;
void memrefCopy(int64_t size, unranked *from, unranked *to);
void memrefCopy(int64_t size, unranked *from, unranked *to) {  /* as MLIR's own library has it */
  const int64_t rank = from->rank, *sizes = from->of->numbers;
  int64_t count = 1;
  for (int64_t k = 0; k < rank; ++k) count *= sizes[k];
  for (int64_t at = 0; at < count; ++at) {
    int64_t rest = at, source = from->of->offset, target = to->of->offset;
    for (int64_t k = rank - 1; k >= 0; --k) {
      source += rest % sizes[k] * from->of->numbers[rank + k];
      target += rest % sizes[k] * to->of->numbers[rank + k];
      rest /= sizes[k];
    }
    memcpy(to->of->aligned + target * size, from->of->aligned + source * size, (size_t)size);
  }
}
"""
DECLARED = """
func.func private @guarded(i64, i64) -> memref<?xi8> attributes {llvm.emit_c_interface}
func.func private @untouched() -> i64 attributes {llvm.emit_c_interface}
func.func private @load(memref<?xi8>, i64) attributes {llvm.emit_c_interface}
func.func private @save(memref<?xi8>, i64) attributes {llvm.emit_c_interface}
"""


def buffer(name: str, shape: tuple[int, ...], index: int, way: str) -> str:
    """Return a buffer %name of a shape, and the call that reads it from a file or writes it."""
    size, t = int(np.prod(shape)) * 4, type_of(shape).replace("tensor", "memref")
    return f"""%{name}bytes = memref.alloc() {{alignment = 64 : i64}} : memref<{size}xi8>
%{name} = memref.view %{name}bytes[%c0][] : memref<{size}xi8> to {t}
%{name}open = memref.cast %{name}bytes : memref<{size}xi8> to memref<?xi8>
%{name}index = arith.constant {index} : i64
{"" if way == "save" else f"call @load(%{name}open, %{name}index) : (memref<?xi8>, i64) -> ()"}
"""


def entry(shapes: dict[str, tuple[int, ...]], arenas: dict[str, int] | None, side: int) -> str:
    """Return @entry, which runs all functions, each in an arena of its own between guard pages if
    there are `arenas`; its result is 1, or 0 if bytes beside an arena changed."""
    lines = ["%c0 = arith.constant 0 : index", "%good = arith.constant 1 : i64"]
    lines += [buffer("x", INPUT, 0, "load"), buffer("y", INPUT, 1, "load")]
    taken, good = type_of(INPUT).replace("tensor", "memref"), "%good"
    for k, (name, shape) in enumerate(shapes.items()):
        t = type_of(shape).replace("tensor", "memref")
        lines.append(buffer(f"o{k}", shape, k, "save"))
        arena = arenas.get(name, 0) if arenas else 0
        if arena:
            lines += [
                f"%size{k} = arith.constant {arena} : i64\n%side{k} = arith.constant {side} : i64",
                f"%g{k} = call @guarded(%size{k}, %side{k}) : (i64, i64) -> memref<?xi8>",
                f"%a{k} = memref.cast %g{k} : memref<?xi8> to memref<{arena}xi8>",
                f"call @{name}(%a{k}, %x, %y, %o{k})"
                f" : (memref<{arena}xi8>, {taken}, {taken}, {t}) -> ()",
                f"%u{k} = call @untouched() : () -> i64",
                f"%good{k} = arith.andi {good}, %u{k} : i64",
            ]
            good = f"%good{k}"
        else:
            lines.append(f"call @{name}(%x, %y, %o{k}) : ({taken}, {taken}, {t}) -> ()")
        lines.append(f"call @save(%o{k}open, %o{k}index) : (memref<?xi8>, i64) -> ()")
    body = "\n".join([*lines, f"return {good} : i64"])
    return f"{DECLARED}func.func @entry() -> i64 {{\n{body}\n}}\n"


def outputs(text: str, count: int, inputs: list[np.ndarray], support: Path) -> list[bytes]:
    done = run(text, LOWER, inputs, [support])
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.strip() == "1", "bytes beside the arena changed"
    return [(support.parent / f"out{k}").read_bytes() for k in range(count)]


@pytest.mark.deep
def test_functions_of_linalg_and_tosa_compute_the_same_bits(
    fuzz: float,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    record_property: Callable[[str, object], None],
) -> None:
    need_mlir()
    support = library(SUPPORT + COPY, "support", tmp_path)
    random = np.random.default_rng(3)
    inputs = [(random.integers(-64, 64, INPUT) / 32.0).astype(np.float32) for _ in range(2)]
    sums: list[tuple[int, int, int]] = []
    for form in (BUFFERIZE, f"{BUFFERIZE},{LOOPS}"):
        names = {f"f{seed}": seed for seed in range(max(2, int(25 * fuzz)))}
        offset = 0 if form is BUFFERIZE else 100
        texts = {n: standard_function(n, seed + offset) for n, seed in names.items()}
        shapes = {name: shape for name, (_, shape) in texts.items()}
        tensors = "".join(text for text, _ in texts.values())
        buffers = standard(tensors, f"--pass-pipeline=builtin.module({form})")
        path = tmp_path / "in.mlir"
        path.write_text(standard(buffers, "--mlir-print-op-generic"))
        want = outputs(inside(buffers, entry(shapes, None, 0)), len(shapes), inputs, support)
        assert len({*want}) > 1
        for side, order in zip(SIDES, ("fixed", "free"), strict=True):
            kept = f"memgraph-plan-memrefs{{order={order} replace=false}}"
            plan = tmp_path / f"{order}.mlir"
            assert opt([str(path), "-p", kept, *FORM, "-o", str(plan)]) == 0
            given = "memgraph-plan-memrefs{arena=argument}"
            assert opt([str(plan), "-p", given, *FORM]) == 0
            lowered = standard(capsys.readouterr().out)
            assert "memref.alloc" not in lowered
            arenas = {
                name: int(size)
                for name, size in re.findall(r"@(\w+)\(%\w+: memref<(\d+)xi8>", lowered)
            }
            text = inside(lowered, entry(shapes, arenas, side))
            assert outputs(text, len(shapes), inputs, support) == want
            for func in functions(load_text(new_context(True), plan.read_text(), str(plan))):
                problem, known = Reading(func, Called({}, {})).problem, plan_of(func)
                assert known is not None
                separate = sum(b.size for b in problem.buffers)
                sums.append((known.arena, place(problem, "best-fit").arena, separate))
                assert known.arena <= sums[-1][1] <= separate
    planned, best_fit, separate = (sum(column) for column in zip(*sums, strict=True))
    assert planned < separate
    record_property(
        "brute force", ("functions of mlir-opt", len(sums), sum(a < b for a, b, _ in sums))
    )
    print(f"planned {planned:,} B, best fit {best_fit:,} B, separate {separate:,} B")
