"""Every function of one or two reals that has a kernel: its C against what it evaluates to."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import Float32Type, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region

from memopt.backends.c.emit.registry import all_kernels
from memopt.compile.driver import check_module
from memopt.dialects.operators import operations
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.binary import BinaryOp
from memopt.dialects.operators.unary import FunctionOp
from memopt.frontends.core.typed import real

PROPERTIES = {"memgraph.leaky_relu": {"alpha": real(0.3)}}
TYPE = TensorType(Float32Type(), [1, 4, 5, 8])


@pytest.mark.deep
def test_functions_of_one_real_number(tmp_path: Path, lab: Any) -> None:
    assert len(computed(FunctionOp, 1, tmp_path, lab)) >= 15


def test_functions_of_two_real_numbers(tmp_path: Path, lab: Any) -> None:
    assert {"add", "atan2", "pow", "remainder"} <= computed(BinaryOp, 2, tmp_path, lab)


def computed(family: type[ComputeOp], count: int, folder: Path, lab: Any) -> set[str]:
    """Run the C of every function of a family of so many float32, compare it with what it evaluates
    to, and return their names."""
    lab.need_tools("host")
    known = tuple(k.op for k in all_kernels() if k.types == "f32")
    kinds = [op for op in operations() if issubclass(op, family) and issubclass(op, known)]
    types = [TYPE] * count
    block = Block(arg_types=types)
    made = [
        kind.create(
            operands=block.args, result_types=[TYPE], properties=PROPERTIES.get(kind.name, {})
        )
        for kind in kinds
    ]
    block.add_ops([*made, ReturnOp(*(op.results[0] for op in made))])
    func = FuncOp("main", (types, [TYPE] * len(made)), Region(block))
    module = ModuleOp([func])
    check_module(module)
    lab.plan(module)
    rng = np.random.default_rng(1)
    data = [4 * rng.normal(size=(1, *TYPE.get_shape())).astype(np.float32) for _ in types]
    run = lab.run_project(lab.write(module, folder / "c", "net", "host"), data, trace=False)
    assert run.code == 0, run.messages
    found = np.frombuffer(run.output, np.float32).reshape(len(made), -1)
    for kind, op, result in zip(kinds, made, found, strict=True):
        assert isinstance(op, family)
        want = op.evaluate([one[0] for one in data])[0].reshape(-1)
        np.testing.assert_allclose(result, want, rtol=1e-6, atol=1e-6, err_msg=kind.name)
    return {kind.name.removeprefix("memgraph.") for kind in kinds}
