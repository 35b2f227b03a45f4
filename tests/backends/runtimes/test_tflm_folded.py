"""The `.tflite` of a network whose operators were folded into others: TensorFlow Lite Micro runs it
to the same bits."""

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sparse_tensors import random_form, sparse
from tflite_builder import Extra, Graph, Op, T, build
from tflm_runner import Job, random_inputs, run

from memopt.backends.tflm import rewritten_file as writer
from memopt.cli import main
from memopt.compile.driver import import_bytes
from memopt.compile.rewritten_network import FOLDED, WRITTEN_AS_FILES, rewrite_network
from memopt.formats.tflite import read_model

FULL = 500  # networks
LEAST = 50  # of them that each rule changes something in
SAME, VALID = 0, 1


@dataclass
class Net:
    """A network of int8 or float images that grows from its last tensor."""

    rng: np.random.Generator
    real: bool
    tensors: list[T] = field(default_factory=list[T])
    operators: list[Op] = field(default_factory=list[Op])

    def tensor(self, shape: list[int], like: int | None = None) -> int:
        name, kind = f"t{len(self.tensors)}", "FLOAT32" if self.real else "INT8"
        scale, zero = ([], []) if self.real else ([0.05], [int(self.rng.integers(-20, 20))])
        if like is not None:
            scale, zero = self.tensors[like].scale, self.tensors[like].zero
        self.tensors.append(T(name, shape, kind, scale=scale, zero=zero))
        return len(self.tensors) - 1

    def integers(self, values: Any, shape: list[int] | None = None) -> int:
        array = np.array(values, np.int32)
        self.tensors.append(T(f"c{len(self.tensors)}", list(array.shape), "INT32", array))
        return len(self.tensors) - 1

    def unknown(self, shape: list[int]) -> int:
        self.tensors.append(T(f"i{len(self.tensors)}", shape, "INT32"))
        return len(self.tensors) - 1

    def add(self, name: str, inputs: list[int], result: int, options: Any = None) -> int:
        self.operators.append(Op(name, inputs, [result], options))
        return result

    def weights(self, shape: list[int]) -> int:
        values = self.rng.integers(-20, 20, shape)
        values[self.rng.random(shape[0]) < 0.6] = 0
        array = values.astype(np.float32 if self.real else np.int8)
        kind, scale = ("FLOAT32", ()) if self.real else ("INT8", [0.01])
        self.tensors.append(T(f"w{len(self.tensors)}", shape, kind, array, scale=scale, zero=[0]))
        return len(self.tensors) - 1


