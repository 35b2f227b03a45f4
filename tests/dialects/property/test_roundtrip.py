"""Attributes, types and sizes survive text whatever their values are (hypothesis)."""

import struct
from io import StringIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.ir import Attribute
from xdsl.printer import Printer

from memopt.dialects.attributes.memories import MemoryAttr, TrafficAttr, one_arena
from memopt.dialects.attributes.model import AliasAttr, ModelAttr
from memopt.dialects.attributes.off_chip import OffChipAttr
from memopt.dialects.attributes.operators import EncodingAttr, SourceAttr, WeightsAttr, WindowAttr
from memopt.dialects.attributes.placement import ScratchAttr, SlotAttr
from memopt.dialects.attributes.plan import PlanAttr
from memopt.dialects.memgraph.dialect import MEMGRAPH
from memopt.solvers.problems.memory_graph import bits, round_up
from memopt.targets.core.target import target_names
from memopt.text.format import bytes_of_text
from memopt.text.ir_text import LocatingParser

# Other processes want the machine too: a slow example is no failure.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

SIZES = st.integers(0, 2**62)
FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)
HEX = st.text("0123456789abcdef", max_size=32)
NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=12)


def same_after_text(attribute: Attribute) -> None:
    context = Context()
    context.load_dialect(Builtin)
    context.load_dialect(MEMGRAPH)
    out = StringIO()
    Printer(out).print_attribute(attribute)
    assert LocatingParser(context, out.getvalue(), "text").parse_attribute() == attribute, (
        out.getvalue()
    )


@pytest.mark.deep
@given(st.sampled_from(["", "nhwc", "nchw", "ohwi"]), st.lists(FLOATS, max_size=5), st.data())
def test_encodings(layout: str, scales: list[float], data: st.DataObject) -> None:
    zeros = data.draw(
        st.lists(st.integers(-(2**31), 2**31), min_size=len(scales), max_size=len(scales))
    )
    axis = data.draw(st.integers(0, 4)) if len(scales) > 1 else -1
    attribute = EncodingAttr(layout, scales, zeros, axis)
    assert [struct.pack("<f", a) for a in attribute.scales] == [
        struct.pack("<f", s) for s in scales
    ]
    same_after_text(attribute)


def test_the_largest_scales() -> None:
    """Rounded up to few digits they would be no float32."""
    for bits_ in (0x7F7FFFFF, 0x7F7FF000, 0xFF7FFFFF):
        scale: float = struct.unpack("<f", bits_.to_bytes(4, "little"))[0]
        same_after_text(EncodingAttr("", [scale], [0], -1))


@given(st.integers(1, 3), st.data())
def test_windows(rank: int, data: st.DataObject) -> None:
    positive = st.lists(st.integers(1, 9), min_size=rank, max_size=rank)
    pads = st.lists(st.integers(0, 9), min_size=2 * rank, max_size=2 * rank)
    kernel, stride, dilation = (data.draw(positive) for _ in range(3))
    same_after_text(WindowAttr(kernel, stride, dilation, data.draw(pads)))


@given(SIZES, SIZES, st.sampled_from(["flow", "search", "ilp", "none"]), st.booleans(), HEX)
def test_plans(a: int, b: int, proof: str, placed: bool, fingerprint: str) -> None:
    low, high = sorted((a, b))
    memories, bound = (one_arena(high), low) if placed else ((), -1)
    same_after_text(PlanAttr(high, low, proof, "order", memories, bound, fingerprint=fingerprint))


@given(st.integers(0, 9), st.integers(-(2**40), 2**40), st.lists(st.integers(-9, 9), max_size=4))
def test_slices(operand: int, offset: int, strides: list[int]) -> None:
    same_after_text(AliasAttr(operand, "slice", offset, strides))


@pytest.mark.deep
@given(NAMES, SIZES, SIZES, st.sampled_from(["ilp", "none"]))
def test_memories(name: str, a: int, b: int, proof: str) -> None:
    low, high = sorted((a, b))
    low //= 2  # their sum is a number of 64 bits too
    other = [name] * (name not in ("", "dtcm"))
    banks = [MemoryAttr(n, "bank", low, high, 1, a) for n in ("dtcm", *other)]
    traffic = TrafficAttr(high, low, proof, low // 2)
    size = len(banks) * low
    same_after_text(PlanAttr(high, low, "flow", "order", banks, size, -1, traffic))
    objects = [MemoryAttr(n, "object", low) for n in ("object0", *other)]
    same_after_text(PlanAttr(high, low, "none", "order", objects, 0, low))
    same_after_text(traffic)
    same_after_text(OffChipAttr(a, "belady" if a > b else "exact", high, low, proof))
    same_after_text(OffChipAttr(a, "packing", high, low, proof, "traffic", low // 2, (0, 3, a)))
    if name:
        same_after_text(ScratchAttr(a, SlotAttr(name, b)))


@pytest.mark.deep
@given(NAMES, SIZES, st.lists(st.integers(-1, 999), max_size=4))
def test_places(name: str, offset: int, tensors: list[int]) -> None:
    same_after_text(SlotAttr("dtcm", offset))
    same_after_text(ScratchAttr(offset, offset))
    same_after_text(WeightsAttr(name, name))
    same_after_text(SourceAttr(0, len(tensors), tensors))


@given(
    st.sampled_from(target_names()),
    st.integers(1, 1 << 20),
    st.sampled_from(["arena", "kept", "caller"]),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["none", "tflm", "cmsis-nn"]),
)
@settings(max_examples=50)
def test_models(
    target: str, alignment: int, io: str, views: bool, inplace: bool, scratch: str
) -> None:
    same_after_text(ModelAttr(target, alignment, io, views, inplace, scratch))


@given(st.integers(-(2**40), 2**40), st.integers(1, 4096))
def test_rounding_up_is_the_least_multiple_not_below(size: int, alignment: int) -> None:
    rounded = round_up(size, alignment)
    assert rounded % alignment == 0
    assert size <= rounded < size + alignment


@given(st.sets(st.integers(0, 300)))
def test_bits_lists_a_mask(members: set[int]) -> None:
    assert list(bits(sum(1 << v for v in members))) == sorted(members)


@given(
    st.integers(0, 1 << 40), st.sampled_from([("", 1), ("K", 1024), ("k", 1024), ("M", 1 << 20)])
)
def test_sizes_on_the_command_line(count: int, unit: tuple[str, int]) -> None:
    assert bytes_of_text(f"{count}{unit[0]}") == count * unit[1]
