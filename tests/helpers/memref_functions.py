"""Random functions of memrefs with loops, branches, calls and views, and an interpreter of them.

A function is run twice: as it is, every allocation with bytes of its own, and after
memgraph-plan-memrefs, where all are views of one arena. What it leaves in its last argument is the
same. Fresh bytes are noise, and every buffer is written before it is read.
"""

from dataclasses import dataclass, field
from random import Random
from typing import Any, ClassVar

import numpy as np
from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, MemRefType, ModuleOp
from xdsl.ir import Block, Operation, SSAValue

SIZES = (1, 2, 3, 5, 8, 13)  # of buffers, in elements of 4 bytes
GUARD = 64  # bytes around the arena


@dataclass
class Writer:
    """Text of a function; `live` are the buffers that were written, by size."""

    STRAIGHT: ClassVar = ("add", "add", "copy", "stack", "update", "subview")

    random: Random
    callees: int = 0
    lines: list[str] = field(default_factory=list[str])
    count: int = 0
    depth: int = 0
    called: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])
    kinds: tuple[str, ...] = ()  # of steps, all if none

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def put(self, line: str) -> None:
        self.lines.append("  " * (self.depth + 1) + line)

    def add(self, a: str, b: str, out: str, n: int) -> None:
        t = f"memref<{n}xi32>"
        self.put(f"linalg.add ins({a}, {b} : {t}, {t}) outs({out} : {t})")

    def alloc(self, n: int) -> str:
        name, align = self.name(), self.random.choice(["", " {alignment = 64 : i64}"])
        kind = self.random.choice(["alloc", "alloc", "alloca"])
        self.put(f"{name} = memref.{kind}(){align} : memref<{n}xi32>")
        return name

    def block(self, live: list[tuple[str, int]], steps: int) -> list[tuple[str, int]]:
        """Write some steps; return the buffers that may be read behind them."""
        live = list(live)
        for _ in range(steps):
            kinds = ["add"] * 4 + ["view", "copy", "update", "dealloc", "stack"]
            if self.depth < 2:
                kinds += ["for", "if", "carry", "turns", "while", "yield"]
            if self.callees:
                kinds += ["call", "call"]
            kinds = [*self.kinds] or kinds
            getattr(self, f"_{self.random.choice(kinds)}")(live)
        return live

    def _pick(self, live: list[tuple[str, int]], n: int | None = None) -> tuple[str, int]:
        found = [b for b in live if n is None or b[1] == n]
        recent = found[-4:] if self.random.random() < 0.7 else found
        return self.random.choice(recent)

    def _add(self, live: list[tuple[str, int]]) -> None:
        a, n = self._pick(live)
        b, _ = self._pick(live, n)
        out = self.alloc(n)
        self.add(a, b, out, n)
        live.append((out, n))

    def _stack(self, live: list[tuple[str, int]]) -> None:
        n = self.random.choice(SIZES)
        out, value = self.alloc(n), self.random.randint(1, 99)
        self.put(f"%c{out[1:]} = arith.constant {value} : i32")
        self.put(f"linalg.fill ins(%c{out[1:]} : i32) outs({out} : memref<{n}xi32>)")
        live.append((out, n))

    def _update(self, live: list[tuple[str, int]]) -> None:
        a, n = self._pick(live)
        b, _ = self._pick(live, n)
        self.add(a, b, b, n)

    def _copy(self, live: list[tuple[str, int]]) -> None:
        a, n = self._pick(live)
        out = self.alloc(n)
        self.put(f'"memref.copy"({a}, {out}) : (memref<{n}xi32>, memref<{n}xi32>) -> ()')
        live.append((out, n))

    def _dealloc(self, live: list[tuple[str, int]]) -> None:
        """A function that gives back what it does not read any more."""
        n = self.random.choice(SIZES)
        a = self.alloc(n)
        self.put(f"%c{a[1:]} = arith.constant 7 : i32")
        self.put(f"linalg.fill ins(%c{a[1:]} : i32) outs({a} : memref<{n}xi32>)")
        b = self.alloc(n)
        self.add(a, a, b, n)
        self.lines[-4] = self.lines[-4].replace("alloca", "alloc")
        self.put(f"memref.dealloc {a} : memref<{n}xi32>")
        live.append((b, n))

    def _subview(self, live: list[tuple[str, int]]) -> None:
        self._view(live, ("subview",))

    def _view(
        self, live: list[tuple[str, int]], kinds: tuple[str, ...] = ("cast", "select", "subview")
    ) -> None:
        a, n = self._pick(live)
        kind, name = self.random.choice(kinds), self.name()
        if kind == "cast":
            self.put(f'{name}o = "memref.cast"({a}) : (memref<{n}xi32>) -> memref<?xi32>')
            self.put(f'{name} = "memref.cast"({name}o) : (memref<?xi32>) -> memref<{n}xi32>')
        elif kind == "select":
            b, _ = self._pick(live, n)
            self.put(f"{name} = arith.select %flag, {a}, {b} : memref<{n}xi32>")
        else:
            m = self.random.choice([s for s in SIZES if s <= n])
            strided = f"memref<{m}xi32, strided<[1]>>"
            self.put(f"{name}s = memref.subview {a}[0] [{m}] [1] : memref<{n}xi32> to {strided}")
            self.put(f'{name} = "memref.cast"({name}s) : ({strided}) -> memref<{m}xi32>')
            n = m
        live.append((name, n))

    def _call(self, live: list[tuple[str, int]]) -> None:
        a, n = self._pick(live)
        out = self.alloc(n)
        t = f"memref<{n}xi32>"
        k = self.random.randrange(self.callees)
        self.called.add((k, n))
        self.put(f"func.call @f{k}_{n}({a}, {out})")
        self.lines[-1] += f" : ({t}, {t}) -> ()"
        live.append((out, n))

    def _if(self, live: list[tuple[str, int]]) -> None:
        self.put("scf.if %flag {")
        self._inside(live)
        self.put("} else {")
        self._inside(live)
        self.put("}")

    def _yield(self, live: list[tuple[str, int]]) -> None:
        a, n = self._pick(live)
        name, t = self.name(), f"memref<{n}xi32>"
        self.put(f"{name} = scf.if %flag -> ({t}) {{")
        inner = self._inside(live)
        self.put(f"  scf.yield {self._pick(inner, n)[0]} : {t}")
        self.put("} else {")
        self.put(f"  scf.yield {a} : {t}")
        self.put("}")
        live.append((name, n))

    def _for(self, live: list[tuple[str, int]]) -> None:
        self.put(f"scf.for {self.name()} = %zero to %three step %one {{")
        self._inside(live)
        self.put("}")

    def _inside(self, live: list[tuple[str, int]]) -> list[tuple[str, int]]:
        self.depth += 1
        inner = self.block(live, self.random.randint(1, 3))
        a, n = self._pick(inner)  # something that comes out, by what was there before
        b, _ = self._pick([*live, (a, n)], n)
        self.add(a, a, b, n)
        self.depth -= 1
        return inner

    def _carry(self, live: list[tuple[str, int]]) -> None:
        """A loop that carries buffers of before it, perhaps exchanged."""
        a, n = self._pick(live)
        b, _ = self._pick(live, n)
        p, q, r, t = self.name(), self.name(), self.name(), f"memref<{n}xi32>"
        self.put(f"{r}:2 = scf.for {self.name()} = %zero to %three step %one")
        self.lines[-1] += f" iter_args({p} = {a}, {q} = {b}) -> ({t}, {t}) {{"
        self._inside([*live, (p, n), (q, n)])
        back = self.random.choice([f"{q}, {p}", f"{p}, {q}", f"{p}, {p}"])
        self.put(f"  scf.yield {back} : {t}, {t}")
        self.put("}")
        live += [(f"{r}#0", n), (f"{r}#1", n)]

    def _turns(self, live: list[tuple[str, int]]) -> None:
        """A loop that carries what it allocates."""
        a, n = self._pick(live)
        p, r, t = self.name(), self.name(), f"memref<{n}xi32>"
        self.put(f"{r} = scf.for {self.name()} = %zero to %three step %one")
        self.lines[-1] += f" iter_args({p} = {a}) -> ({t}) {{"
        self.depth += 1
        early = self.random.random() < 0.3
        inner = [*live, (p, n)]
        if early:  # the one of before is dead when the next is made
            c = self.alloc(n)
            self.add(p, p, c, n)
            inner = [*live, (c, n)]
        out = self.alloc(n)
        self.add(self._pick(inner, n)[0], inner[-1][0], out, n)
        inner = self.block([*inner, (out, n)], self.random.randint(0, 2))
        self.put(f"scf.yield {out} : {t}")
        self.depth -= 1
        self.put("}")
        live.append((r, n))

    def _while(self, live: list[tuple[str, int]]) -> None:
        a, n = self._pick(live)
        i, j, p, q, r = (self.name() for _ in range(5))
        t = f"memref<{n}xi32>"
        self.put(f"{r}:2 = scf.while ({i} = %zero, {p} = {a}) : (index, {t}) -> (index, {t}) {{")
        self.depth += 1
        again, b = self.name(), self.alloc(n)
        self.put(f"{again} = arith.cmpi slt, {i}, %three : index")
        self.add(p, p, b, n)
        self.put(f"scf.condition({again}) {i}, {b} : index, {t}")
        self.depth -= 1
        self.put("} do {")
        self.put(f"^bb0({j}: index, {q}: {t}):")
        self.depth += 1
        k, c = self.name(), self.alloc(n)
        self.put(f"{k} = arith.addi {j}, %one : index")
        self.add(q, self._pick([*live, (q, n)], n)[0], c, n)
        self.block([*live, (q, n), (c, n)], self.random.randint(0, 1))
        self.put(f"scf.yield {k}, {c} : index, {t}")
        self.depth -= 1
        self.put("}")
        live.append((f"{r}#1", n))


