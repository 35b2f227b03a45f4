"""xDSL's context, which also knows what dialects with a file here have and xDSL does not, and loads
the operators that it meets instead of all."""

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import UnregisteredAttr, UnregisteredOp
from xdsl.ir import Attribute, Operation, TypeAttribute

from memopt.dialects.foreign.forms import class_kept, class_of, command_of, names_of, stands
from memopt.dialects.memgraph.parts import NAME
from memopt.dialects.operators import operations, operator_named


class ForeignContext(Context):
    """A context of all registered dialects; operations, attributes and types of dialects that
    `forms.py` reads are kept as they stand, whether or not any others are. Of `memgraph` the
    families of operators are loaded when one of them is met."""

    def clone(self) -> "ForeignContext":
        """Return a context of the same kind that knows the same."""
        known = super().clone()
        return ForeignContext(*vars(known).values())

    def get_optional_op(
        self, name: str, *, dialect_stack: Sequence[str] = ()
    ) -> type[Operation] | None:
        """Return xDSL's own class if there is one."""
        if name not in self._loaded_ops and name.startswith(f"{NAME}."):
            self.get_optional_dialect(NAME)
            operator = operator_named(name) if name not in self._loaded_ops else None
            if operator is not None:
                self.load_op(operator)
        known = super().get_optional_op(name, dialect_stack=dialect_stack)
        if known is None or issubclass(known, UnregisteredOp) or stands(name):
            return class_of(name) or known
        return known

    def of_any_release(self, name: str) -> type[Operation] | None:
        """Return the class that reads operations of that name whatever they have."""
        return class_of(name)

    def names_beside(self, name: str) -> tuple[str, ...]:
        """Return the names of all operations of the same dialect, if it has a file here."""
        if name.startswith(f"{NAME}."):
            return tuple(kind.name for kind in operations())
        return names_of(name)

    def get_optional_type(self, name: str) -> type[TypeAttribute] | None:
        """Return xDSL's own class if there is one."""
        return super().get_optional_type(name) or _kept(name, is_type=True)  # pyright: ignore[reportReturnType]

    def get_optional_attr(self, name: str) -> type[Attribute] | None:
        """Return xDSL's own class if there is one."""
        return super().get_optional_attr(name) or _kept(name, is_type=False)


def _kept(name: str, is_type: bool) -> type[UnregisteredAttr] | None:
    return class_kept(name, is_type=is_type) if command_of(name) else None
