"""`-t html`: one page about the plan, no network needed."""

from xdsl.dialects.builtin import ModuleOp

from memopt.backends.report import module_html
from memopt.outputs import Wanted


def write(module: ModuleOp, wanted: Wanted) -> str:
    """Raises MemoptError for a module without a plan that this can show."""
    return module_html(module, wanted.claimed, wanted.known)
