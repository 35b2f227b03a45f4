"""What an operation evaluates to, beside LiteRT."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from firmware_helpers import load
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from memopt.analysis.weights import Weights
from memopt.dialects.arithmetic.stored import dtype_of
from memopt.dialects.attributes.operators import SourceAttr
from memopt.dialects.memgraph.functions import functions
from memopt.dialects.memgraph.structure import ConstantOp
from memopt.dialects.operators.base import ComputeOp

lab, forge = load("lab"), load("forge")


def results_of(op: Operation) -> tuple[int, ...]:
    """The source's indices of an operation's results, () for what the importer added."""
    source = op.attributes.get("memgraph.source")
    return source.tensor_ids if isinstance(source, SourceAttr) else ()


def compared(module: ModuleOp, path: Path, oracle: str, work: Path) -> Counter[str]:
    """Operators compared by name. Asserts that what they evaluate to is the oracle's."""
    func = next(functions(module))
    weights = Weights.of(module, path.parent)
    inputs = lab.random_inputs(module, 1, 3)
    tensors = [t for op in func.body.block.ops for t in results_of(op)]
    want = lab.golden(oracle, path, inputs, tensors, work)
    known: dict[SSAValue, Any] = {
        a: x[0] for a, x in zip(func.body.block.args, inputs, strict=True)
    }
    done: Counter[str] = Counter()
    for op in func.body.block.ops:
        if not isinstance(op, ComputeOp):
            known |= {v: want[t][0] for v, t in zip(op.results, results_of(op), strict=False)}
            continue
        for v in op.operands:
            if isinstance(v.owner, ConstantOp):
                known[v] = weights.array(v.owner)
        found = op.evaluate([known[v] for v in op.operands])
        known.update(zip(op.results, found, strict=True))
        for value, array, tensor in zip(op.results, found, results_of(op), strict=False):
            expected = want[tensor][0]
            assert array.shape == value.type.get_shape(), op  # type: ignore[attr-defined]
            assert array.dtype == dtype_of(value), op
            if array.dtype.kind == "f":
                scale = float(np.abs(expected).max()) or 1.0
                assert np.abs(array - expected).max() / scale <= 1e-5, op
            else:
                np.testing.assert_array_equal(array, expected, err_msg=str(op))
            known[value] = expected.reshape(array.shape)
        done[op.name.removeprefix("memgraph.")] += bool(results_of(op))
    return done
