"""`-t tflite`: the imported file in the planned order, with the offline plan."""

from xdsl.dialects.builtin import ModuleOp

from memopt.backends.tflm import check_hidden, write_tflm
from memopt.dialects.functions import functions
from memopt.outputs import Wanted

BINARY = True


def write(module: ModuleOp, wanted: Wanted) -> bytes:
    """Raises MemoptError for a module that is no imported .tflite, and for unknown scratch."""
    data = write_tflm(module)
    for func in functions(module):
        check_hidden(func)
    return data
