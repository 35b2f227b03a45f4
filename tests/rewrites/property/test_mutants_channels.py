"""Each condition under which `constant-channels` is legal, left out: a random network shows it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from constant_channel_check import check_network
from deep import deep_but

from memopt.analysis import channels, intervals
from memopt.analysis.channels import _Search  # pyright: ignore[reportPrivateUsage]
from memopt.analysis.intervals import Interval
from memopt.dialects.memgraph.tensors import channels_of
from memopt.dialects.operators import convolution
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.convolution import ConvBase, DepthwiseConv2DOp
from memopt.dialects.operators.slices import ConcatOp
from memopt.dialects.operators.traits import Monotone
from memopt.dialects.operators.unary import FunctionOp
from memopt.rewrites import constant_channels

MOST = 700  # networks until a mutant must have been caught
Patch = Callable[[pytest.MonkeyPatch], None]


def nothing(*_: Any) -> None:
    return None


def padding_holds_any_constant(patch: pytest.MonkeyPatch) -> None:
    def never(op: ConvBase) -> Any:
        return np.zeros_like(true(op))

    true = ConvBase.padded_taps
    patch.setattr(ConvBase, "padded_taps", never)


def what_may_vary_is_constant(patch: pytest.MonkeyPatch) -> None:
    """A channel whose least value is the zero point."""

    def foldable(op: Any, filters: Any, interval: Interval, kept: Any) -> Any:
        return true(op, filters, Interval(interval.low, interval.low), kept)

    true = channels.foldable
    patch.setattr(channels, "foldable", foldable)


def filters_that_stay_read_nothing(patch: pytest.MonkeyPatch) -> None:
    def foldable(op: Any, filters: Any, interval: Interval, kept: Any) -> Any:
        return true(op, filters, interval, np.zeros_like(kept))

    true = channels.foldable
    patch.setattr(channels, "foldable", foldable)


def others_need_no_channels(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(_Search, "stays", nothing)


def operands_keep_what_results_lose(patch: pytest.MonkeyPatch) -> None:
    def tie(self: Any, source: Any, result: Any, read: Any) -> None:
        self.go(result, self.gone[source][read] | (read < 0))

    patch.setattr(_Search, "tie", tie)


def operands_lose_what_results_keep(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(_Search, "tie", nothing)


def parts_begin_at_zero(patch: pytest.MonkeyPatch) -> None:
    def read(op: ConcatOp, operand: int, result: int) -> tuple[int, ...]:
        count = channels_of(op.inputs[operand])
        return (*range(count), *(-1,) * (channels_of(op.result) - count))

    patch.setattr(ConcatOp, "channels_read", read)


def none_stays(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(_Search, "keep_some", nothing)


def negative_weights_rise(patch: pytest.MonkeyPatch) -> None:
    def sums(kernel: Any, low: Any, high: Any, seen: Any) -> Any:
        return true(abs(kernel), low, high, seen)

    true = convolution.sums_between
    patch.setattr(convolution, "sums_between", sums)


def nothing_is_padded(patch: pytest.MonkeyPatch) -> None:
    def seen(op: ConvBase) -> Any:
        return true(op).any(0, keepdims=True)

    def padded(op: ConvBase) -> Any:
        return ~true(op).all(0)

    true = ConvBase._seen_taps  # pyright: ignore[reportPrivateUsage]
    patch.setattr(ConvBase, "_seen_taps", seen)
    patch.setattr(ConvBase, "padded_taps", padded)


def functions_rise(patch: pytest.MonkeyPatch) -> None:
    def has_trait(kind: Any, trait: Any) -> bool:
        return trait is Monotone or kind.get_trait(trait) is not None

    patch.setattr(FunctionOp, "has_trait", classmethod(has_trait))
    patch.setattr(FunctionOp, "extremes", ComputeOp.extremes)


def the_zero_point_counts(patch: pytest.MonkeyPatch) -> None:
    def zero(op: Any, value: Any) -> tuple[float, int]:
        return 1.0, 0

    patch.setattr(constant_channels, "per_tensor", zero)


def one_rounding(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(intervals, "ROUNDINGS", ("tflm_double", "tflm_double"))


def depthwise_is_by_number(patch: pytest.MonkeyPatch) -> None:
    def read(op: DepthwiseConv2DOp, operand: int, result: int) -> tuple[int, ...]:
        made = channels_of(op.result)
        return tuple(made - 1 - c for c in range(made))

    patch.setattr(DepthwiseConv2DOp, "channels_read", read)


MUTANTS: dict[Patch, int] = {
    padding_holds_any_constant: 41,
    what_may_vary_is_constant: 2,
    filters_that_stay_read_nothing: 2,
    others_need_no_channels: 0,
    operands_keep_what_results_lose: 2,
    operands_lose_what_results_keep: 0,
    parts_begin_at_zero: 11,
    none_stays: 1,
    negative_weights_rise: 0,
    nothing_is_padded: 6,
    functions_rise: 4,
    the_zero_point_counts: 2,
    one_rounding: 606,
    depthwise_is_by_number: 6,
}
"""The first network that catches each one, which `make fuzz` looks for."""


NOW: list[Patch] = [others_need_no_channels, none_stays, one_rounding]


@pytest.mark.parametrize("mutant", deep_but(NOW, MUTANTS), ids=lambda m: m.__name__)
def test_a_mutant_is_caught(mutant: Patch, fuzz: float, monkeypatch: pytest.MonkeyPatch) -> None:
    first = MUTANTS[mutant]
    check_network(first)  # as it is
    mutant(monkeypatch)
    for seed in range(MOST) if fuzz >= 1 else [first]:
        try:
            check_network(seed)
        except Exception:  # of any kind: IR that does not verify, arrays that do not fit
            assert seed <= first
            return
    pytest.fail(f"no network shows that {mutant.__name__} is wrong")
