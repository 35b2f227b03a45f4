"""docs/reference/channels.md: what `constant-channels` finds in the models of MEMOPT_SHARED.

python tests/channel_table.py      # writes the page, which a test reads
"""

import os
from collections.abc import Iterator
from pathlib import Path

from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from memopt.analysis.intervals import has_intervals
from memopt.analysis.work import function_work
from memopt.compile.driver import build_pipeline, load_model, new_context
from memopt.dialects.arithmetic.stored import element_of
from memopt.dialects.attributes.channels import channels_of_result
from memopt.dialects.attributes.input_range import declare_range
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.memgraph.plan import plan_of
from memopt.dialects.memgraph.tensors import bytes_of
from memopt.dialects.operators.convolution import ConvBase
from memopt.dialects.operators.fully_connected import FullyConnectedOp
from memopt.dialects.operators.quantization import DequantizeOp
from memopt.rewrites import apply_rules

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/reference/channels.md"

HEAD = """# Dead and constant channels

What `constant-channels` finds in models of int8 and uint8, and of float32 whose inputs are said to
be between -1 and 1 (`--input-range`); `make docs/reference/channels.md` writes this page, and a
test holds it. First come the channels that are left out, by the reason of each claim: all weights
of the filter are zero, it reads constants alone, its interval has one value, nobody reads it.
**weights**: bytes of filters and matrices, without biases; **with biases**; **MACs**; **peak**:
proven over all orders of whole operators, generic model, bytes.

| model | zero weights | constant inputs | interval | unread | weights | with biases | MACs | peak |
|---|---|---|---|---|---|---|---|---|
"""
REASONS = ("zero_weights", "constant_inputs", "interval", "unread")
PLAN = "memgraph-model,memgraph-fuse,memgraph-schedule"


def models(shared: Path) -> Iterator[Path]:
    """Those whose tensors are stored integers of 8 bits or float32, by name."""
    for path in sorted((shared / "models").glob("*.tflite")):
        block = body_of(only_function(load_model(path, {})))
        filters = [op for op in block.ops if isinstance(op, ConvBase | FullyConnectedOp)]
        if any(has_intervals(op.input) for op in filters):
            yield path


def figures(func: FuncOp) -> tuple[int, int, int, int]:
    """(bytes of weights, with biases, multiplications, proven peak) of a function."""
    work = function_work(func)
    filters = [op for op in body_of(func).ops if isinstance(op, ConvBase | FullyConnectedOp)]
    module = func.parent_op()
    assert module is not None
    planned = only_function(copy := module.clone())
    for step in build_pipeline(PLAN):
        step.apply(new_context(), copy)  # type: ignore[arg-type]
    plan = plan_of(planned)
    assert plan is not None and plan.optimal
    assert work.weights is not None and work.macs is not None
    weights = sum(bytes_of(as_stored(op.weights).type) or 0 for op in filters)
    return weights, work.weights, work.macs, plan.peak.data


def as_stored(value: SSAValue) -> SSAValue:
    """What stands in the file: float16, where weights are of that."""
    return value.owner.input if isinstance(value.owner, DequantizeOp) else value


def row_of(path: Path) -> str:
    """The line of a model."""
    func = only_function(load_model(path, {}))
    for k, value in enumerate(body_of(func).args):
        if str(element_of(value)) == "f32":
            declare_range(func, k, -1.0, 1.0)
    before = figures(func)
    after = figures(func) if apply_rules(func, ("constant-channels",)) else before
    claims = [channels_of_result(v) for op in body_of(func).ops for v in op.results]
    reasons = [c.reason for claim in claims if claim is not None for c in claim.left_out]
    found = [str(reasons.count(r)) if reasons.count(r) else "" for r in REASONS]
    pairs = zip(before, after, strict=True)
    texts = [f"{a:,}" if a == b else f"{a:,} -> {b:,}" for a, b in pairs]
    return f"| {' | '.join((path.stem, *found, *texts))} |\n"


def page(shared: Path) -> str:
    """The text of docs/reference/channels.md."""
    return HEAD + "".join(map(row_of, models(shared)))


if __name__ == "__main__":
    PAGE.write_text(page(Path(os.environ.get("MEMOPT_SHARED", ROOT.parent / "shared"))))
