"""How many cycles a core's instructions take, as its manual says, without wait states.

Ranges are (least, most) cycles; what stands between is called the middle. What a manual leaves open
(how long it takes to refill the pipeline, when a division ends) is a range.
"""

from dataclasses import dataclass

Range = tuple[int, int]


@dataclass(frozen=True)
class Timing:
    """Cycles of each kind of instruction (`backends/c/project/cycles/instructions.py`) on a core.

    `refill`: of a branch that is taken, besides its own. `loads_follow`: a load right behind a load
    takes one cycle, and so does a store. `address_waits`: an address that the instruction before
    has made costs one cycle more. `folds`: an IT block may cost nothing. `link`, `exchange` and
    `pop_branch`: of BL, of BX, and of a POP into the program counter besides one per other
    register, where these are not what a branch is.
    """

    manual: str
    refill: Range = (1, 3)
    loads_follow: bool = True
    address_waits: bool = True
    folds: bool = True
    link: int | None = None
    exchange: int | None = None
    pop_branch: int | None = None
    multiply: Range = (1, 1)
    multiply_add: Range = (1, 1)
    long_multiply: Range = (1, 1)
    long_multiply_add: Range = (1, 1)
    divide: Range = (2, 12)
    float_divide: int = 14
    float_multiply_add: int = 3
    system: Range = (1, 2)
