# pyright: basic, reportArgumentType=false
"""Three networks over sequences, as exporters write them, with random weights: keywords, voice, and
characters one after the other.

    python networks.py      # writes keywords.onnx, voice.onnx and characters.onnx
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

REAL, WHOLE = TensorProto.FLOAT, TensorProto.INT64
Sizes = Mapping[str, tuple[int, ...]]


class Net:
    """A graph that grows node by node."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, values: Any) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def weights(self, *shape: int, read: int = 0) -> str:
        """Random ones, of which an output sums up as many as are `read`."""
        scale = 1 / np.sqrt(read or shape[0])
        return self.constant(self.rng.normal(scale=scale, size=shape).astype(np.float32))

    def add(self, kind: str, *inputs: str, name: str = "", **attributes: Any) -> str:
        name = name or f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name

    def shaped(self, x: str, *shape: int) -> str:
        return self.add("Reshape", x, self.constant(np.array(shape, np.int64)))

    def linear(self, x: str, taken: int, made: int) -> str:
        return self.add("Add", self.add("MatMul", x, self.weights(taken, made)), self.weights(made))

    def normalized(self, x: str, width: int) -> str:
        scale = self.constant(np.ones(width, np.float32))
        return self.add("LayerNormalization", x, scale, self.weights(width), axis=-1)

    def gelu(self, x: str) -> str:
        part = self.add("Div", x, self.constant(np.float32(np.sqrt(2))))
        part = self.add("Add", self.add("Erf", part), self.constant(np.float32(1)))
        return self.add("Mul", self.add("Mul", x, part), self.constant(np.float32(0.5)))

    def of_heads(self, x: str, places: int, heads: int, width: int, keys: bool = False) -> str:
        parts = self.shaped(x, 1, places, heads, width // heads)
        return self.add("Transpose", parts, perm=[0, 2, 3, 1] if keys else [0, 2, 1, 3])

    def attended(self, q: str, k: str, v: str, heads: int, width: int, *mask: str) -> str:
        """Return the attention of heads of q [1, heads, places, each] to those of k and v."""
        scores = self.add("MatMul", q, k)
        scores = self.add("Div", scores, self.constant(np.float32(np.sqrt(width / heads))))
        for part in mask:
            scores = self.add("Add", scores, part)
        found = self.add("MatMul", self.add("Softmax", scores, axis=-1), v)
        return self.add("Transpose", found, perm=[0, 2, 1, 3])

    def fed(self, x: str, width: int) -> str:
        """The other half of a block, with what it is added to."""
        part = self.gelu(self.linear(self.normalized(x, width), width, 4 * width))
        return self.add("Add", x, self.linear(part, 4 * width, width))

    def model(self, given: Sizes, made: Sizes, wholes: tuple[str, ...] = ()) -> bytes:
        def values(sizes: Sizes) -> list[Any]:
            return [
                helper.make_tensor_value_info(n, WHOLE if n in wholes else REAL, s)
                for n, s in sizes.items()
            ]

        graph = helper.make_graph(self.nodes, "net", values(given), values(made), self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        onnx.checker.check_model(model, full_check=True)
        return model.SerializeToString()


FRAMES, BANDS, WORDS = 49, 40, 12


def keywords(seed: int = 1, width: int = 32, heads: int = 2) -> bytes:
    """A transformer of two blocks over a second of sound: `sound` -> `words`, one score each."""
    net = Net(seed)
    x = net.linear("sound", BANDS, width)
    x = net.add("Add", x, net.weights(1, FRAMES, width))
    for _ in range(2):
        y = net.normalized(x, width)
        q, k, v = (net.linear(y, width, width) for _ in range(3))
        sizes = FRAMES, heads, width
        y = net.attended(
            net.of_heads(q, *sizes),
            net.of_heads(k, *sizes, keys=True),
            net.of_heads(v, *sizes),
            heads,
            width,
        )
        x = net.add("Add", x, net.linear(net.shaped(y, 1, FRAMES, width), width, width))
        x = net.fed(x, width)
    x = net.add("ReduceMean", net.normalized(x, width), axes=[1], keepdims=0)
    net.add("Identity", net.linear(x, width, WORDS), name="words")
    return net.model({"sound": (1, FRAMES, BANDS)}, {"words": (1, WORDS)})


def voice(seed: int = 2, width: int = 32, units: int = 48) -> bytes:
    """A detector that hears frame after frame: `frame`, `h` -> `voice`, `h_next`."""
    net = Net(seed)
    x = net.add("Relu", net.linear("frame", BANDS, width))
    parts = [net.weights(1, 3 * units, n, read=n) for n in (width, units)]
    parts.append(net.weights(1, 6 * units, read=units))
    node = helper.make_node(
        "GRU", [x, *parts, "", "h"], ["", "h_next"], hidden_size=units, linear_before_reset=1
    )
    net.nodes.append(node)
    y = net.linear(net.shaped("h_next", 1, units), units, 1)
    net.add("Sigmoid", y, name="voice")
    given = {"frame": (1, 1, BANDS), "h": (1, 1, units)}
    return net.model(given, {"voice": (1, 1), "h_next": (1, 1, units)})


CHARACTERS, CONTEXT, WIDTH, LAYERS = 64, 64, 64, 2
STATES = tuple(f"{part}{layer}" for layer in range(LAYERS) for part in "kv")


def characters(seed: int = 3, heads: int = 4) -> bytes:
    """A decoder of two layers: `character` and what was kept of those before -> `next`. The row of
    a character is written into the caches, which causal attention of one query reads."""
    net = Net(seed)
    x = net.add("Gather", net.weights(CHARACTERS, WIDTH), "character")
    x = net.add("Add", x, net.add("Gather", net.weights(CONTEXT, WIDTH), "place"))
    here = net.shaped("place", 1, 1)
    seen = net.add("LessOrEqual", net.constant(np.arange(CONTEXT)), "place")
    nothing, unseen = (net.constant(np.float32(v)) for v in (0, -1e9))
    mask = net.add("Where", seen, nothing, unseen)
    for layer in range(LAYERS):
        y = net.normalized(x, WIDTH)
        q, k, v = (net.linear(y, WIDTH, WIDTH) for _ in range(3))
        k, v = (
            net.add("ScatterND", f"{n}{layer}", here, row, name=f"{n}{layer}_next")
            for n, row in (("k", k), ("v", v))
        )
        y = net.attended(
            net.of_heads(q, 1, heads, WIDTH),
            net.of_heads(k, CONTEXT, heads, WIDTH, keys=True),
            net.of_heads(v, CONTEXT, heads, WIDTH),
            heads,
            WIDTH,
            mask,
        )
        x = net.add("Add", x, net.linear(net.shaped(y, 1, WIDTH), WIDTH, WIDTH))
        x = net.fed(x, WIDTH)
    logits = net.linear(net.normalized(x, WIDTH), WIDTH, CHARACTERS)
    net.add("ArgMax", logits, name="next", axis=1, keepdims=0)
    net.add("Add", "place", net.constant(np.array([1])), name="place_next")
    caches = dict.fromkeys(STATES, (CONTEXT, WIDTH))
    given = {"character": (1,), "place": (1,), **caches}
    made = {"next": (1,), "place_next": (1,), **{f"{n}_next": s for n, s in caches.items()}}
    return net.model(given, made, ("character", "place", "next", "place_next"))


NETWORKS = {"keywords": keywords, "voice": voice, "characters": characters}

if __name__ == "__main__":
    for name, make in NETWORKS.items():
        Path(f"{name}.onnx").write_bytes(make())
