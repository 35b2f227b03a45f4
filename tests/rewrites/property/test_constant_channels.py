"""`constant-channels` over random networks: every claim holds, what is left computes the same."""

from collections import Counter

import numpy as np
import pytest
from channel_networks import UINT8, as_uint8, sparse_text
from constant_channel_check import check_network, images
from xdsl.context import Context
from xdsl.dialects.func import FuncOp

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.compile.driver import load_text, new_context
from memopt.dialects.arithmetic.stored import Array
from memopt.dialects.attributes.rewrites import rewrites_of
from memopt.dialects.memgraph.functions import only_function
from memopt.passes.memgraph_rewrite import MemgraphRewritePass
from memopt.rewrites import SEARCH, named_rules, rule_of

FULL = 4_000  # networks


@pytest.mark.deep
def test_what_is_left_computes_the_same(fuzz: float) -> None:
    went = Counter[str]()
    for seed in range(max(40, int(FULL * fuzz))):
        went += check_network(seed, multiple=2 if seed % 5 == 4 else 1)
    assert min(went[r] for r in ("zero_weights", "constant_inputs", "interval", "unread")) > 5, went


def results(func: FuncOp, image: Array) -> list[Array]:
    values, last = evaluate(func, Weights({}), [image]), func.get_return_op()
    assert last is not None
    return [values[v] for v in last.operands]


def test_the_verifier_multiplies_scales_of_uint8_as_floats_too() -> None:
    check_network(42)  # as doubles, channel 4 of v11 is in [126, 127], not in [126, 126]


@pytest.mark.deep
def test_beside_all_rules_that_are_applied_at_once(fuzz: float) -> None:
    """Unsigned bytes, which another rule gives a sign: what is said of channels stays true."""
    rules = [rule for rule in named_rules(("all",)) if rule_of(rule).applied != SEARCH]
    fired = Counter[str]()
    for seed in range(max(40, int(FULL * fuzz))):
        rng = np.random.default_rng([seed, 3])
        text = as_uint8(sparse_text(rng, 1, UINT8), "onnx_even")
        module = load_text(new_context(), text, "net.mlir")
        after = module.clone()
        MemgraphRewritePass(tuple(rules)).apply(Context(), after)
        func = only_function(after)
        fired.update(done.rule.data for done in rewrites_of(func))
        for image in images(only_function(module), rng):
            before, now = (results(only_function(m), image) for m in (module, after))
            assert all((a == b).all() for a, b in zip(before, now, strict=True)), seed
    assert min(fired["constant-channels"], fired["signed-bytes"]) > 5, fired
