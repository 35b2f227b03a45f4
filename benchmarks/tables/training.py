"""Random training graphs of thousands of operators, as JSON graphs.

    python -m benchmarks.tables.training DIR [--operators 2000] [--seeds 3] [--shapes ...]

A step of stochastic gradient descent, as a tracer writes it down: forward, loss, backward, then all
updates. Every backward operator reads the gradient that reaches it and what its forward operator
had read or made; gradients that reach a tensor from several readers are added up; a weight's
gradient is read by its update alone, which makes a 0-byte token. Weights are constants. Sizes are
log-uniform: activations 4 KiB to 4 MiB, gradients of weights 256 B to 1 MiB.

Shapes: `chain` (no branch), `residual` (sums around 2 to 4 operators), `branches` (2 to 4 side by
side, joined), `dense` (each operator of a block reads all tensors before it), `wired` (a block of
10 to 30 operators at random, each reading one to three of the last eight), `unet` (every block's
tensor is joined in again on the way back), `mixed` (any of the blocks).

`python -m benchmarks schedule --tables training` says how far the scheduler gets with them.
"""

import argparse
import json
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Tensor = str


@dataclass
class Step:
    """Derivative of one forward operator."""

    name: str
    inputs: list[Tensor]
    output: Tensor
    saved: list[Tensor]  # read again backward
    weight: int  # bytes; 0: none


@dataclass
class Tape:
    """A training step while it is written down."""

    rng: random.Random
    size: dict[Tensor, int] = field(default_factory=dict[Tensor, int])
    nodes: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    steps: list[Step] = field(default_factory=list[Step])

    def count(self) -> int:
        """Operators so far, with about those that the way back will need."""
        return len(self.nodes) + sum(len(s.inputs) + 2 * bool(s.weight) for s in self.steps)

    def node(self, op: str, inputs: list[Tensor], size: int) -> Tensor:
        """An operator with one result of `size` bytes."""
        name = f"{op}_{len(self.nodes)}"
        self.size[f"{name}:0"] = size
        self.nodes.append({"name": name, "op": op, "inputs": inputs, "outputs": [f"{name}:0"]})
        return f"{name}:0"

    def log_uniform(self, low: int, high: int) -> int:
        """A multiple of 64 bytes between two powers of two."""
        return round(2 ** self.rng.uniform(low, high) / 64) * 64

    def weighted(self, x: Tensor, size: int | None = None) -> Tensor:
        """A convolution or the like, with a weight; its input is read again backward."""
        size = self.log_uniform(12, 22) if size is None else size
        y = self.node("conv", [x], size)
        self.steps.append(Step("conv", [x], y, [x], self.log_uniform(8, 20)))
        return y

    def activation(self, x: Tensor) -> Tensor:
        """An element-wise operator; its result is read again backward."""
        y = self.node("act", [x], self.size[x])
        self.steps.append(Step("act", [x], y, [y], 0))
        return y

    def join(self, op: str, xs: list[Tensor], size: int) -> Tensor:
        """A sum or a concatenation, which keeps nothing."""
        y = self.node(op, xs, size)
        self.steps.append(Step(op, xs, y, [], 0))
        return y

    def backward(self, loss: Tensor) -> list[Tensor]:
        """Gradients in reverse; returns those of the weights."""
        parts: dict[Tensor, list[Tensor]] = {loss: [self.node("loss_grad", [loss], 64)]}
        weights: list[Tensor] = []
        for step in reversed(self.steps):
            reached = parts[step.output]
            while len(reached) > 1:
                size = self.size[step.output]
                reached = [self.node("add_grad", reached[:2], size), *reached[2:]]
            for x in step.inputs:
                if x != "x":  # nobody asks for the gradient of the data
                    read = [reached[0], *step.saved]
                    grad = self.node(f"{step.name}_grad", read, self.size[x])
                    parts.setdefault(x, []).append(grad)
            if step.weight:
                read = [reached[0], *step.saved]
                weights.append(self.node("weight_grad", read, step.weight))
        return weights


def chain(tape: Tape, x: Tensor) -> Tensor:
    """Two weighted operators with their activations."""
    return tape.activation(tape.weighted(tape.activation(tape.weighted(x))))


