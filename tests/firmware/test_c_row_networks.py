"""Random networks of all operators that have kernels, in rows and whole: the same bits as C, and of
stored integers those that `evaluate` says. Many networks are one program of few kernels."""

import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from row_networks import cut_some, image_of, kinds, network
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.backends.c.emit import emit, emit_files
from memopt.backends.c.kernels import kernel_files, needed_files
from memopt.dialects.functions import body_of, only_function
from memopt.dialects.operators.convolution import DepthwiseConv2DOp
from memopt.dialects.plan import CHOSEN
from memopt.driver import load_text, new_context
from memopt.passes.memgraph_model import MemgraphModelPass
from memopt.passes.memgraph_place import MemgraphPlacePass
from memopt.passes.memgraph_schedule import MemgraphSchedulePass
from memopt.rewrites import apply_rules

PARTS = 4  # that run side by side
FULL = 2_000  # networks
LEAST = 100  # of every operator, in the full count
PROGRAM = 25  # networks

MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
@includes@
typedef int run(uint8_t *arena, const void *input, void *first, void *second);

@functions@
/* The outputs of one form, each a buffer of its own, so that sanitizers see its ends. */
static int one(run *form, size_t arena, size_t input, size_t first, size_t second, const char *in) {
  uint8_t *memory = malloc(arena), *a = malloc(first), *b = malloc(second ? second : 1);
  char *given = malloc(input);
  int code;
  memcpy(given, in, input);
  memset(memory, 0x5b, arena);
  code = form(memory, given, a, b);
  fwrite(a, 1, first, stdout);
  fwrite(b, 1, second, stdout);
  free(memory), free(a), free(b), free(given);
  return code;
}

