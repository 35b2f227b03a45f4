"""Projects whose whole int8 operators call CMSIS-NN: against a stand-in that computes what its
functions are documented to and writes over the scratch that they ask for."""

import io
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from quick_options import QUICK

from memopt.backends.c.emit.source import emit_c
from memopt.cli import main
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.plan import scratch_list

DOUBLE = Path(__file__).parent / "cmsis_nn_double"
FUNCTIONS = {
    "arm_convolve_wrapper_s8",
    "arm_depthwise_conv_wrapper_s8",
    "arm_fully_connected_s8",
    "arm_avgpool_s8",
    "arm_max_pool_s8",
    "arm_elementwise_add_s8",
    "arm_softmax_s8",
}
OFF, ON = "", "CMSIS_NN=1"
CALLS = {"schedule": "source", "scratch": "cmsis-nn-calls"}
STRICT = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-Wconversion", "-pedantic")


def network(lab: Any, seed: int, path: Path, each: int = 4) -> Path:
    """Operators for every function, several of each, and some that it has none for."""
    schema = lab.forge.schema
    forge = lab.forge.Forge(np.random.default_rng(seed), True)
    codes = schema.BuiltinOperator
    for _ in range(each):
        lab.forge.add_convolution(forge, depthwise=False)
        lab.forge.add_convolution(forge, depthwise=True)
        lab.forge.add_fully_connected(forge)
        lab.forge.add_pool(forge, codes.AVERAGE_POOL_2D)
        lab.forge.add_pool(forge, codes.MAX_POOL_2D)
        lab.forge.add_binary(
            forge, codes.ADD, schema.AddOptionsT(), schema.BuiltinOptions.AddOptions
        )
        lab.forge.add_softmax(forge)
        lab.forge.add_random(forge)
    saved = forge.save(path)
    assert isinstance(saved, Path)
    return saved


