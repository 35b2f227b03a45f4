"""A network for TensorFlow Lite Micro with less in it: what `compile --target=tflm --rewrite` does.

TFLM runs what stands in a file, so of rewrite rules only those apply whose network can be written
as one: dead and constant channels. The narrower network is a file of its own, imported, planned and
verified as any other.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from memopt.backends.tflm.narrowed import OtherSizesError, write_narrowed
from memopt.dialects.functions import only_function
from memopt.dialects.rewrite_attributes import RewrittenAttr, rewrites_of
from memopt.passes.memgraph_rewrite import MemgraphRewritePass
from memopt.rewrites import SETS, named_rules
from memopt.usage import UsageError

WRITTEN_AS_FILES = ("constant-channels",)


@dataclass(frozen=True)
class Narrowed:
    """A narrower network as the bytes of a `.tflite`, and what the rules did; or `why` it is not
    written; none of it where they find nothing."""

    network: bytes | None = None
    did: tuple[RewrittenAttr, ...] = ()
    why: str = ""


def narrowed(module: ModuleOp, rules: Sequence[str]) -> Narrowed:
    """An imported module with these rules applied; of `safe` and `all` those that can be written.
    Raises UsageError for any other, MemoptError."""
    wanted = named_rules(rules)
    if len(rules) == 1 and rules[0] in SETS:
        wanted = tuple(rule for rule in wanted if rule in WRITTEN_AS_FILES)
    for rule in wanted:
        if rule not in WRITTEN_AS_FILES:
            known = ", ".join(WRITTEN_AS_FILES)
            raise UsageError(f"--rewrite={rule}: a .tflite is written with no rule but {known}")
    copy = module.clone()
    func = only_function(copy)
    before = len(rewrites_of(func))
    MemgraphRewritePass(wanted).apply(Context(), copy)
    did = rewrites_of(func)[before:]
    if not did:
        return Narrowed()
    try:
        return Narrowed(write_narrowed(copy), did)
    except OtherSizesError as error:
        return Narrowed(why=f"{', '.join(wanted)} not applied: {error.place}: {error.text}")