int main(void) {
  static char in[1 << 16];
@calls@  return 0;
}
"""


def planned(
    text: str, seed: int, rows: np.random.Generator | None
) -> tuple[ModuleOp, Counter[str]]:
    """The network, whole or in rows, and what is cut."""
    module, context = load_text(new_context(), text, "net.mlir"), Context()
    func = only_function(module)
    if seed % 4 > 1:
        apply_rules(func, ("slice-as-view",))
    if seed % 3 == 2:
        apply_rules(func, ("depthwise-in-place",))
    io, inplace = ("caller" if seed % 2 else "arena"), ("on" if seed % 3 else "off")
    MemgraphModelPass(target="host", alignment=4, inplace=inplace, io=io).apply(context, module)
    found = cut_some(func, seed, rows) if rows is not None else Counter[str]()
    MemgraphSchedulePass(method="rpo").apply(context, module)
    MemgraphPlacePass("greedy-by-size").apply(context, module)
    return module, found


def overwriting(module: ModuleOp) -> int:
    """The depthwise convolutions that are planned over their operand."""
    ops = body_of(only_function(module)).ops
    return sum(isinstance(op, DepthwiseConv2DOp) and CHOSEN in op.attributes for op in ops)


class Program:
    """Forms of networks, each with a function of its own, and what calls all of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.names: list[str] = []
        self.functions = ""
        self.calls = ""
        self.kernels: set[str] = set()

    def add(self, module: ModuleOp, name: str, sizes: list[int]) -> None:
        """`sizes` of the input and the outputs, in bytes."""
        emitted = emit(module, name, "host")
        header, source = emit_files(emitted, name)
        (self.folder / f"{name}.h").write_text(header)
        (self.folder / f"{name}.c").write_text(source)
        self.kernels.update(emitted.kernels)
        self.names.append(name)
        outputs = ["first", "second"][: len(sizes) - 1]
        self.functions += (
            f"static int {name}(uint8_t *arena, const void *input, void *first, void *second) {{\n"
            f"  (void)second;\n  return {name}_run(arena, input, {', '.join(outputs)});\n}}\n"
        )
        arena = f"{name.upper()}_ARENA_BYTES"
        numbers = ", ".join(map(str, [*sizes, *([0] * (3 - len(sizes)))]))
        if name.startswith("whole"):
            self.calls += f"  if (fread(in, 1, {sizes[0]}, stdin) != {sizes[0]}) return 1;\n"
        self.calls += f"  if (one({name}, {arena}, {numbers}, in)) return 2;\n"

    def run(self, objects: Path, given: bytes, flags: list[str]) -> bytes:
        """What it writes."""
        includes = "".join(f'#include "{name}.h"\n' for name in self.names)
        text = MAIN.replace("@includes@", includes).replace("@functions@", self.functions)
        (self.folder / "main.c").write_text(text.replace("@calls@", self.calls))
        kernels = [objects / f"memopt_{k}.o" for k in sorted(self.kernels)]
        sources = [self.folder / f"{name}.c" for name in self.names]
        command = ["cc", *flags, "-I", str(self.folder), "-o", str(self.folder / "program")]
        command += map(str, [self.folder / "main.c", *sources, *kernels])
        done = subprocess.run([*command, "-lm"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        ran = subprocess.run(
            [str(self.folder / "program")], input=given, capture_output=True, check=False
        )
        assert ran.returncode == 0, ran.stderr[-3000:]
        return ran.stdout


@pytest.fixture(scope="module")
def flags(lab: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """All kernels as object files, with sanitizers, and how a program of them is compiled."""
    lab.need_tools("host")
    folder = tmp_path_factory.mktemp("objects")
    how = ["-std=c99", *lab.SANITIZE.split(), "-ffp-contract=off", "-I", str(folder)]
    files = [f for f in kernel_files() if f.endswith(".c")]
    for path in needed_files(f.removeprefix("memopt_").removesuffix(".c") for f in files):
        (folder / path.name).write_bytes(path.read_bytes())
    done = subprocess.run(
        ["cc", *how, "-c", *files], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder, how


@pytest.mark.parametrize("part", range(PARTS))
def test_rows_of_networks_compute_the_same_bits(
    part: int,
    fuzz: float,
    flags: tuple[Path, list[str]],
    tmp_path: Path,
    record_property: Any,
) -> None:
    """Half of them with a branch across what is cut, a quarter with two results; outputs in the
    arena or the caller's, in place or not, depthwise ones too, slices as views or not."""
    rows, all_, over = Counter[str](), Counter[str](), 0
    seeds = range(part, max(5 * PARTS, int(FULL * fuzz)), PARTS)
    for start in range(0, len(seeds), PROGRAM):
        program = Program(tmp_path / str(start))
        given, want = b"", list[tuple[int, bool, list[bytes]]]()
        for seed in seeds[start : start + PROGRAM]:
            rng, n = np.random.default_rng(10_000 + seed), seed // PARTS
            outputs = 2 if n % 4 == 3 else 1
            quantized = n % 3 != 1
            text = network(rng, quantized, branch=n % 2 == 1, outputs=outputs)
            func = only_function(load_text(new_context(), text, "net.mlir"))
            image = image_of(func, rng)
            values = evaluate(func, Weights({}), [image])
            last = func.get_return_op()
            assert last is not None
            results = [values[v].tobytes() for v in last.operands]
            sizes = [image.nbytes, *map(len, results)]
            given += image.tobytes()
            want.append((seed, quantized, results))
            module, _ = planned(text, seed, None)
            over += overwriting(module)
            program.add(module, f"whole{seed}", sizes)
            module, cut = planned(text, seed, rng)
            program.add(module, f"rows{seed}", sizes)
            rows, all_ = rows + cut, all_ + kinds(func)
        found = program.run(flags[0], given, flags[1])
        for seed, quantized, results in want:
            size = sum(map(len, results))
            whole, in_rows, found = found[:size], found[size : 2 * size], found[2 * size :]
            assert whole == in_rows, seed
            if quantized:
                assert whole == b"".join(results), seed
        assert not found
    record_property("cut in C", {k: (rows[k], all_[k]) for k in all_})
    record_property("depthwise in place", over)
    assert fuzz < 1 or min(rows[k] for k in all_) * PARTS >= LEAST, rows
    assert fuzz < 1 or over * PARTS >= LEAST
