"""A kernel that works in scratch: counted by order, places and verifier, and given to the kernel.

No kernel of the project needs any yet, so one is registered here: MAXIMUM, which goes by a copy of
both operands and fills all of its scratch with something else first.
"""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pass_functions import assign_function
from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp
from xdsl.ir import Operation

from memopt.backends.c import kernels
from memopt.backends.c.emit import registry
from memopt.backends.c.emit.call import Constants, KernelCall, Rows, size_of
from memopt.backends.c.emit.registry import all_kernels, kernel, kernels_of
from memopt.backends.c.emit.source import emit_c
from memopt.compile.driver import load_text, new_context
from memopt.dialects.attributes.placement import ScratchAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.plan import SCRATCH, plan_of, scratch_list
from memopt.dialects.memgraph.tensors import bytes_of
from memopt.dialects.memgraph.write_plan import order_facts, write_plan
from memopt.dialects.operators.binary import MaximumOp
from memopt.passes.memgraph_memory import parse_banks
from memopt.passes.memgraph_model import MemgraphModelPass
from memopt.passes.memgraph_place import MemgraphPlacePass
from memopt.passes.memgraph_schedule import MemgraphSchedulePass
from memopt.passes.memgraph_verify_plan import MemgraphVerifyPlanPass

KERNEL = """/* MAXIMUM, int8, by way of its scratch. */
#include "memopt_common.h"

#include <string.h>

typedef struct {
  int32_t n, bytes;
} memopt_maximum_s8_params;

MEMOPT_KERNEL void memopt_maximum_s8(const void *params, const memopt_rows *rows,
                                     const void *const *in, void *out, void *scratch) {
  const memopt_maximum_s8_params *p = params;
  int8_t *work = scratch;
  int8_t *output = out;
  int32_t i;
  (void)rows;
  memset(work, 0x5a, (size_t)p->bytes);
  memcpy(work, in[0], (size_t)p->n);
  memcpy(work + p->n, in[1], (size_t)p->n);
  for (i = 0; i < p->n; ++i) {
    output[i] = work[i] > work[p->n + i] ? work[i] : work[p->n + i];
  }
}
"""
BYTES = 600
TENSOR = "tensor<1x8x8x4xsi8, #memgraph.encoding<scale = [0.05], zero_point = [3]>>"
NETWORK = f"""
func.func @main(%x: {TENSOR}, %y: {TENSOR}) -> ({TENSOR}, {TENSOR}) {{
  %0 = memgraph.relu %x : ({TENSOR}) -> {TENSOR}
  %1 = memgraph.maximum %0, %y : ({TENSOR}, {TENSOR}) -> {TENSOR}
  %2 = memgraph.maximum %1, %x : ({TENSOR}, {TENSOR}) -> {TENSOR}
  func.return %0, %2 : {TENSOR}, {TENSOR}
}}
"""


def workspace(op: MaximumOp) -> int:
    return BYTES


def lower(op: MaximumOp, constants: Constants) -> KernelCall:
    n = size_of(op.result)
    fields = (("n", n), ("bytes", BYTES))
    return KernelCall("maximum_s8", fields, (op.lhs, op.rhs), Rows(1, n, n))


@pytest.fixture
def maximum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The kernel, forgotten after the test."""
    source = tmp_path / "memopt_maximum_s8.c"
    source.write_text(KERNEL)
    files = {**kernels.kernel_files(), source.name: kernels.Source(source)}
    monkeypatch.setattr(kernels, "kernel_file", files.__getitem__)
    all_kernels()
    before = tuple(registry._REGISTERED)  # pyright: ignore[reportPrivateUsage]
    others = [k for k in before if k.op is not MaximumOp]
    registry._REGISTERED[:] = others  # pyright: ignore[reportPrivateUsage]
    kernel(MaximumOp, "s8", workspace=workspace)(lower)
    yield
    registry._REGISTERED[:] = before  # pyright: ignore[reportPrivateUsage]
    kernels_of.cache_clear()


def network(**model: Any) -> ModuleOp:
    """With its memory model, not planned."""
    module = load_text(new_context(), NETWORK, "net.mlir")
    MemgraphModelPass(**model).apply(Context(), module)
    return module


def maxima(module: ModuleOp) -> list[Operation]:
    return [op for op in module.walk() if isinstance(op, MaximumOp)]


def planned(lab: Any, place: str, target: str = "host") -> ModuleOp:
    """In one arena, in shared objects, or over two memories; verified."""
    module = network(target=target)
    MemgraphSchedulePass().apply(Context(), module)
    if place == "memories":
        assign_function(lab.main_of(module), parse_banks("a:1K,b:8K"), True)
    else:
        MemgraphPlacePass(place).apply(Context(), module)
    MemgraphVerifyPlanPass(placed=True).apply(Context(), module)
    return module


@pytest.mark.usefixtures("maximum")
@pytest.mark.parametrize("place", ["auto", "shared-objects", "memories"])
def test_a_kernel_gets_the_scratch_that_was_planned_for_it(
    place: str, tmp_path: Path, lab: Any
) -> None:
    lab.need_tools("host")
    module = planned(lab, place)
    x, y = lab.random_inputs(module, 2, seed=3)
    run = lab.run_project(lab.write(module, tmp_path / "c", "net", "host"), [x, y], lab.SANITIZE)
    assert run.code == 0, run.messages
    relu = np.maximum(x, 3)
    both = zip(relu, np.maximum(np.maximum(relu, y), x), strict=True)
    assert run.output == b"".join(a.tobytes() + b.tobytes() for a, b in both)


@pytest.mark.usefixtures("maximum")
def test_on_a_board_as_well(tmp_path: Path, lab: Any) -> None:
    """A board's instruction sets are asked; the single file is the same code."""
    lab.need_tools("cortex-m4")
    module = planned(lab, "auto", "cortex-m4")
    x, y = lab.random_inputs(module, 1, seed=3)
    directory = lab.write(module, tmp_path / "c", "net", "cortex-m4")
    relu = np.maximum(x, 3)
    want = relu.tobytes() + np.maximum(np.maximum(relu, y), x).tobytes()
    assert lab.run_project(directory, [x, y]).output == want
    single = io.StringIO()
    emit_c(module, single, "net")
    (directory / "net.c").write_text(single.getvalue())
    (directory / "kernels/memopt_maximum_s8.c").write_text("typedef int nothing;\n")
    assert lab.run_project(directory, [x, y], build="single").output == want


