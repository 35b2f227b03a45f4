"""The arena of generated C: exactly as large as promised, and every memory model keeps its word."""

from pathlib import Path
from typing import Any

import pytest

from memopt.backends.c.emit.layout import layout_of
from memopt.dialects.operators.binary import AddOp


@pytest.fixture
def resnet8(shared: Path) -> Path:
    return shared / "models" / "resnet8_int8.tflite"


@pytest.mark.deep
@pytest.mark.parametrize("target", ["host", "cortex-m4", "cortex-m7", "cortex-m55"])
@pytest.mark.parametrize("name", ["resnet8_int8", "mobilenet_vww96_int8"])
def test_an_arena_one_unit_smaller_trips_the_canaries(
    name: str, target: str, shared: Path, fuzz: float, tmp_path: Path, lab: Any
) -> None:
    lab.need_tools(target)
    if fuzz < 1 and name != "resnet8_int8" and target != "cortex-m7":
        pytest.skip("in make fuzz")
    module = lab.plan(lab.read_model(shared / "models" / f"{name}.tflite"))
    # The top buffer has no padding: the arena is the sum of unpadded sizes at its fullest.
    assert lab.top_padding(module) == 0
    inputs = lab.random_inputs(module, 1, seed=3)
    directory = lab.write(module, tmp_path / "c", "net", target)
    whole = lab.run_project(directory, inputs, trace=False)
    assert whole.code == 0, whole.messages
    small = lab.run_project(
        directory, inputs, "-O2 -DMEMOPT_ARENA_SHRINK=16", build="shrunk", trace=False
    )
    assert small.code == 2 or "Error 2" in small.messages
    assert "wrote outside its arena" in small.messages


@pytest.mark.parametrize("io", ["arena", "kept", "caller"])
@pytest.mark.parametrize(("views", "inplace"), [("on", "off"), ("off", "on")])
def test_every_memory_model(
    io: str, views: str, inplace: str, resnet8: Path, tmp_path: Path, lab: Any
) -> None:
    lab.need_tools("host")
    module = lab.plan(lab.read_model(resnet8), io=io, views=views, inplace=inplace)
    inputs = lab.random_inputs(module, 2, seed=5)
    tensors = lab.tensors_of(module)
    want = lab.golden("tflm", resnet8, inputs, tensors, tmp_path / "golden")
    run = lab.run_project(lab.write(module, tmp_path / "c", "net", "host"), inputs, lab.SANITIZE)
    assert run.code == 0, run.messages
    assert lab.unequal_tensors(run, want) == []
    last = want[tensors[-1]]
    assert run.output == last.tobytes()


def test_in_place_is_in_place(resnet8: Path, lab: Any) -> None:
    module = lab.plan(lab.read_model(resnet8), inplace="on")
    layout = layout_of(module)
    adds = [op for op in layout.operations if isinstance(op, AddOp)]
    over = [
        op
        for op in adds
        if layout.addresses[op.result] in (layout.addresses[op.lhs], layout.addresses[op.rhs])
    ]
    assert len(adds) == 3 and over


@pytest.mark.parametrize("target", ["cortex-m4", "cortex-m7", "cortex-m55", "riscv32"])
def test_a_stack_overflow_is_reported(target: str, resnet8: Path, tmp_path: Path, lab: Any) -> None:
    lab.need_tools(target)
    module = lab.plan(lab.read_model(resnet8))
    directory = lab.write(module, tmp_path / "c", "net", target)
    script = directory / "platform" / "board.ld"
    text = script.read_text()
    assert ". += 8192;" in text
    # by so much that the frame of the exception is all below the RAM: QEMU 7.2 locks up if half is
    script.write_text(text.replace(". += 8192;", ". += 1148;"))
    run = lab.run_project(directory, lab.random_inputs(module, 1, seed=3), trace=False)
    assert "the stack may have overflowed" in run.messages
    assert "Error 3" in run.messages


BISECTED = ("dscnn_kws_int8", "hello_world_int8", "resnet8_int8", "streaming_wakeword_int8")


@pytest.mark.deep
@pytest.mark.parametrize("number", range(len(BISECTED)))
def test_the_least_arena_that_runs_is_the_promised_one(
    number: int, shared: Path, fuzz: float, tmp_path: Path, lab: Any
) -> None:
    """By bisection on the emulator: what runs with intact canaries is the promised arena or, where
    the last tensor is padded, less than one unit of alignment smaller."""
    if fuzz < 1 and number > 1:
        pytest.skip("in make fuzz")
    module = lab.plan(lab.read_model(shared / "models" / f"{BISECTED[number]}.tflite"))
    layout, inputs = layout_of(module), lab.random_inputs(module, 1, seed=5)
    for target in lab.cores_of(2 + 3 * number, fuzz):
        lab.need_tools(target)
        project = lab.write(module, tmp_path / target, "net", target)

        def runs(arena: int, project: Path = project) -> bool:
            flags = f"-O2 -DMEMOPT_ARENA_SHRINK={layout.arena - arena}"
            found = lab.run_project(project, inputs, flags, f"build{arena}", trace=False)
            assert found.code == 0 or "wrote outside its arena" in found.messages
            return found.code == 0

        fails, works = 0, layout.arena
        assert runs(works)
        while works - fails > 1:
            middle = (works + fails) // 2
            fails, works = (fails, middle) if runs(middle) else (middle, works)
        assert layout.arena - layout.model.alignment.data < works <= layout.arena
