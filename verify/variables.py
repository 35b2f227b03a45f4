"""Variables of a plan: who uses them keeps the order of the file, and what is read where a variable
lies is read before it changes."""

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from memopt.dialects.attributes.operators import SourceAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of
from memopt.dialects.memgraph.names import name_of, place_of
from memopt.dialects.memgraph.variables import VariableOp
from memopt.dialects.operators.stateful import ReadVariableOp, StatefulOp
from memopt.verify.groups import Reading


def check_variables(func: FuncOp, memory: Reading) -> None:
    """Raise MemoptError if an operation of a file comes after one that stands behind it there, and
    both use the same variable; or if a variable changes while somebody still reads it in place."""
    for op in body_of(func).ops:
        if not isinstance(op, VariableOp):
            continue
        users = {use.operation for use in op.result.uses}
        in_order = [other for other in body_of(func).ops if other in users]
        last = -1
        for user in in_order:
            number = _file_number(user)
            if 0 <= number < last:
                text = f"it uses {op.sym.data} after operator {last} of the file, which is later"
                raise MemoptError(text, place_of(user))
            last = max(last, number)
        _check_in_place(op, in_order, memory)


def _check_in_place(variable: VariableOp, users: list[Operation], memory: Reading) -> None:
    """Raise MemoptError unless what lies in a variable is read before the variable changes, and
    goes nowhere else."""
    name, step_of = variable.sym.data, {op: k for k, op in enumerate(memory.operations)}
    changes: list[tuple[int, Operation]] = []
    shown: list[tuple[int, SSAValue]] = []  # from which step on a value is what the variable holds
    for op in users:
        step = step_of.get(op, -1)
        if isinstance(op, StatefulOp) and op.lies_in is variable.result:
            shown.append((step, op.results[0]))
        if step >= 0 and not isinstance(op, ReadVariableOp):
            changes.append((step, op))
    for begin, value in shown:
        group = memory.of_value[value][0]
        if memory.groups[group].is_output:
            raise MemoptError(f"{name_of(value)} lies in a variable, but is returned")
        parts = [v for v, (of, _) in memory.parts.items() if memory.of_value[of][0] == group]
        last = max(memory.groups[memory.of_value[v][0]].last for v in (value, *parts))
        for step, op in changes if value.uses else ():
            if begin < step <= last:
                text = f"changes {name}, but {name_of(value)}, which lies there, is read later"
                raise MemoptError(text, place_of(op))


def _file_number(op: Operation) -> int:
    """Its operator in the file, -1 if it is of none."""
    source = op.attributes.get("memgraph.source")
    return source.operator.data if isinstance(source, SourceAttr) else -1
