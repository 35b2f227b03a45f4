"""`-t c`, `-t c{name=net}`: everything in one C file."""

import argparse
import re
from io import StringIO

from xdsl.dialects.builtin import ModuleOp

from memopt.backends.c.emit.c_text import identifier
from memopt.backends.c.emit.source import emit_c
from memopt.outputs import Wanted


def named(options: str) -> str:
    """Return the text that begins the names of everything public. Raises ArgumentTypeError."""
    given = re.fullmatch(r'\s*name=("?)([^"]*)\1\s*', options)
    if given is None:
        raise argparse.ArgumentTypeError(f"c takes {{name=net}}, not {{{options}}}")
    name = given[2]
    if name != identifier(name) or name.startswith("memopt_"):
        raise argparse.ArgumentTypeError(
            f"c{{{options}}}: a name is a C identifier in lower case that does not begin with"
            " memopt_"
        )
    return name


def write(module: ModuleOp, wanted: Wanted) -> str:
    """Raises MemoptError for what has no kernel."""
    out = StringIO()
    emit_c(module, out, wanted.name)
    return out.getvalue()
