"""`constant-channels` over random float networks whose input has a declared range: every claim
holds at its ends too, what is left computes the same."""

from collections import Counter

import numpy as np
import pytest
from real_channels import images, real_network
from xdsl.ir import SSAValue

from memopt.analysis.constants import constants_of
from memopt.analysis.evaluation import evaluate
from memopt.analysis.intervals import Intervals, intervals
from memopt.analysis.weights import Weights
from memopt.dialects.arithmetic.stored import Array
from memopt.dialects.attributes.channels import channels_of_result
from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.memgraph.tensors import channel_axis
from memopt.dialects.operators.base import ComputeOp, is_constant_expression
from memopt.rewrites import apply_rules
from memopt.verify.channels import verify_channels

FULL = 4_000  # networks
RULE = ("constant-channels",)


def check_intervals(found: Intervals, values: dict[SSAValue, Array]) -> int:
    """How many tensors have bounds, within which their values are."""
    bounded = 0
    for value, interval in found.of.items():
        seen = np.moveaxis(values[value], channel_axis(value), 0).astype(np.float64)
        seen = seen.reshape(len(seen), -1)
        assert (interval.low <= seen.min(1)).all() and (seen.max(1) <= interval.high).all(), value
        bounded += interval.is_bounded
    return bounded


def check_network(seed: int) -> Counter[str]:
    """How many channels went, by reason. Raises AssertionError where something is not so."""
    rng = np.random.default_rng([seed, 77])
    module = real_network(rng, 2 if seed % 5 == 3 else 1)
    copy = module.clone()
    before, after = only_function(module), only_function(copy)
    weights, went = Weights({}), Counter[str]()
    apply_rules(after, RULE)
    copy.verify()
    assert not apply_rules(after, RULE)
    assert verify_channels(after, weights.array) >= 0
    found = intervals(before, constants_of(weights, GENERIC))
    pairs = [
        [
            v
            for op in body_of(func).ops
            if isinstance(op, ComputeOp)
            for v in op.results
            if not is_constant_expression(v, GENERIC)
        ]
        for func in (before, after)
    ]
    for image in images(before, rng):
        old, new = evaluate(before, weights, [image]), evaluate(after, weights, [image])
        went["bounded"] += check_intervals(found, old)
        for a, b in zip(*pairs, strict=True):
            claims, kept = channels_of_result(b), old[a]
            if claims is not None:
                by_channel = np.moveaxis(kept, channel_axis(a), -1)
                for c in claims.left_out:
                    seen = by_channel[..., c.index]
                    assert c.low <= seen.min() and seen.max() <= c.high, (seed, c)
                kept = kept.take(claims.kept, channel_axis(a))
            assert np.array_equal(kept, new[b]), (seed, b)
    for b in pairs[1]:
        claims = channels_of_result(b)
        went.update(c.reason for c in (claims.left_out if claims is not None else ()))
    return went


@pytest.mark.deep
def test_what_is_left_computes_the_same(fuzz: float) -> None:
    went = Counter[str]()
    for seed in range(max(40, int(FULL * fuzz))):
        went += check_network(seed)
    assert min(went[r] for r in ("zero_weights", "constant_inputs", "interval", "unread")) > 5, went
    assert went["bounded"] > 100, went
