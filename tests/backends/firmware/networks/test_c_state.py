"""What stays from one run to the next, as C: 20 runs equal TensorFlow Lite Micro bit for bit."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from against_runtime import compared
from deep import SEEDS, deep_but, seeds
from forge_state import add_hybrid_svdf, add_lstm, add_real_lstm, add_sequence_rnn, add_svdf
from forge_variables import Streams
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, i64

import memopt
from memopt.analysis.evaluation import State, evaluate
from memopt.analysis.weights import Weights
from memopt.backends.c.project.measure import measure_project
from memopt.cli import main
from memopt.dialects.attributes.operators import SourceAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.memgraph.plan import ORDER
from memopt.dialects.memgraph.structure import OpaqueOp
from memopt.dialects.memgraph.variables import VariableOp
from memopt.dialects.operators.svdf import SvdfOp
from memopt.verify.plan import verify_plan

RUNS = 20


def filters(lab: Any, seed: int, kind: str) -> Any:
    forge = lab.forge.Forge(np.random.default_rng(seed), kind != "FLOAT32")
    for _ in range(12):
        add_svdf(forge, getattr(lab.forge, kind))
    return forge


def compare(
    path: Path, tmp_path: Path, lab: Any, target: str, bound: float | None = None
) -> tuple[Any, Any, Any]:
    """20 runs of a model as C on a host or a board, against TFLM, and `evaluate` on the way."""
    module = lab.plan(lab.read_model(path), schedule="source")
    assert not any(isinstance(op, OpaqueOp) for op in module.walk())
    inputs, tensors = lab.random_inputs(module, RUNS, 5), lab.tensors_of(module)
    want = lab.golden("tflm", path, inputs, tensors, tmp_path / "golden", stays=True)
    assert len(want) == len(tensors)
    project = lab.write(module, tmp_path / target, "net", target)
    run = lab.run_project(project, inputs, lab.SANITIZE if target == "host" else None)
    assert run.code == 0, run.messages
    if bound is None:
        assert lab.unequal_tensors(run, want) == []
    else:
        assert lab.worst_difference(run, want) <= bound
    return module, inputs, want


def evaluated(module: Any, inputs: list[Any], want: Any, bound: float | None = None) -> None:
    """What `evaluate` says of the same runs."""
    func, state = only_function(module), State()
    for step in range(RUNS):
        values = evaluate(func, Weights.of(module), [a[step] for a in inputs], state)
        for op in func.body.block.ops:
            source = op.attributes.get("memgraph.source")
            if ORDER not in op.attributes or not isinstance(source, SourceAttr):
                continue
            for value, tensor in zip(op.results, source.tensor_ids, strict=True):
                got, wanted = values[value], want[tensor][step]
                if bound is None:
                    assert np.array_equal(got, wanted), f"tensor {tensor} run {step}"
                else:
                    assert np.abs(got - wanted).max() <= bound * max(np.abs(wanted).max(), 1)


@pytest.mark.parametrize("part", SEEDS)
@pytest.mark.parametrize("kind", ["INT8", "INT16", "FLOAT32"])
def test_filters_over_time(kind: str, part: str, fuzz: float, tmp_path: Path, lab: Any) -> None:
    """Memories of each type; what sums of int16 wrap to, they wrap to there too."""
    lab.need_tools("host")
    bound = 1e-5 if kind == "FLOAT32" else None
    for seed in seeds(part, 1, 2, 40 * fuzz):
        path = filters(lab, seed, kind).save(tmp_path / f"{seed}.tflite")
        made = compare(path, tmp_path / f"{kind}{seed}", lab, "host", bound)
        evaluated(*made, bound=bound)


def layers(lab: Any, seed: int, kind: str) -> Any:
    forge = lab.forge.Forge(np.random.default_rng(seed), kind != "FLOAT32")
    for _ in range(8):
        add_lstm(forge, getattr(lab.forge, kind))
    return forge


@pytest.mark.parametrize("part", SEEDS)
@pytest.mark.parametrize("kind", deep_but(["INT8", "FLOAT32"], ["INT8", "INT16", "FLOAT32"]))
def test_layers_that_go_through_sequences(
    kind: str, part: str, fuzz: float, tmp_path: Path, lab: Any
) -> None:
    """Long short-term memories, batches or steps first, with and without a clip."""
    lab.need_tools("host")
    bound = 1e-5 if kind == "FLOAT32" else None
    for seed in seeds(part, 1, 2, 40 * fuzz):
        path = layers(lab, seed, kind).save(tmp_path / f"{seed}.tflite")
        evaluated(*compare(path, tmp_path / f"{kind}{seed}", lab, "host", bound), bound=bound)
    if kind != "FLOAT32" and part == "few":
        lab.need_tools("cortex-m4")
        compare(tmp_path / "0.tflite", tmp_path / "board", lab, "cortex-m4")


@pytest.mark.parametrize("part", SEEDS)
def test_filters_over_time_of_reals_with_stored_weights(
    part: str, fuzz: float, tmp_path: Path, lab: Any
) -> None:
    lab.need_tools("host")
    for seed in seeds(part, 1, 2, 40 * fuzz):
        forge = lab.forge.Forge(np.random.default_rng(seed), False)
        for _ in range(10):
            add_hybrid_svdf(forge)
        compared(lab, forge, seed, tmp_path, runs=1)


@pytest.mark.parametrize("part", SEEDS)
@pytest.mark.parametrize("hybrid", deep_but(True, [False, True]))
def test_layers_that_take_what_they_gave(
    hybrid: bool, part: str, fuzz: float, tmp_path: Path, lab: Any
) -> None:
    lab.need_tools("host")
    for seed in seeds(part, 1, 2, 40 * fuzz):
        forge = lab.forge.Forge(np.random.default_rng(seed), False)
        forge.hybrid = hybrid
        for _ in range(10):
            add_sequence_rnn(forge)
        compared(lab, forge, seed, tmp_path, runs=1, close=0.01 if hybrid else 1e-5)


@pytest.mark.parametrize("part", SEEDS)
@pytest.mark.parametrize("hybrid", deep_but(True, [False, True]))
def test_layers_of_reals_with_any_part(
    hybrid: bool, part: str, fuzz: float, tmp_path: Path, lab: Any
) -> None:
    """Check peepholes, projections, normalized gates, gates in one, and int8 weights. A float that
    differs in its last bit may be quantized to the next number, which is seen in later steps."""
    lab.need_tools("host")
    for seed in seeds(part, 1, 3, 60 * fuzz):
        forge = lab.forge.Forge(np.random.default_rng(seed), False)
        forge.hybrid = hybrid
        for _ in range(10):
            add_real_lstm(forge)
        compared(lab, forge, seed, tmp_path, runs=1, close=0.01 if hybrid else 1e-5)


@pytest.mark.parametrize(
    ("fault", "refusal"),
    [
        ("projection", "no kernel for UNIDIRECTIONAL_SEQUENCE_LSTM"),
        ("activation", "no kernel for UNIDIRECTIONAL_SEQUENCE_LSTM"),
        ("peephole", "no kernel for UNIDIRECTIONAL_SEQUENCE_LSTM"),
        ("shared", "no kernel for UNIDIRECTIONAL_SEQUENCE_LSTM"),
        ("kept", "read but never written"),
        ("scale", "memgraph.lstm cannot be evaluated: a cell of scale 0.0006"),
    ],
)
def test_other_layers_are_refused(fault: str, refusal: str, tmp_path: Path, lab: Any) -> None:
    forge = layers(lab, 1, "INT8")
    op = forge.graph.operators[0]
    if fault == "projection":
        op.builtinOptions.projClip = 1.0
    elif fault == "activation":
        op.builtinOptions.fusedActivationFunction = 1
    elif fault == "peephole":
        op.inputs[9] = op.inputs[12]
    elif fault == "shared":
        op.inputs[1] = -1
    elif fault == "kept":
        forge.graph.tensors[op.inputs[18]].isVariable = False
    else:
        forge.graph.tensors[op.inputs[19]].quantization.scale = [0.0006]
    module = lab.plan(lab.read_model(forge.save(tmp_path / "m.tflite")), target="host")
    with pytest.raises(MemoptError, match=refusal):
        lab.write(module, tmp_path / "c", "net", "host")


def test_a_real_model_with_such_layers(shared: Path, tmp_path: Path, lab: Any) -> None:
    """Two layers of 128 units, on a board."""
    path = shared / "models" / "dtln_noise_suppression.tflite"
    lab.need_tools("host")
    evaluated(*compare(path, tmp_path, lab, "host"))
    lab.need_tools("cortex-m4")
    compare(path, tmp_path, lab, "cortex-m4")


def test_a_real_model(shared: Path, fuzz: float, tmp_path: Path, lab: Any) -> None:
    """Seven filters over time, of 5,120 bytes together; its last operators have 16 and 32 bits."""
    path = shared / "models" / "keyword_scrambled_int8.tflite"
    lab.need_tools("host")
    evaluated(*compare(path, tmp_path, lab, "host"))
    core = "cortex-m4"
    lab.need_tools(core)
    compare(path, tmp_path, lab, core)
    facts = measure_project(tmp_path / core, core)
    assert 5120 <= facts["static_ram"] <= 5120 + 256
    header = (tmp_path / core / "net.h").read_text()
    assert re.search(r"^#define NET_VARIABLE_BYTES 5120u", header, re.MULTILINE)


def test_runs_can_be_forgotten(tmp_path: Path, lab: Any) -> None:
    """After `net_reset` the outputs are those of the first run, in one file as in several."""
    lab.need_tools("host")
    module = lab.plan(lab.read_model(filters(lab, 3, "INT8").save(tmp_path / "m.tflite")))
    project = lab.write(module, tmp_path / "c", "net", "host")
    inputs = ", ".join(f"input_{k}" for k in range(12))
    outputs = ", ".join(f"output_{k}[run]" for k in range(12))
    declared = "".join(
        f"  static int8_t input_{k}[64] = {{9, -7, 3}};\n  static int8_t output_{k}[4][64];\n"
        for k in range(12)
    )
    same = "".join(
        f"  alike += memcmp(output_{k}[0], output_{k}[{r}], 64) == 0 ? {worth} : 0;\n"
        for k in range(12)
        for r, worth in ((1, 100), (2, 1))
    )
    (project / "main.c").write_text(
        '#include "net.h"\n#include <stdio.h>\n#include <string.h>\n'
        "static uint64_t arena[NET_ARENA_BYTES / 8 + 2];\n"
        f"int main(void) {{\n{declared}  int run, alike = 0;\n"
        "  for (run = 0; run < 3; ++run) {\n    if (run == 2) {\n      net_reset();\n    }\n"
        f"    net_run((uint8_t *)(((uintptr_t)arena + 15) / 16 * 16), {inputs},\n"
        f"            {outputs});\n  }}\n{same}"
        '  printf("%d\\n", alike);\n  return 0;\n}\n'
    )
    kernels = sorted(str(p) for p in project.rglob("memopt_*.c"))
    command = ["cc", "-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic"]
    command += ["-Werror", "-I.", "-Ikernels", "main.c", "net.c", *kernels, "-o", "again", "-lm"]
    subprocess.run(command, cwd=project, check=True)
    done = subprocess.run([project / "again"], capture_output=True, text=True, check=True)
    assert int(done.stdout) % 100 == 12  # all of the third run are those of the first
    assert int(done.stdout) < 1200  # and not all of the second


def test_the_verifier_keeps_what_stays_apart(tmp_path: Path, lab: Any) -> None:
    """A variable has no place in the arena, and who uses the same one keeps the file's order."""
    path = filters(lab, 3, "INT8").save(tmp_path / "m.tflite")
    module = lab.plan(lab.read_model(path))
    func = only_function(module)
    verify_plan(func)
    variable = next(op for op in func.body.block.ops if isinstance(op, VariableOp))
    before = variable.attributes["memgraph.offset"]
    variable.attributes["memgraph.offset"] = ArrayAttr([IntegerAttr(0, i64)])
    with pytest.raises(MemoptError, match="is not in the arena"):
        verify_plan(func)
    variable.attributes["memgraph.offset"] = before
    verify_plan(func)


