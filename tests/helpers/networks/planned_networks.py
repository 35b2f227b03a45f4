"""Random networks of several generators, and random ways to plan them: by `memopt compile`'s road,
with every kind of option that may be asked for together."""

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from onnx_chains import chain
from row_networks import network
from scalar_networks import scalar_network
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import PassFailedException

from memopt.compile.driver import import_bytes, load_text, new_context
from memopt.compile.pipelines import SettledOptions
from memopt.compile.run_passes import Seconds, plan_module
from memopt.dialects.memgraph.errors import MemoptError

REFUSALS = (  # what the options ask for cannot be; all else that is refused is a fault
    "no operator has rows",
    "it reads all of",
    "has no rows",
    "is not kept, as the memory model asks",
    "is a part of a tensor, which is placed in one arena only",
    "nothing reads x",
    "the buffers do not fit into",
    "is a virtual tensor, which is not modelled",
    "is added to in place, which is not modelled",
    "no greedy assignment fits",
    "no assignment was found within the limit",
)
MEMORIES = ("a:600@1,b:100000@3", "a:2K@1,b:9K@2,c:1M@5", "a:60@2,b:1M@2")
PLACES = ("greedy-by-size", "best-fit", "shared-objects")


def random_module(seed: int, folder: Path) -> tuple[str, ModuleOp]:
    """A network, and of which generator it is; `folder` gets the file of one that is in a file."""
    rng = np.random.default_rng([21, seed])
    match seed % 8:
        case 0 | 1:
            text = network(rng, True, branch=seed % 3 == 0, outputs=1 + (seed % 5 == 0))
            return "rows, int8", load_text(new_context(), text, "net.mlir")
        case 2:
            text = network(rng, False, branch=seed % 3 == 0, outputs=1 + (seed % 5 == 0))
            return "rows, float", load_text(new_context(), text, "net.mlir")
        case 3:
            quantized = seed % 16 == 3
            text = scalar_network(rng, quantized)
            name = "scalars, int8" if quantized else "scalars, float"
            return name, load_text(new_context(), text, "net.mlir")
        case _:
            data = chain(seed)
            path = folder / f"net{seed}.onnx"
            path.write_bytes(data)
            return "ONNX, float", import_bytes(data, ".onnx", path.name, path)


def random_options(seed: int) -> SettledOptions:
    """Some of the options of `memopt compile`."""
    pick = random.Random(seed)
    rows = pick.choice(("auto", "all", "all", "none"))
    chosen = SettledOptions(
        rewrite=pick.choice(("all", "safe", "none")),
        rows=rows,
        io=pick.choice(("arena", "caller", "kept")),
        optimize=pick.choice(("ram", "balanced", "speed")),
        inplace=pick.choice((None, None, "on", "off")),
    )
    other = pick.random()
    if other < 0.15:
        return replace(chosen, memory=pick.choice(MEMORIES), time_limit=5.0)
    if other < 0.35 and rows != "none":
        return replace(chosen, io=pick.choice(("arena", "caller")), stream_input=True)
    return replace(chosen, place=pick.choice(PLACES)) if other < 0.45 else chosen


def planned(module: ModuleOp, options: SettledOptions) -> bool:
    """Plan a network for the host; False if what is asked for cannot be. All that our own verifier
    refuses, or anybody for another reason than these, is raised."""
    try:
        plan_module(Context(), module, options, Seconds())
    except (MemoptError, PassFailedException) as error:
        if any(text in str(error) for text in REFUSALS):
            return False
        raise
    return True


def kinds_of(options: SettledOptions) -> Iterator[str]:
    """The options, as they are counted."""
    yield f"rewrite={options.rewrite}"
    yield f"rows={options.rows}"
    yield f"optimize={options.optimize}"
    yield f"io={options.io}"
    yield f"place={options.place}"
    if options.stream_input:
        yield "stream"
    if options.memory:
        yield f"memory={options.memory}"
