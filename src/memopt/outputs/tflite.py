"""`-t tflite`: the imported file in the planned order, with the offline plan."""

from xdsl.dialects.builtin import ModuleOp

from memopt.backends.tflm import check_hidden, write_tflm
from memopt.backends.tflm.rewritten_file import is_rewritten_function
from memopt.compile.rewritten_network import written
from memopt.dialects.memgraph.functions import functions
from memopt.dialects.memgraph.plan import plan_of
from memopt.outputs import Wanted

BINARY = True


def write(module: ModuleOp, wanted: Wanted) -> bytes:
    """Raises MemoptError for a module that is no imported .tflite, and for unknown scratch. Of a
    function without a plan whose channels were left out: the narrower network, to be planned."""
    if any(is_rewritten_function(f) and plan_of(f) is None for f in functions(module)):
        return written(module)
    data = write_tflm(module)
    for func in functions(module):
        check_hidden(func)
    return data
