"""Custom operators in a project: their functions, which the user writes, in the model's header."""

import re

from xdsl.ir import Operation

from memopt.backends.c.emit.call import refuse
from memopt.backends.c.emit.layout import Layout
from memopt.backends.c.kernels import kernel_file
from memopt.dialects.memgraph.custom import CUSTOM, has_state, name_of_custom, scratch_of

HEADER = "memopt_custom.h"


def function_name(op: Operation) -> str:
    """The function that the user writes."""
    return f"memopt_custom_{re.sub(r'[^A-Za-z0-9_]', '_', name_of_custom(op))}"


def custom_operators(layout: Layout) -> list[Operation]:
    """The custom operators of a function, each name once. Raises MemoptError for two that one
    function would stand for."""
    by_name: dict[str, Operation] = {}
    for op in layout.operations:
        if CUSTOM in op.attributes:
            first = by_name.setdefault(function_name(op), op)
            if name_of_custom(first) != name_of_custom(op):
                both = f"{name_of_custom(first)} and {name_of_custom(op)}"
                raise refuse(op, f"{both} are one function, {function_name(op)}")
    return list(by_name.values())


def custom_declarations(layout: Layout) -> str:
    """Return the declarations of custom functions for the model's header."""
    lines = [
        f"/* {function_name(op)}: {scratch_of(op)} bytes of scratch"
        f"{', a state' if has_state(op) else ''}. */\n"
        f"memopt_custom_function {function_name(op)};\n\n"
        for op in custom_operators(layout)
    ]
    return "/* Written by you, in a file of custom/. */\n" + "".join(lines)


def custom_types() -> str:
    """The types that these declarations take."""
    return kernel_file(HEADER).text