def test_the_verifier_holds_the_order_on_a_variable(tmp_path: Path, lab: Any) -> None:
    """Two filters that remember in the same place; as if their operators had been swapped."""
    forge = lab.forge.Forge(np.random.default_rng(3), True)
    add_svdf(forge, lab.forge.INT8)
    (first,) = forge.graph.operators
    again = forge.activation(forge.graph.tensors[first.outputs[0]].shape)
    kind = first.builtinOptionsType
    code = lab.forge.schema.BuiltinOperator.SVDF
    forge.operator(code, first.inputs, again, first.builtinOptions, kind)
    path = forge.save(tmp_path / "m.tflite")
    module, _, _ = compare(path, tmp_path, lab, "host")
    func = only_function(module)
    one, two = (op for op in func.body.block.ops if isinstance(op, SvdfOp))
    key = "memgraph.source"
    one.attributes[key], two.attributes[key] = two.attributes[key], one.attributes[key]
    with pytest.raises(MemoptError, match="after operator 1 of the file"):
        verify_plan(func)


def streams(lab: Any, seed: int) -> Any:
    """Windows over rows of the runs before, some of them over one variable for two."""
    rng = np.random.default_rng(seed)
    forge = lab.forge.Forge(rng, True)
    found = Streams(forge)
    for number in range(4):
        length, kept = (int(v) for v in rng.integers(1, 6, 2))
        found.window(length, kept, f"stream_{number}")
    return forge


