"""Plan of a function, as an attribute.

#memgraph.plan<peak = 5216, lower_bound = 4960, proof = flow, family = order, fingerprint = "0f3a">
#memgraph.plan<..., family = order, arena = 5216, arena_lower_bound = 4960, fingerprint = "0f3a">
#memgraph.plan<..., arena = 96, arena_lower_bound = 80,
    memories = [#memgraph.memory<object0, kind = object, bytes = 64>, ...],
    memories_lower_bound = 96, fingerprint = "0f3a">
"""

from collections.abc import Sequence
from typing import Any, Literal, NoReturn, cast, get_args

from xdsl.dialects.builtin import ArrayAttr, IntAttr, NoneAttr, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from memopt.dialects.attributes.memories import (
    ARENA,
    MemoryAttr,
    MemoryKind,
    TrafficAttr,
    one_arena,
)
from memopt.dialects.attributes.operators import (
    need_counts,
    need_keys,
    number_of,
    one_of,
    parse_keys,
)
from memopt.dialects.memgraph.old_forms import OBJECTS, old_form

ProofKind = Literal["flow", "search", "ilp", "none"]
Family = Literal["order", "rows"]
# what a bound ranges over, for people
FAMILIES: dict[str, str] = {"order": "over all orders", "rows": "over all orders of these rows"}


@irdl_attr_definition
class PlanAttr(ParametrizedAttribute):
    """Plan of a function, in bytes. -1 inside stands for not decided yet.

    `lower_bound` bounds the peak of every member of `family`: `order`, all orders of these
    operators. `proof` says how it was shown; the plan is optimal when there is a proof and
    peak = lower_bound. `memories` is what the buffers lie in, all of one kind, none before they
    are placed; `arena` is the sum of their bytes, and no arena of the family is below
    `arena_lower_bound`. Shared objects have `memories_lower_bound`, proven of their sum for this
    order alone, and banks have `traffic`. The fingerprint makes a plan stale when anything it rests
    on changes.
    """

    name = "memgraph.plan"
    peak: IntAttr
    lower_bound: IntAttr
    proof: StringAttr
    family: StringAttr
    memories: ArrayAttr[MemoryAttr]
    arena_lower_bound: IntAttr
    memories_lower_bound: IntAttr
    traffic: TrafficAttr | NoneAttr
    fingerprint: StringAttr

    def __init__(
        self,
        peak: int,
        lower_bound: int,
        proof: str,
        family: str,
        memories: Sequence[MemoryAttr] = (),
        arena_lower_bound: int = -1,
        memories_lower_bound: int = -1,
        traffic: TrafficAttr | None = None,
        fingerprint: str = "",
    ):
        super().__init__(
            IntAttr(peak),
            IntAttr(lower_bound),
            StringAttr(proof),
            StringAttr(family),
            ArrayAttr(memories),
            IntAttr(arena_lower_bound),
            IntAttr(memories_lower_bound),
            NoneAttr() if traffic is None else traffic,
            StringAttr(fingerprint),
        )

    @property
    def optimal(self) -> bool:
        return self.proof.data != "none" and self.peak.data == self.lower_bound.data

    @property
    def placed(self) -> bool:
        return bool(self.memories.data)

    @property
    def arena(self) -> int:
        """Bytes of all memories together; 0 before there are any."""
        return sum(m.bytes.data for m in self.memories)

    @property
    def kind(self) -> MemoryKind | None:
        """The kind that all memories are of, None before there are any."""
        return cast("MemoryKind", self.memories.data[0].kind.data) if self.placed else None

    @property
    def costs(self) -> TrafficAttr | None:
        """Return the cost of the traffic, over banks."""
        return self.traffic if isinstance(self.traffic, TrafficAttr) else None

    def index(self, memory: str) -> int:
        """The place of a memory in the list. Raises ValueError."""
        return [m.memory.data for m in self.memories].index(memory)

    def start(self, memory: str) -> int:
        """Return the byte where a memory begins if all are drawn as one, each behind the last."""
        return sum(m.bytes.data for m in self.memories.data[: self.index(memory)])

    def verify(self) -> None:
        one_of(self.proof.data, get_args(ProofKind), "proof")
        one_of(self.family.data, tuple(FAMILIES), "family")
        if self.peak.data < self.lower_bound.data or self.lower_bound.data < 0:
            raise VerifyException("plan: lower_bound must be between 0 and peak")
        need_counts("plan", self.peak.data)
        need_counts("plan", self.arena_lower_bound.data, least=-1)
        if self.placed != (self.arena_lower_bound.data >= 0):
            raise VerifyException("plan: arena and arena_lower_bound come together")
        need_counts("plan", self.arena)
        if self.arena < self.arena_lower_bound.data:
            raise VerifyException("plan: arena below arena_lower_bound")
        self._verify_memories()

    def _verify_memories(self) -> None:
        names = [m.memory.data for m in self.memories]
        if len(set(names)) != len(names) or not all(names):
            raise VerifyException("plan: memories need different names")
        if any(m.kind.data != self.kind for m in self.memories):
            raise VerifyException("plan: memories of different kinds")
        if self.kind == "arena" and names != [ARENA]:
            raise VerifyException("plan: an arena is the only memory, and named arena")
        bound = self.memories_lower_bound.data
        if self.kind == "object" and not 0 <= bound <= self.arena:
            raise VerifyException("plan: memories_lower_bound must be between 0 and arena")
        if self.kind != "object" and bound != -1:
            raise VerifyException("plan: only shared objects have a memories_lower_bound")
        if (self.kind == "bank") != (self.costs is not None):
            raise VerifyException("plan: banks and traffic come together")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        start = parser.pos
        number = number_of(parser)

        def old(key: str) -> NoReturn:
            parser.raise_error(old_form(f"with {key}", OBJECTS), start)

        keys = parse_keys(
            parser,
            {
                "peak": number,
                "lower_bound": number,
                "proof": parser.parse_identifier,
                "family": parser.parse_identifier,
                "arena": number,
                "arena_lower_bound": number,
                "memories": lambda: _parse_list(parser),
                "memories_lower_bound": number,
                "traffic": lambda: _parse_traffic(parser),
                "fingerprint": parser.parse_str_literal,
            },
            old={key: lambda key=key: old(key) for key in ("objects", "objects_lower_bound")},
        )
        if "family" not in keys:
            parser.raise_error(old_form("without a family", "--place=auto"), start)
        need_keys(parser, keys, "peak", "lower_bound", "proof", "fingerprint")
        _take_arena(parser, keys)
        return cls(**keys).parameters

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(
                f"peak = {self.peak.data}, lower_bound = {self.lower_bound.data}, "
                f"proof = {self.proof.data}, family = {self.family.data}"
            )
            if self.placed:
                printer.print_string(
                    f", arena = {self.arena}, arena_lower_bound = {self.arena_lower_bound.data}"
                )
            if self.placed and self.kind != "arena":
                printer.print_string(", memories = [")
                printer.print_list(self.memories.data, printer.print_attribute)
                printer.print_string("]")
            if self.kind == "object":
                printer.print_string(f", memories_lower_bound = {self.memories_lower_bound.data}")
            if self.costs is not None:
                printer.print_string(", traffic = ")
                printer.print_attribute(self.costs)
            printer.print_string(f', fingerprint = "{self.fingerprint.data}"')


