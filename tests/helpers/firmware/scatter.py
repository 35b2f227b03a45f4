"""Rewrites generated C so that every kernel computes single rows, of rows that lie anywhere."""

import re
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from memopt.analysis.constants import constants_of
from memopt.analysis.weights import Weights
from memopt.backends.c.emit.call import KernelCall, Table, bytes_per_element
from memopt.backends.c.emit.layout import layout_of
from memopt.backends.c.emit.lowering import lower
from memopt.dialects.memgraph.tensors import bytes_of, rows_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.traits import Pointwise, Spatial
from memopt.targets.core.target import target_named

_CALL = re.compile(r"memopt_(\w+)\((&\w+_params), &(\w+)_rows, in, ([^;]+), (\w[^;]*)\);")

# Every row is a block of its own, behind one byte that makes int8 rows odd; blocks are made from
# the last row to the first, so that no stride leads from row to row.
HARNESS = """
#ifdef __arm__
static uint8_t scatter_memory[1 << 20];
static uint32_t scatter_used;
static uint8_t *scatter_block(uint32_t bytes) {
  uint8_t *block = scatter_memory + scatter_used;
  scatter_used += (bytes + 19u) & ~3u;
  return scatter_used <= sizeof scatter_memory ? block : 0;
}
static void scatter_free(uint8_t *block) {
  (void)block;
  scatter_used = 0;
}
#else
#include <stdlib.h>
static uint8_t *scatter_block(uint32_t bytes) { return malloc(bytes); }
static void scatter_free(uint8_t *block) { free(block); }
#endif

/* Of an operand: bytes from its pointer on, and whether one row serves all. */
typedef struct {
  int32_t bytes, one;
} scatter_operand;

enum { SCATTER_ROWS = 512 };

static void scatter(memopt_kernel *kernel, const void *params, const memopt_rows *whole,
                    const void *const *in, void *out, void *scratch, int32_t element,
                    int32_t operands, const scatter_operand *operand, const int32_t (*needed)[3]) {
  static uint8_t *blocks[3][SCATTER_ROWS];
  static const void *rows[3 * SCATTER_ROWS];
  int32_t count[3], odd[3];
  int32_t k, n, row;
  for (k = 0; k < operands; ++k) {
    odd[k] = element == 1 && !operand[k].one ? 1 : 0;
    count[k] = operand[k].one ? 1 : (operand[k].bytes + whole->in_stride - 1) / whole->in_stride;
    for (n = count[k] - 1; n >= 0; --n) {
      const int32_t at = n * whole->in_stride;
      const int32_t rest = operand[k].bytes - at;
      const int32_t bytes = rest < whole->in_stride || operand[k].one ? rest : whole->in_stride;
      blocks[k][n] = scatter_block((uint32_t)(bytes + odd[k]));
      memcpy(blocks[k][n] + odd[k], (const uint8_t *)in[k] + at, (size_t)bytes);
    }
  }
  for (row = whole->out_begin; row < whole->out_end; ++row) {
    memopt_rows one = *whole;
    one.out_begin = row;
    one.out_end = row + 1;
    one.in_first = needed[row][0];
    one.in_count = needed[row][1];
    one.in_stride = 1 << 20;
    for (k = 0; k < operands; ++k) {
      for (n = 0; n < one.in_count; ++n) {
        uint8_t *const block = operand[k].one ? blocks[k][0] : blocks[k][one.in_first + n];
        const int32_t unread = operand[k].one ? n > 0 : n % needed[row][2] != 0;
        rows[k * one.in_count + n] = unread ? 0 : block + odd[k];
      }
    }
    kernel(params, &one, rows, memopt_out_row(whole, out, row), scratch);
  }
  for (k = 0; k < operands; ++k) {
    for (n = 0; n < count[k]; ++n) {
      scatter_free(blocks[k][n]);
    }
  }
}

"""


def scatter(module: ModuleOp, source: Path, target: str) -> list[str]:
    """Every call of a kernel that can compute a row of rows, done so; the kernels' names."""
    layout = layout_of(module, target)
    constants = constants_of(Weights.of(module), layout.model)
    isa = target_named(target).isa
    made = [(op, c) for op in layout.operations for c in lower(op, constants, isa)]
    found: list[str] = []

    def rewritten(match: "re.Match[str]") -> str:
        op, call = made.pop(0)
        kernel, params, prefix, result, scratch = match.groups()
        assert kernel == call.kernel
        if call.rows.in_stride == 0 or _by_element(call):  # needs all of its operand
            return match.group()
        found.append(kernel)
        width = bytes_per_element(op, op.operands[0])
        sizes = ", ".join(
            f"{{{_bytes(op, call, k)}, {int(_serves_all(call, k))}}}"
            for k in range(len(call.operands))
        )
        rows = ", ".join(
            f"{{{n.start}, {n[-1] - n.start + 1 if n else 0}, {n.step}}}" for n in _needed(op, call)
        )
        return (
            f"{{ static const scatter_operand operands[] = {{{sizes}}};\n"
            f"  static const int32_t needed[][3] = {{{rows}}};\n"
            f"  scatter(memopt_{kernel}, {params}, &{prefix}_rows, in, {result}, {scratch},\n"
            f"    {width}, {len(call.operands)}, operands, needed); }}"
        )

    text = _CALL.sub(rewritten, source.read_text())
    assert not made
    source.write_text(text.replace("/* With -DMEMOPT_TRACE", f"{HARNESS}/* With -DMEMOPT_TRACE", 1))
    return found


def _serves_all(call: KernelCall, number: int) -> bool:
    fields = dict(call.fields)
    return fields.get(f"{'abc'[number]}_row_step") == 0 or (number > 0 and "terms" in fields)


def _by_element(call: KernelCall) -> bool:
    """Rows of one element each lie one behind the other: nothing may be scattered."""
    return any(call.serves_rows(k) for k in range(len(call.operands)))


def _bytes(op: Operation, call: KernelCall, number: int) -> int:
    value = call.operands[number]
    if isinstance(value, Table):
        return int(value.values.nbytes)
    return (call.in_batch if call.batches > 1 else bytes_of(value.type) or 0) - call.in_offset


def _needed(op: Operation, call: KernelCall) -> list[range]:
    """The input rows that each output row reads, as the operation says it."""
    assert isinstance(op, ComputeOp)
    rows, there = range(call.rows.end), -(-_bytes(op, call, 0) // call.rows.in_stride)
    same = [range(r, r + 1) for r in rows]
    if op.has_trait(Pointwise) or call.kernel == "copy":
        return same
    if rows_of(op.results[0]) == len(rows) and not op.accumulates:
        needed = [n for r in rows if (n := op.rows_needed(0, r)) is not None]
        if len(needed) == len(rows):
            return needed
    return same if there == len(rows) and not op.has_trait(Spatial) else [range(there)] * len(rows)
