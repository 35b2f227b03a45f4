"""A network for TensorFlow Lite Micro with less in it: what `compile --target=tflm --rewrite` does.

TFLM runs what stands in a file, so of rewrite rules only those apply whose network can be written
as one: without dead and constant channels, and without operators that others do, or that nobody
needs. The file is read again and compared with what the rules left; then it is a file of its own,
imported, planned and verified as any other.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from memopt.analysis.constants import constants_of
from memopt.analysis.weights import Weights
from memopt.backends.tflm.rewritten_file import (
    OtherSizesError,
    constant_operators,
    is_written,
    write_rewritten,
)
from memopt.compile.driver import import_bytes
from memopt.dialects.arithmetic.stored import element_of, numbers_of
from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.attributes.rewrites import RewrittenAttr, rewrites_of
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.memgraph.names import place_of
from memopt.dialects.memgraph.plan import ALIAS
from memopt.dialects.memgraph.structure import ConstantOp
from memopt.dialects.memgraph.tensors import is_buffer, shape_of
from memopt.dialects.operators.base import is_constant_expression
from memopt.passes.memgraph_rewrite import MemgraphRewritePass
from memopt.rewrites import SETS, named_rules
from memopt.text.usage import UsageError

WRITTEN_AS_FILES = (
    "computed-shapes",
    "constant-channels",
    "dead-operators",
    "equal-operators",
    "pad-into-window",
    "relu-into-producer",
)
FOLDED = "constant-expressions"
"""What stands for a rule where the writer makes constants of what is computed of such."""


@dataclass(frozen=True)
class RewrittenNetwork:
    """A network with less in it as the bytes of a `.tflite`, and what the rules did; none of it
    where they find nothing. `why` says of rules that could do something why it is not written."""

    network: bytes | None = None
    did: tuple[RewrittenAttr, ...] = ()
    why: tuple[str, ...] = ()


NOTHING = RewrittenNetwork()


def rewrite_network(module: ModuleOp, rules: Sequence[str]) -> RewrittenNetwork:
    """An imported module with these rules applied; of `safe` and `all` those that can be written.
    Raises UsageError for any other, MemoptError."""
    wanted = named_rules(rules)
    if len(rules) == 1 and rules[0] in SETS:
        wanted = tuple(rule for rule in wanted if rule in WRITTEN_AS_FILES)
    for rule in wanted:
        if rule not in WRITTEN_AS_FILES:
            known = ", ".join(WRITTEN_AS_FILES)
            raise UsageError(f"--rewrite={rule}: a .tflite is written with no rule but {known}")
    try:
        return _with_rules(module, wanted)
    except OtherSizesError:
        result, applied, why = NOTHING, tuple[str, ...](), list[str]()
    for rule in wanted:
        try:
            result, applied = _with_rules(module, (*applied, rule), result), (*applied, rule)
        except OtherSizesError as error:
            why.append(f"{rule} not applied: {error.place}: {error.text}")
    return RewrittenNetwork(result.network, result.did, tuple(why))


def _with_rules(
    module: ModuleOp, rules: tuple[str, ...], before: RewrittenNetwork = NOTHING
) -> RewrittenNetwork:
    """Apply rules to a copy and write it, unless they do what was done `before` with fewer."""
    copy = module.clone()
    func = only_function(copy)
    first = len(rewrites_of(func))
    MemgraphRewritePass(rules).apply(Context(), copy)
    did = [done for done in rewrites_of(func)[first:] if done.sites.data]
    if folds := len(constant_operators(func)):
        did.append(RewrittenAttr(FOLDED, folds))
    if tuple(did) == before.did:
        return before
    return RewrittenNetwork(written(copy), tuple(did))


def written(module: ModuleOp) -> bytes:
    """The file of what rules left of an imported one. Raises MemoptError, OtherSizesError for what
    a file cannot say."""
    data = write_rewritten(module)
    again = import_bytes(data, ".tflite", "net.tflite", None)
    compare(module, again, data)
    return data


def compare(module: ModuleOp, again: ModuleOp, data: bytes) -> None:
    """Raise OtherSizesError unless a file that was written, imported `again`, has the operations of
    a module: of the same kinds, with the same properties, operands, constants and results."""
    mine, theirs = only_function(module), only_function(again)
    known = constants_of(Weights.of(module), GENERIC)
    read = constants_of(Weights.holding(data), GENERIC)
    same: dict[SSAValue, SSAValue] = dict(
        zip(body_of(mine).args, body_of(theirs).args, strict=True)
    )
    folded = set(constant_operators(mine))

    def is_same(a: SSAValue, b: SSAValue) -> bool:
        if is_constant_expression(b, GENERIC):
            x, y = known(a), read(b)
            alike = x is not None and y is not None and x.tobytes() == y.tobytes()
            return alike and said(a) == said(b)
        return same.get(a) is b

    ours, others = ([op for op in _running(f) if op not in folded] for f in (mine, theirs))
    for op, other in zip(ours, others, strict=False):
        operands = zip(op.operands, other.operands, strict=False)
        if (
            (op.name, op.properties, op.attributes.get(ALIAS))
            != (other.name, other.properties, other.attributes.get(ALIAS))
            or len(op.operands) != len(other.operands)
            or not all(is_same(a, b) for a, b in operands)
            or list(map(said, op.results)) != list(map(said, other.results))
        ):
            window = op.properties.get("window")
            text = "no operator of a .tflite is what a rule made of it"
            if window is not None and window != other.properties.get("window"):
                text = "its padding is not SAME, and a .tflite has no other"
            raise OtherSizesError(text, place_of(op))
        same.update(zip(op.results, other.results, strict=True))
    if len(ours) != len(others):
        raise OtherSizesError("the file would have other operators", f"@{mine.sym_name.data}")


def _running(func: FuncOp) -> list[Operation]:
    """The operators, and the end of the function."""
    ops = body_of(func).ops
    return [op for op in ops if not isinstance(op, ConstantOp) and not is_written(op)]


def said(value: SSAValue) -> tuple[Attribute | tuple[int, ...] | object, ...]:
    """Return the part of a tensor's type that a file states: how images lie follows from its
    operators."""
    if not is_buffer(value.type):
        return (value.type,)
    return element_of(value), shape_of(value), numbers_of(value)
