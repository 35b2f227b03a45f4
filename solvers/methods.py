"""Files of the methods that options of a plan name: known without loading a solver."""

from typing import Final

from memopt.modules import modules_in

SCHEDULES: Final = modules_in(
    "memopt.solvers.scheduling.methods", "memopt.solvers.published.scheduling"
)
STRATEGIES: Final = modules_in(
    "memopt.solvers.placement.methods", "memopt.solvers.published.placement"
)
SHARED_OBJECTS: Final = modules_in("memopt.solvers.shared_objects.methods")
JOINT: Final = modules_in("memopt.solvers.published.joint")
"""Name -> module, of orders, places in one arena, several objects, and order with places."""
