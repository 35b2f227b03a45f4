"""Variables in C: static arrays that stay from one run to the next, and what sets them back.

static int8_t variable_0[512];
void net_reset(void);
"""

from memopt.analysis.variables import initial_of
from memopt.analysis.weights import Weights
from memopt.backends.c.emit.c_text import plain
from memopt.backends.c.emit.call import Table
from memopt.backends.c.emit.calls import Source, table_name
from memopt.backends.c.emit.header import bytes_in, c_type_of
from memopt.backends.c.emit.layout import Layout
from memopt.dialects.memgraph.tensors import elements_of

FIRST_RUN = "  if (!is_set) {\n    @name@_reset();\n  }\n"


def define_variables(layout: Layout) -> str:
    """The arrays, and whether they hold what runs begin with."""
    if not layout.variables:
        return ""
    lines = [
        f"static {c_type_of(op.result)} variable_{k}[{max(1, elements_of(op.result))}]; "
        f"/* {plain(op.sym.data)} */\n"
        for k, op in enumerate(layout.variables)
    ]
    return f"/* What stays from one run to the next. */\n{''.join(lines)}static uint8_t is_set;\n\n"


def define_reset(out: Source, weights: Weights) -> str:
    """The function that sets them back; tables that it reads are added to `out`."""
    lines: list[str] = []
    for k, op in enumerate(out.layout.variables):
        array, size = initial_of(op, weights), bytes_in(op.result)
        held = set(array.tobytes())
        if len(held) <= 1:
            lines.append(f"  memset(variable_{k}, {max(held, default=0)}, {size}u);\n")
        else:
            table = table_name(out, Table(c_type_of(op.result), array), f"variable_{k}_first")
            lines.append(f"  memcpy(variable_{k}, {table}, {size}u);\n")
    if not lines:
        return ""
    return f"\nvoid {out.name}_reset(void) {{\n{''.join(lines)}  is_set = 1u;\n}}\n"


def first_run(layout: Layout, name: str) -> str:
    """Return the statements with which a run begins."""
    return FIRST_RUN.replace("@name@", name) if layout.variables else ""
