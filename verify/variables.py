"""Check of variables: the users of a variable keep the order that they have in the file."""

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from memopt.dialects.attributes.operators import SourceAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of
from memopt.dialects.memgraph.names import place_of
from memopt.dialects.memgraph.structure import VariableOp


def check_variables(func: FuncOp) -> None:
    """Raise MemoptError if an operation of a file comes after one that stands behind it there, and
    both use the same variable."""
    for op in body_of(func).ops:
        if not isinstance(op, VariableOp):
            continue
        users = {use.operation for use in op.result.uses}
        last = -1
        for user in (other for other in body_of(func).ops if other in users):
            number = _number(user)
            if 0 <= number < last:
                text = f"it uses {op.sym.data} after operator {last} of the file, which is later"
                raise MemoptError(text, place_of(user))
            last = max(last, number)


def _number(op: Operation) -> int:
    """Its operator in the file, -1 if it is of none."""
    source = op.attributes.get("memgraph.source")
    return source.operator.data if isinstance(source, SourceAttr) else -1
