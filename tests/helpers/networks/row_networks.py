"""Random networks of operators that have rows, as text of the dialect: steps of `row_steps.py` one
after the other, branches that are joined again later, one or two results."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
from row_steps import ALL, KEEPING, KERNELS, across, tail
from row_text import Rng, Text
from xdsl.dialects.func import FuncOp

from memopt.dialects.arithmetic.stored import Array, dtype_of
from memopt.dialects.memgraph.functions import body_of
from memopt.dialects.memgraph.tensors import shape_of
from memopt.passes.rows.expand import computing, cut

MOST = 1_200  # elements of a tensor


def network(
    rng: Rng, quantized: bool, every: bool = False, branch: bool = False, outputs: int = 1
) -> str:
    """A function @main of three to seven steps. With `every` also of operators without a kernel in
    C; with `branch` a tensor that is read again behind operators that have rows."""
    net = Text(rng, quantized)
    net.made.append(("%x", (1, *(int(v) for v in rng.integers(3, 9, 2)), int(rng.integers(1, 4)))))
    first = net.made[0]
    count = int(rng.integers(3, 8))
    at = int(rng.integers(0, count)) if branch else -1
    for k in range(count):
        if k == at:
            anchor = net.last
            for _ in range(int(rng.integers(1, 4))):
                net.pick(*KEEPING)(net)
            across(net, anchor)
        else:
            step(net, every)
    whole = [m for m in net.made[1:] if m != net.last]
    other: list[Any] = [net.pick(*whole)] if outputs == 2 and whole else []
    if not other or rng.random() < 0.5:
        tail(net)
    results = [net.last, *other]
    types = ", ".join(net.type_of(shape) for _, shape in results)
    values = ", ".join(name for name, _ in results)
    body = "".join(f"  {line}\n" for line in net.lines)
    return (
        f"func.func @main(%x: {net.type_of(first[1])}) -> ({types}) {{\n{body}"
        f"  func.return {values} : {types}\n}}\n"
    )


def step(net: Text, every: bool) -> None:
    """One step whose results are no larger than `MOST`."""
    while True:
        lines, made = len(net.lines), len(net.made)
        net.pick(*(ALL if every else KERNELS))(net)
        if all(np.prod(shape) <= MOST for _, shape in net.made[made:]):
            return
        del net.lines[lines:], net.made[made:]


def image_of(func: FuncOp, rng: Rng) -> Array:
    """Something for the only argument: reals, or all stored integers."""
    (argument,) = body_of(func).args
    kind, shape = np.dtype(dtype_of(argument)), shape_of(argument)
    real: Array = rng.standard_normal(shape).astype(kind)
    return real if kind.kind == "f" else rng.integers(-128, 128, shape).astype(kind)


def kinds(func: FuncOp, positions: Iterable[int] | None = None) -> Counter[str]:
    """How many operators there are of each kind, at these positions of `computing`."""
    found = computing(func)
    chosen = range(len(found)) if positions is None else positions
    return Counter(found[k].name.removeprefix("memgraph.") for k in chosen)


def cut_some(func: FuncOp, seed: int, rng: Rng) -> Counter[str]:
    """Cut all operators that have rows, in every third network some; how many of each kind."""
    whole = func.clone()
    every = range(len(computing(func)))
    return kinds(whole, cut(func, [k for k in every if seed % 3 != 1 or rng.random() < 0.6]))