def random_module(seed: int, steps: int = 8, callees: int = 2) -> str:
    """Return a module whose last function, @main, takes an input and an output of 8 elements."""
    random = Random(seed)
    writer = Writer(random, callees if random.random() < 0.4 else 0)
    texts = [_function("@main", 8, writer, steps)]
    for k, n in sorted(writer.called):
        texts.append(_function(f"private @f{k}_{n}", n, Writer(Random(seed * 31 + k)), 2))
    return "".join(texts)


def random_function(seed: int, kinds: tuple[str, ...], steps: int) -> str:
    """Return a module of @main alone, whose steps are of some kinds."""
    return _function("@main", 8, Writer(Random(seed), kinds=kinds), steps)


def _function(name: str, n: int, writer: Writer, steps: int) -> str:
    head = f"func.func {name}(%x: memref<{n}xi32>, %y: memref<{n}xi32>) {{"
    constants = {"zero": "0 : index", "one": "1 : index", "three": "3 : index"}
    for constant, value in constants.items():
        writer.put(f"%{constant} = arith.constant {value}")
    writer.put("%first = memref.load %x[%zero] : " + f"memref<{n}xi32>")
    writer.put("%zeros = arith.constant 0 : i32")
    writer.put("%flag = arith.cmpi slt, %first, %zeros : i32")
    live = writer.block([("%x", n)], steps)
    writer.put(f"linalg.fill ins(%zeros : i32) outs(%y : memref<{n}xi32>)")
    for value, size in live[-6:]:
        if size == n:
            writer.add(value, "%y", "%y", n)
    body = "\n".join(writer.lines)
    return f"{head}\n{body}\n  func.return\n}}\n"


