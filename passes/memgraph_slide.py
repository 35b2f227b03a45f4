"""`memgraph-slide{rows=2}`: what a window that slides on by some rows has from the window before.

Before:
    %y = memgraph.conv_2d %x, %w window<[3, 1]> groups 1 : (tensor<1x8x1x4xf32>, !w) -> !u
After:
    %y = memgraph.conv_2d %x, %w window<[3, 1]> groups 1 {memgraph.kept_rows = 4 : i64} : ...

For continuous audio the rows of the input are frames, and each run takes the frames of the run
before without the first of them, and as many new ones. A row of a result is kept if it is made
alike of rows that are kept: bit for bit a row of the run before. The function gets the
multiplications of a run and those of rows that are kept (TinyDejaVu, arXiv 2512.09786). Nothing
else changes: what is generated computes every window anew.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from memopt.dialects.errors import MemoptError
from memopt.dialects.functions import body_of, functions
from memopt.dialects.interface import is_constant_value
from memopt.dialects.names import name_of, operator_name
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.tensors import rows_of
from memopt.passes.expand_rows import computing
from memopt.passes.option import required

KEPT = "memgraph.kept_rows"
SLIDING = "memgraph.sliding"


@dataclass(frozen=True)
class Kept:
    """Rows of a tensor that are in the run before, each `shift` rows later."""

    shift: int
    rows: frozenset[int]


@dataclass(frozen=True)
class MemgraphSlidePass(ModulePass):
    """Say which rows of a window are in the window before, and the work that they are."""

    name = "memgraph-slide"

    rows: int = required("rows of the input that are new in each run")

    def __post_init__(self) -> None:
        if self.rows < 1:
            raise ValueError(f"rows={self.rows}: no window slides by that")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in functions(op):
            _write(func, self.rows)


def _write(func: FuncOp, rows: int) -> None:
    kept = kept_rows(func, rows)
    all_, saved = 0, 0
    for op in computing(func):
        all_ += op.macs()
        op.attributes.pop(KEPT, None)
        found = kept.get(op.results[0])
        if found is not None:
            op.attributes[KEPT] = IntegerAttr(len(found.rows), i64)
            saved += op.macs() * len(found.rows) // (rows_of(op.results[0]) or 1)
    numbers = {"rows": rows, "macs": all_, "kept_macs": saved}
    func.attributes[SLIDING] = DictionaryAttr({k: IntegerAttr(v, i64) for k, v in numbers.items()})


def kept_rows(func: FuncOp, rows: int) -> dict[SSAValue, Kept]:
    """Of each tensor that has some the rows that are in the run before, whose input began `rows`
    earlier. Raises MemoptError, with who is in the way, if no operator has any."""
    block, place = body_of(func), f"@{func.sym_name.data}"
    if len(block.args) != 1:
        names = ", ".join(map(name_of, block.args)) or "none"
        raise MemoptError(f"memgraph-slide: one input slides, the function has {names}", place)
    (value,) = block.args
    height = rows_of(value) or 0
    if height <= rows:
        text = f"{name_of(value)} has {height} rows, so no two runs have one in common"
        raise MemoptError(f"memgraph-slide: {text}", place)
    kept: dict[SSAValue, Kept] = {value: Kept(rows, frozenset(range(height - rows)))}
    found = computing(func)
    for op in found:
        most = _kept_of(op, kept)
        if most is not None:
            kept.update(dict.fromkeys(op.results, most))
    if len(kept) == 1:
        first = operator_name(found[0]) if found else "no operator"
        text = f"no row is in the run before: {first} makes other rows of rows that slide by {rows}"
        raise MemoptError(f"memgraph-slide: {text}", place)
    return kept


def _kept_of(op: ComputeOp, kept: dict[SSAValue, Kept]) -> Kept | None:
    """The rows of an operator that are in the run before, at the distance that keeps most."""
    if op.rows_mode in (None, "part"):
        return None
    height = rows_of(op.results[0]) or 0
    best: Kept | None = None
    for shift in range(1, height):
        rows = frozenset(r for r in range(height - shift) if _is_kept(op, r, shift, kept))
        if rows and (best is None or len(rows) > len(best.rows)):
            best = Kept(shift, rows)
    return best


def _is_kept(op: ComputeOp, r: int, shift: int, kept: dict[SSAValue, Kept]) -> bool:
    """Whether row `r` is made of the rows of which row `r` + `shift` was made in the run before."""
    if not op.alike(r) or not op.alike(r + shift):
        return False
    for k, value in enumerate(op.operands):
        now, before = op.rows_needed(k, r), op.rows_needed(k, r + shift)
        if is_constant_value(value):
            if now != before:
                return False
            continue
        known = kept.get(value)
        if known is None or now is None or before is None or len(now) != len(before):
            return False
        if any(
            n not in known.rows or n + known.shift != b for n, b in zip(now, before, strict=True)
        ):
            return False
    return True