def convolution(net: Net, x: int, stride: int = 1, padding: int = VALID) -> int:
    (_, h, w, c), out = net.tensors[x].shape, int(net.rng.integers(1, 5))
    k = int(net.rng.integers(1, 1 + min(h, w, 3)))
    size = [-(-n // stride) if padding == SAME else (n - k) // stride + 1 for n in (h, w)]
    options = {"strideW": stride, "strideH": stride, "padding": padding}
    options |= {"dilationWFactor": 1, "dilationHFactor": 1}
    y = net.tensor([1, *size, out])
    return net.add("CONV_2D", [x, net.weights([out, k, k, c]), -1], y, ("Conv2D", options))


def rectified(net: Net, x: int) -> int:
    """What is rectified by an operator of its own, or twice, once as a row of numbers."""
    x = convolution(net, x, padding=int(net.rng.integers(2)))
    if net.rng.random() < 0.3:
        x = net.add("ADD", [x, x], net.tensor(list(net.tensors[x].shape), x), ("Add", {}))
    shape = list(net.tensors[x].shape)
    if net.rng.random() < 0.3:
        flat = [1, int(np.prod(shape))]
        x = net.add("RESHAPE", [x, net.integers(flat)], net.tensor(flat, x), ("Reshape", {}))
        x = net.add("RELU", [x], net.tensor(flat, x))
        return net.add("RESHAPE", [x, net.integers(shape)], net.tensor(shape, x), ("Reshape", {}))
    return net.add(("RELU", "RELU6")[int(net.rng.integers(2))], [x], net.tensor(shape, x))


def padded(net: Net, x: int) -> int:
    """As TensorFlow pads itself, or otherwise."""
    _, h, w, c = net.tensors[x].shape
    before, after = (int(n) for n in net.rng.integers(0, 2, 2))
    pads = net.integers([[0, 0], [before, after], [before, after], [0, 0]])
    made = net.tensor([1, h + before + after, w + before + after, c], x)
    return convolution(net, net.add("PAD", [x, pads], made), int(net.rng.integers(1, 3)))


def unread(net: Net, x: int) -> int:
    """Beside what nobody reads."""
    y = net.add("RELU", [x], net.tensor(list(net.tensors[x].shape), x))
    convolution(net, y)
    return x


def twice(net: Net, x: int) -> int:
    shape = list(net.tensors[x].shape)
    sides = [net.add("RELU", [x], net.tensor(shape, x)) for _ in range(2)]
    return net.add("ADD", sides, net.tensor(shape), ("Add", {}))


def computed(net: Net, x: int) -> int:
    """A reshape to a shape that operators compute."""
    shape = list(net.tensors[x].shape)
    sizes = net.add("SHAPE", [x], net.unknown([4]), ("Shape", {"outType": 2}))
    ends = [net.integers([n]) for n in (0, 1, 1)]
    cut = ("StridedSlice", {"shrinkAxisMask": 1})
    first = net.add("STRIDED_SLICE", [sizes, *ends], net.unknown([]), cut)
    parts = [first, net.integers(int(np.prod(shape)))]
    packed = net.add("PACK", parts, net.unknown([2]), ("Pack", {"valuesCount": 2}))
    flat = net.tensor([1, int(np.prod(shape))], x)
    x = net.add("RESHAPE", [x, packed], flat, ("Reshape", {}))
    return net.add("RESHAPE", [x, net.integers(shape)], net.tensor(shape, x), ("Reshape", {}))


STEPS = (rectified, padded, unread, twice, computed)


def network(rng: np.random.Generator, real: bool) -> bytes:
    net = Net(rng, real)
    x = start = net.tensor([1, *(int(n) for n in rng.integers(4, 9, 2)), int(rng.integers(1, 4))])
    for _ in range(int(rng.integers(1, 5))):
        x = STEPS[int(rng.integers(len(STEPS)))](net, x)
    if x == start:
        x = rectified(net, x)
    signature = {"main": ({"in": start}, {"out": x})}
    return build(Graph(net.tensors, net.operators, [start], [x]), extra=Extra({}, signature))


@pytest.mark.deep
def test_folded_networks_run_to_the_same_bits(tmp_path: Path, fuzz: float) -> None:
    changed, jobs, full = Counter[str](), list[Job](), max(40, int(FULL * fuzz))
    for seed in range(full):
        rng = np.random.default_rng([seed, 91])
        data = network(rng, real=seed % 3 == 0)
        path = tmp_path / f"net{seed}.tflite"
        path.write_bytes(data)
        rewritten = rewrite_network(import_bytes(data, ".tflite", path.name, path), ("all",))
        for why in rewritten.why:
            assert why.startswith("pad-into-window not applied: ") and "is not SAME" in why
        if rewritten.network is None:
            continue
        changed.update(done.rule.data for done in rewritten.did)
        before, after = (read_model(d, "net").subgraphs[0] for d in (data, rewritten.network))
        rules = {done.rule.data for done in rewritten.did}
        less = len(after.operators) < len(before.operators)
        assert less or rules == {"constant-channels"}
        inputs = random_inputs(data, 3, seed)
        jobs += [Job("tflm", d, inputs) for d in (data, rewritten.network)]
    answers = run(jobs, tmp_path)
    for old, new in zip(answers[::2], answers[1::2], strict=True):
        assert (old.error, new.error) == ("", "")
        for a, b in zip(old.outputs, new.outputs, strict=True):
            assert all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))
    least = LEAST if fuzz >= 1 else 1
    rare = {rule: changed[rule] for rule in WRITTEN_AS_FILES if changed[rule] < least}
    assert not rare, changed


