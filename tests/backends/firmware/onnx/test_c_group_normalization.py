# pyright: basic
"""Instance and group normalization in C: bit for bit what is evaluated, whole or in rows, and close
to onnxruntime whatever the mean."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from beside import arenas_whole_and_in_rows, assert_compiled, beside
from deep import deep_but
from onnx import helper
from onnx_programs import compare, saved
from published_networks import PUBLISHED
from xdsl.dialects.builtin import Float32Type
from xdsl.dialects.func import FuncOp

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.compile.driver import load_model, load_text, new_context
from memopt.dialects.arithmetic.stored import element_of
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.operators.movement import TransposeOp
from memopt.rewrites import apply_rules, named_rules

FULL = 2000  # operators
EACH = 20  # in a program
IN_ROWS = "--rewrite=all", "--rows=all"


def random_operators(rng: np.random.Generator, number: int) -> tuple[str, list[str], str]:
    """Return statistics and a normalization by them with its constants, and the types of what they
    read and make."""
    groups, each, h, w = (int(v) for v in rng.integers(1, 7, 4))
    channels = groups * each
    element = ("f32", "i8", "ui8")[int(rng.integers(3))]
    image, result = (typed(rng, f"1x{h}x{w}x{channels}", element) for _ in range(2))
    numbers = f"tensor<{channels}xf32>"
    statistics = f"tensor<2x{groups}xf32>"
    text = f"  %s{number} = memgraph.group_statistics %x{number}_0 groups {groups}"
    text += f" : ({image}) -> {statistics}\n"
    names, kinds = [f"%x{number}_0", f"%s{number}"], [image, statistics]
    for k in range(int(rng.integers(3))):
        array = rng.normal(size=channels).astype(np.float32)
        names.append(f"%c{number}_{k}")
        kinds.append(numbers)
        text += f"  {names[-1]} = memgraph.constant dense<{array.tolist()}> : {numbers}\n"
    bent = ("", " activation<relu>", " activation<relu6>")[int(rng.integers(3))]
    ways = f"epsilon {10 ** rng.uniform(-7, -2):e}{bent}"
    ways += " rounding<onnx_even>" * (element != "f32")
    text += f"  %y{number} = memgraph.group_normalization {', '.join(names)} {ways}"
    return f"{text} : ({', '.join(kinds)}) -> {result}\n", [image], result


def typed(rng: np.random.Generator, shape: str, element: str) -> str:
    """Return the type of an image, if of integers with any quantization."""
    if element == "f32":
        return f"tensor<{shape}xf32>"
    zero = int(rng.integers(*((-128, 128) if element == "i8" else (0, 256))))
    scale = 10 ** rng.uniform(-3, 0)
    numbers = f"scale = [{scale:e}], zero_point = [{zero}]"
    return f"tensor<{shape}x{element}, #memgraph.encoding<{numbers}>>"


def program(seed: int) -> str:
    rng = np.random.default_rng(seed)
    return beside([random_operators(rng, k) for k in range(EACH)])


def check(seed: int, target: str, flags: str, folder: Path, lab: Any) -> None:
    """Compare a program, whole or in rows, with what is evaluated, to the bit."""
    module = load_text(new_context(), program(seed), "net.mlir")
    inputs = lab.random_inputs(module, 1, seed)
    far = np.float32(10.0 ** (seed % 5)) * (seed % 3)  # from 0
    inputs = [x + far if x.dtype == np.float32 else x for x in inputs]
    assert_compiled(program(seed), inputs, ("none", "all")[seed % 2], target, flags, folder, lab)


@pytest.mark.deep
def test_random_operators_are_what_evaluate_computes(fuzz: float, tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    for seed in range(max(2, int(FULL / EACH * fuzz))):
        check(seed, "host", lab.SANITIZE, tmp_path / str(seed), lab)


@pytest.mark.deep
@pytest.mark.parametrize("target", deep_but("cortex-m4", ["cortex-m4", "cortex-m3", "cortex-m55"]))
def test_a_board_computes_the_same(target: str, tmp_path: Path, lab: Any) -> None:
    lab.need_tools(target)
    check(11, target, "-O2", tmp_path / "c", lab)


def normalized(rng: np.random.Generator, k: int) -> tuple[list[Any], Any, dict[str, Any]]:
    """Return nodes of a random normalization between pools, as ONNX or PyTorch has it, its input
    and its constants."""
    groups, each, h, w = (int(v) for v in rng.integers(1, 7, 4))
    w += h * w == 1  # of one element nothing is left but noise
    channels, node = groups * each, helper.make_node
    way = ("instance", "group", "torch")[int(rng.integers(3))]
    x = rng.normal(size=(1, channels, h, w)) * 10 ** rng.uniform(-1, 1) + 3 * rng.normal()
    size = groups if way == "torch" else channels
    constants: dict[str, Any] = {
        f"g{k}": rng.normal(size=size).astype(np.float32),
        f"b{k}": rng.normal(size=size).astype(np.float32),
    }
    epsilon: dict[str, Any] = {"epsilon": float(10 ** rng.uniform(-5, -2))}
    nodes = [node("MaxPool", [f"x{k}"], [f"p{k}"], kernel_shape=[1, 1])]
    if way == "torch":
        constants |= {f"g{k}": np.ones(groups, np.float32), f"b{k}": np.zeros(groups, np.float32)}
        constants |= {f"t{k}": np.array([1, groups, -1]), f"s{k}": np.array(x.shape)}
        constants |= {f"f{k}": rng.normal(size=(channels, 1, 1)).astype(np.float32)}
        operands = [f"r{k}", f"g{k}", f"b{k}"]
        nodes += [
            node("Reshape", [f"p{k}", f"t{k}"], [f"r{k}"]),
            node("InstanceNormalization", operands, [f"i{k}"], **epsilon),
            node("Reshape", [f"i{k}", f"s{k}"], [f"j{k}"]),
            node("Mul", [f"j{k}", f"f{k}"], [f"m{k}"]),
            node("Add", [f"m{k}", f"f{k}"], [f"n{k}"]),
        ]
    else:
        kind = {"instance": "InstanceNormalization", "group": "GroupNormalization"}[way]
        more: dict[str, Any] = {"num_groups": groups} if way == "group" else {}
        operands = [f"p{k}", f"g{k}", f"b{k}"]
        nodes.append(node(kind, operands, [f"n{k}"], **epsilon, **more))
    nodes.append(node("Relu", [f"n{k}"], [f"a{k}"]))
    nodes.append(node("MaxPool", [f"a{k}"], [f"y{k}"], kernel_shape=[1, 1]))
    return nodes, x.astype(np.float32), constants


@pytest.mark.deep
@pytest.mark.parametrize("first", deep_but(0, range(4)))
def test_nodes_are_close_to_onnxruntime(first: int, fuzz: float, tmp_path: Path, lab: Any) -> None:
    """Also in rows."""
    pytest.importorskip("onnxruntime")
    lab.need_tools("host")
    for seed in range(first, max(first + 1, int(FULL / EACH * fuzz)), 4):
        rng = np.random.default_rng(seed)
        layers = [normalized(rng, k) for k in range(EACH)]
        given = {f"x{k}": x for k, (_, x, _) in enumerate(layers)}
        constants = {k: v for _, _, c in layers for k, v in c.items()}
        nodes = [node for several, _, _ in layers for node in several]
        types = {f"y{k}": (onnx.TensorProto.FLOAT, x.shape) for k, (_, x, _) in enumerate(layers)}
        path = saved(tmp_path / f"{seed}.onnx", nodes, given, constants, 21, types)
        compare(lab, path, given, rtol=2e-4, atol=2e-4, options=IN_ROWS if seed % 8 < 4 else ())


def test_pairs_around_one_are_one_of_integers(tmp_path: Path, fuzz: float) -> None:
    """Pairs that onnxruntime's tool writes around InstanceNormalization, and PyTorch's groups: at
    most one step off onnxruntime, where what it rounds is half a step."""
    ort = pytest.importorskip("onnxruntime")
    off = elements = 0
    for seed in range(max(10, int(FULL * fuzz))):
        rng = np.random.default_rng(seed)
        x, path, step = stored(rng, seed, tmp_path / "m.onnx")
        session = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
        (want,) = session.run(None, {"x": x})
        module = load_model(path, {})
        apply_rules(module, named_rules(["all"]))
        kinds = [op.name for op in module.walk()]
        assert kinds.count("memgraph.group_normalization") == 1, seed
        assert "memgraph.layer_normalization" not in kinds, seed
        func = only_function(module)
        assert real_tensors(func) == 2, (seed, str(func))  # what goes in and out
        last = func.get_return_op()
        assert last is not None
        got = evaluate(func, Weights.of(module), [x])[last.operands[0]]
        apart = np.rint(abs(got - want) / step)
        assert apart.max() <= 1, seed
        off, elements = off + int(apart.sum()), elements + apart.size
    assert off <= 1 + elements // 500, (off, elements)


def real_tensors(func: FuncOp) -> int:
    """Return how many images of reals there are, in whatever order their dimensions are."""
    values = [*func.body.block.args, *(v for op in body_of(func).ops for v in op.results)]
    images = [v for v in values if isinstance(element_of(v), Float32Type) and len(shape_of(v)) > 2]
    return len([v for v in images if not isinstance(v.owner, TransposeOp)])


def stored(rng: np.random.Generator, seed: int, path: Path) -> tuple[Any, Path, float]:
    """Return the input of a random normalization between pairs, the file that has it, and the step
    of what it makes."""
    node = helper.make_node
    kind = np.int8 if seed % 3 else np.uint8
    limits = np.iinfo(kind)
    groups, each, h, w = (int(v) for v in rng.integers(1, 6, 4))
    w += h * w == 1
    channels = groups * each
    is_group, zero = seed % 2, kind(rng.integers(limits.min, limits.max + 1))
    size = groups if is_group else channels
    scale = np.full(size, 127) if is_group else rng.integers(-127, 128, size)
    bias = np.zeros(size) if is_group else rng.integers(-200, 200, size)
    step = np.float32(10 ** rng.uniform(-3, 0))
    x = rng.integers(limits.min, limits.max + 1, (1, channels, h, w)).astype(np.float32)
    x = (x - np.float32(zero)) * step
    constants: dict[str, Any] = {
        "s": step,
        "z": zero,
        "t": np.float32(0.03),
        "o": kind(rng.integers(limits.min, limits.max + 1)),
        "gq": scale.astype(np.int8),
        "gs": np.float32(1 / 127),
        "bq": bias.astype(np.int32),
        "bs": np.float32(0.01),
    }
    nodes = [node("DequantizeLinear", [f"{k}q", f"{k}s"], [k]) for k in "gb"]
    names = iter(range(100))
    value = "x"

    def between_pairs(kind: str, *others: str, **ways: Any) -> None:
        nonlocal value
        k, numbers = next(names), ("t", "o") if kind == "InstanceNormalization" else meaning
        nodes.append(node(kind, [value, *others], [f"r{k}"], **ways))
        pair(f"r{k}", numbers)

    def pair(real: str, numbers: tuple[str, str]) -> None:
        nonlocal value, meaning
        k, meaning = next(names), numbers
        nodes.append(node("QuantizeLinear", [real, *numbers], [f"q{k}"]))
        nodes.append(node("DequantizeLinear", [f"q{k}", *numbers], [f"d{k}"]))
        value = f"d{k}"

    meaning = ("s", "z")
    pair("x", meaning)
    between_pairs("MaxPool", kernel_shape=[1, 1])
    if is_group:
        constants |= {"n": np.array([1, groups, -1]), "m": np.array(x.shape)}
        between_pairs("Reshape", "n")
    between_pairs("InstanceNormalization", "g", "b")
    if is_group:
        between_pairs("Reshape", "m")
    between_pairs("MaxPool", kernel_shape=[1, 1])
    types = {value: (onnx.TensorProto.FLOAT, x.shape)}
    return x, saved(path, nodes, {"x": x}, constants, 17, types), 0.03


def test_a_mean_far_from_zero_leaves_the_variance(tmp_path: Path, lab: Any) -> None:
    """Sums of squares would have lost all of it: with a mean of 1,000 deviations float32 has no
    digit of their difference."""
    rng = np.random.default_rng(5)
    x = (rng.normal(size=(1, 24, 16, 4)) + 1000).astype(np.float32)
    text = """
    func.func @main(%x: tensor<1x24x16x4xf32>) -> tensor<2x2xf32> {
      %s = memgraph.group_statistics %x groups 2 : (tensor<1x24x16x4xf32>) -> tensor<2x2xf32>
      func.return %s : tensor<2x2xf32>
    }"""
    func = only_function(load_text(new_context(), text, "net.mlir"))
    last = func.get_return_op()
    assert last is not None
    mean, variance = evaluate(func, Weights({}), [x])[last.operands[0]]
    groups = x.astype(np.float64).reshape(24, 16, 2, 2)
    np.testing.assert_allclose(mean, groups.mean((0, 1, 3)), rtol=1e-6)
    np.testing.assert_allclose(variance, groups.var((0, 1, 3)), rtol=1e-4)


@pytest.mark.deep
@pytest.mark.parametrize("target", deep_but("host", ["host", "cortex-m4"]))
def test_rows_of_a_network_are_normalized(target: str, tmp_path: Path, lab: Any) -> None:
    """The whole image is there once, beside few rows; twice without rows."""
    lab.need_tools(target)
    path = PUBLISHED["style.onnx"](tmp_path / "m.onnx")
    module = load_model(path, {})
    assert apply_rules(module, ("group-normalization",))
    kinds = [op.name for op in module.walk()]
    assert kinds.count("memgraph.group_normalization") == 2
    assert not {"memgraph.layer_normalization", "memgraph.mul"} & {*kinds}
    x = np.random.default_rng(2).normal(size=(1, 3, 16, 16)).astype(np.float32)
    whole, rows = arenas_whole_and_in_rows(lab, path, x, target, tmp_path)
    image = 8 * 16 * 16 * 4
    assert whole == 2 * image and rows <= image + 3 * image // 16, (whole, rows)


@pytest.mark.deep
@pytest.mark.parametrize("target", deep_but("host", ["host", "cortex-m4"]))
def test_rows_of_a_network_of_bytes_are_normalized(target: str, tmp_path: Path, lab: Any) -> None:
    """The whole image is there once, of bytes, beside few rows."""
    pytest.importorskip("onnxruntime")
    lab.need_tools(target)
    path = PUBLISHED["style_of_bytes.onnx"](tmp_path / "m.onnx")
    x = np.random.default_rng(2).normal(size=(1, 3, 16, 16)).astype(np.float32)
    whole, rows = arenas_whole_and_in_rows(lab, path, x, target, tmp_path)
    image = 8 * 16 * 16
    assert whole == 2 * image and rows <= image + image // 2, (whole, rows)
