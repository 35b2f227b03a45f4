"""`memgraph-tie-state{of="h:h_next"}`: an output becomes an input of the next run.

Before:
    func.func @main(%x: !t, %h: !t) -> (!t, !t) {
      %0 = memgraph.add %x, %h {memgraph.names = ["h_next"]} : (!t, !t) -> !t
      %1 = memgraph.relu %0 : (!t) -> !t
      func.return %1, %0 : !t, !t
    }
After:
    func.func @main(%x: !t) -> !t {
      %2 = memgraph.variable "h" : !t
      %3 = memgraph.read_variable %2 : (!t) -> !t
      %0 = memgraph.add %x, %3 {memgraph.names = ["h_next"]} : (!t, !t) -> !t
      %1 = memgraph.relu %0 : (!t) -> !t
      memgraph.assign_variable %0, %2 : !t, !t
      func.return %1 : !t
    }

What exporters leave to the caller, who would hand each output back, stays in a variable, zeros
before the first run. Reals that are dequantized last and quantized first, to int8 of one
quantization, stay as these: the numbers are the same. A pair that is tied already is left alone.
Refused by name: an input or output that there is not or that is tied to another, and one of another
type. The function loses its plan and, as its operators are no longer those of the file, its
`memgraph.source`.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from memopt.dialects.arithmetic.stored import element_of, is_stored
from memopt.dialects.memgraph.errors import MemoptError, nearest
from memopt.dialects.memgraph.functions import (
    argument_attributes,
    body_of,
    functions,
    set_argument_attributes,
)
from memopt.dialects.memgraph.names import name_of, rename
from memopt.dialects.memgraph.tensors import is_buffer, shape_of
from memopt.dialects.memgraph.variables import AssignVariableOp, VariableOp
from memopt.dialects.operators.quantization import DequantizeOp, QuantizeOp
from memopt.dialects.operators.stateful import ReadVariableOp
from memopt.passes.memgraph_int8_io import border_changed
from memopt.passes.plan.option import required


@dataclass(frozen=True)
class MemgraphTieStatePass(ModulePass):
    """Let outputs be inputs of the next run, kept in variables."""

    name = "memgraph-tie-state"

    of: str = required('"INPUT:OUTPUT,..."')

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in functions(op):
            for pair in self.of.split(","):
                tie_state(func, pair)


def tie_state(func: FuncOp, pair: str) -> None:
    """Tie the output to the input of a function that `pair`, `INPUT:OUTPUT`, names. Raises
    MemoptError."""
    block, place = body_of(func), f"@{func.sym_name.data}"
    last = block.last_op
    assert last is not None
    inputs, outputs = list(map(name_of, block.args)), list(map(name_of, last.operands))
    splits = _splits(pair, place)
    tied = {op.sym.data for op in block.ops if isinstance(op, VariableOp)} - set(inputs)
    if any(_sym(name) in tied and output not in outputs for name, output in splits):
        return
    fitting = [s for s in splits if s[0] in inputs and s[1] in outputs]
    given, output = (fitting or splits)[0]
    for kind, name, known in (("input", given, inputs), ("output", output, outputs)):
        if name not in known:
            names = ", ".join(known) or "none"
            text = f"{name!r} is no {kind}{nearest(name, known)}; there are: {names}"
            raise MemoptError(f"--state={pair}: {text}", place)
    argument, number = block.args[inputs.index(given)], outputs.index(output)
    value = last.operands[number]
    if argument.type != value.type or not is_buffer(argument.type):
        types = f"{_said(argument)}, but the output {output} is {_said(value)}"
        raise MemoptError(f"--state={pair}: the input {given} is {types}", place)
    if len(outputs) == 1:
        raise MemoptError(f"--state={pair}: nothing is left to return", place)
    last.operands = [v for k, v in enumerate(last.operands) if k != number]
    _keep(block, argument, value)
    attributes = argument_attributes(func)
    del attributes[argument.index]
    block.erase_arg(argument)
    set_argument_attributes(func, attributes)
    border_changed(func)


def _splits(pair: str, place: str) -> list[tuple[str, str]]:
    """Return the two names that a pair may stand for, for a colon may be part of one. Raises
    MemoptError."""
    words = pair.split(":")
    splits = [(":".join(words[:k]), ":".join(words[k:])) for k in range(1, len(words))]
    if not splits or not all(splits[0]):
        raise MemoptError(f"--state={pair}: expected INPUT:OUTPUT, such as h:h_next", place)
    return splits


def _keep(block: Block, argument: SSAValue, value: SSAValue) -> None:
    """Let readers of an argument read a variable, which holds `value` at the end of each run."""
    real, stored, quantized = value, _stored(value), _quantized(argument)
    if stored is not None and {op.results[0].type for op in quantized} == {stored.type}:
        value, old = stored, [op.results[0] for op in quantized]
    else:
        quantized, old = [], [argument]
    variable = VariableOp(_sym(name_of(argument)), value.type)
    read = ReadVariableOp.create(operands=[variable.result], result_types=[value.type])
    rename(read, {0: name_of(argument)})
    for result in old:
        result.replace_all_uses_with(read.result)
    for op in quantized:
        Rewriter.erase_op(op)
    Rewriter.insert_op([variable, read], InsertPoint.at_start(block))
    last = block.last_op
    assert last is not None
    new_content = read.result if value in old else value  # which may be what it was
    Rewriter.insert_op(AssignVariableOp(new_content, variable.result), InsertPoint.before(last))
    if isinstance(real, OpResult) and value is stored and not list(real.uses):
        Rewriter.erase_op(real.op)


def _stored(value: SSAValue) -> SSAValue | None:
    """Return the int8 that a value is dequantized from, None if it is not."""
    op = value.owner
    if not isinstance(op, DequantizeOp) or not is_stored(op.input):
        return None
    return op.input if element_of(op.input) == IntegerType(8) else None


def _quantized(argument: SSAValue) -> list[Operation]:
    """Return the readers of an argument, if all of them quantize it."""
    readers = [use.operation for use in argument.uses]
    return readers if all(isinstance(op, QuantizeOp) for op in readers) else []


def _sym(name: str) -> str:
    """Return what a variable is called: ASCII, as xDSL's text reads any other back as bytes."""
    return name.encode("ascii", "backslashreplace").decode()


def _said(value: SSAValue) -> str:
    """Return shape and elements of a tensor for people."""
    if not is_buffer(value.type):
        return str(value.type)
    shape = "x".join(map(str, shape_of(value))) or "a scalar"
    stored = " quantized" if is_stored(value) else ""
    return f"{shape} of {element_of(value)}{stored}"
