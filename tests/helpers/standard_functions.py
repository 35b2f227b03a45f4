"""Random functions of linalg and tosa on tensors, and how the stock mlir-opt bufferizes them."""

from dataclasses import dataclass, field
from math import prod
from random import Random

INPUT = (6, 8)  # of both inputs, in elements of 4 bytes
BUFFERIZE = (
    "func.func(tosa-to-linalg-named,tosa-to-linalg,tosa-to-arith,tosa-to-tensor,canonicalize),"
    "eliminate-empty-tensors,one-shot-bufferize{bufferize-function-boundaries "
    "allow-return-allocs-from-loops function-boundary-type-conversion=identity-layout-map},"
    "buffer-results-to-out-params,canonicalize,cse"
)
LOOPS = "func.func(convert-linalg-to-loops),canonicalize"

Shape = tuple[int, ...]


def type_of(shape: Shape) -> str:
    return f"tensor<{'x'.join(map(str, shape))}xf32>"


@dataclass
class Standard:
    """Text of one function; `live` has the values made so far."""

    random: Random
    lines: list[str] = field(default_factory=list[str])
    live: dict[str, Shape] = field(default_factory=dict[str, Shape])

    def pick(self, rank: int | None = None, shape: Shape | None = None) -> str:
        names = [
            n
            for n, s in self.live.items()
            if (rank is None or len(s) == rank) and (shape is None or s == shape)
        ]
        return self.random.choice(names[-4:] if self.random.random() < 0.7 else names)

    def put(self, shape: Shape, text: str) -> str:
        name = f"%t{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        self.live[name] = shape
        return name

    def empty(self, shape: Shape) -> str:
        name = f"%e{len(self.lines)}"
        self.lines.append(f"{name} = tensor.empty() : {type_of(shape)}")
        return name

    def _typed(self, *names: str) -> str:
        return f"{', '.join(names)} : {', '.join(type_of(self.live[n]) for n in names)}"

    def linalg_add(self) -> None:
        a = self.pick()
        b = self.pick(shape=self.live[a])
        self._linalg(self.random.choice(["add", "mul", "sub", "max"]), self.live[a], a, b)

    def _linalg(self, kind: str, shape: Shape, *ins: str) -> str:
        t, e = type_of(shape), self.empty(shape)
        return self.put(shape, f"linalg.{kind} ins({self._typed(*ins)}) outs({e} : {t}) -> {t}")

    def linalg_matmul(self) -> None:
        a = self.pick(2)
        (n, k), m = self.live[a], self.random.choice([2, 5, 8])
        w, e, o = self.pick(2), self.empty((m, k)), self.empty((n, m))
        t = type_of((m, k))
        zeros = f"%z{len(self.lines)}"
        self.lines.append(f"{zeros} = linalg.fill ins(%half : f32) outs({e} : {t}) -> {t}")
        fill = f"%f{len(self.lines)}"
        out = type_of((n, m))
        self.lines.append(f"{fill} = linalg.fill ins(%zero : f32) outs({o} : {out}) -> {out}")
        del w
        self.put(
            (n, m),
            f"linalg.matmul_transpose_b ins({a}, {zeros} : {type_of((n, k))}, {t})"
            f" outs({fill} : {out}) -> {out}",
        )

    def linalg_transpose(self) -> None:
        a = self.pick(2)
        n, m = self.live[a]
        e = self.empty((m, n))
        name = f"%t{len(self.lines)}"
        self.lines.append(
            f"{name} = linalg.transpose ins({self._typed(a)}) outs({e} : {type_of((m, n))})"
            " permutation = [1, 0]"
        )
        self.live[name] = (m, n)

    def reshape(self) -> None:
        a = self.pick()
        shape = self.live[a]
        count = prod(shape)
        to = self.random.choice(
            [(count,), (2, count // 2), (count // 2, 2)] if count % 2 == 0 else [(count,)]
        )
        numbers = ", ".join(map(str, to))
        self.put(
            to,
            f"tosa.reshape {a} {{new_shape = array<i64: {numbers}>}}"
            f" : ({type_of(shape)}) -> {type_of(to)}",
        )

    def tosa_unary(self) -> None:
        a = self.pick()
        t = type_of(self.live[a])
        kind = self.random.choice(["tosa.abs", "tosa.negate", "tosa.floor"])
        self.put(self.live[a], f"{kind} {a} : ({t}) -> {t}")

    def tosa_add(self) -> None:
        a = self.pick()
        b = self.pick(shape=self.live[a])
        t = type_of(self.live[a])
        kind = self.random.choice(["tosa.add", "tosa.sub", "tosa.maximum"])
        self.put(self.live[a], f"{kind} {a}, {b} : ({t}, {t}) -> {t}")

    def tosa_slice(self) -> None:
        a = self.pick()
        shape = self.live[a]
        size = tuple(max(1, n - self.random.randint(0, 2)) for n in shape)
        start = [self.random.randint(0, n - m) for n, m in zip(shape, size, strict=True)]
        of = ", ".join(map(str, size))
        self.put(
            size,
            f"tosa.slice {a} {{start = array<i64: {', '.join(map(str, start))}>,"
            f" size = array<i64: {of}>}} : ({type_of(shape)}) -> {type_of(size)}",
        )

    def tosa_concat(self) -> None:
        a = self.pick()
        b = self.pick(shape=self.live[a])
        shape, t = self.live[a], type_of(self.live[a])
        if prod(shape) > 200:
            return
        to = (2 * shape[0], *shape[1:])
        self.put(to, f"tosa.concat {a}, {b} {{axis = 0 : i32}} : ({t}, {t}) -> {type_of(to)}")

    def tosa_sum(self) -> None:
        a = self.pick()
        shape = self.live[a]
        axis = self.random.randrange(len(shape))
        to = tuple(1 if k == axis else n for k, n in enumerate(shape))
        self.put(
            to,
            f"tosa.reduce_sum {a} {{axis = {axis} : i32}} : ({type_of(shape)}) -> {type_of(to)}",
        )

    def loop(self) -> None:
        """A loop that carries a tensor, over the one before or into a new one."""
        a = self.pick()
        shape, t = self.live[a], type_of(self.live[a])
        b = self.pick(shape=shape)
        k = len(self.lines)
        into = self.random.choice([f"%in{k}", f"%e{k}"])
        self.put(
            shape,
            f"scf.for %i{k} = %c0 to %c3 step %c1 iter_args(%in{k} = {a}) -> ({t}) {{\n"
            f"%e{k} = tensor.empty() : {t}\n"
            f"%n{k} = linalg.add ins(%in{k}, {b} : {t}, {t}) outs({into} : {t}) -> {t}\n"
            f"scf.yield %n{k} : {t}\n}}",
        )

    def branch(self) -> None:
        a = self.pick()
        shape, t = self.live[a], type_of(self.live[a])
        k = len(self.lines)
        self.put(
            shape,
            f"scf.if %flag -> ({t}) {{\n%e{k} = tensor.empty() : {t}\n"
            f"%n{k} = linalg.mul ins({a}, {a} : {t}, {t}) outs(%e{k} : {t}) -> {t}\n"
            f"scf.yield %n{k} : {t}\n}} else {{\n"
            f"%m{k} = tosa.abs {a} : ({t}) -> {t}\nscf.yield %m{k} : {t}\n}}",
        )


STEPS = (
    *("linalg_add", "linalg_add", "linalg_matmul", "linalg_transpose", "reshape", "tosa_unary"),
    *("tosa_add", "tosa_slice", "tosa_concat", "tosa_sum", "loop", "branch"),
)


def standard_function(name: str, seed: int, steps: int = 14) -> tuple[str, Shape]:
    """Return a function of two inputs, and the shape of its result: the sum of what it made."""
    f = Standard(Random(seed))
    f.live = {"%x": INPUT, "%y": INPUT}
    for _ in range(steps):
        getattr(f, f.random.choice(STEPS))()
    last, shape = list(f.live.items())[-1]
    for other in [n for n, s in f.live.items() if s == shape][-4:-1]:
        t = type_of(shape)
        last = f.put(shape, f"tosa.add {last}, {other} : ({t}, {t}) -> {t}")
    body = "\n".join(f.lines)
    text = (
        f"func.func @{name}(%x: {type_of(INPUT)}, %y: {type_of(INPUT)}) -> {type_of(shape)} {{\n"
        "%zero = arith.constant 0.0 : f32\n%half = arith.constant 0.5 : f32\n"
        "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n"
        "%c3 = arith.constant 3 : index\n%first = tensor.extract %x[%c0, %c0] : "
        f"{type_of(INPUT)}\n%flag = arith.cmpf olt, %first, %half : f32\n{body}\n"
        f"return {last} : {type_of(shape)}\n}}\n"
    )
    return text, shape