@pytest.mark.usefixtures("maximum")
def test_it_counts_from_before_the_order_on(lab: Any) -> None:
    module = network(target="host")
    for op in maxima(module):
        assert [s.bytes.data for s in scratch_list(op) or ()] == [BYTES]
    module = planned(lab, "auto")
    plan = plan_of(lab.main_of(module))
    size = bytes_of(maxima(module)[0].results[0].type)
    assert size == 256
    # The second reads its operands and x, which the first does not free, and writes; beside them
    # lives %0, which is returned: 4 tensors, and the scratch rounded up to 16.
    assert plan is not None and plan.peak.data == 4 * size + 608 == plan.arena


@pytest.mark.usefixtures("maximum")
def test_another_target_asks_for_its_own(lab: Any) -> None:
    """What the operator declares itself stays, and constants that are folded ask for nothing."""
    module = planned(lab, "auto")
    MemgraphModelPass(target="tflm").apply(Context(), module)
    assert [op.attributes.get(SCRATCH) for op in maxima(module)] == [None, None]
    assert plan_of(lab.main_of(module)) is None
    maxima(module)[0].attributes[SCRATCH] = ArrayAttr([ScratchAttr(64)])
    MemgraphModelPass(target="host").apply(Context(), module)
    found = [[s.bytes.data for s in scratch_list(op) or ()] for op in maxima(module)]
    assert found == [[64], [BYTES]]
    again = planned(lab, "auto")
    text = str(again)
    MemgraphModelPass(target="host").apply(Context(), again)
    assert str(again) == text  # nothing changed: the plan stands


@pytest.mark.usefixtures("maximum")
@pytest.mark.parametrize("sizes", [(), (64,), (BYTES, 16)])
def test_other_scratch_than_the_kernel_works_in_is_refused(
    sizes: tuple[int, ...], lab: Any
) -> None:
    module = network(target="host")
    for op in maxima(module):
        op.attributes[SCRATCH] = ArrayAttr([ScratchAttr(size) for size in sizes])
    MemgraphSchedulePass().apply(Context(), module)
    MemgraphPlacePass().apply(Context(), module)
    text = "2 scratch buffers, kernels take one"
    if len(sizes) < 2:
        text = f"planned with {sum(sizes)} B of scratch, its kernel works in {BYTES} B"
    with pytest.raises(MemoptError, match=text):
        emit_c(module, io.StringIO(), "net")


@pytest.mark.usefixtures("maximum")
def test_scratch_that_is_not_aligned_is_refused(lab: Any) -> None:
    """Where the model's alignment is less than what kernels may keep there needs."""
    module = network(target="host", alignment=1)
    MemgraphSchedulePass().apply(Context(), module)
    MemgraphPlacePass().apply(Context(), module)
    plan = plan_of(lab.main_of(module))
    assert plan is not None
    top = plan.arena | 1  # above all tensors
    for op in maxima(module):
        op.attributes[SCRATCH] = ArrayAttr([ScratchAttr(BYTES, top)])
    bound = plan.arena_lower_bound.data
    write_plan(lab.main_of(module), order_facts(plan).in_one_arena(top + BYTES, bound))
    with pytest.raises(MemoptError, match="its scratch is not aligned to 4 B"):
        emit_c(module, io.StringIO(), "net")


def test_scratch_that_no_kernel_works_in_is_refused() -> None:
    module = load_text(
        new_context(),
        f"func.func @main(%x: {TENSOR}) -> {TENSOR} {{\n  %0 = memgraph.relu %x"
        f" {{memgraph.scratch = [#memgraph.scratch<96>]}} : ({TENSOR}) -> {TENSOR}\n"
        f"  func.return %0 : {TENSOR}\n}}\n",
        "net.mlir",
    )
    MemgraphSchedulePass().apply(Context(), module)
    MemgraphPlacePass().apply(Context(), module)
    with pytest.raises(MemoptError, match="planned with 96 B of scratch, its kernel works in 0 B"):
        emit_c(module, io.StringIO(), "net")
