"""Projects built for speed, for size and with link-time optimisation answer as TFLM, in QEMU."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from deep import deep_but
from xdsl.context import Context

from memopt.passes.memgraph_expand_rows import MemgraphExpandRowsPass
from memopt.passes.memgraph_kernels import MemgraphKernelsPass
from memopt.passes.memgraph_model import MemgraphModelPass
from memopt.passes.memgraph_place import MemgraphPlacePass
from memopt.passes.memgraph_schedule import MemgraphSchedulePass

FLAGS = ("-O2", "-Os", "-O2 -flto", "-Os -flto", "-O3 -flto")
MODELS = ("dscnn_kws_int8", "tinymaix_mnist_resnet_int8", "hello_world_float")


@pytest.mark.deep
@pytest.mark.parametrize("number", deep_but(2, range(len(MODELS))))
def test_every_build_answers_as_tflm(
    number: int, shared: Path, fuzz: float, tmp_path: Path, lab: Any
) -> None:
    """Packed kernels where the core has them, and one model in rows."""
    path = shared / "models" / f"{MODELS[number]}.tflite"
    context, runs = Context(), 2
    source = lab.read_model(path)
    inputs = lab.random_inputs(source, runs, seed=11)
    tensor = lab.source_tensor(lab.main_of(source).body.block.last_op.operands[0])
    want = lab.golden("tflm", path, inputs, [tensor], tmp_path)[tensor]
    for target in lab.cores_of(3 + number, fuzz):
        lab.need_tools(target)
        module = lab.read_model(path)
        rows = [MemgraphExpandRowsPass(("all",))] * (number == 1)
        planned = [MemgraphSchedulePass("rpo"), MemgraphPlacePass("greedy-by-size")]
        first = [MemgraphModelPass(target=target), *rows, *planned]
        for step in (*first, MemgraphKernelsPass("speed"), *planned):
            step.apply(context, module)
        project = lab.write(module, tmp_path / target, "net", target)
        for flags in FLAGS:
            build = "build" + flags.replace(" ", "")
            ran = lab.run_project(project, inputs, flags, build, trace=False)
            assert ran.code == 0, ran.messages
            if want.dtype == np.float32:  # sums in another order are rounded otherwise
                got = np.frombuffer(ran.output, np.float32)
                assert np.abs(got - want.reshape(-1)).max() <= 1e-5 * np.abs(want).max()
            else:
                assert ran.output == want.tobytes(), (target, flags)
