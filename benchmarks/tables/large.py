"""Large problems, for limits: butterflies, chains, layers, blocks of attention, hourglasses, nested
forks, training steps, random and wide graphs, rows, networks, thousands of buffers.

python -m benchmarks.tables.large butterfly 10 > butterfly.json      10,240 operators
python -m benchmarks.tables.large chains 1000 > chains.json           5,001 operators
python -m benchmarks.tables.large layers 2000 > layers.json          10,000 operators
python -m benchmarks.tables.large straight 10000 > straight.json  10,000 operators
python -m benchmarks.tables.large attention 700 > attention.json   9,800 operators
python -m benchmarks.tables.large hourglass 5000 > hourglass.json  9,999 operators
python -m benchmarks.tables.large nested 3000 > nested.json         8,999 operators
python -m benchmarks.tables.large training 10000 > training.json  about as many operators
python -m benchmarks.tables.large drawn 10000 > drawn.json           10,000 operators
python -m benchmarks.tables.large wide 100 > wide.json               10,000 operators
python -m benchmarks.tables.large rows 25 > rows.mlir                10,000 operators once cut
python -m benchmarks.tables.large network 2000 > network.mlir   10,000 operators
python -m benchmarks.tables.large buffers 20000 > buffers.csv
"""

import argparse
import json
import sys
from collections.abc import Callable
from itertools import pairwise
from math import exp, log
from random import Random
from typing import Any

from benchmarks.tables.training import training_graph
from memopt.formats.minimalloc import Row, write_rows

ROWS = 200  # of a tensor that is cut
LENGTH = 5  # operators of a chain, or of a block of layers
WINDOW = 20  # tensors of which a random operator reads
SMALLEST, LARGEST = 512, 64 << 20  # bytes of a buffer


def butterfly(stages: int) -> dict[str, Any]:
    """A Fourier transform of 2**stages points as a JSON graph: all of its ideals are wide."""
    points = 1 << stages
    nodes: list[dict[str, Any]] = []
    first = row = [f"x{i}" for i in range(points)]
    for stage in range(stages):
        out = [f"s{stage}_{i}" for i in range(points)]
        nodes += [_node(out[i], "Butterfly", [row[i], row[i ^ 1 << stage]]) for i in range(points)]
        row = out
    sizes = dict.fromkeys([*first, *(n["name"] for n in nodes)], 8)
    return _graph("butterfly", sizes, nodes, first, row)


def chains(count: int, seed: int = 0) -> dict[str, Any]:
    """`count` chains of random sizes from one input, which meet in one sum, as a JSON graph."""
    random = Random(seed)
    sizes, nodes, ends = {"x": 64}, list[dict[str, Any]](), list[str]()
    for c in range(count):
        last = "x"
        for i in range(LENGTH):
            name = f"c{c}_{i}"
            sizes[name] = random.randint(1, 4096 if i + 1 < LENGTH else 64)
            nodes.append(_node(name, "Step", [last]))
            last = name
        ends.append(last)
    sizes["y"] = 64
    nodes.append(_node("y", "Sum", ends))
    return _graph("chains", sizes, nodes, ["x"], ["y"])


def layers(blocks: int) -> dict[str, Any]:
    """A deep network of residual blocks, one after the other, as a JSON graph: a ReLU, a reshape
    and a sum in each."""
    sizes, nodes, last = {"x": 4096}, list[dict[str, Any]](), "x"
    for b in range(blocks):
        names = [f"b{b}_{i}" for i in range(LENGTH)]
        kinds = ("Conv", "Relu", "Reshape", "Conv", "Add")
        inputs = [[last], *([name] for name in names[:-1])]
        inputs[-1].append(last)
        nodes += map(_node, names, kinds, inputs)
        sizes |= dict.fromkeys(names, 4096)
        last = names[-1]
    return _graph("layers", sizes, nodes, ["x"], [last])


def straight(count: int, seed: int = 0) -> dict[str, Any]:
    """Return one chain of `count` operators with tensors of random sizes, as a JSON graph."""
    random, names = Random(seed), ["x", *(f"t{i}" for i in range(count))]
    nodes = [_node(name, "Step", [before]) for before, name in pairwise(names)]
    return _graph("straight", {n: random.randint(1, 4096) for n in names}, nodes, ["x"], names[-1:])