def residual(tape: Tape, x: Tensor) -> Tensor:
    """A sum around some operators, which end in the size that they began with."""
    y = x
    for _ in range(tape.rng.randint(1, 3)):
        y = tape.activation(tape.weighted(y))
    return tape.activation(tape.join("add", [tape.weighted(y, tape.size[x]), x], tape.size[x]))


def branches(tape: Tape, x: Tensor) -> Tensor:
    """Operators side by side, joined."""
    ends: list[Tensor] = []
    for _ in range(tape.rng.randint(2, 4)):
        y = x
        for _ in range(tape.rng.randint(1, 3)):
            y = tape.activation(tape.weighted(y))
        ends.append(y)
    return tape.join("concat", ends, sum(tape.size[y] for y in ends))


def dense(tape: Tape, x: Tensor) -> Tensor:
    """Let each operator read all tensors of the block so far."""
    seen = [x]
    for _ in range(tape.rng.randint(2, 5)):
        y = tape.join("concat", list(seen), sum(tape.size[t] for t in seen))
        seen.append(tape.activation(tape.weighted(y)))
    return tape.weighted(seen[-1])


def wired(tape: Tape, x: Tensor) -> Tensor:
    """A random graph with one way out; what it joins has one size, as the sums need it."""
    size, tensors, loose = tape.log_uniform(12, 20), [tape.weighted(x)], list[Tensor]()
    for _ in range(tape.rng.randint(10, 30)):
        reach = tensors[-8:]
        xs = sorted(tape.rng.sample(reach, min(len(reach), tape.rng.randint(1, 3))))
        y = xs[0] if len(xs) == 1 else tape.join("add", xs, size)
        loose = [t for t in loose if t not in xs]
        tensors.append(tape.activation(tape.weighted(y, size)))
        loose.append(tensors[-1])
    return tape.join("concat", loose, sum(tape.size[t] for t in loose))


def unet(tape: Tape, x: Tensor, operators: int) -> Tensor:
    """Down a ladder of blocks, and up again past each of them."""
    rungs: list[Tensor] = []
    while tape.count() < operators // 2:
        x = residual(tape, tape.weighted(x))
        rungs.append(x)
    while rungs:
        past = rungs.pop()
        x = chain(tape, tape.join("concat", [x, past], tape.size[x] + tape.size[past]))
    return x


BLOCKS: dict[str, Callable[[Tape, Tensor], Tensor]] = {
    "chain": chain,
    "residual": residual,
    "branches": branches,
    "dense": dense,
    "wired": wired,
}
SHAPES = (*BLOCKS, "unet", "mixed")


def training_graph(shape: str, operators: int, seed: int) -> dict[str, Any]:
    """A training step of about `operators` operators as a JSON graph; the same for the same seed.

    Raises KeyError for an unknown shape.
    """
    tape = Tape(random.Random(f"training {shape} {operators} {seed}"))
    tape.size["x"] = tape.log_uniform(18, 22)
    y = tape.weighted("x")
    kinds = list(BLOCKS) if shape == "mixed" else [shape]
    if shape == "unet":
        y = unet(tape, y, operators)
    while tape.count() < operators and shape != "unet":
        if tape.size[y] > 1 << 22:
            y = tape.weighted(y)  # after a concatenation, back to the usual sizes
        y = BLOCKS[tape.rng.choice(kinds)](tape, y)
    loss = tape.join("loss", [y], 64)
    tokens = [tape.node("update", [grad], 0) for grad in tape.backward(loss)]
    return {
        "name": f"{shape}{seed}",
        "source": "benchmarks.tables.training",
        "tensors": [{"name": t, "bytes": s, "is_weight": False} for t, s in tape.size.items()],
        "nodes": tape.nodes,
        "graph_inputs": ["x"],
        "graph_outputs": [loss, *tokens],
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the graphs as `train_SHAPESEED.json`."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--operators", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=SHAPES)
    args = parser.parse_args(arguments)
    args.folder.mkdir(parents=True, exist_ok=True)
    for shape in args.shapes:
        for seed in range(args.seeds):
            data = training_graph(shape, args.operators, seed)
            path = args.folder / f"train_{data['name']}.json"
            path.write_text(json.dumps(data), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
