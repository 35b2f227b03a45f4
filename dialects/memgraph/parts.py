"""The parts of the `memgraph` dialect that stand in every function; the operators have a file per
family (`dialects/operators/`)."""

from functools import partial

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
from memopt.dialects.rows.operations import ROWS
from memopt.dialects.rows.state import STATE

NAME = "memgraph"
OPERATIONS = (*ROWS, *STATE, *STRUCTURE, *VARIABLES)
ATTRIBUTES = (
    *TENSOR_ATTRIBUTES,
    *CHANNEL_ATTRIBUTES,
    *MODEL_ATTRIBUTES,
    *PLACE_ATTRIBUTES,
    *PLAN_ATTRIBUTES,
    *OFF_CHIP_ATTRIBUTES,
    *RANGE_ATTRIBUTES,
    *REWRITE_ATTRIBUTES,
    *OLD_FORMS,
)
PARTS = partial(Dialect, NAME, [*OPERATIONS], [*ATTRIBUTES])  # the dialect without its operators
