"""Kernels of the decision trees of `ai.onnx.ml`: tables in flash, one walk for each tree."""

from typing import Any

from memopt.backends.c.emit.call import Constants, KernelCall, Rows, Table, refuse
from memopt.backends.c.emit.registry import kernel
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.operators.tree_ensemble import TreeEnsembleOp


@kernel(TreeEnsembleOp, "f32")
def tree_ensemble(op: TreeEnsembleOp, constants: Constants) -> KernelCall:
    """Return the call that walks trees whose tables lie in flash."""
    known = [constants(v) for v in op.operands[1:]]
    tables: list[Any] = [t for t in known if t is not None]
    if len(tables) < len(known):
        raise refuse(op, "trees that are only known at run time")
    features, rules, thresholds, yes, no, targets, weights, roots = tables
    (rows, size), (_, count) = shape_of(op.input), shape_of(op.result)
    if not rows or not size:
        raise refuse(op, "a tensor without elements")
    op.need_trees(tables)
    fields = (("trees", len(roots)), ("targets", count))
    ints = [Table("int32_t", v) for v in (features, yes, no, targets, roots)]
    bytes_, reals = Table("uint8_t", rules), [Table("float", v) for v in (thresholds, weights)]
    operands = (op.input, ints[0], bytes_, reals[0], ints[1], ints[2], ints[3], reals[1], ints[4])
    return KernelCall("tree_ensemble_f32", fields, operands, Rows(rows, size * 4, count * 4))
