"""Casts of rare pairs, indices of 64 bits, whole quotients and what is true of all or any, as C,
against LiteRT."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from forge_model import BOOL, FLOAT32, INT8, INT16, INT32, INT64, UINT8, Forge, schema
from forge_operators import random_shape
from forge_truth import add, truths
from quick_options import QUICK

from memopt.cli import main

BUILTIN, KINDS = schema.BuiltinOperator, schema.BuiltinOptions
TYPES = (FLOAT32, INT8, UINT8, INT16, INT32, INT64, BOOL)


def add_casts(forge: Forge) -> None:
    """From each type to each other; of floats, which stay small, and of integers."""
    shape = random_shape(forge)
    for source in TYPES:
        for result in TYPES:
            if source == result or (source, result) == (FLOAT32, UINT8):
                continue  # LiteRT copies nothing, or leaves it open what -1 is
            x = forge.tensor(shape, source)
            forge.graph.inputs.append(x)
            kinds = {"inDataType": source, "outDataType": result}
            add(forge, "Cast", [x], forge.tensor(shape, result), **kinds)


def add_indices(forge: Forge) -> None:
    """ARG_MAX and ARG_MIN to int64, GATHER by constants of 64 bits."""
    for element in (FLOAT32, INT8, UINT8, INT32):
        shape, axis = random_shape(forge), int(forge.rng.integers(4))
        for name in ("ArgMax", "ArgMin"):
            x = forge.tensor(shape, element)
            forge.graph.inputs.append(x)
            result = forge.tensor([*shape[:axis], *shape[axis + 1 :]], INT64)
            where = forge.tensor([], INT32, np.array(axis))
            add(forge, name, [x, where], result, outputType=INT64)


def add_whole(forge: Forge) -> None:
    """Quotients of int32 by what is not 0; what is true of any and all; zeros of a shape."""
    for name in ("FloorDiv", "FloorMod", "Div"):
        shape = random_shape(forge)
        x = forge.tensor(shape, INT32)
        forge.graph.inputs.append(x)
        by = forge.rng.integers(1, 100, shape[3]) * forge.rng.choice([-1, 1], shape[3])
        add(forge, name, [x, forge.tensor([shape[3]], INT32, by)], forge.tensor(shape, INT32))
    for name in ("Add", "Sub", "Mul"):
        shape = random_shape(forge)
        x, row = forge.tensor(shape, INT64), forge.rng.integers(-(2**40), 2**40, shape[3])
        forge.graph.inputs.append(x)
        add(forge, name, [x, forge.tensor([shape[3]], INT64, row)], forge.tensor(shape, INT64))
    for code in (BUILTIN.REDUCE_ANY, BUILTIN.REDUCE_ALL):
        shape = random_shape(forge)
        options: Any = schema.ReducerOptionsT()
        options.keepDims = True
        operands = [truths(forge, shape), forge.tensor([2], INT32, [2, 3])]
        result = forge.tensor([*shape[:2], 1, 1], BOOL)
        forge.operator(code, operands, result, options, KINDS.ReducerOptions)
    for code in (BUILTIN.ABS, BUILTIN.NEG):
        shape = random_shape(forge)
        x = forge.tensor(shape, INT32)
        forge.graph.inputs.append(x)
        forge.operator(code, [x], forge.tensor(shape, INT32), None, KINDS.NONE)
    for element in (INT32, INT64, BOOL):
        shape, order = random_shape(forge), [int(v) for v in forge.rng.permutation(4)]
        x = forge.tensor(shape, element)
        forge.graph.inputs.append(x)
        result = forge.tensor([shape[i] for i in order], element)
        add(forge, "Transpose", [x, forge.tensor([4], INT32, order)], result)
    for element in (FLOAT32, INT32, INT64):
        shape = random_shape(forge)
        x = forge.tensor(shape, element)
        forge.graph.inputs.append(x)
        add(forge, "ZerosLike", [x], forge.tensor(shape, element))


@pytest.mark.deep
def test_equal_to_litert(fuzz: float, tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    for seed in range(max(1, int(20 * fuzz))):
        forge = Forge(np.random.default_rng(seed), True)
        add_casts(forge)
        add_indices(forge)
        add_whole(forge)
        path = forge.save(tmp_path / f"{seed}.tflite")
        module = lab.plan(lab.read_model(path), schedule="source")
        inputs, tensors = lab.random_inputs(module, 2, seed), lab.tensors_of(module)
        inputs = [x * 100 if x.dtype == np.float32 else x for x in inputs]
        want = lab.golden("litert_ref", path, inputs, tensors, tmp_path / str(seed))
        project = lab.write(module, tmp_path / str(seed) / "c", "net", "host")
        run = lab.run_project(project, inputs, lab.SANITIZE)
        assert run.code == 0, run.messages
        assert lab.unequal_tensors(run, want) == [], f"seed {seed}"


def test_elements_of_64_bits_are_aligned(tmp_path: Path, lab: Any) -> None:
    """Also in a plan of rows, whose tensors else lie at multiples of 4."""
    lab.need_tools("host")
    forge = Forge(np.random.default_rng(1), False)
    x, wide = forge.input([1, 5, 3, 1]), forge.tensor([1, 5, 3, 1], INT64)
    add(forge, "Cast", [x], wide, inDataType=FLOAT32, outDataType=INT64)
    small = forge.tensor([1, 5, 3, 1], INT8)
    add(forge, "Cast", [wide], small, inDataType=INT64, outDataType=INT8)
    path, out = forge.save(tmp_path / "net.tflite"), tmp_path / "c"
    assert main(["compile", str(path), *QUICK, "-o", str(out)]) == 0
    assert "ARENA_ALIGNMENT 8u" in (out / "net.h").read_text()
    x = np.arange(-7, 8, dtype=np.float32).reshape(1, 1, 5, 3, 1)
    run = lab.run_project(out, [x], lab.SANITIZE, trace=False)
    assert run.code == 0, run.messages
    numbers = x.astype(np.int64)
    assert run.output == numbers.tobytes() + numbers.astype(np.int8).tobytes()
