"""Planned linalg on one arena, lowered and run by standard MLIR: every bit is that of MLIR's own
bufferization, and nothing is written outside the arena."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from demo_model import demo_model
from standard_mlir import (
    BUFFERS,
    LOWER,
    SIDES,
    SUPPORT,
    entry,
    inside,
    library,
    need_mlir,
    results,
    run,
    standard,
    tensor,
)

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.cli.opt import main as opt
from memopt.compile.driver import load_text, new_context
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.memgraph.tensors import shape_of

PLAN = "memgraph-schedule,memgraph-place,memgraph-verify-plan{placed=true},memgraph-to-memref"


@dataclass
class Net:
    """A function of linalg operations on tensors, written line by line."""

    inputs: list[tuple[int, ...]]
    lines: list[str] = field(default_factory=list[str])
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(5))

    def __post_init__(self) -> None:
        self.shapes |= {f"%x{i}": shape for i, shape in enumerate(self.inputs)}

    def type(self, value: str) -> str:
        return f"tensor<{'x'.join(map(str, self.shapes[value]))}xf32>"

    def new(self, shape: tuple[int, ...]) -> str:
        name = f"%v{len(self.shapes)}"
        self.shapes[name] = shape
        return name

    def weights(self, *shape: int) -> str:
        name = self.new(shape)
        text = str((self.rng.integers(-64, 64, shape) / 32.0).tolist())
        self.lines.append(f"{name} = arith.constant dense<{text}> : {self.type(name)}")
        return name

    def filled(self, value: str, *shape: int) -> str:
        empty, name = self.new(shape), self.new(shape)
        self.lines.append(f"{empty} = tensor.empty() : {self.type(empty)}")
        self.lines.append(
            f"{name} = linalg.fill ins({value} : f32) outs({empty} : {self.type(empty)})"
            f" -> {self.type(name)}"
        )
        return name

    def generic(self, maps: str, kinds: str, ins: list[str], init: str, body: str) -> str:
        """`maps` are those of ins and init; `body` computes %r of %a, %b and %o."""
        name = self.new(self.shapes[init])
        dims = ", ".join(f"d{i}" for i in range(len(kinds)))
        listed = ", ".join(f"affine_map<({dims}) -> ({m})>" for m in maps.split("; "))
        iterators = ", ".join('"parallel"' if kind == "p" else '"reduction"' for kind in kinds)
        arguments = ", ".join(f"%{n}: f32" for n in "ab"[: len(ins)])
        self.lines.append(
            f"{name} = linalg.generic {{indexing_maps = [{listed}],"
            f" iterator_types = [{iterators}]}}"
            f" ins({', '.join(ins)} : {', '.join(map(self.type, ins))})"
            f" outs({init} : {self.type(init)}) {{\n^bb0({arguments}, %o: f32):\n{body}\n"
            f"linalg.yield %r : f32\n}} -> {self.type(name)}"
        )
        return name

    def each(self, body: str, *ins: str) -> str:
        """An operation on each element."""
        shape = self.shapes[ins[0]]
        dims = ", ".join(f"d{i}" for i in range(len(shape)))
        init = self.new(shape)
        self.lines.append(f"{init} = tensor.empty() : {self.type(init)}")
        return self.generic(
            "; ".join([dims] * (len(ins) + 1)), "p" * len(shape), [*ins], init, body
        )

    def text(self, result: str) -> str:
        head = ", ".join(f"%x{i}: {self.type(f'%x{i}')}" for i in range(len(self.inputs)))
        body = "\n".join(self.lines)
        return (
            f"func.func @net({head}) -> {self.type(result)} {{\n"
            "%zero = arith.constant 0.0 : f32\n%least = arith.constant -1.0e30 : f32\n"
            f"{body}\nfunc.return {result} : {self.type(result)}\n}}\n"
        )


RELU = "%r = arith.maximumf %a, %zero : f32"
ADD = "%r = arith.addf %a, %b : f32"
DOT = "%m = arith.mulf %a, %b : f32\n%r = arith.addf %o, %m : f32"


def product(net: Net, a: str, b: str, turned: bool = False) -> str:
    (rows, _), other = net.shapes[a], net.shapes[b]
    columns = other[0] if turned else other[1]
    init = net.filled("%zero", rows, columns)
    maps = f"d0, d2; {'d1, d2' if turned else 'd2, d1'}; d0, d1"
    return net.generic(maps, "ppr", [a, b], init, DOT)


def cnn() -> tuple[Net, str]:
    net, now = Net([(2, 12, 12)]), "%x0"
    for channels in (4, 8, 4):
        before, height, width = net.shapes[now]
        init = net.filled("%zero", channels, height - 2, width - 2)
        weights = net.weights(channels, before, 3, 3)
        maps = "d3, d1 + d4, d2 + d5; d0, d3, d4, d5; d0, d1, d2"
        now = net.each(RELU, net.generic(maps, "ppprrr", [now, weights], init, DOT))
    return net, now


def residual() -> tuple[Net, str]:
    net, now = Net([(6, 16)]), "%x0"
    for _ in range(3):
        inner = net.each(RELU, product(net, now, net.weights(16, 40)))
        now = net.each(ADD, product(net, inner, net.weights(40, 16)), now)
    return net, now


def attention() -> tuple[Net, str]:
    net, x = Net([(10, 8)]), "%x0"
    q, k, v = (product(net, x, net.weights(8, 8)) for _ in range(3))
    scores = net.each(
        "%c = arith.constant 0.015625 : f32\n%r = arith.mulf %a, %c : f32", product(net, q, k, True)
    )
    rows = net.shapes[scores][0]
    top = net.generic(
        "d0, d1; d0", "pr", [scores], net.filled("%least", rows), "%r = arith.maximumf %a, %o : f32"
    )
    powers = net.generic(
        "d0, d1; d0; d0, d1",
        "pp",
        [scores, top],
        net.filled("%zero", rows, rows),
        "%s = arith.subf %a, %b : f32\n%r = math.exp %s : f32",
    )
    total = net.generic(
        "d0, d1; d0", "pr", [powers], net.filled("%zero", rows), "%r = arith.addf %a, %o : f32"
    )
    shares = net.generic(
        "d0, d1; d0; d0, d1",
        "pp",
        [powers, total],
        net.filled("%zero", rows, rows),
        "%r = arith.divf %a, %b : f32",
    )
    return net, net.each(ADD, product(net, shares, v), x)


@pytest.fixture(scope="module")
def support(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library of guarded arenas."""
    need_mlir()
    return library(SUPPORT, "support", tmp_path_factory.mktemp("support"))