def ran(*command: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done


def need_cmake() -> None:
    if shutil.which("cmake") is None:
        pytest.skip("needs cmake")


def with_cmake(project: Path, build: Path) -> None:
    """Build a project with the library, by CMake."""
    library = ("-DMEMOPT_CMSIS_NN=ON", f"-DCMSIS_NN_DIR={DOUBLE}")
    ran("cmake", "-S", str(project), "-B", str(build), *library)
    ran("cmake", "--build", str(build))


def built(project: Path, inputs: Any, lab: Any, option: str, flags: str = "") -> Any:
    """The project run, with or without the library, under sanitizers."""
    return lab.run_project(
        project,
        inputs,
        f"{lab.SANITIZE} {flags}",
        f"build_{option[:5]}{flags}",
        variables=[option, f"CMSIS_NN_DIR={DOUBLE}"] if option else [],
    )


@pytest.mark.deep
def test_what_cmsis_nn_computes_equals_tflm(fuzz: float, tmp_path: Path, lab: Any) -> None:
    """Also what our own kernels compute in the same project, and where there is a core with other
    scratch, or a library that asks for more than was planned."""
    lab.need_tools("host")
    called: set[str] = set()
    for seed in range(max(1, int(20 * fuzz))):
        work = tmp_path / str(seed)
        work.mkdir()
        path = network(lab, seed, work / "net.tflite")
        module = lab.plan(lab.read_model(path), target="host", **CALLS)
        asked = [s.bytes.data for op in module.walk() for s in scratch_list(op) or ()]
        assert len(asked) >= 4 and all(asked)
        inputs = lab.random_inputs(module, 2, seed)
        want = lab.golden("tflm", path, inputs, lab.tensors_of(module), work / "golden")
        project = lab.write(module, work / "c", "net", "host")
        for option, flags in ((ON, ""), (OFF, ""), (ON, "-DDOUBLE_GREEDY=64")):
            if option + flags != ON and seed:
                continue
            run = built(project, inputs, lab, option, flags)
            assert run.code == 0, run.messages
            assert lab.unequal_tensors(run, want) == [], f"seed {seed} {option} {flags}"
            if option == OFF:
                assert not FUNCTIONS & set(run.numbers)
            elif flags:  # those that take no scratch
                assert FUNCTIONS & set(run.numbers) == {
                    "arm_max_pool_s8",
                    "arm_elementwise_add_s8",
                    "arm_softmax_s8",
                }
            else:
                called |= FUNCTIONS & set(run.numbers)
    assert called == FUNCTIONS


@pytest.fixture(name="path")
def _path(tmp_path: Path, lab: Any) -> Path:
    return network(lab, 0, tmp_path / "net.tflite", each=1)


@pytest.mark.deep
def test_the_command_plans_for_it(path: Path, tmp_path: Path) -> None:
    """CMake and make take the option for such a plan, and refuse it for another."""
    out = tmp_path / "with"
    command = ["compile", str(path), "--target=cortex-m4", "--rows=none", *QUICK, "-o"]
    assert main([*command, str(out), "--cmsis-nn"]) == 0
    assert "MEMOPT_CMSIS_NN" in (out / "CMakeLists.txt").read_text()
    assert "memopt_cmsis_max_pool_2d_s8" in (out / "net.c").read_text()
    other = tmp_path / "without"
    assert main([*command, str(other)]) == 0
    assert "FATAL_ERROR" in (other / "CMakeLists.txt").read_text()
    made = subprocess.run(
        ["make", "-n", "-C", str(other), "CMSIS_NN=1"], capture_output=True, text=True, check=False
    )
    assert made.returncode and "planned without CMSIS-NN" in made.stderr
    made = subprocess.run(
        ["make", "-n", "-C", str(out), "CMSIS_NN=1"], capture_output=True, text=True, check=False
    )
    assert made.returncode and "Include/arm_nnfunctions.h" in made.stderr


@pytest.mark.parametrize("flags", [("--target=tflm",), ("--target=host", "--rows=all")])
def test_what_does_not_go_with_it_is_refused(
    path: Path, tmp_path: Path, flags: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compile", str(path), *flags, "--cmsis-nn", "-o", str(tmp_path / "c")]) != 0
    assert "--cmsis-nn" in capsys.readouterr().err


@pytest.mark.deep
@pytest.mark.parametrize(
    "flags", [pytest.param([], marks=pytest.mark.deep), ["--shared-kernels", "--share-arena"]]
)
def test_several_models_call_one_library(flags: list[str], tmp_path: Path, lab: Any) -> None:
    """With prefixed kernels by make, with it and without, and with shared ones by CMake."""
    lab.need_tools("host")
    if flags:
        need_cmake()
    paths = [network(lab, seed, tmp_path / f"net{seed}.tflite", each=1) for seed in (0, 1)]
    out = tmp_path / "c"
    command = ["compile", *map(str, paths), "--target=host", "--cmsis-nn", "--rewrite=none"]
    assert main([*command, *QUICK, *flags, "-o", str(out)]) == 0
    data, want = b"", b""
    for seed, path in enumerate(paths):
        module = lab.read_model(path)
        inputs = lab.random_inputs(module, 1, seed)
        data += b"".join(array[0].tobytes() for array in inputs)
        returned = lab.main_of(module).body.block.last_op
        tensors = [lab.source_tensor(value) for value in returned.operands]
        found = lab.golden("tflm", path, inputs, tensors, tmp_path / f"golden{seed}")
        want += b"".join(found[tensor][0].tobytes() for tensor in tensors)
    (out / "in.bin").write_bytes(data)
    if flags:
        with_cmake(out, tmp_path / "cmake")
        programs = {ON: str(tmp_path / "cmake" / "memopt_models_main")}
    else:
        programs = {OFF: "off/memopt_models", ON: "on/memopt_models"}
        ran("make", "-s", "-C", str(out), "BUILD=off", "CFLAGS=-O1")
        ran("make", "-s", "-C", str(out), "BUILD=on", "CFLAGS=-O1", ON, f"CMSIS_NN_DIR={DOUBLE}")
    for option, program in programs.items():
        said = ran(program, "in.bin", "out.bin", cwd=out).stderr
        assert ("arm_max_pool_s8" in said) is bool(option)
        assert (out / "out.bin").read_bytes() == want


@pytest.mark.deep
@pytest.mark.parametrize(("target", "flags"), [("cortex-m4", ""), ("cortex-m55", "-DDOUBLE_MVE")])
def test_on_a_board(
    target: str, flags: str, path: Path, tmp_path: Path, lab: Any, fuzz: float
) -> None:
    if fuzz < 1 and flags:
        pytest.skip("in make fuzz")
    lab.need_tools(target)
    module = lab.plan(lab.read_model(path), target=target, **CALLS)
    inputs = lab.random_inputs(module, 2, 0)
    want = lab.golden("tflm", path, inputs, lab.tensors_of(module), tmp_path / "golden")
    project = lab.write(module, tmp_path / "c", "net", target)
    library = [ON, f"CMSIS_NN_DIR={DOUBLE}"]
    run = lab.run_project(project, inputs, f"-O2 {flags}", variables=library)
    assert run.code == 0, run.messages
    assert lab.unequal_tensors(run, want) == []


def test_one_file_calls_it_too(path: Path, tmp_path: Path, lab: Any) -> None:
    """Kernels as static functions: what is called where the library does not compute is one too."""
    module = lab.plan(lab.read_model(path), target="host", **CALLS)
    text = io.StringIO()
    emit_c(module, text, "net")
    (tmp_path / "net.c").write_text(text.getvalue())
    for option in ([], ["-DMEMOPT_CMSIS_NN", "-isystem", str(DOUBLE / "Include")]):
        ran("cc", *STRICT, *option, "-c", "net.c", "-o", "net.o", cwd=tmp_path)
        names = ran("nm", "net.o", cwd=tmp_path).stdout
        assert ("arm_max_pool_s8" in names) is bool(option)


def test_vector_cores_have_its_other_scratch(path: Path, tmp_path: Path, lab: Any) -> None:
    """Planned for a Cortex-M55; on the host such a plan is for another target."""
    asked: dict[str, list[int]] = {}
    for target in ("cortex-m4", "cortex-m55"):
        module = lab.read_model(path)
        lab.plan(module, target=target, **CALLS)
        scratch = (s for op in module.walk() for s in scratch_list(op) or ())
        asked[target] = [s.bytes.data for s in scratch]
        project = lab.write(module, tmp_path / target, "net", target)
        assert "memopt_cmsis_" in (project / "net.c").read_text()
        with pytest.raises(MemoptError, match=f"planned for target {target}"):
            lab.write(module, tmp_path / "host", "net", "host")
    assert asked["cortex-m4"] != asked["cortex-m55"]


@pytest.mark.deep
def test_cmake_builds_it_with_the_library(tmp_path: Path, path: Path) -> None:
    need_cmake()
    out = tmp_path / "c"
    command = ["compile", str(path), "--target=host", "--layout=cmake", "--cmsis-nn", *QUICK]
    assert main([*command, "-o", str(out)]) == 0
    build = tmp_path / "build"
    cmake = ["cmake", "-DMEMOPT_CMSIS_NN=ON", "-S", str(out), "-B", str(build)]
    wrong = subprocess.run(cmake, capture_output=True, text=True, check=False)
    assert wrong.returncode and "CMSIS_NN_DIR" in wrong.stderr
    with_cmake(out, build)
    assert "arm_max_pool_s8" in ran("nm", "-u", str(build / "libnet.a")).stdout
