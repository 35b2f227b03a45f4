"""Random networks of which rules leave many virtual tensors, and their plans."""

from collections.abc import Callable, Sequence

from channel_networks import mixed, sparse_text
from row_networks import network
from row_steps import KERNELS, convolution, depthwise, function, pool, same, side_by_side, two
from row_text import Rng, Text
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from memopt.dialects.memgraph.functions import only_function
from memopt.passes.memgraph_model import MemgraphModelPass
from memopt.passes.memgraph_place import MemgraphPlacePass
from memopt.passes.memgraph_schedule import MemgraphSchedulePass
from memopt.passes.plan.rewrite_search import applied, runnable
from memopt.verify.plan import verify_plan

RULES = (
    "kernel-wise",
    "slice-as-view",
    "slice-by-readers",
    "function-by-readers",
    "gather",
    "residual-epilogue",
)


ROW_RULES = (
    "kernel-wise",
    "slice-by-readers",
    "function-by-readers",
    "gather",
    "residual-epilogue",
)
"""Those of which operators in rows make rows."""


def joined(net: Text) -> None:
    """Two or three tensors beside one another, perhaps joined themselves, and what reads them."""
    side_by_side(net)
    for _ in range(net.pick(0, 1, 2)):
        net.pick(depthwise, pool, function, same)(net)
    net.pick(convolution, depthwise, two, pool)(net)


def residual(net: Text) -> None:
    """A sum of products added to what it is made of."""
    anchor = net.last
    if net.pick(True, False):
        mixed(net, anchor, anchor[1][3])
    else:
        same(net)
    if net.last[1] == anchor[1]:
        net.add(f"add {anchor[0]}, {net.last[0]}{net.rounding}", [anchor, net.last], anchor[1])


def halves(net: Text) -> None:
    """The first channels and the others, each read for itself."""
    name, shape = net.last
    if shape[3] > 1:
        parts = [(*shape[:3], 1), (*shape[:3], shape[3] - 1)]
        types = [net.type_of(part) for part in parts]
        names = net.line(f"split {name} axis 3", [net.type_of(shape)], types)
        for made in zip(names, parts, strict=True):
            net.made.append(made)
            net.pick(pool, function)(net)


STEPS = (joined, joined, residual, halves, *KERNELS)


def text_of(
    rng: Rng, quantized: bool, outputs: int, steps: Sequence[Callable[[Text], None]] = STEPS
) -> str:
    if rng.random() < 0.3:
        return network(rng, quantized, branch=True, outputs=outputs)
    return sparse_text(rng, outputs, steps, quantized)


def planned(
    module: ModuleOp,
    seed: int,
    rules: tuple[str, ...],
    change: Callable[[FuncOp], None] = lambda func: None,
    method: str = "rpo",
) -> FuncOp:
    """Plan it with rules wherever kernels run what they leave, which may `change` before the order:
    in place or not, inputs and outputs in the arena or the caller's."""
    func, context = only_function(module), Context()
    io, inplace = ("caller" if seed % 2 else "arena"), ("on" if seed % 3 else "off")
    MemgraphModelPass(target="host", alignment=4, inplace=inplace, io=io).apply(context, module)
    applied(func, runnable(func, dict.fromkeys(rules)))
    change(func)
    MemgraphSchedulePass(method=method).apply(context, module)
    MemgraphPlacePass("greedy-by-size").apply(context, module)
    verify_plan(func, placed=True)
    return func
