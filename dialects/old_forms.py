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


def old_form(what: str, place: str) -> str:
    """The sentence for a plan in an old form; `place` is the option that makes such a plan."""
    return (
        f"a plan in an old form ({what}): plan the model again, such as "
        f"memopt-opt MODEL --schedule=auto {place} -o PLAN.mlir"
    )


def old_attribute(func: FuncOp) -> str:
    """The sentence for a function that carries its memories beside its plan; else empty."""
    found = OldMemoriesAttr.name in func.attributes
    return old_form(OldMemoriesAttr.name, BANKS) if found else ""


@irdl_attr_definition
class OldObjectAttr(ParametrizedAttribute):
    """A place in a shared object, which is a `#memgraph.slot` now."""

    name = "memgraph.object"

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        parser.raise_error(old_form(f"#{cls.name}", OBJECTS))


@irdl_attr_definition
class OldMemoriesAttr(ParametrizedAttribute):
    """Memories beside the plan, which has them now."""

    name = "memgraph.memories"

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        parser.raise_error(old_form(f"#{cls.name}", BANKS))


OLD_FORMS: tuple[type[Attribute], ...] = (OldMemoriesAttr, OldObjectAttr)
