"""Kernels are found by walking their folder, the best of a target's instruction sets is taken."""

from collections.abc import Iterator

import pytest
from xdsl.ir import Operation

from memopt.backends.c import registry
from memopt.backends.c.call import Constants, KernelCall
from memopt.backends.c.kernels import DIRECTORY, kernel_files
from memopt.backends.c.registry import all_kernels, kernel, matching
from memopt.dialects.errors import MemoptError
from memopt.dialects.functions import only_function
from memopt.dialects.operators.unary import HardSwishOp, ReluOp
from memopt.driver import load_text, new_context


def operation(kind: str, element: str) -> Operation:
    tensor = f"tensor<4x16x{element}>"
    text = (
        f"func.func @main(%x: {tensor}) -> {tensor} {{\n"
        f"  %0 = memgraph.{kind} %x : ({tensor}) -> {tensor}\n  func.return %0 : {tensor}\n}}\n"
    )
    first = only_function(load_text(new_context(True), text, "in")).body.block.first_op
    assert first is not None
    return first


@pytest.fixture
def registered() -> Iterator[None]:
    """Kernels of the test are forgotten after it."""
    before = all_kernels()
    yield
    registry._REGISTERED[:] = before  # pyright: ignore[reportPrivateUsage]


def lower(op: ReluOp, constants: Constants) -> KernelCall:
    raise NotImplementedError


@pytest.mark.usefixtures("registered")
def test_the_best_instruction_set_wins() -> None:
    relu = operation("relu", "f32")
    for isa in ("dsp", "mve"):
        kernel(ReluOp, "f32", isa=isa)(lower)
    assert matching(relu, ("c",)).isa == "c"
    assert matching(relu, ("dsp", "c")).isa == "dsp"
    assert matching(relu, ("mve", "dsp", "c")).isa == "mve"


@pytest.mark.usefixtures("registered")
def test_no_match_lists_what_would() -> None:
    kernel(HardSwishOp, "s8", isa="mve")(lower)  # type: ignore[arg-type]
    with pytest.raises(MemoptError) as refused:
        matching(operation("hard_swish", "si8"), ("dsp", "c"))
    assert "no kernel for memgraph.hard_swish on s8, only on f32, s8 (mve)" in str(refused.value)
    with pytest.raises(MemoptError, match=r"no kernel for memgraph\.tanh on i32, only on f32"):
        matching(operation("tanh", "i32"), ("c",))


def test_every_source_belongs_to_a_family_that_registers_kernels() -> None:
    families = {p.parent for p in DIRECTORY.rglob("*.c")}
    modules = {k.lower.__module__.rsplit(".", 1)[-1] for k in all_kernels()}
    assert (
        {f.name for f in families}
        <= modules
        == {p.parent.name for p in DIRECTORY.glob("*/__init__.py")}
    )
    assert len(kernel_files()) == len(list(DIRECTORY.rglob("memopt_*.[ch]")))
    keys = [(k.op, k.types, k.isa) for k in all_kernels()]
    assert len(keys) == len(set(keys))
