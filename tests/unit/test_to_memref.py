"""Planned linalg on one arena, lowered and run by standard MLIR: every bit is that of MLIR's own
bufferization, and nothing is written outside the arena."""

import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from memopt.opt import main as opt

OPT, RUN = "mlir-opt-19", "mlir-cpu-runner-19"
PLAN = "memgraph-schedule,memgraph-place,memgraph-verify-plan{placed=true},memgraph-to-memref"
LOWER = (
    *("--convert-linalg-to-loops", "--lower-affine", "--convert-scf-to-cf"),
    *("--expand-strided-metadata", "--lower-affine", "--convert-math-to-libm"),
    *("--finalize-memref-to-llvm", "--convert-arith-to-llvm", "--convert-index-to-llvm"),
    *("--convert-func-to-llvm", "--convert-cf-to-llvm", "--reconcile-unrealized-casts"),
)
BUFFERS = (
    "--one-shot-bufferize=bufferize-function-boundaries "
    "function-boundary-type-conversion=identity-layout-map"
)


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


# Inputs from a small generator, the result as one number; 0 if a guard byte changed.
MAIN = """
func.func private @seeded(%m: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %m, %c0 : memref<?xf32>
  %start = arith.constant 12345 : i32
  %end = scf.for %i = %c0 to %n step %c1 iter_args(%s = %start) -> (i32) {
    %a = arith.constant 1103515245 : i32
    %b = arith.constant 12345 : i32
    %t = arith.muli %s, %a : i32
    %u = arith.addi %t, %b : i32
    %h = arith.constant 22 : i32
    %v = arith.shrsi %u, %h : i32
    %f = arith.sitofp %v : i32 to f32
    %c = arith.constant 0.0078125 : f32
    %g = arith.mulf %f, %c : f32
    memref.store %g, %m[%i] : memref<?xf32>
    scf.yield %u : i32
  }
  return
}
func.func private @hash(%m: memref<?xi32>) -> i64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %m, %c0 : memref<?xi32>
  %start = arith.constant 1469598103 : i64
  %end = scf.for %i = %c0 to %n step %c1 iter_args(%s = %start) -> (i64) {
    %v = memref.load %m[%i] : memref<?xi32>
    %w = arith.extui %v : i32 to i64
    %x = arith.xori %s, %w : i64
    %p = arith.constant 1099511628211 : i64
    %y = arith.muli %x, %p : i64
    scf.yield %y : i64
  }
  return %end : i64
}
func.func @main() -> i64 {
  %c0 = arith.constant 0 : index
  %inbytes = memref.alloc() {alignment = 16} : memref<@in@xi8>
  %outbytes = memref.alloc() {alignment = 16} : memref<@out@xi8>
  %inflat = memref.view %inbytes[%c0][] : memref<@in@xi8> to memref<@n@xf32>
  %inopen = memref.cast %inflat : memref<@n@xf32> to memref<?xf32>
  call @seeded(%inopen) : (memref<?xf32>) -> ()
  %x = memref.view %inbytes[%c0][] : memref<@in@xi8> to memref<@xtype@>
  %y = memref.view %outbytes[%c0][] : memref<@out@xi8> to memref<@ytype@>
@call@
  %outflat = memref.view %outbytes[%c0][] : memref<@out@xi8> to memref<@k@xi32>
  %outopen = memref.cast %outflat : memref<@k@xi32> to memref<?xi32>
  %h = call @hash(%outopen) : (memref<?xi32>) -> i64
@end@
}
"""
PLANNED = """
  %guarded = memref.alloc() {alignment = 16} : memref<@all@xi8>
  %c1 = arith.constant 1 : index
  %first = arith.constant 64 : index
  %last = arith.constant @last@ : index
  %all = arith.constant @all@ : index
  %mark = arith.constant 77 : i8
  scf.for %i = %c0 to %all step %c1 {
    memref.store %mark, %guarded[%i] : memref<@all@xi8>
  }
  %arena = memref.view %guarded[%first][] : memref<@all@xi8> to memref<@arena@xi8>
  call @net(%arena, %x, %y) : (memref<@arena@xi8>, memref<@xtype@>, memref<@ytype@>) -> ()
"""
GUARDS = """
  %zero = arith.constant 0 : i64
  %bad = scf.for %i = %c0 to %all step %c1 iter_args(%s = %zero) -> (i64) {
    %low = arith.cmpi ult, %i, %first : index
    %high = arith.cmpi uge, %i, %last : index
    %outside = arith.ori %low, %high : i1
    %b = memref.load %guarded[%i] : memref<@all@xi8>
    %same = arith.cmpi eq, %b, %mark : i8
    %true = arith.constant true
    %changed = arith.xori %same, %true : i1
    %wrong = arith.andi %outside, %changed : i1
    %one = arith.extui %wrong : i1 to i64
    %t = arith.addi %s, %one : i64
    scf.yield %t : i64
  }
  %good = arith.cmpi eq, %bad, %zero : i64
  %answer = arith.select %good, %h, %zero : i64
  return %answer : i64
"""
UNPLANNED = """
  %t = bufferization.to_tensor %x restrict : memref<@xtype@>
  %r = call @net(%t) : (tensor<@xtype@>) -> tensor<@ytype@>
  %m = bufferization.to_memref %r : memref<@ytype@>
  memref.copy %m, %y : memref<@ytype@> to memref<@ytype@>
"""


