"""Which channels of tensors may go, so that nothing which is left computes another bit.

A channel goes where each of its readers can do without it:

- a convolution or a matrix, where its weights are zero in all filters that are left, or where the
  channel is constant and what it adds can stand in the bias: that is so at every place only where
  it is the zero point, as padding is, or its weights never meet padding; of real numbers where it
  is zero;
- what works channel by channel, where the same channel of its other operands and of its results
  goes too;
- anything else reads all channels, and so does the caller.

Channels that go are the largest set for which that holds, so nothing is left to find in it; one
channel of each tensor stays.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, OpResult, SSAValue

from memopt.analysis.constants import Constants
from memopt.analysis.intervals import Interval, Intervals, has_intervals
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, is_stored, per_tensor
from memopt.dialects.attributes.channels import ChannelsAttr, LeftOut, Reason
from memopt.dialects.memgraph.functions import body_of
from memopt.dialects.memgraph.plan import ALIAS
from memopt.dialects.memgraph.tensors import channels_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.weighing import WeighingOp


@dataclass(frozen=True)
class Filters:
    """The weights of what adds up channels, as filter, channel, tap, less their zero point, and
    which taps ever meet padding."""

    weights: Array
    padded: Array


Gone = dict[SSAValue, Array]
"""Which channels of a tensor go."""


def filters_of(op: Operation, constants: Constants) -> Filters | None:
    """None for what does not add up channels, or in another way."""
    if not isinstance(op, WeighingOp) or not has_constant_weights(op, constants):
        return None
    weights = op.mixed(constants(op.operands[1]))
    return None if weights is None else Filters(weights, op.padded_taps())


def has_constant_weights(op: WeighingOp, constants: Constants) -> bool:
    return all(constants(v) is not None for v in op.operands[1:])


def foldable(op: Operation, filters: Filters, interval: Interval, kept: Array) -> Array:
    """The channels of an input that what adds them up can do without, of the filters `kept`."""
    used = (filters.weights[kept] != 0).any(0)  # channel, tap
    if not is_stored(op.operands[0]):  # what a constant adds would be rounded elsewhere
        return ~used.any(1) | (interval.constant & (interval.low == 0))
    at_zero = interval.low == per_tensor(op, op.operands[0])[1]
    inside = ~used[:, filters.padded].any(1)
    return ~used.any(1) | (interval.constant & (at_zero | inside))


def removable(func: FuncOp, found: Intervals, constants: Constants, multiple: int = 1) -> Gone:
    """The channels of each tensor that may go; those that stay are a multiple of `multiple`, where
    the tensor had that many."""
    block = body_of(func)
    values = [*block.args, *(v for op in block.ops for v in op.results)]
    gone: Gone = {
        v: np.ones(channels_of(v), bool)
        for v in values
        if has_intervals(v) and constants(v) is None
    }
    search = _Search(found, constants, gone)
    for value in block.args:
        search.stays(value)
    operations = [op for op in block.ops if not op.results or constants(op.results[0]) is None]
    while True:
        search.settle(operations)
        if not search.keep_some(multiple):
            return {v: g for v, g in gone.items() if g.any()}


@dataclass
class _Search:
    """The channels that may go, from all of them on fewer and fewer."""

    found: Intervals
    constants: Constants
    gone: Gone
    filters: dict[Operation, Filters | None] = field(
        default_factory=dict[Operation, "Filters | None"]
    )
    changed: bool = False

    def settle(self, operations: Sequence[Operation]) -> None:
        """Until every operation can do without what goes."""
        self.changed = True
        while self.changed:
            self.changed = False
            for op in reversed(operations):
                self.need(op)

    def need(self, op: Operation) -> None:
        if op not in self.filters:
            known = op in self.found.known
            self.filters[op] = filters_of(op, self.constants) if known else None
        filters = self.filters[op]
        if filters is not None:
            source, result = op.operands[0], op.results[0]
            if source in self.gone:
                interval, remaining = self.found.of[source], ~self.gone[result]
                self.go(source, foldable(op, filters, interval, remaining))
            return
        ties = list(self.ties(op))
        if not ties:
            for value in (*op.operands, *op.results):
                self.stays(value)
        for source, result, read in ties:
            self.tie(source, result, read)

    def ties(self, op: Operation) -> Iterator[tuple[SSAValue, SSAValue, Array]]:
        """(operand, result, the channel of the operand of each of the result's) of what works by
        channels; nothing for what does not, or where a constant has no such channels."""
        if not isinstance(op, ComputeOp) or op not in self.found.known or ALIAS in op.attributes:
            return
        if isinstance(op, WeighingOp) and not has_constant_weights(op, self.constants):
            return
        triples: list[tuple[SSAValue, SSAValue, Array]] = []
        for i, source in enumerate(by_channel(op)):
            is_constant = self.constants(source) is not None
            for j, result in enumerate(op.results):
                read = op.channels_read(i, j)
                if read is None or result not in self.gone:
                    return
                if is_constant and -1 not in read:
                    continue
                if source not in self.gone:
                    return
                triples.append((source, result, np.array(read)))
        yield from triples

    def tie(self, source: SSAValue, result: SSAValue, read: Array) -> None:
        """Channels that stand for each other go together."""
        of, written = self.gone[source], self.gone[result]
        reads = read >= 0
        here = written.copy()
        here[reads] &= of[read[reads]]
        self.go(result, here)
        back = of.copy()
        np.logical_and.at(back, read[reads], here[reads])
        self.go(source, back)

    def go(self, value: SSAValue, allowed: Array) -> None:
        """Remove the channels of `value` from those that may be left out, but for the `allowed`
        ones."""
        if value in self.gone and (self.gone[value] & ~allowed).any():
            self.gone[value] &= allowed
            self.changed = True

    def stays(self, value: SSAValue) -> None:
        if value in self.gone:
            self.go(value, np.zeros_like(self.gone[value]))

    def keep_some(self, multiple: int) -> bool:
        """Keep one channel of each tensor, and as many as make a multiple; whether any was kept.
        First those that are constant, for nothing is needed to make them."""
        for value, gone in self.gone.items():
            width, remaining = len(gone), int((~gone).sum())
            wanted = min(width, -(-max(remaining, 1) // multiple) * multiple)
            if wanted == remaining:
                continue
            order = (~self.found.of[value].constant[gone]).argsort(kind="stable")
            candidates = gone.nonzero()[0][order]
            gone[candidates[: wanted - remaining]] = False
            return True
        return False


def claims(value: OpResult, gone: Array, found: Intervals, constants: Constants) -> ChannelsAttr:
    """Return the attribute that states which channels (`gone`) are left out of a tensor, each with
    its interval and the reason."""
    interval, op = found.of[value], value.op
    zero, fed = np.zeros_like(gone), np.ones_like(gone)  # weights are zero; reads constants alone
    filters = filters_of(op, constants)
    if filters is not None:
        zero = ~filters.weights.any((1, 2))
        changing = ~found.of[op.operands[0]].constant
        fed = ~(filters.weights[:, changing] != 0).any((1, 2))
    else:
        assert isinstance(op, ComputeOp)
        if isinstance(op, WeighingOp):
            zero = ~op.by_filter(constants(op.operands[1])).any(1)
        for i, source in enumerate(by_channel(op)):
            read = np.array(op.channels_read(i, value.index))
            if source in found.of:
                fed &= (read < 0) | found.of[source].constant[read]

    def reason(c: int) -> Reason:
        if not interval.constant[c]:
            return "unread"
        return "zero_weights" if zero[c] else "constant_inputs" if fed[c] else "interval"

    return ChannelsAttr(
        len(gone),
        [
            LeftOut(int(c), interval.low[c].item(), interval.high[c].item(), reason(int(c)))
            for c in gone.nonzero()[0]
        ],
    )


def by_channel(op: ComputeOp) -> Sequence[SSAValue]:
    """The operands that an operation may read channel by channel: not weights and a bias."""
    return op.operands[:1] if isinstance(op, WeighingOp) else op.operands