def halves(sparse_too: bool) -> bytes:
    """y = relu(x + w + d), where w is stored as float16 and d, if it is, as a sparse tensor."""
    rng = np.random.default_rng(3)
    w, d = rng.normal(size=(2, 3, 4)).astype(np.float16)
    values, parameters = sparse(np.where(rng.random((3, 4)) < 0.5, d, 0), random_form(rng, (3, 4)))
    tensors = [T("x", [3, 4], "FLOAT32"), T("w16", [3, 4], "FLOAT16", w), T("w", [3, 4], "FLOAT32")]
    tensors += [T("s", [3, 4], "FLOAT32"), T("y", [3, 4], "FLOAT32")]
    operators = [Op("DEQUANTIZE", [1], [2]), Op("ADD", [0, 2], [3], ("Add", {}))]
    last = 3
    if sparse_too:
        tensors += [
            T("d16s", [3, 4], "FLOAT16", values, sparsity=parameters),
            T("d16", [3, 4], "FLOAT16"),
            T("d", [3, 4], "FLOAT32"),
            T("z", [3, 4], "FLOAT32"),
        ]
        operators += [Op("DENSIFY", [5], [6]), Op("DEQUANTIZE", [6], [7])]
        operators += [Op("ADD", [3, 7], [8], ("Add", {}))]
        last = 8
    return build(Graph(tensors, [*operators, Op("RELU", [last], [4])], [0], [4]))


@pytest.mark.parametrize("sparse_too", [False, True])
def test_weights_of_float16_and_sparse_ones_are_constants(sparse_too: bool, tmp_path: Path) -> None:
    """TensorFlow Lite Micro takes neither from the file; LiteRT says what they are."""
    path, folder = tmp_path / "net.tflite", tmp_path / "o"
    data = halves(sparse_too)
    path.write_bytes(data)
    assert main(["compile", str(path), "--target=tflm", "--rewrite=safe", "-o", str(folder)]) == 0
    report = json.loads((folder / "report.json").read_text())
    rules = {r["rule"]: r["sites"] for r in report["rewrites"]}
    assert rules == {"relu-into-producer": 1, FOLDED: 3 if sparse_too else 1}
    assert main(["verify", str(folder / "plan.mlir")]) == 0
    new = (folder / "net.tflite").read_bytes()
    inputs = random_inputs(data, 5, seed=1)
    jobs = [Job("tflm", data, inputs), Job("litert", data, inputs), Job("tflm", new, inputs)]
    refused, old, got = run(jobs, tmp_path)
    assert refused.error and (old.error, got.error) == ("", "")
    assert got.head == report["plan"]["arena"]
    for a, b in zip(old.outputs, got.outputs, strict=True):
        assert np.array_equal(a[0], b[0])


@pytest.mark.parametrize("bug", ["another activation", "no activation", "nothing is told"])
def test_a_file_that_says_something_else_is_refused(
    bug: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is compared with what the rules left: bugs of the writer do not get through."""
    tensors = [T(name, [1, 4], "FLOAT32") for name in ("x", "a", "s", "y")]
    operators = [Op("NEG", [0], [1]), Op("SUB", [0, 1], [2], ("Sub", {})), Op("RELU", [2], [3])]
    path, rule = tmp_path / "net.tflite", "relu-into-producer"
    path.write_bytes(data := build(Graph(tensors, operators, [0], [3])))
    module = import_bytes(data, ".tflite", path.name, path)
    assert rewrite_network(module, (rule,)).network is not None
    if bug == "nothing is told":
        monkeypatch.setattr(writer, "tell_activation", lambda op, operator: None)  # pyright: ignore
    else:
        monkeypatch.setitem(writer.ACTIVATIONS, "relu", 3 if bug == "another activation" else 0)
    rewritten = rewrite_network(module, (rule,))
    assert rewritten.network is None
    (why,) = rewritten.why
    assert why.startswith(f"{rule} not applied: ") and why.endswith("is what a rule made of it")
