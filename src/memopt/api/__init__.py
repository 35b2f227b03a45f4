"""Python API: `memopt.NAME`, see `help(memopt)` and docs/guides/python.md.

One file per question: `sources` (what a graph may be, `load`), `peaks` (`peak`), `plans` (`plan`),
`compile` (`compile`), `checks` (`verify`), `place_buffers` (`place`), `sweeps` (`sweep`),
`profiles` (`profile`), `validations` (`validate`). Bad input
is a MemoptError with its place, a wrong argument a ValueError or TypeError that says what there is;
nothing is printed.
"""

from memopt.api.checks import Verified, verify
from memopt.api.compile import compile  # noqa: A004
from memopt.api.peaks import Peak, memory_graph, peak
from memopt.api.place_buffers import Placed, place
from memopt.api.plans import Plan, plan
from memopt.api.profiles import Profile, profile
from memopt.api.reports import Report
from memopt.api.sources import Model, Source, load
from memopt.api.sweeps import Row, sweep
from memopt.api.validations import Validation, validate
from memopt.dialects.memgraph.errors import MemoptError

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
    "compile",
    "load",
    "memory_graph",
    "peak",
    "place",
    "plan",
    "profile",
    "sweep",
    "validate",
    "verify",
]