def attention(blocks: int) -> dict[str, Any]:
    """Return an encoder of transformer blocks of fourteen operators each, as a JSON graph."""
    sizes, nodes, last = {"x": 4096}, list[dict[str, Any]](), "x"
    for b in range(blocks):
        for name, inputs, size in (
            ("norm1", [last], 4096),
            ("query", ["norm1"], 4096),
            ("key", ["norm1"], 4096),
            ("value", ["norm1"], 4096),
            ("scores", ["query", "key"], 16_384),
            ("softmax", ["scores"], 16_384),
            ("mix", ["softmax", "value"], 4096),
            ("project", ["mix"], 4096),
            ("add1", ["project", last], 4096),
            ("norm2", ["add1"], 4096),
            ("widen", ["norm2"], 16_384),
            ("gelu", ["widen"], 16_384),
            ("narrow", ["gelu"], 4096),
            ("add2", ["narrow", "add1"], 4096),
        ):
            read = [i if i == last else f"b{b}_{i}" for i in inputs]
            nodes.append(_node(f"b{b}_{name}", name, read))
            sizes[f"b{b}_{name}"] = size
        last = f"b{b}_add2"
    return _graph("attention", sizes, nodes, ["x"], [last])


def hourglass(depth: int) -> dict[str, Any]:
    """Return `depth` operators down to small tensors and up again, as a JSON graph; on the way up
    each also reads the tensor of its size on the way down."""
    sizes, nodes, last = {"x": 64 * depth}, list[dict[str, Any]](), "x"
    for i in range(depth):
        nodes.append(_node(f"d{i}", "Down", [last]))
        last, sizes[f"d{i}"] = f"d{i}", 64 * (depth - i)
    for i in reversed(range(depth - 1)):
        nodes.append(_node(f"u{i}", "Up", [last, f"d{i}"]))
        last, sizes[f"u{i}"] = f"u{i}", 64 * (depth - i)
    return _graph("hourglass", sizes, nodes, ["x"], [last])


def nested(depth: int) -> dict[str, Any]:
    """Return forks with a branch of one operator and a branch with the next fork, and their joins,
    as a JSON graph: all modules but the innermost have a module inside."""
    names = [f"{kind}{i}" for i in range(depth) for kind in ("fork", "side", "join")]
    nodes, last = list[dict[str, Any]](), "x"
    for i in range(depth):
        nodes += [_node(f"fork{i}", "Step", [last]), _node(f"side{i}", "Step", [f"fork{i}"])]
        last = f"fork{i}"
    for i in reversed(range(depth)):
        nodes.append(_node(f"join{i}", "Sum", [last, f"side{i}"]))
        last = f"join{i}"
    return _graph("nested", dict.fromkeys(["x", *names], 64), nodes, ["x"], [last])


def drawn(count: int, seed: int = 0) -> dict[str, Any]:
    """`count` operators that read one to three of the WINDOW tensors made last, as a JSON graph;
    one more reads what nobody did."""
    random, sizes, nodes = Random(seed), {"x": 4096}, list[dict[str, Any]]()
    for i in range(count):
        before = list(sizes)[-WINDOW:] if i < WINDOW else [f"t{j}" for j in range(i - WINDOW, i)]
        read = random.sample(before, min(len(before), random.randint(1, 3)))
        nodes.append(_node(f"t{i}", "Step", read))
        sizes[f"t{i}"] = random.randint(1, 4096)
    sizes["y"] = 64
    return _graph("drawn", sizes, [*nodes, _last(nodes)], ["x"], ["y"])


def wide(width: int, seed: int = 0) -> dict[str, Any]:
    """`width` layers of so many operators, each of which reads two of the layer before, as a JSON
    graph; one more reads what nobody did."""
    random, sizes, nodes = Random(seed), {"x": 4096}, list[dict[str, Any]]()
    row = ["x", "x"]
    for depth in range(width):
        names = [f"d{depth}_{i}" for i in range(width)]
        nodes += [_node(name, "Step", list(dict.fromkeys(random.sample(row, 2)))) for name in names]
        sizes |= {name: random.randint(1, 4096) for name in names}
        row = names
    sizes["y"] = 64
    return _graph("wide", sizes, [*nodes, _last(nodes)], ["x"], ["y"])


