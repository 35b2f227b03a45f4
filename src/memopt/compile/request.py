"""Request about one model: the first stage of `memopt compile`, `report` and the API.

request = Request(path=Path("net.tflite"), options=PlanOptions(target="cortex-m4"))
read(request)                       # Imported
plan(read(request))                 # Planned
"""

from dataclasses import dataclass, field
from pathlib import Path

from memopt.backends.c.weights.storage import ArrayStorage
from memopt.compile.options import PlanOptions
from memopt.frontends.core.shapes import Fixed, Shapes
from memopt.passes.memgraph_input_range import Ranges

OFF, QUICK, FULL = MEASURES = ("off", "quick", "full")
"""Nothing is compiled for figures; an image is built; it is also run in the emulator."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How a file is read: shapes of its inputs, those that are constants, ranges of their numbers,
    where the weights of IR are, and the file that declares custom operators."""

    shapes: Shapes = field(default_factory=dict[str, tuple[int, ...]])
    fixed: Fixed = field(default_factory=dict[str, tuple[int | float, ...]])
    ranges: Ranges = field(default_factory=dict[str, tuple[float, float]])
    model_path: str | None = None
    custom: Path | None = None


@dataclass(frozen=True, kw_only=True)
class Building:
    """How C is written: the layout, whether kernels keep names that several models share, whether
    what surrounds their loops is built for speed, how arrays are written, whether a program is
    around the model, whether a computer may run it by a serial port, and what is measured of it:
    one of MEASURES. None is the default."""

    layout: str | None = None
    shared_kernels: bool = False
    specialised: bool | None = None
    storage: ArrayStorage = field(default_factory=ArrayStorage)
    has_startup: bool = True
    has_serial: bool = False
    measure: str = FULL


@dataclass(frozen=True, kw_only=True)
class Request:
    """A model to plan by `options`, in `flash` bytes of an image, at a `clock` in Hz, if they are
    given. If it `is_built` a plan of what cannot be is refused, and its files go to `folder`."""

    path: Path
    options: PlanOptions
    reading: Reading = Reading()
    building: Building = Building()
    flash: int | None = None
    clock: int | None = None
    is_built: bool = False
    folder: Path = Path()

    @property
    def chooses_rows(self) -> bool:
        """Return whether the rows are left to us."""
        return self.options.rows is None and self.options.fit is None
