"""`python -m benchmarks shapes`: random int8 layers on the Cortex-M4, with each form of their fast
kernels and with the plain ones. What nobody has tuned for should not be slower.

    table = shapes(layers(300), tick)

Channels 1 .. 130, kernels 1 .. 7, strides 1 .. 3, dilation, groups, multipliers of channels. Many
layers are one project, each with an input of its own; both projects run in QEMU.
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from random import Random
from statistics import median

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp
from xdsl.ir import Operation

from benchmarks.tables.table import Table
from memopt.backends.c.project.profile import profile_project
from memopt.backends.c.project.write import write_project
from memopt.compile.driver import load_text, new_context
from memopt.dialects.attributes.placement import ScratchAttr
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.memgraph.plan import FORMS, SCRATCH, WIDE, mark_fast
from memopt.dialects.operators.convolution import Conv2DOp, DepthwiseConv2DOp
from memopt.dialects.operators.fully_connected import FullyConnectedOp
from memopt.passes.memgraph_model import MemgraphModelPass
from memopt.passes.memgraph_place import MemgraphPlacePass
from memopt.passes.memgraph_schedule import MemgraphSchedulePass
from memopt.targets.core.kernels import fast_forms
from memopt.targets.core.target import target_named

CORE = "cortex-m4"
COUNT, QUICK = 300, 6
PROJECT = 20  # layers
LARGEST = 130  # channels
WEIGHTS, ELEMENTS = 16_000, 12_000  # at most, of a layer
MANY = 16  # channels, from which on a dense layer counts in the median
LAYERS = (Conv2DOp, DepthwiseConv2DOp, FullyConnectedOp)
STORED = "scale = [5.0e-02], zero_point = [3]"
WEIGHT = "scale = [1.0e-02], zero_point = [0]"
BIAS = "scale = [5.0e-04], zero_point = [0]"

Sizes = tuple[int, ...]


@dataclass(frozen=True)
class Layer:
    """One operator: `kind` is dense, grouped, depthwise or matrix."""

    kind: str
    shape: Sizes
    weights: Sizes
    result: Sizes
    window: str = ""
    groups: int = 1

    @property
    def macs(self) -> int:
        """Products, those with padding too."""
        taps = prod(self.weights[1:3]) if self.kind == "depthwise" else prod(self.weights[1:])
        return prod(self.result) * taps

    @property
    def is_wide(self) -> bool:
        """Return whether it counts in the median of dense layers."""
        return self.kind == "dense" and min(self.shape[-1], self.result[-1]) >= MANY


def layers(count: int) -> list[Layer]:
    """Always the same ones."""
    rng, layers_drawn = Random(11), list[Layer]()
    while len(layers_drawn) < count:
        layer = _matrix(rng) if rng.random() < 0.1 else _convolution(rng)
        small = max(prod(layer.shape), prod(layer.result)) <= ELEMENTS
        if small and min(layer.result) > 0 and prod(layer.weights) <= WEIGHTS:
            layers_drawn.append(layer)
    return layers_drawn


def shapes(chosen: Sequence[Layer], tick: Callable[[str], None]) -> Table:
    """Return one row for each layer and each form of a fast kernel that it has."""
    rows = list[tuple[Layer, str, int, int]]()
    for start in range(0, len(chosen), PROJECT):
        some = chosen[start : start + PROJECT]
        tick(f"{start + len(some)} of {len(chosen)} layers")
        plain, _ = instructions(some, None)
        for form in FORMS:
            both = zip(some, plain, *instructions(some, form), strict=True)
            rows += [(layer, form, before, now) for layer, before, now, marked in both if marked]
    slower = sum(fast > plain for *_, plain, fast in rows)
    wide = [fast / layer.macs for layer, form, _, fast in rows if layer.is_wide and form == WIDE]
    without = len(chosen) - len({id(layer) for layer, *_ in rows})
    table = Table(
        "shapes",
        "Random layers on the Cortex-M4",
        ("kind", "input", "weights", "window", "form", "plain", "fast", "ratio", "per MAC"),
        (
            "Instructions in QEMU at -O2 of the plain kernel and of the form of a fast one, and"
            " those of the second for each product.",
            f"{without} of {len(chosen)} have no fast kernel; {slower} of {len(rows)} are slower;"
            f" the median of the {len(wide)} dense ones from {MANY} channels on is"
            f" {median(wide or [0]):.2f} instructions for a product, in the {WIDE} form.",
        ),
    )
    for layer, form, plain, fast in rows:
        sizes = ("x".join(map(str, s)) for s in (layer.shape, layer.weights))
        ratio, each = round(fast / plain, 3), round(fast / layer.macs, 2)
        table.add(layer.kind, *sizes, layer.window, form, plain, fast, ratio, each)
    return table


def _convolution(rng: Random) -> Layer:
    kernel, stride = _two(rng, 1, 7), _two(rng, 1, 3)
    dilation = _two(rng, 1, 2) if rng.random() < 0.2 else (1, 1)
    size = [rng.randint(1, 24), rng.randint(1, 24)]
    under = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    pad = [(u - 1) // 2 if rng.random() < 0.6 else 0 for u in under]
    out = [(n + 2 * p - u) // s + 1 for n, p, u, s in zip(size, pad, under, stride, strict=True)]
    channels, outputs, groups = rng.randint(1, LARGEST), rng.randint(1, LARGEST), 1
    kind = rng.choice(("dense", "dense", "dense", "depthwise", "grouped"))
    if kind == "depthwise":
        channels = 1 if rng.random() < 0.2 else channels
        groups, outputs = channels, channels * rng.choice((1, 1, 1, 1, 2, 3, 8))
    elif kind == "grouped":
        groups = rng.randint(2, 8)
        channels, outputs = groups * rng.randint(1, 16), groups * rng.randint(1, 16)
    first, taps = (1, outputs) if kind == "depthwise" else (outputs, channels // groups)
    window = (
        f"window<{list(kernel)}, stride = {list(stride)}, dilation = {list(dilation)},"
        f" pad = {pad + pad}>"
    )
    return Layer(
        kind,
        (1, *size, channels),
        (first, *kernel, taps),
        (1, *out, outputs),
        window,
        groups,
    )


def _matrix(rng: Random) -> Layer:
    inputs, outputs = rng.randint(1, 600), rng.randint(1, LARGEST)
    return Layer("matrix", (1, inputs), (outputs, inputs), (1, outputs))


def _two(rng: Random, low: int, high: int) -> tuple[int, int]:
    """Mostly the same twice."""
    first = rng.randint(low, high)
    return first, first if rng.random() < 0.8 else rng.randint(low, high)


def instructions(
    chosen: Sequence[Layer], form: str | None, core: str = CORE
) -> tuple[list[int], list[bool]]:
    """Return the instructions of each layer in QEMU, in their order, and whether it has a kernel of
    this form; None: plain ones."""
    module, context = load_text(new_context(), _text(chosen), "layers.mlir"), Context()
    MemgraphModelPass(target=core).apply(context, module)
    ops = only_function(module).body.block.ops
    marks = [_marked(op, form, core) for op in ops if _is_layer(op)]
    for step in (MemgraphSchedulePass(method="source"), MemgraphPlacePass("greedy-by-size")):
        step.apply(context, module)
    return _profiled(module, core), marks


def _is_layer(op: Operation) -> bool:
    return isinstance(op, LAYERS)


def _marked(op: Operation, form: str | None, core: str) -> bool:
    """Return whether a layer has a kernel of this form, which it is marked with then."""
    forms = fast_forms(op, target_named(core))
    if form is None or form not in forms:
        return False
    mark_fast(op, form)
    if forms[form]:
        op.attributes[SCRATCH] = ArrayAttr([ScratchAttr(forms[form], -1)])
    return True


def _profiled(module: ModuleOp, core: str) -> list[int]:
    with tempfile.TemporaryDirectory(prefix="memopt-") as work:
        folder = Path(work) / "layers"
        write_project(module, folder, "layers", core)
        return [one.instructions for one in profile_project(folder, core)]


def _text(chosen: Sequence[Layer]) -> str:
    """A function of all layers, each of an input of its own."""
    lines = [line for number, layer in enumerate(chosen) for line in _lines(number, layer)]
    inputs = ", ".join(f"%x{i}: {_stored(layer.shape)}" for i, layer in enumerate(chosen))
    results = ", ".join(_stored(layer.result) for layer in chosen)
    names = ", ".join(f"%y{i}" for i in range(len(chosen)))
    body = "".join(f"  {line}\n" for line in lines)
    return (
        f"func.func @main({inputs}) -> ({results}) {{\n{body}"
        f"  func.return {names} : {results}\n}}\n"
    )


def _lines(number: int, layer: Layer) -> Iterator[str]:
    rng, outputs = Random(number), layer.result[-1]
    numbers = [rng.randint(-127, 127) for _ in range(prod(layer.weights))]
    weights = _type(layer.weights, "i8", WEIGHT, {"depthwise": "ihwo"}.get(layer.kind, "ohwi"))
    bias = _type((outputs,), "i32", BIAS, "")
    yield f"%w{number} = memgraph.constant dense<{_nested(numbers, layer.weights)}> : {weights}"
    yield f"%b{number} = memgraph.constant dense<{number}> : {bias}"
    name = {"matrix": "fully_connected", "depthwise": "depthwise_conv_2d"}.get(
        layer.kind, "conv_2d"
    )
    window = f"{layer.window} groups {layer.groups} " if layer.window else ""
    yield (
        f"%y{number} = memgraph.{name} %x{number}, %w{number}, %b{number} {window}"
        f"rounding<tflm_double> : ({_stored(layer.shape)}, {weights}, {bias}) ->"
        f" {_stored(layer.result)}"
    )


def _nested(numbers: Sequence[int], shape: Sizes) -> str:
    """Return the numbers as lists of lists."""
    if len(shape) == 1:
        return str(list(numbers))
    step = prod(shape[1:])
    parts = (numbers[at : at + step] for at in range(0, len(numbers), step))
    return f"[{', '.join(_nested(part, shape[1:]) for part in parts)}]"


def _stored(shape: Sizes) -> str:
    return _type(shape, "i8", STORED, "nhwc")


def _type(shape: Sizes, element: str, numbers: str, layout: str) -> str:
    words = [layout, numbers] if len(shape) == 4 else [numbers]
    return f"tensor<{'x'.join(map(str, shape))}x{element}, #memgraph.encoding<{', '.join(words)}>>"
