"""The `memgraph` dialect: a network as operators, the buffers they make, and the plan for both."""

from xdsl.ir import Dialect

from memopt.dialects.attributes import TENSOR_ATTRIBUTES
from memopt.dialects.channel_attributes import CHANNEL_ATTRIBUTES
from memopt.dialects.model_attributes import MODEL_ATTRIBUTES
from memopt.dialects.off_chip_attributes import OFF_CHIP_ATTRIBUTES
from memopt.dialects.old_forms import OLD_FORMS
from memopt.dialects.operators import operations
from memopt.dialects.place_attributes import PLACE_ATTRIBUTES
from memopt.dialects.plan_attributes import PLAN_ATTRIBUTES
from memopt.dialects.range_attribute import RANGE_ATTRIBUTES
from memopt.dialects.rewrite_attributes import REWRITE_ATTRIBUTES
from memopt.dialects.rows import ROWS
from memopt.dialects.state import STATE
from memopt.dialects.structure import STRUCTURE

MEMGRAPH = Dialect(
    "memgraph",
    [*operations(), *ROWS, *STATE, *STRUCTURE],
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
