"""Sparse weights of .tflite files and DENSIFY: the elements that LiteRT makes of them; tables that
do not fit are refused with their place."""

import importlib
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sparse_tensors import DENSE, SPARSE, Form, random_form, sparse, vector
from tflite_builder import Graph, Op, T, build
from xdsl.dialects.builtin import ModuleOp

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.cli import main
from memopt.compile.driver import load_model
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.memgraph.structure import ConstantOp
from memopt.frontends.tflite.read import read

FULL = 2_000  # tensors
TYPES: dict[str, Any] = {
    "FLOAT32": np.float32,
    "FLOAT16": np.float16,
    "INT8": np.int8,
    "INT32": np.int32,
}


def model(dense: Any, form: Form, type_: str, change: Any = None) -> bytes:
    """A network of one sparse constant that DENSIFY makes dense, and what an addition makes of it
    beside the input, so that a runtime keeps both."""
    values, parameters = sparse(dense, form)
    if change is not None:
        values = change(parameters, values)
    shape = list(dense.shape)
    numbers: dict[str, Any] = {"scale": (0.5,), "zero": (0,)} if type_ == "INT8" else {}
    tensors = [
        T("x", shape, type_, **numbers),
        T("w", shape, type_, values, sparsity=parameters, **numbers),
        T("d", shape, type_, **numbers),
        T("y", shape, type_, **numbers),
    ]
    options = ("Add", {"fusedActivationFunction": 0})
    operators = [Op("DENSIFY", [1], [2]), Op("ADD", [0, 2], [3], options)]
    return build(Graph(tensors, operators, [0], [2, 3]))


def drawn(rng: np.random.Generator, dtype: Any) -> Any:
    shape = [int(v) for v in rng.integers(1, 7, int(rng.integers(1, 5)))]
    dense = rng.integers(-100, 101, shape).astype(dtype)
    dense[rng.random(shape) < rng.choice([0.3, 0.8, 1.0])] = 0
    return dense


def constant(module: ModuleOp, path: Path) -> Any:
    """The elements of the only constant."""
    (op,) = [op for op in body_of(only_function(module)).ops if isinstance(op, ConstantOp)]
    return Weights.of(module, model_path=path).array(op)


@pytest.mark.parametrize("type_", TYPES)
def test_all_elements_are_read(type_: str, tmp_path: Path, fuzz: float) -> None:
    """Any walk, blocks, levels and vectors, of any type: what was written."""
    file = tmp_path / "net.tflite"
    for seed in range(max(40, int(FULL * fuzz))):
        rng = np.random.default_rng([seed, len(type_)])
        dense = drawn(rng, TYPES[type_])
        file.write_bytes(model(dense, random_form(rng, dense.shape), type_))
        module = load_model(file, {})
        found = constant(module, file)
        assert found.dtype == dense.dtype and np.array_equal(found, dense), seed


@pytest.mark.parametrize("type_", ["FLOAT32", "INT8"])
def test_litert_makes_the_same(type_: str, tmp_path: Path) -> None:
    kind: Any = importlib.import_module("ai_edge_litert.interpreter")
    file = tmp_path / "net.tflite"
    for seed in range(25):
        rng = np.random.default_rng([seed, 5])
        dense = drawn(rng, TYPES[type_])
        data = model(dense, random_form(rng, dense.shape), type_)
        file.write_bytes(data)
        runtime = kind.Interpreter(
            model_content=data,
            experimental_op_resolver_type=kind.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
        )
        runtime.allocate_tensors()
        shape = [int(n) for n in dense.shape]
        image: Any = rng.integers(-20, 20, shape).astype(TYPES[type_])
        runtime.set_tensor(runtime.get_input_details()[0]["index"], image)
        runtime.invoke()
        want = [runtime.get_tensor(d["index"]) for d in runtime.get_output_details()]
        module = load_model(file, {})
        func = only_function(module)
        values = evaluate(func, Weights.of(module, model_path=file), [image])
        last = func.get_return_op()
        assert last is not None
        for a, v in zip(want, last.operands, strict=True):
            assert np.array_equal(a, values[v]), (seed, type_)