def random_input(shape: tuple[int, ...]) -> np.ndarray:
    return (np.random.default_rng(7).integers(-512, 512, shape) / 128.0).astype(np.float32)


@pytest.mark.deep
@pytest.mark.parametrize("network", [cnn, residual, attention])
def test_planned_networks_compute_the_same_bits(
    network: Callable[[], tuple[Net, str]],
    support: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In an arena of exactly the promised bytes, between two guard pages."""
    net, result = network()
    path = tmp_path / "net.mlir"
    path.write_text(net.text(result))
    inputs = [random_input(shape) for shape in net.inputs]
    takes, makes = [tensor(shape) for shape in net.inputs], [tensor(net.shapes[result])]
    unplanned = net.text(result) + entry("net", takes, makes, None)
    want = results(unplanned, (BUFFERS, *LOWER), inputs, [support])
    assert len(set(np.frombuffer(want[0], np.float32))) > 8
    assert opt([str(path), "--schedule=auto", "--place=auto"]) == 0
    (promised,) = {int(n) for n in re.findall(r"\barena = (\d+)", capsys.readouterr().out)}
    for form in ([], ["--print-op-generic"]):
        assert opt([str(path), "-p", PLAN, *form]) == 0
        lowered = standard(capsys.readouterr().out)
        assert "memref.alloc" not in lowered and "tensor.empty" not in lowered
        for side in SIDES:
            text = inside(lowered, entry("net", takes, makes, promised, side))
            assert results(text, LOWER, inputs, [support]) == want
    small = lowered.replace(f"memref<{promised}xi8>", f"memref<{promised - 16}xi8>")
    text = inside(small, entry("net", takes, makes, promised - 16, 1))
    assert run(text, LOWER, inputs, [support]).returncode != 0  # a byte less is seen


# -- both ways through the stock tools ------------------------------------------------------------


@pytest.mark.parametrize("network", [cnn, residual, attention])
def test_the_generic_form_goes_both_ways(
    network: Callable[[], tuple[Net, str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """mlir-opt reads plans, which are attributes that it need not know; what it prints is planned,
    or verified, as before."""
    need_mlir()
    net, result = network()
    path, there = tmp_path / "net.mlir", tmp_path / "there.mlir"
    path.write_text(net.text(result))
    there.write_text(standard(net.text(result), "--mlir-print-op-generic"))
    plans: list[str] = []
    for source in (path, there):
        assert opt([str(source), "--schedule=auto", "--place=auto", "--print-op-generic"]) == 0
        plans.append(capsys.readouterr().out)
    numbers = [re.findall(r"\b(?:peak|arena|lower_bound) = \d+", plan) for plan in plans]
    assert numbers[0] == numbers[1] != []
    there.write_text(standard(plans[0], "--allow-unregistered-dialect", "--mlir-print-op-generic"))
    assert opt([str(there), "-p", "memgraph-verify-plan{placed=true}"]) == 0
    assert re.findall(r"\barena = \d+", capsys.readouterr().out)


@pytest.mark.deep
def test_our_own_plans_go_both_ways(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Operations and attributes of ours, which are no dialect of mlir-opt's."""
    need_mlir()
    model, there = tmp_path / "net.tflite", tmp_path / "there.mlir"
    model.write_bytes(demo_model())
    assert opt([str(model), "--schedule=auto", "--place=auto", "--print-op-generic"]) == 0
    planned = capsys.readouterr().out
    generic = ("--allow-unregistered-dialect", "--mlir-print-op-generic")
    there.write_text(standard(planned, *generic))
    checked = ["-p", "memgraph-verify-plan{placed=true}", "--print-op-generic"]
    assert opt([str(there), *checked]) == 0
    assert standard(capsys.readouterr().out, *generic) == there.read_text()


# -- operations of ours ---------------------------------------------------------------------------

MIXED = """
func.func @mixed(%x: tensor<1x4x4x2xf32>, %y: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %a = memgraph.tanh %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %e = tensor.empty() : tensor<1x4x4x2xf32>
  %s = linalg.mul ins(%a, %y : tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>)
    outs(%e : tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %v = memgraph.reshape %s : (tensor<1x4x4x2xf32>) -> tensor<4x8xf32>
  %b = memgraph.softmax %v axis 1 beta 1.0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = memgraph.reshape %b : (tensor<4x8xf32>) -> tensor<1x4x4x2xf32>
  func.return %r : tensor<1x4x4x2xf32>
}
"""


def calls(path: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[str, Path]:
    """A planned file lowered, and the C of the operations of ours in it."""
    source = folder / "calls.c"
    assert opt([str(path), "-t", "c-calls", "-o", str(source)]) == 0
    assert opt([str(path), "-p", "memgraph-to-memref"]) == 0
    lowered = standard(capsys.readouterr().out)
    made = library(source.read_text(), "calls", folder)
    names = re.findall(r"func.func private @(\w+_call_\d+)", lowered)
    assert sorted(f"_mlir_ciface_{n}" for n in names) == sorted(
        set(re.findall(r"^void (_mlir_ciface_\w+)", source.read_text(), re.MULTILINE))
    )
    return lowered, made


@pytest.mark.parametrize("io", ["arena", "caller"])
def test_operations_of_ours_beside_linalg(
    io: str, support: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, planned = tmp_path / "mixed.mlir", tmp_path / "planned.mlir"
    path.write_text(MIXED)
    model = f"--model=target=host,io={io}"
    assert opt([str(path), model, "--schedule=auto", "--place=auto", "-o", str(planned)]) == 0
    arena = int(re.findall(r"\barena = (\d+)", planned.read_text())[0])
    lowered, made = calls(planned, tmp_path, capsys)
    shape = (1, 4, 4, 2)
    x = random_input(shape)
    y = np.random.default_rng(8).normal(size=shape).astype(np.float32)
    sums = np.exp((np.tanh(x) * y).reshape(4, 8).astype(np.float64))
    want = sums / sums.sum(axis=1, keepdims=True)
    for side in SIDES:
        text = entry("mixed", [tensor(shape)] * 2, [tensor(shape)], arena, side)
        (got,) = results(inside(lowered, text), LOWER, [x, y], [support, made])
        assert np.allclose(np.frombuffer(got, np.float32).reshape(4, 8), want, atol=1e-6)


@pytest.mark.deep
def test_a_model_of_ours_computes_the_same_bits(
    support: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All of it by calls of kernels, in the promised arena: what `evaluate` computes."""
    model, planned = tmp_path / "net.tflite", tmp_path / "planned.mlir"
    model.write_bytes(demo_model())
    passes = ("--model=target=host", "--schedule=auto", "--place=auto")
    assert opt([str(model), *passes, "-o", str(planned)]) == 0
    arena = int(re.findall(r"\barena = (\d+)", planned.read_text())[0])
    lowered, made = calls(planned, tmp_path, capsys)
    module = load_text(new_context(), planned.read_text(), str(planned))
    func = only_function(module)
    (argument,), last = func.body.block.args, func.body.block.last_op
    assert last is not None
    shapes = [shape_of(argument), shape_of(last.operands[0])]
    x = np.random.default_rng(9).integers(-128, 128, shapes[0], np.int8)
    want = evaluate(func, Weights.of(module), [x])[last.operands[0]]
    takes, makes = ([tensor(shape, "i8", 1)] for shape in shapes)
    for side in SIDES:
        text = inside(lowered, entry("main", takes, makes, arena, side))
        (got,) = results(text, LOWER, [x], [support, made])
        assert got == want.tobytes()
