"""A .tflite holds offsets as int32, and TFLM adds sizes to them as such: what ends above is refused
by the verifier, and by the writer, which asks it first."""

from pathlib import Path

import pytest
from tflm_plan import diamond, planned, write
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from memopt.cli import main
from memopt.compile.driver import load_text, new_context
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.plan import plan_of
from memopt.text.ir_text import module_text


def with_result_at(offset: int) -> tuple[Context, ModuleOp, str]:
    """The diamond's plan with its result, 32 bytes, at `offset`, and an arena that ends there."""
    module, func = planned(diamond())
    text = module_text(module)
    plan = plan_of(func)
    assert plan is not None
    arena = f"arena = {plan.arena},"
    last = text.rindex("memgraph.offset = [")
    end = text.index("]", last)
    text = f"{text[:last]}memgraph.offset = [{offset} : i64{text[end:]}"
    assert text.count(arena) == 1
    text = text.replace(arena, f"arena = {offset + 32},")
    context = new_context(True)
    return context, load_text(context, text, "plan.mlir"), text


@pytest.mark.parametrize("offset", [(1 << 31) - 32, (1 << 31) - 16, 1 << 31, 1 << 40])
def test_what_ends_above_an_int32_is_refused(
    offset: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, module, text = with_result_at(offset)
    with pytest.raises(MemoptError, match="int32"):
        write(module, diamond())
    (tmp_path / "plan.mlir").write_text(text)
    assert main(["verify", str(tmp_path / "plan.mlir")]) == 1
    assert "int32" in capsys.readouterr().err


def test_the_highest_place_that_there_is() -> None:
    _, module, _ = with_result_at((1 << 31) - 48)
    with pytest.raises(MemoptError) as refused:  # for other reasons
        write(module, diamond())
    assert "int32" not in refused.value.text
