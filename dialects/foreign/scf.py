"""The `scf` dialect's memory behaviour on tensors: loops and branches, each one step (regions.py).

`scf.while`, whose results are what its condition hands on, gets the careful defaults.
"""

from memopt.dialects.foreign import BRANCH, LOOP
from memopt.dialects.foreign.regions import step_of_regions

REGIONS = {"scf.for": LOOP, "scf.if": BRANCH, "scf.index_switch": BRANCH}
MEMORY = dict.fromkeys(REGIONS, step_of_regions)
