"""The peak of a function of memrefs, from what its execution saw.

    seen = Seen()
    seen.holds(value, allocation)        # a value that may lie in an allocation
    seen.touches(op, allocation)         # an operation that reads or writes it
    seen.peak(block, sizes)

An allocation takes its bytes in the innermost block that has it and all values that may lie in it,
from the first to the last operation there that touches it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation, SSAValue


@dataclass
class Seen:
    """Blocks whose values may lie in an allocation, and the operations that touch it."""

    holders: dict[Operation, set[Block]] = field(default_factory=dict[Operation, set[Block]])
    users: dict[Operation, set[Operation]] = field(default_factory=dict[Operation, set[Operation]])

    def holds(self, value: SSAValue, allocation: Operation) -> None:
        owner = value.owner
        block = owner if isinstance(owner, Block) else owner.parent
        assert block is not None
        self.holders.setdefault(allocation, set()).add(block)

    def touches(self, op: Operation, allocation: Operation) -> None:
        self.users.setdefault(allocation, set()).add(op)

    def peak(self, body: Block, sizes: Mapping[Operation, int]) -> int:
        """Return the most bytes that are in use at one time. `sizes` are of allocations, and of
        what calls work in, which is theirs alone."""
        lives: dict[Block, list[tuple[int, int, int]]] = {}
        for op, size in sizes.items():
            home = common_block({*self.holders.get(op, ()), *blocks_around(op)[:1]})
            order = {inner: k for k, inner in enumerate(home.ops)}
            outer = home.find_ancestor_op_in_block(op)
            users = {home.find_ancestor_op_in_block(user) for user in self.users.get(op, ())}
            if outer is not op or not users:
                users.add(outer)
            steps = [order[user] for user in users if user is not None]
            lives.setdefault(home, []).append((min(steps), max(steps), size))
        return _peak(body, lives)


def _peak(block: Block, lives: Mapping[Block, list[tuple[int, int, int]]]) -> int:
    at_home, peak = lives.get(block, []), 0
    for k, op in enumerate(block.ops):
        inner = [_peak(b, lives) for region in op.regions for b in region.blocks]
        level = sum(size for first, last, size in at_home if first <= k <= last)
        peak = max(peak, level + max(inner, default=0))
    return peak


def blocks_around(op: Operation) -> list[Block]:
    """Return the blocks that an operation is in, inner ones first."""
    blocks: list[Block] = []
    parent: Operation | None = op
    while parent is not None and parent.parent is not None:
        blocks.append(parent.parent)
        parent = parent.parent_op()
    return blocks


def common_block(blocks: Iterable[Block]) -> Block:
    """Return the innermost block in which all of the blocks are."""
    chains = [[b, *blocks_around(op)] for b in blocks if (op := b.parent_op()) is not None]
    return next(b for b in chains[0] if all(b in chain for chain in chains))
