"""Claims of a module that was read beside its plans, held to what can be derived."""

from xdsl.dialects.builtin import ModuleOp

from memopt.analysis.weights import Weights
from memopt.dialects.memgraph.functions import functions
from memopt.dialects.memgraph.plan import OFF_CHIP
from memopt.verify.channels import check_channels


def check_claims(module: ModuleOp, data: bytes | None = None) -> None:
    """Raise MemoptError for a false claim about channels that were left out, or about traffic off
    the chip. `data` are the bytes of the model if it is in no file."""
    weights = Weights.of(module) if data is None else Weights.holding(data)
    for func in functions(module):
        check_channels(func, weights.array)
    check_off_chip(module)


def check_off_chip(module: ModuleOp) -> None:
    """Raise MemoptError for a false claim about traffic off the chip."""
    for func in functions(module):
        if OFF_CHIP in func.attributes:
            from memopt.passes.memgraph_traffic import check_traffic  # with solvers, for the few

            check_traffic(func)
