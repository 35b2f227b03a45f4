"""The `memgraph` dialect: a network as operators, the buffers they make, and the plan for both."""

from xdsl.ir import Dialect

from memopt.dialects.attributes.channels import CHANNEL_ATTRIBUTES
from memopt.dialects.attributes.input_range import RANGE_ATTRIBUTES
from memopt.dialects.attributes.model import MODEL_ATTRIBUTES
from memopt.dialects.attributes.off_chip import OFF_CHIP_ATTRIBUTES
from memopt.dialects.attributes.operators import TENSOR_ATTRIBUTES
from memopt.dialects.attributes.placement import PLACE_ATTRIBUTES
from memopt.dialects.attributes.plan import PLAN_ATTRIBUTES
from memopt.dialects.attributes.rewrites import REWRITE_ATTRIBUTES
from memopt.dialects.memgraph.old_forms import OLD_FORMS
from memopt.dialects.memgraph.structure import STRUCTURE
from memopt.dialects.memgraph.variables import VARIABLES
from memopt.dialects.operators import operations
from memopt.dialects.rows.operations import ROWS
from memopt.dialects.rows.state import STATE

MEMGRAPH = Dialect(
    "memgraph",
    [*operations(), *ROWS, *STATE, *STRUCTURE, *VARIABLES],
    [
        *TENSOR_ATTRIBUTES,
        *CHANNEL_ATTRIBUTES,
        *MODEL_ATTRIBUTES,
        *PLACE_ATTRIBUTES,
        *PLAN_ATTRIBUTES,
        *OFF_CHIP_ATTRIBUTES,
        *RANGE_ATTRIBUTES,
        *REWRITE_ATTRIBUTES,
        *OLD_FORMS,
    ],
)
