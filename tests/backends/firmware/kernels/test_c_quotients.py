# pyright: basic
# (arrays of any element type: strict has nothing to say about them)
"""Quotients of bytes, as C and as evaluated, against TFLM and, of uint8, LiteRT.

By 0, and where a quotient is so small that a runtime shifts by more bits than a number has, what
runtimes give depends on the processor: there it is 0.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from forge_model import INT8, INT16, UINT8, Forge
from forge_truth import add_stored_quotient

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.backends.c.emit.lowering import lower
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.memgraph.tensors import encoding_of, shape_of
from memopt.dialects.operators.binary import DivOp

TIMES = 12  # operators of each model
BITS = 31


def is_known(op: DivOp, a: Any, b: Any) -> Any:
    """Where runtimes say what the quotient is."""
    a, b = (x - encoding_of(v).zero_points[0] for x, v in ((a, op.lhs), (b, op.rhs)))
    value = np.where(b < 0, -a, a)
    room = BITS - np.ceil(np.log2(np.where(value < 0, -value, value + 1)))
    shift = np.floor(np.log2(np.maximum(abs(b), 1))) + room - op.multiplier[1]
    return (b != 0) & (shift <= BITS)


@pytest.mark.parametrize("element", [INT8, UINT8], ids=["int8", "uint8"])
def test_equal_to_the_runtime(element: int, fuzz: float, tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    known = unknown = 0
    for seed in range(max(2, int(60 * fuzz))):
        rng = np.random.default_rng(seed)
        forge, work = Forge(rng, True, element), tmp_path / str(seed)
        for real in 2 ** rng.uniform(-4, 12, TIMES):
            add_stored_quotient(forge, float(real))
        path = forge.save(tmp_path / f"{seed}.tflite")
        module = lab.plan(lab.read_model(path), schedule="source")
        inputs = lab.random_inputs(module, 1, seed)
        for made, divisors in zip(forge.graph.operators, inputs[1::2], strict=True):
            zero = forge.graph.tensors[made.inputs[1]].quantization.zeroPoint[0]
            if element == UINT8:  # by 0 LiteRT refuses to divide
                divisors[divisors == zero] = zero ^ 1
        tensors, oracle = lab.tensors_of(module), "tflm" if element == INT8 else "litert_ref"
        want = lab.golden(oracle, path, inputs, tensors, work)
        run = lab.run_project(lab.write(module, work / "c", "net", "host"), inputs, lab.SANITIZE)
        assert run.code == 0, run.messages
        func = only_function(module)
        values = evaluate(func, Weights({}), [x[0] for x in inputs])
        operators = [op for op in func.walk() if isinstance(op, DivOp)]
        found = {lab.source_tensor(op.result): values[op.result][None] for op in operators}
        assert lab.unequal_tensors(run, found) == [], f"seed {seed}"
        for op in operators:
            defined = is_known(op, *(values[v].astype(int) for v in op.operands))
            tensor = lab.source_tensor(op.result)
            assert np.array_equal(found[tensor][0][defined], want[tensor][0][defined]), op
            assert len(np.unique(found[tensor][0][~defined])) <= 1, op
            known, unknown = known + int(defined.sum()), unknown + int((~defined).sum())
    assert known > unknown > 0


@pytest.mark.parametrize(
    ("element", "real", "reason"),
    [
        (INT8, 2.0**23, "an output scale so small that the quotient could overflow"),
        (INT16, 1.0, "DIV"),
    ],
)
def test_what_no_runtime_has_is_refused(
    element: int, real: float, reason: str, tmp_path: Path, lab: Any
) -> None:
    forge = Forge(np.random.default_rng(1), True, element)
    add_stored_quotient(forge, real)
    module = lab.read_model(forge.save(tmp_path / "m.tflite"))
    (op,) = (o for o in only_function(module).body.block.ops if o.operands and o.results)
    with pytest.raises(MemoptError, match=reason):
        lower(op, lambda _: None, ("c",))
    if isinstance(op, DivOp):
        with pytest.raises(MemoptError, match=reason):
            op.evaluate([np.zeros(shape_of(v), np.int8) for v in op.operands])
