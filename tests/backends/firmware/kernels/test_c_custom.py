"""Custom operators that the user declares and writes: what a project gives them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from forge_model import FLOAT32, INT8, INT32, Forge, flatbuffer_utils, schema

from memopt.cli import main
from memopt.compile.read import declare_custom_ops, read_custom_ops
from memopt.dialects.memgraph.errors import MemoptError

COUNTED = """#include "net.h"

/* The first output: the input plus the number of runs; the second: facts of the input. */
void memopt_custom_my_count(const memopt_custom_tensor *inputs,
                            const memopt_custom_tensor *outputs, void *scratch, void *state,
                            const uint8_t *options, int32_t options_bytes) {
  const int8_t *x = inputs[0].data;
  const int32_t *known = inputs[1].data;
  int32_t *runs = state, *copy = scratch;
  int8_t *y = outputs[0].data;
  int32_t *facts = outputs[1].data;
  int32_t i;
  ++*runs;
  for (i = 0; i < inputs[0].facts->bytes; ++i) {
    copy[i] = x[i];
  }
  for (i = 0; i < inputs[0].facts->bytes; ++i) {
    y[i] = (int8_t)(copy[i] / 2 + *runs);
  }
  facts[0] = inputs[0].facts->type == MEMOPT_INT8 && outputs[1].facts->type == MEMOPT_INT32;
  facts[1] = inputs[0].facts->rank * 10 + inputs[0].facts->sizes[1];
  facts[2] = (int32_t)(inputs[0].facts->scale * 8) * 100 + inputs[0].facts->zero_point;
  facts[3] = options_bytes * 1000 + options[0] + known[1];
}
"""


def written(lab: Any, module: Any, needs: dict[str, Any], source: str, tmp_path: Path) -> Path:
    """The project of a planned module, with what the user has written."""
    file = tmp_path / "custom.json"
    file.write_text(json.dumps(needs))
    declare_custom_ops(module, read_custom_ops(file))
    project: Path = lab.write(
        lab.plan(module, schedule="source", target="host"), tmp_path / "c", "net", "host"
    )
    (project / "custom").mkdir()
    (project / "custom/mine.c").write_text(source)
    return project


def with_builtin(path: Path, goal: Path) -> Path:
    """Selfie segmentation with TRANSPOSE_CONV in place of the custom operator."""
    model: Any = flatbuffer_utils.read_model(str(path))
    graph = model.subgraphs[0]
    (code,) = [n for n, c in enumerate(model.operatorCodes) if c.customCode]
    builtin: Any = model.operatorCodes[code]
    builtin.customCode, builtin.version = None, 3
    builtin.builtinCode = builtin.deprecatedBuiltinCode = schema.BuiltinOperator.TRANSPOSE_CONV
    (op,) = [o for o in graph.operators if o.opcodeIndex == code]
    size: Any = schema.BufferT()
    size.data = np.frombuffer(np.array([1, 256, 256, 1], np.int32).tobytes(), np.uint8)
    model.buffers.append(size)
    shape: Any = schema.TensorT()
    shape.name, shape.shape, shape.type = "size", [4], INT32
    shape.buffer = len(model.buffers) - 1
    graph.tensors.append(shape)
    image, weights, bias = op.inputs
    op.inputs = [len(graph.tensors) - 1, weights, image, bias]
    options: Any = schema.TransposeConvOptionsT()
    options.padding, options.strideH, options.strideW = 1, 2, 2
    op.builtinOptions = options
    op.builtinOptionsType = schema.BuiltinOptions.TransposeConvOptions
    op.customOptions = None
    flatbuffer_utils.write_model(model, str(goal))
    return goal


@pytest.mark.deep
def test_selfie_segmentation(shared: Path, tmp_path: Path, lab: Any) -> None:
    """MediaPipe's transposed convolution with a bias is known: it is what LiteRT makes of the same
    network with the operator of its own."""
    lab.need_tools("host")
    path = shared / "models/selfie_segmentation.tflite"
    module = lab.plan(lab.read_model(path), schedule="source", target="host")
    project = lab.write(module, tmp_path / "c", "net", "host")
    inputs = lab.random_inputs(module, 1, 3)
    run = lab.run_project(project, inputs, trace=False)
    assert run.code == 0, run.messages
    goal = with_builtin(path, tmp_path / "builtin.tflite")
    out = int(flatbuffer_utils.read_model(str(goal)).subgraphs[0].outputs[0])
    want = lab.golden("litert", goal, inputs, [out], tmp_path / "golden")[out]
    got = np.frombuffer(run.output, np.float32).reshape(want.shape)
    assert np.abs(want).max() > 0.1
    assert np.abs(got - want).max() <= 1e-4 * np.abs(want).max()


def with_options(path: Path, options: list[int], sizes: tuple[int, int]) -> Path:
    """MediaPipe's operator with an image of 5 x 4, windows of 3 x 3, two channels to three."""
    forge = Forge(np.random.default_rng(0), False)
    weights = forge.tensor([3, 3, 3, 2], FLOAT32, forge.rng.normal(size=(3, 3, 3, 2)))
    bias = forge.tensor([3], FLOAT32, [1.0, 2.0, 3.0])
    inputs = [forge.input([1, 5, 4, 2]), weights, bias]
    forge.operator(
        schema.BuiltinOperator.CUSTOM, inputs, forge.tensor([1, *sizes, 3], FLOAT32), None, 0
    )
    forge.model.operatorCodes[0].customCode = b"Convolution2DTransposeBias"
    raw = np.array(options, np.int32)
    forge.graph.operators[0].customOptions = np.frombuffer(raw.tobytes(), np.uint8)
    return forge.save(path)


