# pyright: basic
"""Normalization of the last dimensions in C: bit for bit what is evaluated, of stored integers as
of reals, and close to onnxruntime."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from beside import beside, evaluated
from deep import deep_but
from onnx import helper, numpy_helper
from onnx_programs import compare, saved

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.backends.c.emit.call import Table
from memopt.backends.c.kernels import normalization
from memopt.cli import main
from memopt.compile.driver import load_model, load_text, new_context
from memopt.dialects.memgraph.functions import only_function
from memopt.rewrites import apply_rules

FULL = 2000  # operators
EACH = 20  # in a program
FORMS = ("", ' form "quotient"', ' form "line"')


def random_operator(rng: np.random.Generator, number: int) -> tuple[str, list[str], str]:
    """Return a random operator with its constants, and the types of what it reads and makes."""
    rank = int(rng.integers(2, 5))
    shape = (1, *(int(v) for v in rng.integers(1, 9, rank - 1)))
    axis = int(rng.integers(1, rank))
    element = ("f32", "i8", "ui8")[int(rng.integers(3))]
    types = [f"tensor<{'x'.join(map(str, shape))}x{element}"] * 2
    if element != "f32":
        zeros = (-128, 128) if element == "i8" else (0, 256)
        for k in range(2):
            scale, zero = 10 ** rng.uniform(-3, 0), int(rng.integers(*zeros))
            types[k] += f", #memgraph.encoding<scale = [{scale:e}], zero_point = [{zero}]>"
    read, result = (f"{t}>" for t in types)
    last = "x".join(map(str, shape[axis:])) + "xf32"
    text, names, kinds = "", [f"%x{number}_0"], [read]
    for k in range(int(rng.integers(3))):
        array = rng.normal(size=shape[axis:]).astype(np.float32)
        names.append(f"%c{number}_{k}")
        kinds.append(f"tensor<{last}>")
        text += f"  {names[-1]} = memgraph.constant dense<{array.tolist()}> : tensor<{last}>\n"
    ways = f"axis {axis} epsilon {10 ** rng.uniform(-7, -2):e}{FORMS[int(rng.integers(3))]}"
    ways += " around_zero" * int(rng.integers(2)) + " rounding<onnx_even>" * (element != "f32")
    text += f"  %y{number} = memgraph.layer_normalization {', '.join(names)} {ways}"
    return f"{text} : ({', '.join(kinds)}) -> {result}\n", [read], result


def program(seed: int) -> str:
    rng = np.random.default_rng(seed)
    return beside([random_operator(rng, k) for k in range(EACH)])


def check(seed: int, target: str, flags: str, folder: Path, lab: Any) -> None:
    """Compare a program with what is evaluated, to the bit."""
    module = lab.plan(load_text(new_context(), program(seed), "net.mlir"))
    inputs = lab.random_inputs(module, 1, seed)
    run = lab.run_project(lab.write(module, folder, "net", target), inputs, flags, trace=False)
    assert run.code == 0, run.messages
    assert run.output == evaluated(module, inputs), seed


def test_random_operators_are_what_evaluate_computes(fuzz: float, tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    for seed in range(max(2, int(FULL / EACH * fuzz))):
        check(seed, "host", lab.SANITIZE, tmp_path / str(seed), lab)


@pytest.mark.parametrize("target", deep_but("cortex-m4", ["cortex-m4", "cortex-m3", "cortex-m55"]))
def test_a_board_computes_the_same(target: str, tmp_path: Path, lab: Any) -> None:
    lab.need_tools(target)
    check(11, target, "-O2", tmp_path / "c", lab)


# -- as onnxruntime ----------------------------------------------------------------------------


def normalized(rng: np.random.Generator, number: int) -> tuple[Any, Any, dict[str, Any]]:
    """Return a random node of ONNX or of onnxruntime's, its input and its constants."""
    rank = int(rng.integers(2, 5))
    shape = tuple(int(v) for v in rng.integers(1, 9, rank))
    axis = int(rng.integers(1, rank))
    kind = ("LayerNormalization", "SimplifiedLayerNormalization")[number % 2]
    kind = "SkipLayerNormalization" if number % 5 == 4 and rank == 3 else kind
    axis = 2 if kind.startswith("Skip") else axis
    x = (rng.normal(size=shape) * 10 ** rng.uniform(-1, 1)).astype(np.float32)
    names, constants = [f"x{number}"], {}
    if kind.startswith("Skip"):
        names.append(f"x{number}")
    for k in range(1 if kind.startswith("Simplified") else int(rng.integers(1, 3))):
        size = shape[axis:] if rng.random() < 0.8 else shape[-1:]
        size = shape[-1:] if kind.startswith("Skip") else size
        names.append(f"c{number}_{k}")
        constants[names[-1]] = rng.normal(size=size).astype(np.float32)
    ways: dict[str, Any] = {"epsilon": float(10 ** rng.uniform(-6, -2))}
    ways |= {"domain": "com.microsoft"} if kind.startswith("Skip") else {"axis": axis - rank}
    return helper.make_node(kind, names, [f"y{number}"], **ways), x, constants


