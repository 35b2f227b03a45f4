"""Vectors of bytes so long that the sum of their exponentials would overflow, where runtimes
stop or give anything: in C as evaluated, the sum ends at the largest int32."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.compile.driver import load_text, new_context
from memopt.dialects.memgraph.functions import only_function

LENGTH = 5000


def tensor(element: str, scale: float, zero_point: int) -> str:
    encoding = f"#memgraph.encoding<scale = [{scale:e}], zero_point = [{zero_point}]>"
    return f"tensor<2x{LENGTH}x{element}, {encoding}>"


BYTES = tensor("i8", 0.1, 3)
RESULTS = {"int8": tensor("i8", 2**-8, -128), "int16": tensor("i16", 2**-16, -32768)}


@pytest.mark.parametrize("element", RESULTS)
def test_a_sum_that_would_overflow_is_the_largest(element: str, tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    result = RESULTS[element]
    text = (
        f"func.func @main(%x: {BYTES}) -> {result} {{\n"
        f"  %y = memgraph.softmax %x axis 1 beta 1.0 : ({BYTES}) -> {result}\n"
        f"  func.return %y : {result}\n}}\n"
    )
    module = lab.plan(load_text(new_context(), text, "net.mlir"))
    image = np.full((1, 2, LENGTH), 3, np.int8)
    image[0, 1, ::2] = -128
    run = lab.run_project(
        lab.write(module, tmp_path / "c", "net", "host"), [image], lab.SANITIZE, trace=False
    )
    assert run.code == 0, run.messages
    func = only_function(module)
    last = func.get_return_op()
    assert last is not None
    expected = evaluate(func, Weights({}), [image[0]])[last.operands[0]]
    assert run.output == expected.tobytes()
    assert (expected[0] == expected[0, 0]).all()
