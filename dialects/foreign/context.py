"""xDSL's context, which also knows what dialects with a file here have and xDSL does not."""

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import UnregisteredAttr, UnregisteredOp
from xdsl.ir import Attribute, Operation, TypeAttribute

from memopt.dialects.foreign.forms import class_kept, class_of, command_of, names_of


class ForeignContext(Context):
    """A context of all registered dialects; operations, attributes and types of dialects that
    `forms.py` reads are kept as they stand, whether or not any others are."""

    def get_optional_op(
        self, name: str, *, dialect_stack: Sequence[str] = ()
    ) -> type[Operation] | None:
        """Return xDSL's own class if there is one."""
        known = super().get_optional_op(name, dialect_stack=dialect_stack)
        if known is None or issubclass(known, UnregisteredOp):
            return class_of(name) or known
        return known

    def of_any_release(self, name: str) -> type[Operation] | None:
        """Return the class that reads operations of that name whatever they have."""
        return class_of(name)

    def names_beside(self, name: str) -> tuple[str, ...]:
        """Return the names of all operations of the same dialect, if it has a file here."""
        return names_of(name)

    def get_optional_type(self, name: str) -> type[TypeAttribute] | None:
        """Return xDSL's own class if there is one."""
        return super().get_optional_type(name) or _kept(name, is_type=True)  # pyright: ignore[reportReturnType]

    def get_optional_attr(self, name: str) -> type[Attribute] | None:
        """Return xDSL's own class if there is one."""
        return super().get_optional_attr(name) or _kept(name, is_type=False)


def _kept(name: str, is_type: bool) -> type[UnregisteredAttr] | None:
    return class_kept(name, is_type=is_type) if command_of(name) else None
