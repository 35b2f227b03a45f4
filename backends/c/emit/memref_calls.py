"""The operations of a planned function as C functions, which `memgraph-to-memref` calls.

Given `%1 = memgraph.add %0, %c ... {memgraph.order = 3, memgraph.offset = [1024]}` in @main
Result `void _mlir_ciface_main_call_3(const memopt_memref *at_arena, ...) {
          uint8_t *const arena = (uint8_t *)at_arena->aligned;
          ...
          memopt_sum_line_s8(&op3_params, &op3_rows, in, arena + 1024, NULL);
        }`

They take what the lowered function takes: the arena, the inputs and the outputs, as MLIR's
interface for C hands memrefs over. Operations of other dialects are lowered by them.
"""

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from memopt.analysis.constants import constants_of
from memopt.analysis.weights import Weights
from memopt.backends.c.emit.c_text import identifier, pieces_of
from memopt.backends.c.emit.calls import Source
from memopt.backends.c.emit.header import c_type_of
from memopt.backends.c.emit.layout import Layout, layout_of
from memopt.backends.c.emit.operators import add_operator
from memopt.backends.c.emit.source import ARRAYS, TRACE, WRITTEN, words_of
from memopt.backends.c.kernels import Form, inlined
from memopt.backends.checked import Checked
from memopt.dialects.arithmetic.even_rounding import rounds_even
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.names import place_of
from memopt.dialects.memgraph.plan import call_name, order_of
from memopt.dialects.memgraph.structure import OpaqueOp
from memopt.dialects.operators.base import ComputeOp
from memopt.targets.core.planned_for import with_called
from memopt.targets.core.target import target_named

OURS = "memgraph."
MEMREF = """\
/* What MLIR's interface for C gives the address of: the head of any memref's descriptor. */
typedef struct {
  void *allocated;
  void *aligned;
} memopt_memref;

"""


def memref_calls(
    module: ModuleOp, weights: Weights | None = None, known: Checked | None = None
) -> str:
    """Return one C file, kernels included. Raises MemoptError for a function without a valid plan
    of one arena, for rows and what stays from run to run, and for operators without a kernel."""
    layout = layout_of(module, None, known, weights)
    place = f"@{layout.func.sym_name.data}"
    if layout.objects or layout.banks:
        raise MemoptError("c-calls: the plan is of several memories", place)
    if layout.func.sym_name.data != identifier(layout.func.sym_name.data):
        raise MemoptError("c-calls: the function's name is no C identifier in lower case", place)
    isa = with_called(target_named(layout.model.target.data), layout.model).isa
    constants = constants_of(weights or Weights.of(module), layout.model)
    out = Source(layout, constants, layout.func.sym_name.data, isa)
    functions = [
        _function(out, op, index)
        for index, op in enumerate(layout.operations)
        if op.name.startswith(OURS)
    ]
    even = any(rounds_even(op) for op in module.walk())
    kernels = dict.fromkeys([*(c.kernel for c in out.made), *out.row_kernels])
    texts = inlined(tuple(kernels), Form(even, needed=frozenset(out.needed)))
    text = (
        f"{WRITTEN}#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n"
        f"#include <string.h>\n\n#define MEMOPT_KERNEL static\n\n"
        f"{texts}\n{MEMREF}{ARRAYS}{TRACE}" + "\n".join([*out.data, *functions])
    )
    return "".join(pieces_of(text, out.large))


def _function(out: Source, op: Operation, index: int) -> str:
    if not isinstance(op, ComputeOp | OpaqueOp):
        raise MemoptError(f"c-calls: {op.name} is no call", place_of(op))
    first_call = len(out.made)
    add_operator(out, op, index, index)
    text = out.calls.pop()
    pointers = max((len(c.operands) for c in out.made[first_call:]), default=0)
    batched = any(c.batches > 1 for c in out.made[first_call:])
    used = words_of(text)
    given = _given(out.layout)
    lines = [f"  const void *in[{pointers}];\n"] if pointers else []
    lines += ["  int32_t batch;\n"] if batched else []
    lines += [f"  {t} *const {n} = ({t} *)at_{n}->aligned;\n" for n, t in given if n in used]
    lines += [f"  (void)at_{n};\n" for n, _ in given if n not in used]
    listed = ", ".join(f"const memopt_memref *at_{n}" for n, _ in given)
    name = f"_mlir_ciface_{call_name(out.layout.func, order_of(op))}"
    return f"void {name}({listed});\nvoid {name}({listed}) {{\n{''.join(lines)}{text}}}\n"


def _given(layout: Layout) -> list[tuple[str, str]]:
    """Names and element types of what a lowered function takes, in its order."""
    parameters = [("arena", "uint8_t")]
    parameters += [(f"input_{i}", f"const {c_type_of(v)}") for i, v in enumerate(layout.inputs)]
    return parameters + [(f"output_{i}", c_type_of(v)) for i, v in enumerate(layout.outputs)]
