"""A network with constant channels, by what it computes."""

from collections import Counter
from collections.abc import Iterator

import numpy as np
from channel_networks import sparse_network
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from memopt.analysis.constants import constants_of
from memopt.analysis.evaluation import evaluate
from memopt.analysis.intervals import Intervals, intervals
from memopt.analysis.weights import Weights
from memopt.dialects.arithmetic.stored import Array, dtype_of
from memopt.dialects.attributes.channels import channels_of_result
from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.memgraph.tensors import channel_axis, shape_of
from memopt.dialects.operators.base import ComputeOp, is_constant_expression
from memopt.rewrites import apply_rules
from memopt.verify.channels import verify_channels

RULE = ("constant-channels",)


def images(func: FuncOp, rng: np.random.Generator) -> Iterator[Array]:
    """Random ones, and the ends of the type."""
    (argument,) = body_of(func).args
    shape, kind = shape_of(argument), np.dtype(dtype_of(argument))
    least, most = np.iinfo(kind).min, np.iinfo(kind).max
    yield rng.integers(least, most + 1, shape).astype(kind)
    yield rng.choice(np.array([least, most], kind), shape)


def at_run_time(func: FuncOp) -> list[SSAValue]:
    """The results of what is computed at run time, in order."""
    return [
        v
        for op in body_of(func).ops
        if isinstance(op, ComputeOp)
        for v in op.results
        if not is_constant_expression(v, GENERIC)
    ]


def check_network(seed: int, multiple: int = 1) -> Counter[str]:
    """How many channels went, by reason. Raises AssertionError where something is not so."""
    rng = np.random.default_rng(seed)
    rounding = ("", "onnx_even", "tflm_double", "tflite_single")[seed % 4]
    module = sparse_network(rng, 2 if seed % 5 == 3 else 1, rounding)
    before = only_function(module)
    copy = module.clone()
    after = only_function(copy)
    weights = Weights({})
    apply_rules(after, RULE, channel_multiple=multiple)
    copy.verify()
    assert not apply_rules(after, RULE, channel_multiple=multiple)
    claimed = [channels_of_result(v) for v in at_run_time(after)]
    count = sum(len(c.left_out) for c in claimed if c is not None)
    assert verify_channels(after, weights.array) == count
    found = intervals(before, constants_of(weights, GENERIC))
    went = Counter[str]()
    for image in images(before, rng):
        old, new = evaluate(before, weights, [image]), evaluate(after, weights, [image])
        check_intervals(found, old)
        for a, b in zip(at_run_time(before), at_run_time(after), strict=True):
            claims = channels_of_result(b)
            kept = old[a]
            if claims is not None:
                by_channel = np.moveaxis(kept, channel_axis(a), -1)
                for c in claims.left_out:
                    seen = by_channel[..., c.index]
                    assert c.low <= seen.min() and seen.max() <= c.high, (seed, c)
                kept = kept.take(claims.kept, channel_axis(a))
                left = len(claims.kept)
                assert left % multiple == 0 or left < multiple
            assert np.array_equal(kept, new[b]), (seed, b)
    for b in at_run_time(after):
        claims = channels_of_result(b)
        went.update(c.reason for c in (claims.left_out if claims is not None else ()))
    return went


def check_intervals(found: Intervals, values: dict[SSAValue, Array]) -> None:
    for value, interval in found.of.items():
        seen = np.moveaxis(values[value], channel_axis(value), 0).astype(np.int64)
        seen = seen.reshape(len(seen), -1)
        assert (interval.low <= seen.min(1)).all() and (seen.max(1) <= interval.high).all()
