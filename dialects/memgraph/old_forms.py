"""Forms in which plans were written once: refused by name, with how to plan again.

net.mlir:3:40: error: a plan in an old form (#memgraph.object): plan the model again, such as
memopt-opt MODEL --schedule=auto --place=shared-objects -o PLAN.mlir
"""

from collections.abc import Sequence

from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser

OBJECTS, BANKS = "--place=shared-objects", "--memory=NAME:BYTES,NAME:BYTES"
ROWS, REWRITTEN = "--rows=auto --place=auto", "--rewrite=all --place=auto"
INSTEAD = {"memgraph.object": OBJECTS, "memgraph.memories": BANKS}  # the option that plans so now
RENAMED = {"memgraph.row_op": "memgraph.row_kernel", "memgraph.rows": "memgraph.split_rows"}
VIRTUAL = (("memgraph.alias", "gather"), ("memgraph.unplaced", "gathered"))  # "virtual" now


def old_form(what: str, options: str) -> str:
    """Return the sentence for a plan in an old form; `options` make such a plan."""
    return (
        f"a plan in an old form ({what}): plan the model again, such as "
        f"memopt-opt MODEL --schedule=auto {options} -o PLAN.mlir"
    )


def current_word(parser: AttrParser, attribute: str, word: str) -> str:
    """Return `word` of an attribute. Raises ParseError if it has another name now."""
    if (attribute, word) in VIRTUAL:
        parser.raise_error(old_form(f"{word} in #{attribute}, now virtual", REWRITTEN))
    return word


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
