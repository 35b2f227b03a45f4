"""Every operation is written and read again, with random attributes and operands."""

import numpy as np
import pytest
from operator_cases import GENERATORS
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func, FuncOp, ReturnOp

from memopt.dialects.memgraph.dialect import MEMGRAPH
from memopt.dialects.operators.base import ComputeOp
from memopt.text.ir_text import module_text, parse_module


def function_of(op: ComputeOp) -> ModuleOp:
    """A function whose arguments are what the operation reads."""
    types = [v.type for v in op.operands]
    func = FuncOp("one", (types, [v.type for v in op.results]))
    op.operands = func.body.block.args
    func.body.block.add_ops([op, ReturnOp(*op.results)])
    return ModuleOp([func])


@pytest.mark.parametrize("name", GENERATORS)
def test_every_operation_reads_back(name: str, fuzz: float) -> None:
    context = Context()
    for dialect in (Builtin, Func, MEMGRAPH):
        context.load_dialect(dialect)
    rng = np.random.default_rng(9)
    for _ in range(max(10, int(100 * fuzz))):
        module = function_of(GENERATORS[name](name, rng))
        for generic in (False, True):
            text = module_text(module, generic=generic)
            again = parse_module(context, text, name)
            again.verify()
            assert again.is_structurally_equivalent(module), text
            assert module_text(again, generic=generic) == text