@pytest.mark.parametrize("first", deep_but(0, range(4)))
def test_nodes_are_close_to_onnxruntime(first: int, fuzz: float, tmp_path: Path, lab: Any) -> None:
    pytest.importorskip("onnxruntime")
    lab.need_tools("host")
    for seed in range(first, max(first + 1, int(FULL / EACH * fuzz)), 4):
        rng = np.random.default_rng(seed)
        layers = [normalized(rng, k) for k in range(EACH)]
        given = {f"x{k}": x for k, (_, x, _) in enumerate(layers)}
        constants = {k: v for _, _, c in layers for k, v in c.items()}
        nodes = [node for node, _, _ in layers]
        types = {f"y{k}": (onnx.TensorProto.FLOAT, x.shape) for k, (_, x, _) in enumerate(layers)}
        path = saved(tmp_path / f"{seed}.onnx", nodes, given, constants, declared=types)
        compare(lab, path, given, rtol=1e-4, atol=1e-4)


def test_a_normalization_between_pairs_is_one_of_integers(tmp_path: Path, fuzz: float) -> None:
    """Steps off onnxruntime, by at most one where what it rounds is half a step."""
    ort = pytest.importorskip("onnxruntime")
    off = elements = 0
    for seed in range(max(10, int(FULL * fuzz))):
        rng = np.random.default_rng(seed)
        data, x = quantised(rng)
        session = ort.InferenceSession(data, providers=["CPUExecutionProvider"])
        (want,) = session.run(None, {"x": x})
        path = tmp_path / "m.onnx"
        path.write_bytes(data)
        module = load_model(path, {})
        apply_rules(module, ("qdq-fold",))
        kinds = {op.name for op in module.walk()}
        assert "memgraph.layer_normalization" in kinds and "memgraph.dequantize" not in kinds
        got = result(module, x)
        apart = abs(got.astype(int) - want.astype(int))
        assert apart.max() <= 1, seed
        off, elements = off + int(apart.sum()), elements + apart.size
    assert off <= 1 + elements // 1000


def result(module: Any, x: Any) -> Any:
    """Return what the only result of a function of one argument is evaluated to."""
    func = only_function(module)
    last = func.get_return_op()
    assert last is not None
    return evaluate(func, Weights.of(module), [x])[last.operands[0]]


