"""`-t mlir`: the IR itself."""

from xdsl.dialects.builtin import ModuleOp

from memopt.compile.driver import relative_files
from memopt.outputs import Wanted
from memopt.text.ir_text import module_text


def write(module: ModuleOp, wanted: Wanted) -> str:
    """Text that `memopt-opt` reads again; files are named as seen from where it goes."""
    relative_files(module, wanted.folder)
    return module_text(module, wanted.generic)