def filled(text: str, values: dict[str, object]) -> str:
    return re.sub(r"@(\w+)@", lambda m: str(values[m[1]]), text)


def program(net: Net, result: str, function: str, arena: int | None) -> str:
    x, y = net.shapes["%x0"], net.shapes[result]
    n, k = int(np.prod(x)), int(np.prod(y))
    values: dict[str, object] = {"n": n, "k": k, "in": 4 * n, "out": 4 * k}
    values |= {"xtype": "x".join(map(str, x)) + "xf32", "ytype": "x".join(map(str, y)) + "xf32"}
    if arena is not None:
        values |= {"arena": arena, "all": arena + 128, "last": arena + 64}
    call, end = (UNPLANNED, "  return %h : i64") if arena is None else (PLANNED, GUARDS)
    values |= {"call": filled(call, values), "end": filled(end, values)}
    main = filled(MAIN, values)
    # the lowered function is in a module, with the maps that it uses before it
    return f"{function}{main}" if arena is None else f"{function.rstrip()[:-1]}{main}}}"


def executed(text: str, flags: tuple[str, ...]) -> int:
    lowered = subprocess.run([OPT, *flags], input=text, capture_output=True, text=True, check=False)
    assert lowered.returncode == 0, lowered.stderr
    done = subprocess.run(
        [RUN, "-e", "main", "-entry-point-result=i64"],
        input=lowered.stdout,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@pytest.mark.parametrize("network", [cnn, residual, attention])
def test_planned_networks_compute_the_same_bits(
    network: Callable[[], tuple[Net, str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if shutil.which(OPT) is None or shutil.which(RUN) is None:
        pytest.skip(f"needs {OPT} and {RUN}")
    net, result = network()
    path = tmp_path / "net.mlir"
    path.write_text(net.text(result))
    want = executed(program(net, result, net.text(result), None), (BUFFERS, *LOWER))
    assert opt([str(path), "--schedule=auto", "--place=auto"]) == 0
    plan = capsys.readouterr().out
    (promised,) = {int(n) for n in re.findall(r"\barena = (\d+)", plan)}
    for form in ([], ["--print-op-generic"]):
        assert opt([str(path), "-p", PLAN, *form]) == 0
        lowered = capsys.readouterr().out
        checked = subprocess.run([OPT], input=lowered, capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stderr
        assert "memref.alloc" not in lowered and "tensor.empty" not in lowered
        standard = checked.stdout
        got = executed(program(net, result, standard, promised), LOWER)
        assert got == want != 0
        if not form:
            small = standard.replace(f"memref<{promised}xi8>", f"memref<{promised - 16}xi8>")
            text = program(net, result, small, promised - 16)
            assert executed(text, LOWER) == 0  # what is written outside is seen
