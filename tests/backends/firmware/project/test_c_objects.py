"""Shared objects in generated C: separate static arrays, and the same bits as from one arena."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from memopt.backends.c.emit.layout import layout_of
from memopt.passes.memgraph_place import MemgraphPlacePass

CALLER = """
#include <string.h>
#include "net.h"
static int8_t input[NET_INPUT_0_BYTES], output[NET_OUTPUT_0_BYTES];
int main(void) {
  int k;
  memset(input, 3, sizeof input);
  if (net_run(input, output) != 0) return 1;
  for (k = 0; k < NET_OBJECTS; ++k)
    if (net_object(k) == NULL || (uintptr_t)net_object(k) % NET_ARENA_ALIGNMENT != 0) return 2;
  if (net_object(-1) != NULL || net_object(NET_OBJECTS) != NULL) return 3;
  memset(net_object(NET_INPUT_0_OBJECT) + NET_INPUT_0_OFFSET, 3, NET_INPUT_0_BYTES);
  if (net_run(NULL, NULL) != 0) return 4;
  return memcmp(output, net_object(NET_OUTPUT_0_OBJECT) + NET_OUTPUT_0_OFFSET, sizeof output);
}
"""


@pytest.fixture
def shared_objects(shared: Path, lab: Any) -> Any:
    """A function that plans a shared model with shared objects."""

    def get(name: str, **model: Any) -> ModuleOp:
        module = lab.plan(lab.read_model(shared / "models" / f"{name}.tflite"), **model)
        MemgraphPlacePass("shared-objects").apply(Context(), module)
        return module

    return get


@pytest.mark.deep
@pytest.mark.parametrize("io", ["arena", "kept", "caller"])
@pytest.mark.parametrize(("views", "inplace"), [("on", "off"), ("off", "on")])
def test_every_tensor_equals_tflm(
    io: str, views: str, inplace: str, shared: Path, shared_objects: Any, tmp_path: Path, lab: Any
) -> None:
    lab.need_tools("host")
    module = shared_objects("resnet8_int8", io=io, views=views, inplace=inplace)
    inputs = lab.random_inputs(module, 2, seed=5)
    tensors = lab.tensors_of(module)
    model = shared / "models" / "resnet8_int8.tflite"
    want = lab.golden("tflm", model, inputs, tensors, tmp_path / "golden")
    directory = lab.write(module, tmp_path / "c", "net", "host")
    assert "net_run(const int8_t *input_0, int8_t *output_0)" in (directory / "net.h").read_text()
    run = lab.run_project(directory, inputs, lab.SANITIZE)
    assert run.code == 0, run.messages
    assert lab.unequal_tensors(run, want) == []


@pytest.mark.deep
@pytest.mark.parametrize("target", ["host", "cortex-m4", "cortex-m7", "cortex-m55"])
def test_as_from_one_arena(target: str, shared_objects: Any, tmp_path: Path, lab: Any) -> None:
    """The same output, every object in the section of the arena, and canaries around each."""
    lab.need_tools(target)
    module = shared_objects("resnet8_int8")
    inputs = lab.random_inputs(module, 1, seed=3)
    objects = lab.write(module, tmp_path / "objects", "net", target)
    run = lab.run_project(objects, inputs, trace=False)
    assert run.code == 0, run.messages
    assert run.numbers["arena_bytes"] == sum(m.bytes for m in layout_of(module).objects)
    MemgraphPlacePass().apply(Context(), module)
    arena = lab.write(module, tmp_path / "arena", "net", target)
    assert run.output == lab.run_project(arena, inputs, trace=False).output
    small = lab.run_project(
        objects, inputs, "-O2 -DMEMOPT_ARENA_SHRINK=16", build="shrunk", trace=False
    )
    assert "wrote outside its arena" in small.messages


@pytest.mark.parametrize("views", ["on", "off"])
def test_interface(views: str, shared_objects: Any, tmp_path: Path, lab: Any) -> None:
    """Null pointers leave inputs and outputs in their objects, whose addresses the model gives."""
    lab.need_tools("host")
    directory = lab.write(
        shared_objects("resnet8_int8", views=views), tmp_path / "c", "net", "host"
    )
    (directory / "caller.c").write_text(CALLER)
    sources = ["caller.c", "net.c", *map(str, sorted(directory.glob("kernels/*.c")))]
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", *lab.SANITIZE.split()]
    subprocess.run(
        ["cc", *flags, "-I.", "-Ikernels", *sources, "-lm", "-o", "caller"],
        cwd=directory,
        check=True,
    )
    assert subprocess.run([directory / "caller"], check=False).returncode == 0
