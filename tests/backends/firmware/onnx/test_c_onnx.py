# pyright: basic
"""Networks of ONNX as C: float ones close to onnxruntime, quantised ones bit for bit."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from normalized import FAMILIES as NORMALIZED
from normalized import Model
from onnx_families import FAMILIES as NETWORKS
from onnx_networks import SHAPE, Layers, images, network, quantised, random_network, saved
from qdq_pairs import FAMILIES, Pairs, results
from quick_options import QUICK
from xdsl.context import Context

from memopt.cli import main
from memopt.compile.driver import load_model
from memopt.dialects.memgraph.errors import MemoptError
from memopt.passes.memgraph_rewrite import MemgraphRewritePass

CNNS = 500  # networks drawn at random, quantised by onnxruntime, on a Cortex-M4
EACH = 50  # networks of each of these families
FULL = 100  # models of each family with batch normalization
REFUSED = ("padding counts", "broadcast", "no kernel for")
RULES = MemgraphRewritePass(("qdq-fold", "signed-bytes", "channels-last"))
FOLDED = MemgraphRewritePass(
    (
        *("constants-into-weights", "normalization-as-product", "relu-into-producer"),
        "channels-last",
    )
)


def run(
    lab: Any,
    path: Path,
    directory: Path,
    target: str,
    inputs: list[Any],
    rules: MemgraphRewritePass = RULES,
) -> Any:
    """What the C of a model printed, its rules applied; inputs are [runs, ...]."""
    module = load_model(path, {})
    rules.apply(Context(), module)
    lab.plan(module, target=target, inplace="on", alignment=4)
    written = lab.write(module, directory, "net", target)
    flags = (lab.SANITIZE,) if target == "host" else ()
    done = lab.run_project(written, inputs, *flags, trace=False)
    assert done.code == 0, done.messages
    return done.output


@pytest.mark.deep
@pytest.mark.parametrize("unsigned", [False, True])
@pytest.mark.parametrize("target", ["host", "cortex-m4"])
def test_a_quantised_network_is_what_onnxruntime_computes(
    target: str, unsigned: bool, tmp_path: Path, lab: Any
) -> None:
    lab.need_tools(target)
    path = quantised(network(tmp_path / "f.onnx"), tmp_path / "q.onnx", unsigned)
    given = np.concatenate(images(7, 4)).reshape(4, *SHAPE)
    output = run(lab, path, tmp_path / "c", target, [given])
    want = [results(path.read_bytes(), {"x": x}, fused=True) for x in given]
    assert output == np.concatenate(want).tobytes()


@pytest.mark.deep
def test_random_networks_are_what_onnxruntime_computes(
    tmp_path: Path, lab: Any, fuzz: float
) -> None:
    """Bit for bit, with one image each; as reals within 1e-5 on the host."""
    lab.need_tools("cortex-m4")
    for seed in range(max(3, int(CNNS * fuzz))):
        path = random_network(tmp_path / f"f{seed}.onnx", seed)
        (image,) = images(seed, 1)
        float_run = run(lab, path, tmp_path / f"f{seed}", "host", [image[None]])
        want = results(path.read_bytes(), {"x": image}, fused=False)
        off = abs(np.frombuffer(float_run, np.float32) - want.reshape(-1)).max()
        assert off <= 1e-5 * abs(want).max(), seed
        made = quantised(path, tmp_path / f"q{seed}.onnx", unsigned=bool(seed % 2))
        output = run(lab, made, tmp_path / f"c{seed}", "cortex-m4", [image[None]])
        assert output == results(made.read_bytes(), {"x": image}, fused=True).tobytes(), seed


@pytest.mark.deep
@pytest.mark.parametrize("family", NETWORKS)
def test_quantised_networks_of_known_families_are_what_onnxruntime_computes(
    family: str, tmp_path: Path, lab: Any, fuzz: float
) -> None:
    """Bit for bit, on a Cortex-M4, and as reals within 1e-5 on the host. A transformer is compared
    with its graph as it stands: onnxruntime's fused one has softmax in a table of its own."""
    lab.need_tools("cortex-m4")
    fused = family != "transformer"
    for seed in range(max(1, int(EACH * fuzz))):
        path = NETWORKS[family](tmp_path / f"f{seed}.onnx", seed)
        made = quantised(path, tmp_path / f"q{seed}.onnx", unsigned=bool(seed % 2))
        given = np.concatenate(images(seed + 100, 3)).reshape(3, *SHAPE)
        output = run(lab, made, tmp_path / f"c{seed}", "cortex-m4", [given])
        want = [results(made.read_bytes(), {"x": x}, fused=fused) for x in given]
        assert output == np.concatenate(want).tobytes(), seed
        real = run(lab, path, tmp_path / f"r{seed}", "host", [given])
        want = np.concatenate([results(path.read_bytes(), {"x": x}, fused=False) for x in given])
        off = abs(np.frombuffer(real, np.float32) - want.reshape(-1)).max()
        assert off <= 1e-5 * abs(want).max(), seed


