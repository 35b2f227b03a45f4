"""Random networks of tosa in rows: the memory graph and the peak of the same network of our own
operations, whose rows are tested against what they compute, and plans that the verifier reads."""

from collections import Counter
from collections.abc import Callable

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from memopt.compile.driver import build_pipeline, load_text, new_context
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.memgraph.names import operator_kind
from memopt.dialects.memgraph.plan import plan_of
from memopt.dialects.rows.operations import RowKernelOp
from memopt.passes.plan.extract import extract
from memopt.verify.rows import check_rows

FULL = 3_000  # networks
FUNCTIONS = {"tanh": "tanh", "exp": "exp", "sigmoid": "logistic", "abs": "abs", "floor": "floor"}
Shape = tuple[int, ...]
Value = tuple[str, Shape]
Line = tuple[str, str]
"""An operation in tosa and in our dialect."""


def type_of(shape: Shape) -> str:
    return f"tensor<{'x'.join(map(str, shape))}xf32>"


def array(values: list[int]) -> str:
    return f"array<i64: {', '.join(map(str, values))}>"


class Twins:
    """One random network, written twice."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.input = (1, self.pick(3, 10), self.pick(2, 6), self.pick(1, 4))
        self.lines: list[Line] = []
        self.made: list[Value] = [("x", self.input)]
        self.constants = 0
        self.ours: dict[str, Shape] = {}

    def pick(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high + 1))

    def constant(self, shape: Shape, ours: Shape | None = None) -> str:
        """Of that shape, in our dialect of another."""
        name, type_ = f"k{self.constants}", type_of(shape)
        its = type_of(ours or shape)
        self.constants += 1
        self.ours[name] = ours or shape
        self.lines.append(
            (
                f'%{name} = "tosa.const"() {{values = dense<0.0> : {type_}}} : () -> {type_}',
                f'%{name} = memgraph.constant #memgraph.weights<"00", "{name}"> : {its}',
            )
        )
        return name

    def add(self, tosa: str, takes: list[Value], ours: str, made: Shape) -> None:
        """The operation of both: in tosa by its name and what it says, in ours by the text, whose
        {0}, {1} are operands."""
        kind, _, said = tosa.partition(" ")
        names = [f"%{name}" for name, _ in takes]
        read = [(n, self.ours.get(n, t)) for k, (n, t) in enumerate(takes) if f"{{{k}}}" in ours]
        result = f"v{len(self.made)}"
        self.made.append((result, made))
        types, its = (", ".join(type_of(t) for _, t in listed) for listed in (takes, read))
        mine = ours.format(*names)
        self.lines.append(
            (
                f'%{result} = "tosa.{kind}"({", ".join(names)}) {said}'
                f" : ({types}) -> {type_of(made)}",
                f"%{result} = memgraph.{mine} : ({its}) -> {type_of(made)}",
            )
        )

    def source(self) -> Value:
        """Mostly the last tensor, else one before."""
        return self.made[-1 if self.rng.random() < 0.8 else self.pick(0, len(self.made) - 1)]

    def window(self, height: int, kernel: int, dilation: int) -> tuple[int, list[int], int]:
        """A stride, padding above and below, and the rows of the result."""
        span = dilation * (kernel - 1) + 1
        pads = [self.pick(0, kernel - 1), self.pick(0, kernel - 1)]
        pads[1] += max(0, span - height - sum(pads))
        stride = self.pick(1, 2)
        return stride, pads, (height + sum(pads) - span) // stride + 1

    def convolution(self) -> None:
        x = self.source()
        _, height, width, channels = x[1]
        kernel, dilation = self.pick(1, 3), self.pick(1, 2)
        stride, (top, bottom), rows = self.window(height, kernel, dilation)
        depthwise = self.rng.random() < 0.5
        out = channels if depthwise else self.pick(1, 5)
        window = (
            f"window<[{kernel}, 1], stride = [{stride}, 1], dilation = [{dilation}, 1],"
            f" pad = [{top}, 0, {bottom}, 0]>"
        )
        said = (
            f"{{acc_type = f32, dilation = {array([dilation, 1])},"
            f" pad = {array([top, bottom, 0, 0])}, stride = {array([stride, 1])}}}"
        )
        shape = (kernel, 1, channels, 1) if depthwise else (out, kernel, 1, channels)
        its = (1, kernel, 1, channels) if depthwise else shape
        weights, bias = self.constant(shape, its), self.constant((out,))
        takes = [x, (weights, shape), (bias, (out,))]
        made = (1, rows, width, out)
        if not depthwise:
            self.add(f"conv2d {said}", takes, f"conv_2d {{0}}, {{1}} {window} groups 1", made)
            return
        ours = f"depthwise_conv_2d {{0}}, {{1}} {window} groups {channels}"
        self.add(f"depthwise_conv2d {said}", takes, ours, made)

    def pool(self) -> None:
        x = self.source()
        _, height, width, channels = x[1]
        everything = self.rng.random() < 0.25
        kernel = height if everything else min(height, self.pick(1, 3))
        stride, (top, bottom), rows = self.window(height, kernel, 1)
        if everything:
            top = bottom = 0
            rows = 1
        zero = (self.constant((1,)), (1,))
        window = f"window<[{kernel}, 1], stride = [{stride}, 1], pad = [{top}, 0, {bottom}, 0]>"
        said = (
            f"kernel = {array([kernel, 1])}, pad = {array([top, bottom, 0, 0])},"
            f" stride = {array([stride, 1])}}}"
        )
        made = (1, rows, width, channels)
        if self.rng.random() < 0.5:
            self.add(f"max_pool2d {{{said}", [x], f"max_pool_2d {{0}} {window}", made)
            return
        average = f"average_pool_2d {{0}} {window}"
        self.add(f"avg_pool2d {{acc_type = f32, {said}", [x, zero, zero], average, made)

    def function(self) -> None:
        x = self.source()
        tosa, ours = list(FUNCTIONS.items())[self.pick(0, len(FUNCTIONS) - 1)]
        self.add(tosa, [x], f"{ours} {{0}}", x[1])

    def each(self) -> None:
        """Of two tensors of a shape, or of one and what is broadcast to it."""
        x = self.source()
        like = [v for v in self.made if v[1] == x[1]]
        y = like[self.pick(0, len(like) - 1)]
        if self.rng.random() < 0.4:
            shape = (1, *(d if self.rng.random() < 0.5 else 1 for d in x[1][1:]))
            y = (self.constant(shape), shape)
        kind = ("add", "sub", "maximum")[self.pick(0, 2)]
        self.add(kind, [x, y], f"{kind} {{0}}, {{1}}", x[1])

    def moved(self) -> None:
        """What only moves elements, but a reshape, a slice or parts one below the other, of which
        whole ones are views in tosa alone."""
        x = self.source()
        _, height, width, channels = x[1]
        if self.rng.random() < 0.5:
            like = [v for v in self.made if v[1][:3] == x[1][:3]]
            y = like[self.pick(0, len(like) - 1)]
            made = (*x[1][:3], channels + y[1][3])
            self.add("concat {axis = 3 : i32}", [x, y], "concat {0}, {1} axis 3", made)
            return
        above, below = self.pick(0, 2), self.pick(0, 2)
        name = f"k{self.constants}"
        self.constants += 1
        numbers = f"dense<[0, 0, {above}, {below}, 0, 0, 0, 0]> : tensor<8xi32>"
        text = f'%{name} = "tosa.const"() {{values = {numbers}}} : () -> tensor<8xi32>'
        self.lines.append((text, ""))
        made = (1, height + above + below, width, channels)
        self.made.append((f"v{len(self.made)}", made))
        result, types = self.made[-1][0], (type_of(x[1]), type_of(made))
        ours = f"before [0, {above}, 0, 0] after [0, {below}, 0, 0] value 0.0"
        self.lines.append(
            (
                f'%{result} = "tosa.pad"(%{x[0]}, %{name}) : ({types[0]}, tensor<8xi32>)'
                f" -> {types[1]}",
                f"%{result} = memgraph.pad %{x[0]} {ours} : ({types[0]}) -> {types[1]}",
            )
        )

    def reshaped(self) -> None:
        x = self.source()
        _, height, width, channels = x[1]
        self.add("reshape", [x], "reshape {0}", (1, height, width * channels, 1))

    def reduced(self) -> None:
        x = self.source()
        ours = "reduce_max {0} axes [2] keep_dims"
        self.add("reduce_max {axis = 2 : i32}", [x], ours, (*x[1][:2], 1, x[1][3]))

    def texts(self, layers: int) -> list[str]:
        kinds: list[Callable[[], None]] = [self.convolution, self.convolution, self.pool]
        kinds += [self.function, self.each, self.each, self.moved, self.reshaped, self.reduced]
        for _ in range(layers):
            kinds[self.pick(0, len(kinds) - 1)]()
        name, shape = self.made[-1]
        head = f"func.func @main(%x: {type_of(self.input)}) -> {type_of(shape)} {{\n"
        tail = f"  func.return %{name} : {type_of(shape)}\n}}\n"
        return [head + "".join(f"  {line[k]}\n" for line in self.lines) + tail for k in (0, 1)]


def run(text: str, passes: str) -> ModuleOp:
    module = load_text(new_context(True), text, "net.mlir")
    for step in build_pipeline(passes):
        step.apply(new_context(True), module)
        module.verify()
    return module


def test_rows_of_tosa_are_those_of_our_own_operations(fuzz: float) -> None:
    """Of all operators that have rows, and of as few as the least peak needs."""
    seen, smaller = Counter[str](), 0
    for seed in range(max(24, int(FULL * fuzz))):
        rng = np.random.default_rng(seed)
        texts = Twins(rng).texts(int(rng.integers(2, 9)))
        inplace = "on" if seed % 3 else "off"
        model = f"memgraph-model{{alignment=4 inplace={inplace}}}"
        cut = [only_function(run(t, f"{model},memgraph-expand-rows")) for t in texts]
        graphs = [extract(func).graph for func in cut]
        assert graphs[0] == graphs[1], texts[0]
        for func in cut:
            check_rows(body_of(func))
        rows = [op for op in body_of(cut[0]).ops if isinstance(op, RowKernelOp)]
        seen.update(operator_kind(op.operation) for op in rows)
        if seed % 4:
            continue
        order = f"{model},memgraph-schedule,memgraph-place,memgraph-verify-plan{{placed=true}}"
        whole, all_, ours, auto = (
            run(text, passes)
            for text, passes in (
                (texts[0], order),
                (texts[0], order.replace(",", ",memgraph-expand-rows,", 1)),
                (texts[1], order.replace(",", ",memgraph-expand-rows,", 1)),
                (texts[0], order.replace(",", ",memgraph-expand-rows{rows=auto},", 1)),
            )
        )
        plans = [plan_of(only_function(m)) for m in (whole, all_, ours, auto)]
        peaks = [plan.peak.data for plan in plans if plan is not None]
        assert peaks[1] == peaks[2] and peaks[3] <= peaks[1], texts[0]
        smaller += peaks[1] < peaks[0]
        again = run(str(auto), "memgraph-verify-plan{placed=true}")
        assert str(again) == str(auto)
    assert smaller and len(seen) >= 12, seen
