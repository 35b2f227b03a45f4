"""The `memgraph` dialect: a network as operators, the buffers they make, and the plan for both."""

from xdsl.ir import Dialect

from memopt.dialects.memgraph.parts import ATTRIBUTES, NAME, OPERATIONS
from memopt.dialects.operators import operations

MEMGRAPH = Dialect(NAME, [*operations(), *OPERATIONS], [*ATTRIBUTES])
