"""Random networks by every option of the planner: no plan of ours is refused by our own verifier,
and as C it computes what `evaluate` says, stored integers bit for bit."""

import re
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from c_programs import compiled, kernel_objects
from planned_networks import kinds_of, planned, random_module, random_options
from row_networks import image_of
from xdsl.dialects.builtin import ModuleOp

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.backends.c.emit.source import emit, emit_files
from memopt.compile.driver import load_text, new_context
from memopt.dialects.arithmetic.stored import Array
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import functions, only_function
from memopt.text.ir_text import module_text
from memopt.verify.plan import verify_plan

FULL = 20_000  # networks that are planned
FIRST = 40  # of them in `make test`
FULL_C = 4_000  # networks that run
PROGRAM = 10  # networks
FAR = 2e-3  # of the largest, what rules that round otherwise may make of reals
MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
@includes@
@functions@
int main(void) {
@calls@  return 0;
}
"""
ONE = """
static int one_@name@(void) {
  char *in = malloc(@NAME@_INPUT_BYTES);
@before@  int code;
  if (fread(in, 1, @NAME@_INPUT_BYTES, stdin) != @NAME@_INPUT_BYTES) return 1;
@run@
@after@  free(in);
  return code;
}
"""


@dataclass(frozen=True)
class Case:
    """Inputs that a form of a network is given, and what it must make of it."""

    seed: int
    given: Array
    wanted: list[Array]


@pytest.mark.deep
@pytest.mark.parametrize("first", [0, pytest.param(FIRST, marks=pytest.mark.deep)])
def test_no_plan_of_ours_is_refused(
    first: int, fuzz: float, tmp_path: Path, record_property: Any
) -> None:
    """Printed and read again too."""
    count, networks = Counter[str](), max(2 * FIRST, int(FULL * fuzz))
    seeds = range(first, networks if first else FIRST)
    for seed in seeds:
        kind, module = random_module(seed, tmp_path)
        options = random_options(seed)
        try:
            done = planned(module, options)
        except Exception as error:
            raise AssertionError(f"seed {seed}, {options}: {error}") from error
        count[kind if done else "cannot be"] += 1
        if done:
            count.update(kinds_of(options))
            again = load_text(new_context(), module_text(module), "net.mlir")
            for func in functions(again):
                verify_plan(func, placed=True)
    record_property("planned", dict(count))
    assert count["cannot be"] < 0.4 * len(seeds)


@pytest.mark.deep
def test_planned_networks_compute_what_evaluate_says(
    fuzz: float, lab: Any, tmp_path: Path, record_property: Any
) -> None:
    lab.need_tools("host")
    objects, flags = compiled(lab.OBJECTS, lab.SANITIZE)
    count, seed, done = Counter[str](), 0, 0
    whole = max(PROGRAM, int(FULL_C * fuzz))
    while done < whole:
        folder = tmp_path / str(seed)
        folder.mkdir()
        cases: list[Case] = []
        text, kernels = Text(), set[str]()
        while len(cases) < PROGRAM:
            seed += 1
            case = _added(seed, folder, text, kernels, count)
            cases += [case] if case is not None else []
        given = b"".join(case.given.tobytes() for case in cases)
        found = text.run(folder, kernel_objects(objects, kernels, flags), flags, given)
        for case in cases:
            for wanted in case.wanted:
                part, found = found[: wanted.nbytes], found[wanted.nbytes :]
                _check_same(np.frombuffer(part, wanted.dtype), wanted.ravel(), case.seed)
        assert not found
        done += len(cases)
    record_property("run", dict(count))


def _check_same(made: Array, wanted: Array, seed: int) -> None:
    if wanted.dtype.kind != "f":
        assert made.tobytes() == wanted.tobytes(), (seed, random_options(seed))
        return
    finite = np.isfinite(wanted)
    largest = max(1e-3, float(np.abs(wanted[finite]).max(initial=0)))
    assert np.allclose(made[finite], wanted[finite], rtol=0, atol=FAR * largest), (
        seed,
        random_options(seed),
    )


class Text:
    """The program that runs one form after the other: the C of each, and what calls it."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.functions = ""

    def add(self, module: ModuleOp, name: str, folder: Path) -> set[str]:
        """Add a form; the kernels that it calls. Raises MemoptError for what has none."""
        emitted = emit(module, name, "host")
        header, source = emit_files(emitted, name)
        (folder / f"{name}.h").write_text(header)
        (folder / f"{name}.c").write_text(source)
        self.names.append(name)
        self.functions += _calling(name, header)
        return set(emitted.kernels)

    def run(self, folder: Path, objects: list[Path], flags: list[str], given: bytes) -> bytes:
        includes = "".join(f'#include "{name}.h"\n' for name in self.names)
        calls = "".join(f"  if (one_{name}()) return 2;\n" for name in self.names)
        main = MAIN.replace("@includes@", includes).replace("@functions@", self.functions)
        (folder / "main.c").write_text(main.replace("@calls@", calls))
        sources = [str(folder / f"{name}.c") for name in ("main", *self.names)]
        program = str(folder / "program")
        command = ["cc", *flags, "-I", str(folder), "-o", program, *sources, *map(str, objects)]
        made = subprocess.run([*command, "-lm"], capture_output=True, text=True, check=False)
        assert made.returncode == 0, made.stderr
        ran = subprocess.run([program], input=given, capture_output=True, check=False)
        assert ran.returncode == 0, ran.stderr[-3000:].decode()
        return ran.stdout