def test_variables_found_by_name(fuzz: float, tmp_path: Path, lab: Any) -> None:
    """What another subgraph sets once, and each run reads and assigns, as wake words do."""
    lab.need_tools("host")
    for seed in range(max(3, int(40 * fuzz))):
        path = streams(lab, seed).save(tmp_path / f"{seed}.tflite")
        evaluated(*compare(path, tmp_path / str(seed), lab, "host"))


@pytest.mark.deep
def test_variables_of_compiled_models(tmp_path: Path, lab: Any) -> None:
    """With rewriting and rows, on a board: the same bytes, counted as static RAM."""
    lab.need_tools("cortex-m4")
    path = streams(lab, 1).save(tmp_path / "wake.tflite")
    module = lab.plan(lab.read_model(path), schedule="source")
    inputs, tensors = lab.random_inputs(module, RUNS, 5), lab.tensors_of(module)
    want = lab.golden("tflm", path, inputs, tensors, tmp_path / "golden", stays=True)
    out = tmp_path / "out"
    assert main(["compile", str(path), "--target=cortex-m4", "--place=auto", "-o", str(out)]) == 0
    run = lab.run_project(out, inputs, trace=False)
    assert run.code == 0, run.messages
    returned = only_function(module).body.block.last_op
    assert returned is not None
    ids = [lab.source_tensor(value) for value in returned.operands]
    wanted = b"".join(want[i][step].tobytes() for step in range(RUNS) for i in ids)
    assert run.output == wanted
    facts = json.loads((out / "report.json").read_text())["target"]
    header = (out / "wake.h").read_text()
    stays = re.search(r"VARIABLE_BYTES (\d+)u", header)
    assert stays is not None and int(stays[1]) <= facts["static_ram"]
    assert facts["ram"] == facts["arena"] + facts["stack"] + facts["static_ram"]


