"""Boards and runtimes as the compiler sees them, found by their files.

    target_names("c")              # ('cortex-m3', 'cortex-m4', 'cortex-m7', ...)
    target_named("cortex-m4").isa  # ('dsp', 'c')

`cortex_m4.py` in targets/ is `cortex-m4`, its TARGET the facts. So a new board is one new file, and
no list elsewhere repeats the names.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Literal

from memopt.dialects.memgraph.errors import MemoptError, nearest
from memopt.modules import load, modules_in
from memopt.targets.core.timing import Timing

SHARED = ("core", "cmsis-nn")  # what targets share, and a library that they call


@dataclass(frozen=True)
class Target:
    """One board or runtime. Its name is that of its file, with dashes.

    `family` is the kind of instructions that its programs have.
    `interpreter` is the name of the runtime that runs every operator of a model's file by a kernel
    of its own, none in place; "" where code is generated.
    `output` is what `memopt compile` writes for it: a C project, a .tflite file, or nothing (it is
    only planned for). `plan_reader` is the module whose `give_plan(module, data, name)` gives what
    a frontend read from such a file the plan that stands in it.
    `model` are the keys of #memgraph.model that it brings along. `isa` are the instruction sets
    that kernels may use, the best first; `c` is portable C. `platform` are the files of
    backends/c/project/firmware/ around a model.

    What follows is empty for a host. `memories` are (name, start, length) for the linker: code in
    the first, data in the last, weights in `constants`. `rooms` are more memory of the board,
    (start, bytes), where a plan's banks can be. `emulator` is QEMU's machine, which `qemu` emulates
    and into which `loads` puts a program; one tick of its counter is `ticks[0] / ticks[1]`
    instructions under its `-icount shift=5`. `libraries` are the flags by which GCC links its C
    library, `clang` those by which clang compiles for it, "" where nobody tried.

    `timing` is what its manual says of cycles, None if it has no such table.

    Bytes: `stack` is what the linker script reserves. Upper bounds for what could not be measured
    are `kernel_frame`, of the deepest kernel (with -O2; tested for every kernel and core), and
    `static_bound`, of static RAM besides arena and stack: the C library's and the platform's.
    """

    output: Literal["", "c", "tflite"] = ""
    name: str = ""
    family: Literal["", "arm", "riscv"] = ""
    interpreter: str = ""
    plan_reader: str = ""
    model: Mapping[str, str | int] = field(default_factory=dict[str, str | int])
    isa: tuple[str, ...] = ("c",)
    compiler: str = ""
    size: str = ""
    flags: str = ""
    platform: tuple[str, ...] = ()
    memories: tuple[tuple[str, str, str], ...] = ()
    constants: str = "FLASH"
    rooms: tuple[tuple[int, int], ...] = ()
    emulator: str = ""
    qemu: str = ""
    loads: str = "-kernel "
    libraries: str = ""
    clang: str = ""
    ticks: tuple[int, int] = (1, 1)
    timing: Timing | None = None
    stack: int = 8192
    kernel_frame: int = 512
    static_bound: int = 256

    @property
    def has_memories(self) -> bool:
        """Return whether RAM and flash are its own and limited, as a host's are not."""
        return bool(self.memories)

    @property
    def stack_bound(self) -> int:
        """Bytes: a kernel below the model's function, and libm below it."""
        return self.kernel_frame + 512

    def called(self, name: str) -> "Target":
        return replace(self, name=name)


@cache
def all_targets() -> dict[str, Target]:
    """Name -> target, numbers in names in the order of numbers."""
    modules = modules_in("memopt.targets")
    by_name: dict[str, Target] = {}
    for name in sorted(modules.keys() - set(SHARED), key=_natural):
        target = load(modules[name], "TARGET").TARGET
        assert isinstance(target, Target), modules[name]
        by_name[name] = target.called(name)
    return by_name


def _natural(name: str) -> list[tuple[str, int]]:
    return [(word, int(number or 0)) for word, number in re.findall(r"(\D+)(\d*)", name)]


def target_names(*outputs: str) -> tuple[str, ...]:
    """The names of all targets, or of those with one of these outputs."""
    return tuple(n for n, t in all_targets().items() if not outputs or t.output in outputs)


def target_named(name: str, *outputs: str) -> Target:
    """The target of that name, with one of these outputs if there are any. Raises MemoptError."""
    names = target_names(*outputs)
    if name not in names:
        text = f"target {name!r}{nearest(name, names)} is not one of: {', '.join(names)}"
        raise MemoptError(text)
    return all_targets()[name]