def _calling(name: str, header: str) -> str:
    """A function that runs a form on what it reads, each buffer apart, for the sanitizers."""
    upper = name.upper()
    (run,) = re.findall(rf"int {name}_run\(([^;]*)\);", header)
    arenas = re.findall(r"uint8_t \*(arena\w*)", run)
    outputs = re.findall(r"\*(output_\d+)", run)
    buffers = [(a, f"{upper}_{a.removeprefix('arena_').upper()}_BYTES") for a in arenas]
    buffers += [(o, f"{upper}_{o.upper()}_BYTES") for o in outputs]
    before = "".join(
        f"  void *{buffer} = memset(malloc({size}), 0x5b, {size});\n" for buffer, size in buffers
    )
    after = "".join(f"  fwrite({o}, 1, {upper}_{o.upper()}_BYTES, stdout);\n" for o in outputs)
    after += "".join(f"  free({buffer});\n" for buffer, _ in buffers)
    given = ", ".join(name for name, _ in buffers)
    call = f"  code = {name}_run({', '.join((*arenas, '(void *)in', *outputs))});"
    if f"{upper}_ROWS " in header:
        call = (
            f"  {name}_state state;\n  code = {name}_start(&state, {given});\n"
            f"  for (int r = 0; !code && r < {upper}_ROWS; r++)\n"
            f"    code = {name}_push_row(&state, (const void *)(in + r * {upper}_ROW_BYTES));\n"
            "  code = code == 1 ? 0 : 3;"
        )
    text = ONE.replace("@name@", name).replace("@NAME@", upper)
    return text.replace("@before@", before).replace("@run@", call).replace("@after@", after)


def _added(
    seed: int, folder: Path, text: Text, kernels: set[str], count: Counter[str]
) -> Case | None:
    """The case of a network that can be planned so and has kernels."""
    kind, module = random_module(seed, folder)
    weights = Weights.of(module)
    func = only_function(module)
    given = image_of(func, np.random.default_rng(seed))
    values = evaluate(func, weights, [given])
    last = func.get_return_op()
    assert last is not None
    wanted = [values[v] for v in last.operands]
    options = random_options(seed)
    if not planned(module, options):
        count["cannot be"] += 1
        return None
    try:
        kernels |= text.add(module, f"n{seed}", folder)
    except MemoptError as error:
        assert "C backend: " in str(error), (seed, options, str(error))
        count["no kernel"] += 1
        return None
    count.update((kind, *kinds_of(options)))
    return Case(seed, given, wanted)