class Interpreter:
    """Functions of memrefs, run on arrays of bytes."""

    def __init__(self, module: ModuleOp, seed: int = 1) -> None:
        self.functions = {
            op.sym_name.data: op for op in module.body.block.ops if isinstance(op, func.FuncOp)
        }
        self.noise = np.random.default_rng(seed)

    def run(self, name: str, arguments: list[Any]) -> list[Any]:
        block = self.functions[name].body.block
        return self._block(block, dict(zip(block.args, arguments, strict=True)))

    def _block(self, block: Block, values: dict[SSAValue, Any]) -> list[Any]:
        """Run the operations and return what the last one is given."""
        for op in block.ops:
            if op is block.last_op and op.name in ("func.return", "scf.yield", "scf.condition"):
                return [values[v] for v in op.operands]
            results = self._run(op, [values[v] for v in op.operands], values)
            values.update(zip(op.results, results, strict=True))
        return []

    def _run(self, op: Operation, given: list[Any], values: dict[SSAValue, Any]) -> list[Any]:
        match op:
            case memref.AllocOp() | memref.AllocaOp():
                shape = op.memref.type.get_shape()
                kind = _kind(op.memref.type)
                return [self.noise.integers(0, 100, shape).astype(kind)]
            case memref.ViewOp():
                bytes_, at = given
                shape, kind = op.result.type.get_shape(), _kind(op.result.type)
                end = at + int(np.prod(shape)) * kind.itemsize
                assert end <= len(bytes_), "a view beyond the arena"
                return [bytes_[at:end].view(kind).reshape(shape)]
            case memref.CastOp():
                return given
            case memref.SubviewOp():
                return [given[0][: next(iter(_numbers(op.static_sizes)))]]
            case memref.DeallocOp():
                given[0][...] = self.noise.integers(0, 100, given[0].shape)
                return []
            case memref.CopyOp():
                given[1][...] = given[0]
                return []
            case memref.LoadOp():
                return [given[0][tuple(given[1:])]]
            case arith.ConstantOp():
                assert isinstance(op.value, IntegerAttr)
                return [op.value.value.data]
            case arith.CmpiOp():
                return [given[0] < given[1]]
            case arith.AddiOp():
                return [given[0] + given[1]]
            case arith.SelectOp():
                return [given[1] if given[0] else given[2]]
            case func.CallOp():
                return self.run(op.callee.string_value(), given)
            case scf.IfOp():
                region = op.true_region if given[0] else op.false_region
                return self._block(region.block, values) if region.blocks else []
            case scf.ForOp():
                carried = given[3:]
                for i in range(*given[:3]):
                    values.update(zip(op.body.block.args, [i, *carried], strict=True))
                    carried = self._block(op.body.block, values)
                return carried
            case scf.WhileOp():
                before, after = op.before_region.block, op.after_region.block
                while True:
                    values.update(zip(before.args, given, strict=True))
                    again, *given = self._block(before, values)
                    if not again:
                        return given
                    values.update(zip(after.args, given, strict=True))
                    given = self._block(after, values)
            case _:
                assert op.name in ("linalg.add", "linalg.fill"), op.name
                total = given[0] + given[1] if op.name == "linalg.add" else given[0]
                given[-1][...] = total
                return []


def _kind(type_: MemRefType[Any]) -> np.dtype[Any]:
    return np.dtype(f"int{type_.element_type.width.data}")


def _numbers(attribute: DenseArrayBase[Any]) -> tuple[int, ...]:
    return tuple(int(n) for n in attribute.get_values())


def outcome(module: ModuleOp, first: int) -> bytes:
    """Return what @main leaves in its output, of an input that begins with `first`."""
    x = np.arange(first, first + 8, dtype=np.int32)
    y = np.zeros(8, np.int32)
    with np.errstate(over="ignore"):
        Interpreter(module).run("main", [x, y])
    return x.tobytes() + y.tobytes()
