"""`memgraph-slide{rows=2}`: a window that slides on by some rows keeps what the window before made.

For continuous audio the rows of the input are frames, and each run takes the frames of the run
before without the first of them, and as many new ones. A row of a result is kept if it is made
alike of rows that are kept: bit for bit a row of the run before (TinyDejaVu, arXiv 2512.09786).

Of operators in rows, whose input is received, those that are kept are not computed again. Before:
    %x0 = memgraph.receive %x[0] : !t
    %x1 = memgraph.receive %x[1] : !t
    %x2 = memgraph.receive %x[2] : !t
    %y0 = memgraph.row %f[0] (%x0, %x1) : (!r, !r) -> !s
    %y1 = memgraph.row %f[1] (%x1, %x2) : (!r, !r) -> !s
    %z0 = memgraph.row_part %g[0] (%y0)
    %z1 = memgraph.row_part %g[1] (%y1, %z0)
After:
    %s = memgraph.state %x rows [1] shift 1 : !t
    %x1 = memgraph.recall %s[1] : !t
    %x2 = memgraph.receive %x[2] : !t
    ...

Of whole operators nothing changes, but each says how many rows are kept:
    %y = memgraph.conv_2d %x, %w window<[3, 1]> groups 1 {memgraph.kept_rows = 4 : i64} : ...

and the function the multiplications of a run and those of rows that are kept.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp, i64
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of, functions
from memopt.dialects.memgraph.tensors import rows_of
from memopt.dialects.rows.operations import is_received
from memopt.passes.plan.option import option, required
from memopt.passes.sliding.reuse_analysis import kept_rows, ours
from memopt.passes.sliding.transform import keep_rows

KEPT = "memgraph.kept_rows"
SLIDING = "memgraph.sliding"


@dataclass(frozen=True)
class MemgraphSlidePass(ModulePass):
    """Keep the rows of a window that are in the window before, or say which they are."""

    name = "memgraph-slide"

    rows: int = required("rows of the input that are new in each run")
    kept: int | None = option(
        None, "at most so many bytes stay from run to run; what does not is computed again"
    )

    def __post_init__(self) -> None:
        if self.rows < 1:
            raise ValueError(f"rows={self.rows}: no window slides by that")
        if self.kept is not None and self.kept < 1:
            raise ValueError(f"kept={self.kept}: no window is kept in that")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in functions(op):
            if any(is_received(v) for v in body_of(func).args):
                keep_rows(func, self.rows, self.kept)
            elif self.kept is not None:
                text = "memgraph-slide{kept}: rows are kept of operators in rows, there are none"
                raise MemoptError(text, f"@{func.sym_name.data}")
            else:
                _write(func, self.rows)


def _write(func: FuncOp, rows: int) -> None:
    rows_of_tensor = kept_rows(func, rows)
    all_, saved = 0, 0
    for op in ours(func):
        all_ += op.macs()
        op.attributes.pop(KEPT, None)
        tensor_rows = rows_of_tensor.get(op.results[0])
        if tensor_rows is not None:
            op.attributes[KEPT] = IntegerAttr(len(tensor_rows.rows), i64)
            saved += op.macs() * len(tensor_rows.rows) // (rows_of(op.results[0]) or 1)
    numbers = {"rows": rows, "macs": all_, "kept_macs": saved}
    func.attributes[SLIDING] = DictionaryAttr({k: IntegerAttr(v, i64) for k, v in numbers.items()})