def quantised(rng: np.random.Generator) -> tuple[bytes, Any]:
    """Return a model of a normalization between integers, and its input."""
    n, c = (int(v) for v in rng.integers(1, 40, 2))
    x = rng.integers(-128, 128, (1, n, c)).astype(np.int8)
    tensors = {
        "s": np.float32(10 ** rng.uniform(-3, 0)),
        "z": np.int8(rng.integers(-128, 128)),
        "t": np.float32(0.03),
        "o": np.int8(rng.integers(-20, 20)),
        "g": rng.normal(size=c).astype(np.float32),
        "b": rng.normal(size=c).astype(np.float32),
    }
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "s", "z"], ["r"]),
        helper.make_node("LayerNormalization", ["r", "g", "b"], ["n"]),
        helper.make_node("QuantizeLinear", ["n", "t", "o"], ["y"]),
    ]
    info = [helper.make_tensor_value_info(k, onnx.TensorProto.INT8, x.shape) for k in "xy"]
    constants = [numpy_helper.from_array(np.asarray(v), k) for k, v in tensors.items()]
    graph = helper.make_graph(nodes, "g", info[:1], info[1:], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return model.SerializeToString(), x


# -- in rows, and taken apart ------------------------------------------------------------------


def parts(rng: np.random.Generator, way: str, x: str, c: int) -> tuple[list[Any], dict[str, Any]]:
    """Return a normalization as PyTorch's exporter writes it before opset 17, as language models
    write theirs around zero, or as Keras does, and its constants."""
    node = helper.make_node
    constants = {
        f"{x}e": np.float32(10 ** rng.uniform(-6, -2)),
        f"{x}two": np.float32(2),
        f"{x}one": np.float32(1),
        f"{x}g": rng.normal(size=c).astype(np.float32),
        f"{x}b": rng.normal(size=c).astype(np.float32),
    }
    mean, keep = "ReduceMean", {"axes": [-1], "keepdims": 1}
    rest = [node(mean, [x], [f"{x}m"], **keep), node("Sub", [x, f"{x}m"], [f"{x}r"])]
    centre = x if way == "language" else f"{x}r"
    nodes = [] if way == "language" else rest
    nodes += [
        node("Pow", [centre, f"{x}two"], [f"{x}q"]),
        node(mean, [f"{x}q"], [f"{x}v"], **keep),
        node("Add", [f"{x}v", f"{x}e"], [f"{x}a"]),
        node("Sqrt", [f"{x}a"], [f"{x}s"]),
    ]
    if way == "torch":
        nodes += [node("Div", [f"{x}r", f"{x}s"], [f"{x}n"])]
        nodes += [node("Mul", [f"{x}n", f"{x}g"], [f"{x}t"])]
        return [*nodes, node("Add", [f"{x}t", f"{x}b"], [f"{x}y"])], constants
    nodes += [node("Div", [f"{x}one", f"{x}s"], [f"{x}f"])]
    if way == "language":
        nodes += [node("Mul", [x, f"{x}f"], [f"{x}n"])]
        return [*nodes, node("Mul", [f"{x}g", f"{x}n"], [f"{x}y"])], constants
    nodes += [
        node("Mul", [f"{x}f", f"{x}g"], [f"{x}l"]),
        node("Mul", [x, f"{x}l"], [f"{x}n"]),
        node("Mul", [f"{x}m", f"{x}l"], [f"{x}t"]),
        node("Sub", [f"{x}b", f"{x}t"], [f"{x}u"]),
        node("Add", [f"{x}n", f"{x}u"], [f"{x}y"]),
    ]
    return nodes, constants


@pytest.mark.parametrize("way", ["torch", "language", "keras"])
def test_what_exporters_take_apart_is_one_operator(way: str, tmp_path: Path, fuzz: float) -> None:
    """And computes what its parts did, but for the order of sums, close to onnxruntime."""
    for seed in range(max(5, int(FULL / 3 * fuzz))):
        rng = np.random.default_rng(seed)
        shape = (1, *(int(v) for v in rng.integers(1, 30, 2)))
        x = (rng.normal(size=shape) * 10 ** rng.uniform(-1, 1)).astype(np.float32)
        nodes, constants = parts(rng, way, "x", shape[-1])
        path = saved(tmp_path / "m.onnx", nodes, {"x": x}, constants, 13)
        module = load_model(path, {})
        before = result(module, x)
        assert apply_rules(module, ("power-as-square", "layer-normalization"))
        module.verify()
        kinds = [op.name for op in module.walk() if op.name.startswith("memgraph.")]
        assert set(kinds) == {"memgraph.constant", "memgraph.layer_normalization"}, (seed, kinds)
        off = 1e-4 * abs(before).max()
        np.testing.assert_allclose(result(module, x), before, rtol=1e-4, atol=off)


@pytest.mark.parametrize("target, table", [("host", Table), ("cortex-m4", Table), ("host", str)])
def test_rows_of_a_network_are_normalized_in_place(
    target: str, table: type, tmp_path: Path, lab: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows beside a residual, of which one is there at a time. Where the
    kernel knows no table, each row reads two constant operands."""
    lab.need_tools(target)
    monkeypatch.setattr(normalization, "Table", table)
    rng = np.random.default_rng(3)
    x = rng.normal(size=(1, 12, 64)).astype(np.float32)
    first, constants = parts(rng, "torch", "h", 64)
    nodes = [
        helper.make_node("Relu", ["x"], ["h"]),
        *first,
        helper.make_node("SimplifiedLayerNormalization", ["hy", "hg"], ["k"], epsilon=1e-5),
        helper.make_node("Add", ["x", "k"], ["y"]),
    ]
    types = dict.fromkeys("ky", (onnx.TensorProto.FLOAT, x.shape))
    path = saved(tmp_path / "m.onnx", nodes, {"x": x}, constants, 13, types)
    outputs: list[bytes] = []
    arenas: list[int] = []
    for rows in ("none", "auto"):
        folder = tmp_path / rows
        command = ["compile", str(path), f"--target={target}", f"--rows={rows}", "-o", str(folder)]
        assert main(command) == 0
        arenas.append(json.loads((folder / "report.json").read_text())["plan"]["arena"])
        flags = lab.SANITIZE if target == "host" else "-O2"
        run = lab.run_project(folder, [x[None]], flags, trace=False)
        assert run.code == 0, run.messages
        outputs.append(run.output)
    assert outputs[0] == outputs[1]
    assert arenas[0] == 2 * x.nbytes and arenas[1] <= x.nbytes + 2 * 64 * 4, arenas