@pytest.mark.parametrize("fault", ["unset", "late", "shape", "computed", "other"])
def test_variables_that_are_used_otherwise_stay_as_they_are(
    fault: str, tmp_path: Path, lab: Any
) -> None:
    """They are imported as opaque operators, and refused by name."""
    forge = streams(lab, 2)
    graph, first = forge.model.subgraphs
    schema = lab.forge.schema
    if fault == "unset":
        first.operators.pop()
    elif fault == "late":
        graph.operators.append(graph.operators.pop(0))
    elif fault == "shape":
        first.tensors[0].shape = first.tensors[0].shape[::-1]
    elif fault == "computed":
        first.tensors[0].buffer = 0
    else:
        code = schema.BuiltinOperator.RELU
        source = graph.inputs[0]
        shape = graph.tensors[source].shape
        forge.graph = first
        one, two = (forge.tensor(shape, lab.forge.INT8, None, [1.0], [0]) for _ in range(2))
        forge.operator(code, [one], two, None, schema.BuiltinOptions.NONE)
    path = forge.save(tmp_path / "m.tflite")
    module = lab.read_model(path)
    names = {op.op_name.data for op in module.walk() if isinstance(op, OpaqueOp)}
    assert {"CALL_ONCE", "VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE"} <= names
    assert only_function(module).sym_name.data == "main"  # which TFLM runs, and no C target
    with pytest.raises(MemoptError, match=r"no kernel for (CALL_ONCE|VAR_HANDLE) "):
        memopt.compile(path, target="host", out=tmp_path / "c")