@pytest.mark.parametrize(
    ("options", "sizes", "pad"),
    [
        ([2, 1, 2], (11, 6), (0, 0, 0, 0)),  # VALID, one along a row, two along a column
        ([1, 2, 3], (14, 8), (0, 0, 1, 1)),  # SAME, of the image's size
        ([1, 3, 1], (5, 10), (1, 1, 1, 1)),
    ],
)
def test_windows_of_mediapipe(
    options: list[int], sizes: tuple[int, int], pad: tuple[int, ...], tmp_path: Path, lab: Any
) -> None:
    module = lab.read_model(with_options(tmp_path / "m.tflite", options, sizes))
    (op,) = [o for o in module.walk() if o.name.startswith("memgraph.transpose")]
    kernel, stride, _, found = op.window.sizes
    assert (kernel, stride) == ((3, 3), (options[2], options[1]))
    total = [a + b for a, b in zip(pad[:2], pad[2:], strict=True)]
    assert found[0] + found[2] == total[0]
    assert found[1] + found[3] == total[1]
    assert (found[0], found[1]) == (total[0] // 2, total[1] // 2)


@pytest.mark.parametrize("options", [[2, 1], [3, 1, 2], [2, 0, 2], [2, 2, 2]])
def test_other_options_are_no_such_window(options: list[int], tmp_path: Path, lab: Any) -> None:
    module = lab.read_model(with_options(tmp_path / "m.tflite", options, (11, 6)))
    assert not any(o.name.startswith("memgraph.transpose") for o in module.walk())


def counted(path: Path) -> Path:
    """An int8 operator of two inputs, of which one is known, and two outputs."""
    forge = Forge(np.random.default_rng(0), True)
    x = forge.tensor([1, 6], INT8, None, [0.25], [-3])
    forge.graph.inputs.append(x)
    known = forge.tensor([2], INT32, [5, 7])
    results = [forge.tensor([1, 6], INT8, None, [0.25], [-3]), forge.tensor([4], INT32)]
    forge.operator(schema.BuiltinOperator.CUSTOM, [x, known], results, None, 0)
    forge.model.operatorCodes[0].customCode = b"my.count"
    forge.graph.operators[0].customOptions = np.array([42, 1, 2], np.uint8)
    return forge.save(path)


def test_what_the_function_is_given(tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    module = lab.read_model(counted(tmp_path / "m.tflite"))
    needs = {"my.count": {"scratch": 24, "state": 4}}
    project = written(lab, module, needs, COUNTED, tmp_path)
    x = np.array([[[-128, -1, 0, 1, 60, 127]]] * 3, np.int8)
    run = lab.run_project(project, [x], lab.SANITIZE, trace=False)
    assert run.code == 0, run.messages
    facts = np.array([1, 26, 197, 3049], np.int32).tobytes()
    each = [(np.array([-64, 0, 0, 0, 30, 63]) + n + 1).astype(np.int8).tobytes() for n in range(3)]
    assert run.output == b"".join(y + facts for y in each)
    assert "memopt_custom_function memopt_custom_my_count;" in (project / "net.h").read_text()


UNSIGNED = """#include "net.h"

/* Whether the outputs have the types of the file, in the highest bits that they have. */
void memopt_custom_my_unsigned(const memopt_custom_tensor *inputs,
                               const memopt_custom_tensor *outputs, void *scratch, void *state,
                               const uint8_t *options, int32_t options_bytes) {
  uint16_t *a = outputs[0].data;
  uint32_t *b = outputs[1].data;
  uint64_t *c = outputs[2].data;
  (void)inputs, (void)scratch, (void)state, (void)options, (void)options_bytes;
  a[0] = outputs[0].facts->type == MEMOPT_UINT16 ? 0xfffe : 0;
  b[0] = outputs[1].facts->type == MEMOPT_UINT32 ? 0xfffffffe : 0;
  c[0] = outputs[2].facts->type == MEMOPT_UINT64 ? 0xfffffffffffffffe : 0;
}
"""


def test_unsigned_tensors(tmp_path: Path, lab: Any) -> None:
    """As those between the operators of a microphone's front end, which CAST takes to int32."""
    forge = Forge(np.random.default_rng(0), True)
    x = forge.tensor([1, 6], INT8, None, [0.25], [-3])
    forge.graph.inputs.append(x)
    kinds = schema.TensorType.UINT16, schema.TensorType.UINT32, schema.TensorType.UINT64
    results = [forge.tensor([1], kind) for kind in kinds]
    forge.operator(schema.BuiltinOperator.CUSTOM, [x], results, None, 0)
    forge.model.operatorCodes[0].customCode = b"my.unsigned"
    signed, again = forge.tensor([1], INT32), forge.tensor([1], kinds[1])
    forge.operator(schema.BuiltinOperator.CAST, [results[1]], [signed], None, 0)
    forge.operator(schema.BuiltinOperator.CAST, [signed], [again], None, 0)
    forge.graph.outputs = [results[0], signed, again, results[2]]
    module = lab.read_model(forge.save(tmp_path / "m.tflite"))
    project = written(lab, module, {"my.unsigned": {}}, UNSIGNED, tmp_path)
    run = lab.run_project(project, [np.zeros((1, 1, 6), np.int8)], lab.SANITIZE, trace=False)
    assert run.code == 0, run.messages
    expected = [np.uint16(0xFFFE), np.int32(-2), np.uint32(0xFFFFFFFE), np.uint64(2**64 - 2)]
    assert run.output == b"".join(value.tobytes() for value in expected)


def test_what_is_not_declared_is_refused_by_name(tmp_path: Path, lab: Any) -> None:
    module = lab.read_model(counted(tmp_path / "m.tflite"))
    with pytest.raises(MemoptError, match=r"CUSTOM:my.count .*--custom=FILE.json declares"):
        lab.write(lab.plan(module), tmp_path / "c", "net", "host")
    with pytest.raises(MemoptError, match="no custom operator other in the model, which has my"):
        declare_custom_ops(lab.read_model(tmp_path / "m.tflite"), {"other": {}})


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """For a core, without what is measured of an image; not for TensorFlow Lite Micro."""
    model, file, out = tmp_path / "net.tflite", tmp_path / "c.json", tmp_path / "o"
    counted(model)
    file.write_text('{"my.count": {"state": 8, "scratch": 24}}')
    command = ["compile", str(model), f"--custom={file}", "--place=auto", "-o", str(out)]
    assert main([*command, "--target=cortex-m4"]) == 0
    assert "custom operators are yours to write" in capsys.readouterr().out
    assert "#define NET_VARIABLE_BYTES 8u" in (out / "net.h").read_text()
    assert main([*command[:-1], str(tmp_path / "t"), "--target=tflm"]) == 2
    assert "--custom is of C targets" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("{", "no JSON"),
        ("[]", "custom operators are an object"),
        ('{"f": 3}', "f: an object of scratch and state"),
        ('{"f": {"ram": 3}}', "f: an object of scratch and state"),
        ('{"f": {"scratch": -1}}', "f: scratch is a number of bytes, not -1"),
        ('{"f": {"state": true}}', "f: state is a number of bytes, not True"),
    ],
)
def test_other_files_are_refused(text: str, error: str, tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text(text)
    with pytest.raises(MemoptError, match=error):
        read_custom_ops(tmp_path / "c.json")