def test_a_float_network_is_close_to_onnxruntime(tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    path = network(tmp_path / "f.onnx")
    given = np.concatenate(images(8, 4)).reshape(4, *SHAPE)
    got = np.frombuffer(run(lab, path, tmp_path / "c", "host", [given]), np.float32)
    want = np.concatenate([results(path.read_bytes(), {"x": x}, fused=False) for x in given])
    assert abs(got - want.reshape(-1)).max() <= 1e-5 * abs(want).max()


def test_a_product_of_a_constant_vector_is_computed(tmp_path: Path, lab: Any) -> None:
    """Of more weights than are multiplied when a file is read, as a first state of a GRU is."""
    lab.need_tools("host")
    n = Layers(0)
    product = n.add("MatMul", [n.constant("a", 1, 80), n.constant("w", 80, 16)])
    path = saved(n, n.add("Flatten", [n.add("Add", ["x", product])]), 768, tmp_path / "f.onnx")
    (image,) = images(3, 1)
    got = np.frombuffer(run(lab, path, tmp_path / "c", "host", [image[None]]), np.float32)
    want = results(path.read_bytes(), {"x": image}, fused=False).reshape(-1)
    assert abs(got - want).max() <= 1e-5 * abs(want).max()


@pytest.mark.parametrize("family", NORMALIZED)
def test_batch_normalization_is_close_to_onnxruntime(
    family: str, tmp_path: Path, lab: Any, fuzz: float
) -> None:
    lab.need_tools("host")
    for seed in range(max(3, int(FULL * fuzz))):
        model = Model(seed)
        NORMALIZED[family][0](model)
        path = tmp_path / f"{seed}.onnx"
        path.write_bytes(model.data())
        given = model.rng.normal(size=(2, *model.shape)).astype(np.float32)
        output = run(lab, path, tmp_path / f"c{seed}", "host", [given], FOLDED)
        want = np.stack([results(path.read_bytes(), {"x": x}, fused=False) for x in given])
        got = np.frombuffer(output, np.float32)
        assert abs(got - want.reshape(-1)).max() <= 1e-5 * abs(want).max(), seed


def test_the_command_folds_batch_normalization(
    tmp_path: Path, lab: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file as exporters write it; without the rules it is refused by name."""
    lab.need_tools("host")
    model = Model(2, (1, 3, 8, 8))
    NORMALIZED["convolutions"][0](model)
    path, out = tmp_path / "n.onnx", tmp_path / "c"
    path.write_bytes(model.data())
    command = ["compile", str(path), "--target=host", *QUICK, "-o", str(out)]
    assert main([*command, "--rewrite=channels-last"]) == 1
    assert "no kernel for memgraph.batch_normalization" in capsys.readouterr().err
    assert main([*command, "--rewrite=all"]) == 0
    said = capsys.readouterr().out
    assert "normalization-as-product" in said and "constants-into-weights" in said
    given = model.rng.normal(size=(3, *model.shape)).astype(np.float32)
    done = lab.run_project(out, [given], lab.SANITIZE, trace=False)
    got = np.frombuffer(done.output, np.float32)
    want = np.stack([results(path.read_bytes(), {"x": x}, fused=False) for x in given])
    assert abs(got - want.reshape(-1)).max() <= 1e-5 * abs(want).max()


@pytest.mark.parametrize("family", FAMILIES)
def test_operators_round_as_onnxruntime(family: str, tmp_path: Path, lab: Any, fuzz: float) -> None:
    lab.need_tools("host")
    make, off = FAMILIES[family]
    for seed in range(0, 2 * max(3, int(100 * fuzz)), 2):  # signed bytes
        pairs = Pairs(seed)
        path = tmp_path / f"{seed}.onnx"
        path.write_bytes(make(pairs))
        given = [
            pairs.rng.integers(-128, 128, (5, *shape)).astype(np.int8)
            for shape in pairs.inputs.values()
        ]
        try:
            output = run(lab, path, tmp_path / f"c{seed}", "host", given)
        except MemoptError as error:
            assert any(why in str(error) for why in REFUSED), error
            continue
        fused = family in ("convolution", "over_time", "matrix")
        want = [
            results(path.read_bytes(), dict(zip(pairs.inputs, one, strict=True)), fused)
            for one in zip(*given, strict=True)
        ]
        got = np.frombuffer(output, np.int8).astype(int)
        assert abs(got - np.concatenate(want).reshape(-1)).max() <= off, seed


@pytest.mark.deep
def test_the_command_takes_images_as_cameras_give_them(tmp_path: Path, lab: Any) -> None:
    """In rows, of bytes, channels last."""
    lab.need_tools("host")
    path = quantised(network(tmp_path / "f.onnx"), tmp_path / "q.onnx", False)
    flags = ("--rewrite=all", "--int8-io", "--nhwc-io", "--target=host")
    assert main(["compile", str(path), *QUICK, *flags, "-o", str(tmp_path / "c")]) == 0
    header = (tmp_path / "c" / "q.h").read_text()
    number = {k: float(v) for k, v in re.findall(r"#define Q_(\w+) \(?([-\d.]+)", header)}
    assert (number["INPUT_0_BYTES"], number["OUTPUT_0_BYTES"]) == (768, 10)
    assert number["ARENA_BYTES"] < 2 * 768
    scale, zero = number["INPUT_0_SCALE"], number["INPUT_0_ZERO_POINT"]
    out_scale, out_zero = number["OUTPUT_0_SCALE"], int(number["OUTPUT_0_ZERO_POINT"])
    given = np.concatenate(images(9, 3)).reshape(3, *SHAPE)
    stored = np.clip(np.rint(given / np.float32(scale)) + zero, -128, 127).astype(np.int8)
    done = lab.run_project(tmp_path / "c", [np.moveaxis(stored, 2, -1)], lab.SANITIZE, trace=False)
    got = (np.frombuffer(done.output, np.int8).astype(int) - out_zero) * np.float32(out_scale)
    want = [results(path.read_bytes(), {"x": x}, fused=True) for x in given]
    assert (got.astype(np.float32) == np.concatenate(want).reshape(-1)).all()