def test_sparse_weights_become_c(tmp_path: Path) -> None:
    """A matrix that reads a dense copy, and one that reads the sparse constant: constants of C."""
    rng = np.random.default_rng(3)
    dense = rng.normal(size=(4, 8)).astype(np.float32)
    dense[:, 2:7] = 0
    values, parameters = sparse(dense, Form([0, 1, 2], [DENSE, SPARSE, DENSE], [(1, 2)]))
    tensors = [
        T("x", [1, 8], "FLOAT32"),
        T("w", [4, 8], "FLOAT32", values, sparsity=parameters),
        T("d", [4, 8], "FLOAT32"),
        T("h", [1, 4], "FLOAT32"),
        T("k", [1, 4], "FLOAT32"),
        T("y", [1, 4], "FLOAT32"),
    ]
    plain = ("FullyConnected", {"fusedActivationFunction": 0})
    operators = [
        Op("DENSIFY", [1], [2]),
        Op("FULLY_CONNECTED", [0, 2, -1], [3], plain),
        Op("FULLY_CONNECTED", [0, 1, -1], [4], plain),
        Op("ADD", [3, 4], [5], ("Add", {"fusedActivationFunction": 0})),
    ]
    file, out = tmp_path / "net.tflite", tmp_path / "out"
    file.write_bytes(build(Graph(tensors, operators, [0], [5])))
    assert main(["compile", str(file), "-o", str(out)]) == 0
    assert "copy" not in (out / "net.c").read_text()
    module = load_model(file, {})
    func = only_function(module)
    image = rng.normal(size=(1, 8)).astype(np.float32)
    values_ = evaluate(func, Weights.of(module, model_path=file), [image])
    last = func.get_return_op()
    assert last is not None
    assert np.allclose(values_[last.operands[0]], 2 * image @ dense.T, rtol=1e-5)
    planned = tmp_path / "planned"
    assert main(["compile", str(file), "--target=tflm", "-o", str(planned)]) == 0
    module = load_model(planned / "net.tflite", {})  # the table is the file's still
    assert len(list(body_of(only_function(module)).ops)) == 6


# -- tables that do not fit ---------------------------------------------------------------------

GOOD = np.diag(np.arange(1, 5)).astype(np.int8)
ROWS = Form([0, 1], [DENSE, SPARSE])
HALVES = Form([0, 1, 2], [DENSE, SPARSE, DENSE], [(1, 2)])


def put(level: int, field: str, values: list[int]) -> Any:
    def change(parameters: Any, stored: Any) -> Any:
        setattr(parameters.dimMetadata[level], field, vector(1, values))
        return stored

    return change


def whole(field: str, value: Any) -> Any:
    def change(parameters: Any, stored: Any) -> Any:
        setattr(parameters, field, np.array(value, np.int32))
        return stored

    return change


def one(level: int, field: str, value: int) -> Any:
    def change(parameters: Any, stored: Any) -> Any:
        setattr(parameters.dimMetadata[level], field, value)
        return stored

    return change


def fewer(parameters: Any, stored: Any) -> Any:
    return stored[:-1]


def no_levels(parameters: Any, stored: Any) -> Any:
    parameters.dimMetadata = parameters.dimMetadata[:1]
    return stored


def falling(parameters: Any, stored: Any) -> Any:
    put(1, "arrayIndices", [0, 2, 1, 3])(parameters, stored)
    return put(1, "arraySegments", [0, 4, 4, 4, 4])(parameters, stored)