def _parse_list(parser: AttrParser) -> list[MemoryAttr]:
    attributes = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_attribute)
    memories = [m for m in attributes if isinstance(m, MemoryAttr) and m.kind.data != "arena"]
    if not attributes or len(memories) != len(attributes):
        parser.raise_error("expected a list of #memgraph.memory of kind object or bank")
    return memories


def _parse_traffic(parser: AttrParser) -> TrafficAttr:
    attribute = parser.parse_attribute()
    if not isinstance(attribute, TrafficAttr):
        parser.raise_error("expected a #memgraph.traffic")
    return attribute


def _take_arena(parser: AttrParser, found: dict[str, Any]) -> None:
    """One arena is written as its bytes alone; with a list, `arena` is the sum."""
    bounds = [found[k] for k in ("arena_lower_bound", "memories_lower_bound") if k in found]
    need_counts("plan", *bounds)
    if "arena" not in found and "memories" in found:
        parser.raise_error("plan: arena and memories come together")
    if "arena" in found:
        arena = found.pop("arena")
        need_counts("plan", arena)
        memories = found.setdefault("memories", list(one_arena(arena)))
        if arena != sum(m.bytes.data for m in memories):
            parser.raise_error("plan: arena must be the sum of the memories' bytes")


PLAN_ATTRIBUTES: tuple[type[Attribute], ...] = (MemoryAttr, PlanAttr, TrafficAttr)
