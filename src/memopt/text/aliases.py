"""Short names for the tensor types of a module, in groups, as they stand above its text.

    // activations
    !a0 = tensor<1x32x32x3xi8, #memgraph.encoding<nhwc, scale = [1.0e+00], zero_point = [-128]>>
    // constants, numbered by the operation that reads them: weights !w, of one dimension !b
    !w0 = tensor<16x3x3x3xi8, #memgraph.encoding<ohwi, scale = [8.9e-05, ...], ...>>
    !b0 = tensor<16xi32, #memgraph.encoding<scale = [8.9e-05, ...], ...>>

So `(!a0, !w0, !b0) -> !a1` says what is what, the short lines stand first, and the scales of an
operation are found by its number.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from memopt.dialects.attributes.operators import EncodingAttr
from memopt.dialects.memgraph.interface import is_constant_like
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.traits import Folds


@dataclass
class Aliases:
    """Type -> its name, in the order of their lines."""

    activations: dict[Attribute, str] = field(default_factory=dict[Attribute, str])
    constants: dict[Attribute, str] = field(default_factory=dict[Attribute, str])
    counts: Counter[str] = field(default_factory=Counter[str])  # how often each name was wanted

    @property
    def names(self) -> dict[Attribute, str]:
        return {**self.activations, **self.constants}

    @property
    def groups(self) -> list[tuple[str, dict[Attribute, str]]]:
        """(heading, types) of the groups that are not empty."""
        headed = [
            ("activations", self.activations),
            ("constants, numbered by the operation that reads them", self.constants),
        ]
        return [(heading, names) for heading, names in headed if names]


def aliases_of(module: ModuleOp) -> Aliases:
    """Names for all types with an encoding; those of activations go before those of constants."""
    aliases, operations = Aliases(), list(module.walk())
    values = [value for op in operations for value in defined(op)]
    types = {id(value.type): value.type for value in values}  # most equal ones are one object
    if not any(map(is_encoded, types.values())):
        return aliases
    constant = constants_of(operations)
    for value in values:
        if is_encoded(value.type) and value not in constant:
            aliases.activations.setdefault(value.type, f"!a{len(aliases.activations)}")
    readers = 0
    for op in operations:
        types = dict.fromkeys(v.type for v in op.operands if v in constant)
        new = [type_ for type_ in types if is_new(type_, aliases)]
        for type_ in new:
            aliases.constants[type_] = constant_name(type_, readers, aliases)
        readers += bool(new)
    for value in constant:  # what nobody reads
        if is_new(value.type, aliases):
            aliases.constants[value.type] = constant_name(value.type, readers, aliases)
            readers += 1
    return aliases


def constants_of(operations: Iterable[Operation]) -> dict[SSAValue, None]:
    """Constants, and what follows from them alone, in their order."""
    constants: dict[SSAValue, None] = {}
    for op in operations:
        folds = isinstance(op, ComputeOp) and op.has_trait(Folds) and bool(op.operands)
        if is_constant_like(op) or (folds and all(v in constants for v in op.operands)):
            constants.update(dict.fromkeys(op.results))
    return constants


def defined(op: Operation) -> Iterable[SSAValue]:
    """The values that an operation brings: arguments of its blocks, results."""
    for region in op.regions:
        for block in region.blocks:
            yield from block.args
    yield from op.results


def is_encoded(type_: Attribute) -> bool:
    return isinstance(type_, TensorType) and isinstance(type_.encoding, EncodingAttr)


def is_new(type_: Attribute, found: Aliases) -> bool:
    return is_encoded(type_) and type_ not in found.activations and type_ not in found.constants


def constant_name(type_: Attribute, number: int, found: Aliases) -> str:
    """`!w3` or `!b3`; the second of its kind that one operation reads is `!w3_1`."""
    dimensions = len(type_.get_shape()) if isinstance(type_, TensorType) else 0
    name = f"!{'b' if dimensions == 1 else 'w'}{number}"
    same = found.counts[name]
    found.counts[name] += 1
    return f"{name}_{same}" if same else name
