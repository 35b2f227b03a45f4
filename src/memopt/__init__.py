"""memopt: fits neural networks into microcontrollers, and proves how well.

It finds the order of a network's operators and the place of its tensors that need the least RAM.
Sizes are bytes, times are seconds. A network is given as a path (.tflite, .onnx, .json, .hlo,
.mlir), as the bytes of such a file, as an `onnx.ModelProto`, as a decoded JSON graph, or as what
`memopt.load` gives back. What is wrong with it is a `memopt.MemoptError` with the place; an
argument that there is not is a ValueError that lists what there is.

How little RAM can it do with? All orders are asked, and the answer says what proves it:

    >>> import memopt
    >>> found = memopt.peak("net.tflite")
    >>> found.peak, found.lower_bound, found.proof, found.optimal
    (73728, 73728, 'search', True)
    >>> found.order                        # the operators, in an order with that peak
    ('conv_2d (conv_2d_0)', 'conv_2d (conv_2d_1)', ...)

A plan is an order, and an offset in one arena for every tensor. The verifier, which shares no code
with the solvers, has checked it, and checks it again from the file:

    >>> plan = memopt.plan("net.tflite", target="tflm")
    >>> plan.peak, plan.arena, plan.optimal, plan.arena_optimal
    (73728, 73728, True, True)
    >>> plan.offsets["conv_2d_0"]
    36864
    >>> written = Path("planned.tflite").write_bytes(plan.emit("tflite"))
    >>> memopt.verify("planned.tflite").arena
    73728

The files that `memopt compile` leaves, and what their report.json has:

    >>> report = memopt.compile("net.tflite", target="cortex-m4", rows="none", out="firmware")
    >>> report["plan"]["arena"], Path("firmware/net.h").exists()
    (70880, True)

Buffers of anything else, live in steps [lower, upper):

    >>> memopt.place([(0, 2, 100), (1, 3, 50), (2, 4, 100)]).offsets
    (0, 100, 0)

The peaks of many graphs, from folders, on all cores or with any `concurrent.futures` executor:

    >>> for row in memopt.sweep(["candidates/"], jobs=1):
    ...     print(row.graph, row.peak, row.optimal, row.error)
    candidates/cell0.json ... True None
    candidates/cell1.json ... True None

The same from a shell: `memopt --help`. More: docs/guides/python.md, and `help` of each name.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from memopt.compile.connections import connect as _connect

if TYPE_CHECKING:
    from memopt.api.checks import Verified, verify
    from memopt.api.compile import compile  # noqa: A004
    from memopt.api.peaks import Peak, peak
    from memopt.api.place_buffers import Placed, place
    from memopt.api.plans import Plan, plan
    from memopt.api.profiles import Profile, profile
    from memopt.api.reports import Report
    from memopt.api.sources import Model, Source, load
    from memopt.api.sweeps import Row, sweep
    from memopt.api.validations import Validation, validate
    from memopt.dialects.memgraph.errors import MemoptError

    __version__: str

__all__ = [
    "MemoptError",
    "Model",
    "Peak",
    "Placed",
    "Plan",
    "Profile",
    "Report",
    "Row",
    "Source",
    "Validation",
    "Verified",
    "__version__",
    "compile",
    "load",
    "peak",
    "place",
    "plan",
    "profile",
    "sweep",
    "validate",
    "verify",
]


_MODULES = {
    "memopt.api.checks": ("Verified", "verify"),
    "memopt.api.compile": ("compile",),
    "memopt.api.peaks": ("Peak", "peak"),
    "memopt.api.place_buffers": ("Placed", "place"),
    "memopt.api.plans": ("Plan", "plan"),
    "memopt.api.profiles": ("Profile", "profile"),
    "memopt.api.reports": ("Report",),
    "memopt.api.sources": ("Model", "Source", "load"),
    "memopt.api.sweeps": ("Row", "sweep"),
    "memopt.api.validations": ("Validation", "validate"),
    "memopt.dialects.memgraph.errors": ("MemoptError",),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}

_connect()
del globals()["compile"]  # the package, which has just been imported: the name is the function's


def __getattr__(name: str) -> Any:
    """Load what is asked for: `import memopt` alone loads nothing heavy."""
    if name == "__version__":
        from memopt.text.distributions import version_of

        return version_of("memopt")
    if name in _MODULE_OF:
        return getattr(import_module(_MODULE_OF[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Front(ModuleType):
    """`memopt.verify` is the function, also after somebody imported the module `memopt.verify`,
    which Python would put in its place."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in __all__ and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Front
