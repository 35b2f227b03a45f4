"""Random cells as a search over architectures makes them, and how fast `memopt sweep` answers.

    python benchmarks/cells.py [--count 1000] [--jobs 2] [--seed 0] [-o DIR]

A cell has 16 to 20 operators: each reads one or two of the last tensors, sizes are those of feature
maps (channels x resolution), what nobody reads is concatenated at the end. Prints one line of JSON:
cells, proven ones, seconds from start to end with process start and reading the files.
"""

import argparse
import json
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from memopt.api.sweep_rows import Task, rows

KINDS = ("Conv", "DepthwiseConv", "Add", "MaxPool", "Concat")


def cell(seed: int) -> dict[str, Any]:
    """A random cell as a JSON graph; the same for the same seed. Sizes in bytes, int8."""
    rng = random.Random(f"cell {seed}")
    count = rng.randint(15, 19)
    side = rng.choice((16, 32, 56))
    names = ["x0", "x1"]
    size = {name: side * side * rng.choice((16, 24, 32)) for name in names}
    nodes: list[dict[str, Any]] = []
    for i in range(count):
        reach = names[-rng.randint(2, 8) :]
        inputs = sorted(rng.sample(reach, min(len(reach), rng.choice((1, 1, 2)))))
        name = f"t{i}"
        size[name] = side * side * rng.choice((8, 16, 16, 24, 32, 48)) // rng.choice((1, 1, 4))
        nodes.append(
            {"name": f"n{i}", "op": rng.choice(KINDS), "inputs": inputs, "outputs": [name]}
        )
        names.append(name)
    read = {name for node in nodes for name in node["inputs"]}
    loose = [f"t{i}" for i in range(count) if f"t{i}" not in read]
    size["y"] = sum(size[name] for name in loose)
    nodes.append({"name": "join", "op": "Concat", "inputs": loose, "outputs": ["y"]})
    tensors = [{"name": n, "bytes": b, "is_weight": False} for n, b in size.items()]
    return {
        "name": f"cell{seed}",
        "tensors": tensors,
        "nodes": nodes,
        "graph_inputs": ["x0", "x1"],
        "graph_outputs": ["y"],
    }


def write_cells(folder: Path, count: int, seed: int) -> list[Path]:
    """`count` cells as files, named by their seeds."""
    paths: list[Path] = []
    for i in range(seed, seed + count):
        paths.append(folder / f"cell{i:05}.json")
        paths[-1].write_text(json.dumps(cell(i)))
    return paths


def measure(folder: Path, count: int, jobs: int, seed: int) -> dict[str, Any]:
    """Cells, how many are proven optimal and by what, and wall seconds."""
    paths = write_cells(folder, count, seed)
    start = time.perf_counter()
    answers = list(rows([Task(str(p), "", None) for p in paths], jobs))
    seconds = time.perf_counter() - start
    return {
        "cells": count,
        "jobs": jobs,
        "optimal": sum(row.optimal for row in answers),
        "flow": sum(row.proof == "flow" for row in answers),
        "search": sum(row.proof == "search" for row in answers),
        "errors": sum(row.error is not None for row in answers),
        "seconds": round(seconds, 3),
    }


def main() -> int:
    """Exit code 1 if some cell is not proven."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", metavar="DIR", help="keep the cells there")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(args.output or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        figures = measure(folder, args.count, args.jobs, args.seed)
    print(json.dumps(figures))
    return int(figures["optimal"] != args.count)


if __name__ == "__main__":
    sys.exit(main())
