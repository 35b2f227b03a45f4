"""A network for TensorFlow Lite Micro with less in it: what `compile --target=tflm --rewrite` does.

TFLM runs what stands in a file, so of rewrite rules only those apply whose network can be written
as one: dead and constant channels. The narrower network is a file of its own, imported, planned and
verified as any other.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp

from memopt.analysis.weights import Weights
from memopt.backends.tflm.narrowed import write_narrowed
from memopt.dialects.functions import functions, only_function
from memopt.rewrites import SETS, apply_rules, named_rules
from memopt.usage import UsageError
from memopt.verify.channels import has_claims, verify_channels

WRITTEN_AS_FILES = ("constant-channels",)


def narrowed(module: ModuleOp, rules: Sequence[str]) -> bytes | None:
    """The `.tflite` of an imported module with these rules applied, None where they find nothing.
    Of `safe` and `all` those that can be written. Raises UsageError for any other, MemoptError."""
    wanted = named_rules(rules)
    if len(rules) == 1 and rules[0] in SETS:
        wanted = tuple(rule for rule in wanted if rule in WRITTEN_AS_FILES)
    for rule in wanted:
        if rule not in WRITTEN_AS_FILES:
            known = ", ".join(WRITTEN_AS_FILES)
            raise UsageError(f"--rewrite={rule}: a .tflite is written with no rule but {known}")
    copy = module.clone()
    func = only_function(copy)
    if not wanted or not apply_rules(func, wanted):
        return None
    for found in functions(copy):
        if has_claims(found):
            verify_channels(found, Weights.of(copy).array)
    return write_narrowed(copy)
