"""Functions of a module: which there are, their body, their arguments."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import IsolatedFromAbove

from memopt.dialects.errors import MemoptError


def read_values(op: Operation) -> list[SSAValue]:
    """Operands, and for operations with regions what these capture from outside."""
    values = list(op.operands)
    if not op.regions or op.has_trait(IsolatedFromAbove, value_if_unregistered=False):
        return values
    for region in op.regions:
        for inner in region.walk():
            for v in inner.operands:
                owner = v.owner
                block = owner if isinstance(owner, Block) else owner.parent
                if block is not None and not op.is_ancestor(block):
                    values.append(v)
    return values


def has_kind(operations: Iterable[Operation], kind: type | tuple[type, ...]) -> bool:
    """Whether one of the operations is of this kind: their classes are asked, each once."""
    return any(issubclass(found, kind) for found in {type(op) for op in operations})


def body_of(func: FuncOp) -> Block:
    """The only block of a function. Raises MemoptError if there is none or there are several."""
    if len(func.body.blocks) != 1:
        raise MemoptError(
            f"a function of {len(func.body.blocks)} blocks cannot be planned, only of one",
            f"@{func.sym_name.data}",
        )
    return func.body.block


def functions(module: Operation) -> Iterator[FuncOp]:
    """The functions of a module that have a body, in order."""
    if isinstance(module, ModuleOp):
        for op in module.body.block.ops:
            if isinstance(op, FuncOp) and op.body.blocks:
                yield op


def only_function(module: Operation) -> FuncOp:
    """The function of a module of one. Raises MemoptError otherwise, with the names."""
    found = list(functions(module))
    if len(found) != 1:
        names = ", ".join("@" + f.sym_name.data for f in found) or "none"
        raise MemoptError(f"a model of one function is needed, this one has: {names}")
    return found[0]


def argument_attributes(func: FuncOp) -> list[dict[str, Attribute]]:
    """A copy of the attribute dictionary of each argument."""
    count = len(func.body.blocks[0].args)
    if func.arg_attrs is None:
        return [{} for _ in range(count)]
    return [dict(d.data) for d in func.arg_attrs.data]


def set_argument_attributes(func: FuncOp, attributes: Sequence[Mapping[str, Attribute]]) -> None:
    if any(attributes):
        func.arg_attrs = ArrayAttr([DictionaryAttr(dict(a)) for a in attributes])
    else:
        func.arg_attrs = None
