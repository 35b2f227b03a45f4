"""The techniques of the exact search. Each may be taken away: the answers stay the same."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Rules:
    """In both searches:

    `restarts`: short runs, ever longer, with changing orders of branches, since one bad early
    choice can cost any time; off, one run.

    In the search over corners:

    `failures`: a state (items left, bytes wasted) that failed is not searched twice, whatever order
    led to it; they hold over restarts. `backjumping`: a failure names the sections that it depends
    on; what was put elsewhere is not varied. `walls`: a step of the skyline that the items
    beginning (ending) there cannot fill, even together, is a failure at once. `weights`: events at
    which the search fails are branched on earlier, so it meets its conflicts sooner. `interior`: in
    every other run a wide valley with many items in its corners may be continued anywhere. `flush`:
    items that end level with a wall or span the valley go first, as they leave fewer steps.

    In the search over orders:

    `floors`: in each section the items to come lie above the lowest place that one of them can
    have, one above another; off, only the height of each item by itself counts. `gaps`: an item is
    not next if another one, put first, would end below it (that one could sink). `twins`: items
    that are alike are placed in one order.
    """

    restarts: bool = True
    failures: bool = True
    backjumping: bool = True
    walls: bool = True
    weights: bool = True
    interior: bool = True
    flush: bool = True
    floors: bool = True
    gaps: bool = True
    twins: bool = True


def luby(turn: int) -> int:
    """1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 ...: turn >= 1 (Luby, Sinclair, Zuckerman 1993)."""
    while turn & (turn + 1):
        turn -= (1 << turn.bit_length() - 1) - 1
    return turn + 1 >> 1