def rows(blocks: int) -> str:
    """`blocks` residual blocks of pooling as IR, of ROWS rows each: 2 * ROWS row operators a block
    after `--expand-rows=rows=all`."""
    tensor = f"tensor<1x{ROWS}x8x4xf32, #memgraph.encoding<nhwc>>"
    lines = [f"func.func @rows(%a0: {tensor}) -> {tensor} {{"]
    for b in range(1, blocks + 1):
        pool = f"memgraph.max_pool_2d %a{b - 1} window<[3, 3], pad = [1, 1, 1, 1]>"
        lines += [
            f"  %p{b} = {pool} : ({tensor}) -> {tensor}",
            f"  %a{b} = memgraph.add %a{b - 1}, %p{b} : ({tensor}, {tensor}) -> {tensor}",
        ]
    return "\n".join([*lines, f"  func.return %a{blocks} : {tensor}", "}", ""])


def network(blocks: int) -> str:
    """`blocks` of five operators of the dialect on vectors, one block after the other, as IR."""
    one, two = "(!v) -> !v", "(!v, !v) -> !v"
    lines = ["!v = tensor<1x64xf32>", "func.func @network(%a0: !v) -> !v {"]
    for b in range(1, blocks + 1):
        lines += [
            f"  %p{b} = memgraph.tanh %a{b - 1} : {one}",
            f"  %r{b} = memgraph.softmax %p{b} axis 1 beta 1.0 : {one}",
            f"  %s{b} = memgraph.add %a{b - 1}, %r{b} : {two}",
            f"  %q{b} = memgraph.relu %s{b} : {one}",
            f"  %a{b} = memgraph.mul %a{b - 1}, %q{b} : {two}",
        ]
    return "\n".join([*lines, f"  func.return %a{blocks} : !v", "}", ""])


def buffers(count: int, seed: int = 0) -> tuple[Row, ...]:
    """`count` buffers, sizes and lifetimes drawn log-uniformly; many live at a time."""
    random = Random(seed)
    horizon = 2 * count
    drawn: list[Row] = []
    for i in range(count):
        span = int(exp(random.uniform(0, log(horizon / 4)))) + 1
        lower = random.randint(0, horizon - span)
        size = int(exp(random.uniform(log(SMALLEST), log(LARGEST)))) // SMALLEST * SMALLEST
        drawn.append(Row(str(i), lower, lower + span, size + SMALLEST))
    return tuple(drawn)


def _last(nodes: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the node that reads all that nobody read."""
    read = {name for node in nodes for name in node["inputs"]}
    return _node("y", "Sum", [n["name"] for n in nodes if n["name"] not in read])


def _node(name: str, kind: str, inputs: list[str]) -> dict[str, Any]:
    return {"name": name, "op": kind, "inputs": inputs, "outputs": [name]}


def _graph(
    name: str,
    sizes: dict[str, int],
    nodes: list[dict[str, Any]],
    inputs: list[str],
    outputs: list[str],
) -> dict[str, Any]:
    return {
        "name": name,
        "source": "generated",
        "tensors": [{"name": t, "bytes": s, "is_weight": False} for t, s in sizes.items()],
        "nodes": nodes,
        "graph_inputs": inputs,
        "graph_outputs": outputs,
    }


FAMILIES: dict[str, Callable[[int], str]] = {
    "butterfly": lambda n: json.dumps(butterfly(n)),
    "chains": lambda n: json.dumps(chains(n)),
    "layers": lambda n: json.dumps(layers(n)),
    "straight": lambda n: json.dumps(straight(n)),
    "attention": lambda n: json.dumps(attention(n)),
    "hourglass": lambda n: json.dumps(hourglass(n)),
    "nested": lambda n: json.dumps(nested(n)),
    "training": lambda n: json.dumps(training_graph("chain", n, 0)),
    "drawn": lambda n: json.dumps(drawn(n)),
    "wide": lambda n: json.dumps(wide(n)),
    "rows": rows,
    "network": network,
    "buffers": lambda n: write_rows(buffers(n)),
}


def main() -> None:
    """Write one problem to standard output."""
    parser = argparse.ArgumentParser(prog="benchmarks.tables.large", description=__doc__)
    parser.add_argument("family", choices=FAMILIES)
    parser.add_argument(
        "size", type=int, help="stages, chains, blocks, depth, operators or buffers"
    )
    args = parser.parse_args()
    sys.stdout.write(FAMILIES[args.family](args.size))


if __name__ == "__main__":
    main()
