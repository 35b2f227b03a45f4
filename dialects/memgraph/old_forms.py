"""Forms in which plans were written once: refused by name, with how to plan again.

net.mlir:3:40: error: a plan in an old form (#memgraph.object): plan the model again, such as
memopt-opt MODEL --schedule=auto --place=shared-objects -o PLAN.mlir
"""

from collections.abc import Sequence

from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser

OBJECTS, BANKS = "--place=shared-objects", "--memory=NAME:BYTES,NAME:BYTES"
INSTEAD = {"memgraph.object": OBJECTS, "memgraph.memories": BANKS}  # the option that plans so now
RENAMED = {"memgraph.row_op": "memgraph.row_kernel", "memgraph.rows": "memgraph.split_rows"}


def old_form(what: str, place: str) -> str:
    """The sentence for a plan in an old form; `place` is the option that makes such a plan."""
    return (
        f"a plan in an old form ({what}): plan the model again, such as "
        f"memopt-opt MODEL --schedule=auto {place} -o PLAN.mlir"
    )


def old_operation(name: str) -> str:
    """Return the sentence for an operation of `RENAMED`, by its old name."""
    return (
        f"a plan in an old form ({name}, now {RENAMED[name]}): plan the model again, such as "
        "memopt-opt MODEL --rows=auto --schedule=auto --place=auto -o PLAN.mlir"
    )


def old_attribute(func: FuncOp) -> str:
    """The sentence for a function that carries its memories beside its plan; else empty."""
    found = OldMemoriesAttr.name in func.attributes
    return old_form(OldMemoriesAttr.name, BANKS) if found else ""


class _OldAttr(ParametrizedAttribute):
    """An attribute that no plan has any more."""

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        parser.raise_error(old_form(f"#{cls.name}", INSTEAD[cls.name]))


@irdl_attr_definition
class OldObjectAttr(_OldAttr):
    """A place in a shared object, which is a `#memgraph.slot` now."""

    name = "memgraph.object"


@irdl_attr_definition
class OldMemoriesAttr(_OldAttr):
    """Memories beside the plan, which has them now."""

    name = "memgraph.memories"


OLD_FORMS: tuple[type[Attribute], ...] = (OldMemoriesAttr, OldObjectAttr)