REFUSED: dict[str, tuple[Form, Any, str]] = {
    "an index beyond": (ROWS, put(1, "arrayIndices", [0, 1, 2, 4]), "level 1: index 4 of 4"),
    "a negative index": (ROWS, put(1, "arrayIndices", [0, 1, 2, -1]), "level 1: index -1 behind"),
    "indices that fall": (ROWS, falling, "level 1: index 1 behind 2 of 4"),
    "a segment that falls": (ROWS, put(1, "arraySegments", [0, 2, 1, 3, 4]), "from 2 to 1"),
    "segments that end early": (ROWS, put(1, "arraySegments", [0, 1, 2, 3, 3]), "from 0 to 3 of 4"),
    "segments that begin late": (ROWS, put(1, "arraySegments", [1, 1, 2, 3, 4]), "from 1 to 4"),
    "too few segments": (ROWS, put(1, "arraySegments", [0, 2, 3, 4]), "4 segments for 4 places"),
    "no segments": (ROWS, one(1, "arraySegmentsType", 0), "no vector of indices of type 0"),
    "another vector": (ROWS, one(1, "arrayIndicesType", 9), "no vector of indices of type 9"),
    "another format": (ROWS, one(0, "format", 7), "level 0: unknown format 7"),
    "another size": (ROWS, one(0, "denseSize", 5), "level 0: 5 indices of 4"),
    "a large size": (ROWS, one(0, "denseSize", 2**31 - 1), "level 0: 2147483647 indices of 4"),
    "a walk that leaves one out": (
        ROWS,
        whole("traversalOrder", [0, 0]),
        "walks dimensions [0, 0]",
    ),
    "a walk that is short": (
        ROWS,
        whole("traversalOrder", [0]),
        "dimensions [0], not all of 2",
    ),
    "levels that are missing": (ROWS, no_levels, "has 1 dimensions of 2"),
    "a block of nothing": (
        HALVES,
        one(2, "denseSize", 0),
        "blocks of 0 in dimension 1",
    ),
    "a block that does not fit": (HALVES, one(2, "denseSize", 3), "blocks of 3 in dimension 1"),
    "blocks of no dimension": (HALVES, whole("blockMap", [2]), "blocks of dimensions [2] of 2"),
    "elements that are missing": (ROWS, fewer, "holds 3 bytes, not 4 elements of its sparsity"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_tables_that_do_not_fit_are_refused(name: str) -> None:
    form, change, said = REFUSED[name]
    data = model(GOOD, form, "INT8", change)
    with pytest.raises(MemoptError) as found:
        read(data, "net.tflite")
    text = str(found.value)
    assert text.startswith("net.tflite: subgraph 0 tensor 1: error: its ")
    assert said in text and "\n" not in text


def test_what_is_not_supported_is_refused() -> None:
    packed = T("w", [4], "INT4", np.zeros(2, np.int8), sparsity=sparse(GOOD, ROWS)[1])
    graph = Graph([T("x", [4], "INT4"), packed], [], [0], [0])
    with pytest.raises(MemoptError, match="tensor 1: error: a sparse tensor of INT4"):
        read(build(graph), "net.tflite")
    scalar = T("w", [], "INT8", np.zeros(1, np.int8), sparsity=sparse(GOOD, ROWS)[1])
    graph = Graph([T("x", [4]), scalar], [], [0], [0])
    with pytest.raises(MemoptError, match="its sparsity is one of a scalar"):
        read(build(graph), "net.tflite")


def test_corrupted_bytes_are_refused_or_harmless(tmp_path: Path, fuzz: float) -> None:
    """One byte after the other, and several at once: one line, or elements of the right shape."""
    rng = np.random.default_rng(7)
    dense = drawn(rng, np.int8).reshape(-1)[:1].repeat(24).reshape(4, 6)
    dense[1:3, ::2] = 0
    data = model(dense, Form([1, 0, 2], [SPARSE, SPARSE, DENSE], [(0, 2)], 3), "INT8")
    draws, refused, count = random.Random(5), 0, max(300, round(20_000 * fuzz))
    for _ in range(count):
        broken = bytearray(data)
        for _ in range(draws.choice([1, 1, 2, 5])):
            broken[draws.randrange(len(data))] = draws.choice([0, 1, 127, 128, 255, 3])
        file = tmp_path / "bad.tflite"
        try:
            module = read(bytes(broken), "bad.tflite")
            file.write_bytes(broken)
            for op in module.walk():
                if isinstance(op, ConstantOp):
                    Weights.of(module, model_path=file).array(op)
        except MemoptError as error:
            assert "\n" not in str(error)
            refused += 1
    assert count / 10 < refused < count
