"""A compiler outside this repository uses the passes on its own dialect.

The package `toyflow` is installed into a folder of its own and run by other processes, so nothing
but what an installed memopt offers can help it.
"""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from installed_package import installed
from standard_mlir import (
    LOWER,
    SIDES,
    SUPPORT,
    entry,
    inside,
    library,
    need_mlir,
    results,
    standard,
    tensor,
)

HERE = Path(__file__).resolve().parent
BIN = Path(sys.executable).parent
NETWORK, TEN = HERE / "network.mlir", HERE / "ten.mlir"

OWN_PIPELINE = """
import sys
from xdsl.context import Context
from xdsl.parser import Parser
from xdsl.universe import Universe
from toyflow.passes import pipeline, runnable

context = Context()
for name, factory in Universe.get_multiverse().all_dialects.items():
    context.register_dialect(name, factory)
context.load_registered_dialect("builtin")
module = Parser(context, open(sys.argv[1]).read()).parse_module()
passes = runnable() if sys.argv[2] == "run" else pipeline(sys.argv[2])
passes.apply(context, module)
module.verify()
print(module)
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a process that finds toyflow, installed into a folder."""
    return installed(HERE / "toyflow", tmp_path_factory.mktemp("toyflow"))


def run(environment: dict[str, str], *command: str | Path) -> str:
    done = subprocess.run(
        list(map(str, command)),
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        cwd=HERE,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.deep
def test_own_pipeline(environment: dict[str, str]) -> None:
    """Less than in source order; conv's workspace, the view and the in-place add counted."""
    best = run(environment, sys.executable, "-c", OWN_PIPELINE, NETWORK, "auto")
    source = run(environment, sys.executable, "-c", OWN_PIPELINE, NETWORK, "source")
    # best: c 32, b 320, d 32 and the 104 of the first call; source: x 64, a 320, b 320, conv's 48
    assert "peak = 488, lower_bound = 488, proof = " in best
    assert "peak = 752, " in source
    assert "toy.arena = 488 : i64" in best
    assert "memgraph.scratch = [#memgraph.scratch<48, " in best
    assert "memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]]" in best
    assert best.count("toy.address = ") == 8  # all operations but the return
    assert best.index('toy.call "dsp" %b') < best.index('toy.call "dsp" %e')


@pytest.mark.deep
def test_through_stock_xdsl_opt(environment: dict[str, str]) -> None:
    passes = (
        "toy-simplify,memgraph-model{alignment=8},memgraph-schedule,memgraph-place,toy-addresses"
    )
    printed = run(environment, BIN / "xdsl-opt", "-p", passes, NETWORK)
    assert "toy.address" in printed


def test_through_memopt_opt(environment: dict[str, str]) -> None:
    command = ("--schedule=auto", "--place=auto", "--verify-plan")
    printed = run(environment, BIN / "memopt-opt", *command, NETWORK)
    assert 'toy.call "dsp"' in printed
    assert "arena_lower_bound" in printed


def sums(values: np.ndarray, size: int) -> np.ndarray:
    """toy.conv."""
    flat = values.reshape(-1)
    found = [sum(int(flat[(i + k) % flat.size]) for k in range(5)) for i in range(size)]
    return np.array(found, np.int64).astype(np.int8)


def running(values: np.ndarray, size: int, kept: int) -> np.ndarray:
    """toy.call "dsp"."""
    found = [int(values[i % values.size]) for i in range(size)]
    for i in range(kept, size):
        found[i] += found[i - kept]
    return np.array(found, np.int64).astype(np.int8)


def ten(x: np.ndarray) -> list[bytes]:
    """ten.mlir, in the order in which it stands."""
    b = running(sums(x, 320), 64, 100)
    e = b * np.int8(3) + x
    f = np.maximum(e, 0)
    o = (f[::2] + sums(f, 32)) * running(sums(x, 320), 32, 4)
    return [np.concatenate([e, o]).tobytes(), np.maximum(f[1::2][8:24], 0).tobytes()]


@pytest.mark.deep
def test_ten_operations_planned_lowered_and_run(
    environment: dict[str, str], tmp_path: Path
) -> None:
    """All of its dialect in one arena, run by standard MLIR between guard pages."""
    need_mlir()
    text = TEN.read_text()
    assert len(set(re.findall(r"toy\.\w+", text))) == 10
    planned = run(environment, sys.executable, "-c", OWN_PIPELINE, TEN, "auto")
    (arena,) = map(int, re.findall(r"toy.arena = (\d+)", planned))
    source = run(environment, sys.executable, "-c", OWN_PIPELINE, TEN, "source")
    assert arena < int(re.findall(r"toy.arena = (\d+)", source)[0])
    lowered = standard(run(environment, sys.executable, "-c", OWN_PIPELINE, TEN, "run"))
    assert "toy." not in lowered and "memref.alloc" not in lowered
    runtime = (HERE / "toyflow" / "src" / "toyflow" / "runtime.c").read_text()
    made = [library(SUPPORT, "support", tmp_path), library(runtime, "runtime", tmp_path)]
    x = np.random.default_rng(3).integers(-128, 128, 64, np.int8)
    takes, makes = [tensor([64], "i8", 1)], [tensor([96], "i8", 1), tensor([16], "i8", 1)]
    for side in SIDES:
        main = inside(lowered, entry("ten", takes, makes, arena, side))
        assert results(main, LOWER, [x], made) == ten(x)
