"""Axes: where a step and an address lie in the drawing, and where the ticks go."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Frame:
    """The plot's box in user units: steps to the right, addresses upwards from 0."""

    left: float
    top: float
    width: float
    height: float
    steps: int
    bytes: int

    @property
    def column(self) -> float:
        """Width of one step."""
        return self.width / max(self.steps, 1)

    def x(self, step: float) -> float:
        return self.left + step * self.column

    def y(self, address: float) -> float:
        return self.top + self.height * (1 - address / max(self.bytes, 1))


def address_ticks(most: int) -> list[tuple[int, str]]:
    """About five addresses from 0 to `most` with their labels, whole numbers of one unit."""
    unit, name = 1, "B"
    for size, text in ((1024, "KiB"), (1024 * 1024, "MiB"), (1024**3, "GiB")):
        if most >= 8 * size:
            unit, name = size, text
    step = unit * nice(most / unit / 5)
    return [(a, f"{a // unit:,} {name}" if a else "0") for a in range(0, most + 1, step)]


def step_ticks(steps: int, width: float) -> list[int]:
    """Steps that get a number: not closer than 34 units, 0 among them."""
    stride = nice(34 * steps / max(width, 1))
    return list(range(0, steps, stride))


def nice(value: float) -> int:
    """The least of 1, 2, 5, 10, 20, 50 ... that is not below `value`."""
    power = 1
    while True:
        for factor in (1, 2, 5):
            if factor * power >= value:
                return factor * power
        power *= 10


def number(value: float) -> str:
    """Two decimals at most, without trailing zeros: the same bytes on every machine."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
