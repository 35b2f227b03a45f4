"""`memgraph-rewrite{rules=pad-into-window,relu-into-producer}`: rules of rewrites/, as asked for.

Before `memgraph-rewrite{rules=relu-into-producer}`:
    %1 = memgraph.add %x, %x : (T, T) -> T
    %2 = memgraph.relu %1 : (T) -> T
After:
    %2 = memgraph.add %x, %x activation<relu> : (T, T) -> T

The rules are applied wherever they are legal; each is described in its own file. A function that
one of them changed loses its plan, and what was changed loses its `memgraph.source`: it is not what
stands in the file, so a writer that copies operators from there refuses it.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from memopt.analysis.weights import Weights
from memopt.dialects.functions import functions
from memopt.dialects.plan import drop_plan
from memopt.passes.option import option
from memopt.rewrites import RULES, SAFE, SETS, apply_rules, named_rules
from memopt.verify.channels import has_claims, verify_channels

MOST = 1024  # channels at a time that a kernel may want


@dataclass(frozen=True)
class MemgraphRewritePass(ModulePass):
    """Apply rewrite rules, each where it is legal."""

    name = "memgraph-rewrite"

    rules: tuple[str, ...] = option(
        (), f"of {', '.join(RULES)}, in this order; or {', '.join(SETS)} ({SAFE}: to the bit)"
    )
    channel_multiple: int = option(1, "channels of tensors that get narrower: a multiple of it")

    def __post_init__(self) -> None:
        if not 1 <= self.channel_multiple <= MOST:
            text = f"channel-multiple={self.channel_multiple}: 1 to {MOST}"
            raise PassFailedException(f"{self.name}: {text}")
        for rule in named_rules(self.rules):
            if rule not in RULES:
                known = ", ".join((*SETS, *RULES) if len(self.rules) == 1 else RULES)
                raise PassFailedException(f"{self.name}: {rule!r} is not one of: {known}")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rules = named_rules(self.rules)
        for func in functions(op):
            if apply_rules(func, rules, channel_multiple=self.channel_multiple):
                drop_plan(func)
                if has_claims(func):  # it trusts nobody, whoever made them
                    verify_channels(func, Weights.of(op).array)
