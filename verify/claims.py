"""Claims of functions about channels that were left out, which few make."""

from xdsl.dialects.func import FuncOp

from memopt.dialects.attributes.channels import CHANNELS, NARROWED

CLAIMS = {CHANNELS, NARROWED}
TAKEN = "memgraph.take"  # the operation of weights of which some are left out


def has_claims(func: FuncOp) -> bool:
    """Return whether channels were left out of tensors of a function: it says so of one of them, of
    an operator, or of weights."""
    return any(op.attributes.keys() & CLAIMS or op.name == TAKEN for op in func.walk())
