"""`memgraph-verify-channels`: check every claim about channels that were left out; change nothing.

Before and after:
    %1 = memgraph.conv_2d %x, %w, %b ...
           {memgraph.channels = [#memgraph.channels<4, left_out = [2 [-128, 40] unread]>]} : ...

Intervals, readers and sums are derived again from the IR and the weights (verify/channels.py); the
first fault ends the run.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from memopt.analysis.weights import Weights
from memopt.dialects.memgraph.functions import functions
from memopt.verify.channels import verify_channels


@dataclass(frozen=True)
class MemgraphVerifyChannelsPass(ModulePass):
    """Check the interval and the reason of every channel that was left out, and its readers."""

    name = "memgraph-verify-channels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        weights = Weights.of(op)
        for func in functions(op):
            verify_channels(func, weights.array)
