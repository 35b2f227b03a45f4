"""Each rule has a site in a shared model or graph, or in a network of a published architecture."""

import runpy
from pathlib import Path

import pytest
from places import ROOT
from published_networks import PUBLISHED
from xdsl.context import Context

from memopt.compile.driver import load_model
from memopt.dialects.attributes.rewrites import rewrites_of
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.memgraph.plan import ALIAS
from memopt.dialects.memgraph.structure import OpaqueOp
from memopt.passes.memgraph_model import MemgraphModelPass
from memopt.passes.memgraph_rewrite import MemgraphRewritePass
from memopt.passes.memgraph_tie_state import MemgraphTieStatePass
from memopt.rewrites import RULES

SITES = {
    "densenet.onnx": (
        *("channels-last", "constants-into-weights", "difference-as-sum", "gather"),
        *("normalization-as-product", "reshape-of-reshape"),
    ),
    "attention.onnx": ("division-as-product", "layer-normalization", "power-as-square"),
    "decoder.onnx": ("choice-as-mask", "mask-as-causal"),
    "linear.onnx": ("products-by-place",),
    "rotary.onnx": ("rotation-before-heads",),
    "perceptrons.onnx": (
        *("broadcast-by-readers", "factors-in-turn", "moments-as-variance", "sum-as-mean"),
    ),
    "googlenet.onnx": ("dead-operators", "relu-by-convention"),
    "nasnet.onnx": ("channel-wise", "equal-operators", "kernel-wise"),
    "mobilenet.onnx": ("depthwise-in-place",),
    "mobilenet_of_bytes.onnx": ("qdq-fold", "signed-bytes"),
    "voice_of_bytes.onnx": ("stored-weights",),
    "temporal.tflite": ("frames-as-rows",),
    "keras_head.tflite": ("computed-shapes",),
    "group_norm.tflite": ("reduction-in-turn",),
    "shufflenet.onnx": ("channel-shuffle",),
    "style.onnx": ("group-normalization",),
    "bands.onnx": ("constants-in-bands",),
}
TIED = "variable-in-place"  # of variables that --state makes
AS_IT_WAS = "opaque-reshape-as-view"  # counts no site: what it changes is in no file
ALONE = {
    "constant-channels": "models/person_detect_int8.tflite",
    "function-by-readers": "nasnet.onnx",
    "pad-into-window": "models/mcunet_vww_int8.tflite",
    "functions-as-formula": "models/families/mbse_silu.onnx",
    "functions-as-lookup": "models/families/mbse_silu_q.onnx",
    "gather-as-slice": "models/families/gru2.onnx",
    "products-as-attention": "models/families/kwt.onnx",
    "sequences-as-images": "models/families/tcn.onnx",
    "transpose-as-view": "models/families/gru2.onnx",
    "relu-into-producer": "models/selfie_segmentation.tflite",
    "residual-epilogue": "models/tinymaix_mnist_resnet_int8.tflite",
    "slice-as-view": "models/swiftnet_cell_vww_uint8.tflite",
    "slice-by-readers": "graphs/darts_imagenet.onnx",
}

BEHIND = {
    "channels-into-weights": (
        *("constants-into-weights", "products-as-attention"),
        "models/families/vit.onnx",
    ),
    "stored-products-as-attention": ("qdq-fold", "models/families/kwt_q.onnx"),
    "transpose-of-transpose": ("channels-last", "models/families/crnn.onnx"),
    "vectors-as-rows": ("transpose-as-view", "models/families/vit.onnx"),
}
IN_ROWS = {"computed-again": ("products-as-attention", "models/families/kwt.onnx")}


def test_every_rule_has_one() -> None:
    assert set(RULES) == {rule for rules in SITES.values() for rule in rules} | {
        *ALONE,
        *BEHIND,
        *IN_ROWS,
        AS_IT_WAS,
        TIED,
    }


def test_what_stays_the_files_operator(tmp_path: Path) -> None:
    module = load_model(PUBLISHED["lenet.json"](tmp_path / "lenet.json"), {})
    MemgraphRewritePass((AS_IT_WAS,)).apply(Context(), module)
    (flat,) = (op for op in module.walk() if isinstance(op, OpaqueOp) and ALIAS in op.attributes)
    assert flat.op_name.data == "Flatten"


def test_a_state_that_is_tied_lies_in_its_variable(tmp_path: Path) -> None:
    networks = runpy.run_path(str(ROOT / "docs/examples/sequences/networks.py"))
    path = tmp_path / "voice.onnx"
    path.write_bytes(networks["voice"]())
    module = load_model(path, {})
    MemgraphTieStatePass("h:h_next").apply(Context(), module)
    MemgraphRewritePass((TIED,)).apply(Context(), module)
    assert [r.rule.data for r in rewrites_of(only_function(module))] == [TIED]


@pytest.mark.parametrize("name", SITES)
def test_published_networks(name: str, tmp_path: Path) -> None:
    """In bytes, results over what dies."""
    fired = _fired(PUBLISHED[name](tmp_path / name), tuple(RULES), 1, "on")
    assert fired >= {*SITES[name]}


@pytest.mark.parametrize("rule", ALONE)
def test_rules_alone(rule: str, shared: Path, tmp_path: Path) -> None:
    """Graphs in bytes."""
    name = ALONE[rule]
    path = PUBLISHED[name](tmp_path / name) if name in PUBLISHED else shared / name
    in_bytes = path.suffix == ".onnx"
    fired = _fired(path, (rule,), 1 if in_bytes else 16, "on" if in_bytes else "off")
    assert fired == {rule}


@pytest.mark.parametrize("rule", BEHIND)
def test_rules_behind_another(rule: str, shared: Path) -> None:
    *before, name = BEHIND[rule]
    assert _fired(shared / name, (*before, rule), 1, "on") == {*before, rule}


@pytest.mark.deep
@pytest.mark.parametrize("rule", IN_ROWS)
def test_rules_for_the_sake_of_rows(rule: str, shared: Path) -> None:
    before, name = IN_ROWS[rule]
    assert _fired(shared / name, (before, rule), 1, "on", rows=True) == {before, rule}


def _fired(
    path: Path, rules: tuple[str, ...], alignment: int, inplace: str, rows: bool = False
) -> set[str]:
    module = load_model(path, {})
    MemgraphModelPass("generic", alignment=alignment, inplace=inplace).apply(Context(), module)
    MemgraphRewritePass(rules, rows=rows).apply(Context(), module)
    return {r.rule.data for r in rewrites_of(only_function(module)) if r.sites.data}
