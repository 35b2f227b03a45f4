"""A variable is read where it lies, and pieces that are written into it are written there.

Before:
    !t = tensor<8x4xf32>
    func.func @main(%i: tensor<1x1xi64>, %x: tensor<1x4xf32>) -> (tensor<8x8xf32>, tensor<8xf32>) {
      %v = memgraph.variable "cache" : !t
      %1 = memgraph.read_variable %v : (!t) -> !t
      %2 = memgraph.reduce_max %1 axes [1] : (!t) -> tensor<8xf32>
      %3 = memgraph.scatter_update %1, %i, %x {memgraph.names = ["y"]}
             : (!t, tensor<1x1xi64>, tensor<1x4xf32>) -> !t
      %4 = memgraph.batch_matmul %3, %3 adj_y : (!t, !t) -> tensor<8x8xf32>
      memgraph.assign_variable %3, %v : !t, !t
      func.return %4, %2 : tensor<8x8xf32>, tensor<8xf32>
    }
After:
    func.func @main(%i: tensor<1x1xi64>, %x: tensor<1x4xf32>) -> (tensor<8x8xf32>, tensor<8xf32>) {
      %v = memgraph.variable "cache" : !t
      %1 = memgraph.read_variable %v in_place : (!t) -> !t
      %2 = memgraph.reduce_max %1 axes [1] : (!t) -> tensor<8xf32>
      %3 = memgraph.update_variable %v, %i, %x {memgraph.names = ["y"]}
             : (!t, tensor<1x1xi64>, tensor<1x4xf32>) -> !t
      %4 = memgraph.batch_matmul %3, %3 adj_y : (!t, !t) -> tensor<8x8xf32>
      func.return %4, %2 : tensor<8x8xf32>, tensor<8xf32>
    }

The copy of a cache goes, and all but the row that is new of what is written back. What is written
back whole is copied as it was.

Before:
    !t = tensor<1x4xf32>
    func.func @main(%x: !t) -> !t {
      %v = memgraph.variable "h" : !t
      %1 = memgraph.read_variable %v : (!t) -> !t
      %2 = memgraph.add %x, %1 : (!t, !t) -> !t
      memgraph.assign_variable %2, %v : !t, !t
      func.return %2 : !t
    }
After:
    func.func @main(%x: !t) -> !t {
      %v = memgraph.variable "h" : !t
      %1 = memgraph.read_variable %v in_place : (!t) -> !t
      %2 = memgraph.add %x, %1 : (!t, !t) -> !t
      memgraph.assign_variable %2, %v : !t, !t
      func.return %2 : !t
    }

Exact: the order of the block, in which every reader runs before the change, is one of those that
are left. So nothing is done where a reader comes behind the change, or is the change itself; where
the variable changes twice, or is read again after it; where what would lie there is returned; and
where something else uses the variable.

Left alone:
    !t = tensor<1x4xf32>
    func.func @main(%x: !t) -> (!t, !t, !t) {
      %v = memgraph.variable "late" : !t
      %1 = memgraph.read_variable %v : (!t) -> !t
      memgraph.assign_variable %x, %v : !t, !t
      %2 = memgraph.add %x, %1 : (!t, !t) -> !t
      %w = memgraph.variable "twice" : !t
      %3 = memgraph.read_variable %w : (!t) -> !t
      %4 = memgraph.add %x, %3 : (!t, !t) -> !t
      memgraph.assign_variable %4, %w : !t, !t
      %5 = memgraph.read_variable %w : (!t) -> !t
      %6 = memgraph.add %x, %5 : (!t, !t) -> !t
      memgraph.assign_variable %6, %w : !t, !t
      %u = memgraph.variable "given" : !t
      %7 = memgraph.read_variable %u : (!t) -> !t
      %s = memgraph.variable "itself" : !t
      %8 = memgraph.read_variable %s : (!t) -> !t
      %9 = memgraph.reshape %8 : (!t) -> !t
      memgraph.assign_variable %9, %s : !t, !t
      %o = memgraph.variable "unread" : !t
      memgraph.assign_variable %x, %o : !t, !t
      %p = memgraph.variable "else" : !t
      %10 = memgraph.read_variable %p : (!t) -> !t
      memgraph.opaque "OTHER"(%10, %p) stateful : (!t, !t) -> ()
      func.return %2, %6, %7 : !t, !t, !t
    }

A variable that is read or written through views has the shape in which it is written.

Before:
    !t = tensor<1x2x4xf32>
    !f = tensor<8xf32>
    func.func @main(%x: !t, %i: tensor<1x1xi64>, %r: tensor<1xf32>) -> (!t, !t) {
      %v = memgraph.variable "cache" : !t
      %1 = memgraph.read_variable %v {memgraph.names = ["c"]} : (!t) -> !t
      %2 = memgraph.add %x, %1 : (!t, !t) -> !t
      %3 = memgraph.reshape %1 : (!t) -> !f
      %4 = memgraph.scatter_update %3, %i, %r : (!f, tensor<1x1xi64>, tensor<1xf32>) -> !f
      %5 = memgraph.reshape %4 : (!f) -> !t
      %6 = memgraph.add %x, %5 : (!t, !t) -> !t
      memgraph.assign_variable %5, %v : !t, !t
      func.return %2, %6 : !t, !t
    }
After:
    func.func @main(%x: !t, %i: tensor<1x1xi64>, %r: tensor<1xf32>) -> (!t, !t) {
      %v = memgraph.variable "cache" : !f
      %1 = memgraph.read_variable %v in_place : (!f) -> !f
      %7 = memgraph.reshape %1 {memgraph.names = ["c"]} : (!f) -> !t
      %2 = memgraph.add %x, %7 : (!t, !t) -> !t
      %4 = memgraph.update_variable %v, %i, %r : (!f, tensor<1x1xi64>, tensor<1xf32>) -> !f
      %5 = memgraph.reshape %4 : (!f) -> !t
      %6 = memgraph.add %x, %5 : (!t, !t) -> !t
      func.return %2, %6 : !t, !t
    }

Pieces are written into a copy, as before, where they are made of what lies there, where somebody
reads that later, where the result is returned, into something else than what is read, and
through views where the file says what a variable begins with.

Before:
    !t = tensor<4x4xf32>
    !i = tensor<4x1xi64>
    !s = tensor<16x1xf32>
    !j = tensor<16x1xi64>
    func.func @main(%x: !t, %i: !i, %y: !s, %j: !j) -> (!t, !t) {
      %a = memgraph.variable "itself" : !t
      %1 = memgraph.read_variable %a : (!t) -> !t
      %2 = memgraph.reshape %1 : (!t) -> !t
      %3 = memgraph.scatter_update %1, %i, %2 : (!t, !i, !t) -> !t
      memgraph.assign_variable %3, %a : !t, !t
      %b = memgraph.variable "given" : !t
      %4 = memgraph.read_variable %b : (!t) -> !t
      %5 = memgraph.scatter_update %4, %i, %x : (!t, !i, !t) -> !t
      memgraph.assign_variable %5, %b : !t, !t
      %c = memgraph.variable "later" : !t
      %6 = memgraph.read_variable %c : (!t) -> !t
      %7 = memgraph.scatter_update %6, %i, %x : (!t, !i, !t) -> !t
      %8 = memgraph.add %7, %6 : (!t, !t) -> !t
      memgraph.assign_variable %7, %c : !t, !t
      %d = memgraph.variable "unread" initial dense<0.5> : !t : !t
      %9 = memgraph.read_variable %d : (!t) -> !t
      %10 = memgraph.scatter_update %9, %i, %x : (!t, !i, !t) -> !t
      memgraph.assign_variable %10, %d : !t, !t
      %e = memgraph.variable "other" : !t
      %11 = memgraph.read_variable %e : (!t) -> !t
      %12 = memgraph.relu %11 : (!t) -> !t
      %13 = memgraph.scatter_update %12, %i, %x : (!t, !i, !t) -> !t
      memgraph.assign_variable %13, %e : !t, !t
      %f = memgraph.variable "begun" initial dense<1.0> : !t : !t
      %14 = memgraph.read_variable %f : (!t) -> !t
      %15 = memgraph.reshape %14 : (!t) -> !s
      %16 = memgraph.scatter_update %15, %j, %y : (!s, !j, !s) -> !s
      %17 = memgraph.reshape %16 : (!s) -> !t
      memgraph.assign_variable %17, %f : !t, !t
      func.return %5, %8 : !t, !t
    }
After:
    func.func @main(%x: !t, %i: !i, %y: !s, %j: !j) -> (!t, !t) {
      %a = memgraph.variable "itself" : !t
      %1 = memgraph.read_variable %a in_place : (!t) -> !t
      %2 = memgraph.reshape %1 : (!t) -> !t
      %3 = memgraph.scatter_update %1, %i, %2 : (!t, !i, !t) -> !t
      memgraph.assign_variable %3, %a : !t, !t
      %b = memgraph.variable "given" : !t
      %4 = memgraph.read_variable %b in_place : (!t) -> !t
      %5 = memgraph.scatter_update %4, %i, %x : (!t, !i, !t) -> !t
      memgraph.assign_variable %5, %b : !t, !t
      %c = memgraph.variable "later" : !t
      %6 = memgraph.read_variable %c in_place : (!t) -> !t
      %7 = memgraph.scatter_update %6, %i, %x : (!t, !i, !t) -> !t
      %8 = memgraph.add %7, %6 : (!t, !t) -> !t
      memgraph.assign_variable %7, %c : !t, !t
      %d = memgraph.variable "unread" initial dense<0.5> : !t : !t
      %10 = memgraph.update_variable %d, %i, %x : (!t, !i, !t) -> !t
      %e = memgraph.variable "other" : !t
      %11 = memgraph.read_variable %e in_place : (!t) -> !t
      %12 = memgraph.relu %11 : (!t) -> !t
      %13 = memgraph.scatter_update %12, %i, %x : (!t, !i, !t) -> !t
      memgraph.assign_variable %13, %e : !t, !t
      %f = memgraph.variable "begun" initial dense<1.0> : !t : !t
      %14 = memgraph.read_variable %f in_place : (!t) -> !t
      %15 = memgraph.reshape %14 : (!t) -> !s
      %16 = memgraph.scatter_update %15, %j, %y : (!s, !j, !s) -> !s
      %17 = memgraph.reshape %16 : (!s) -> !t
      memgraph.assign_variable %17, %f : !t, !t
      func.return %5, %8 : !t, !t
    }
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint
from xdsl.traits import IsTerminator

from memopt.dialects.memgraph.functions import body_of
from memopt.dialects.memgraph.variables import AssignVariableOp, VariableOp
from memopt.dialects.operators.movement import ReshapeOp
from memopt.dialects.operators.scatter_update import ScatterUpdateOp, UpdateVariableOp
from memopt.dialects.operators.stateful import ReadVariableOp
from memopt.dialects.operators.traits import View
from memopt.rewrites import FunctionRule, erase_unread


@dataclass(frozen=True)
class Uses:
    """A variable that is read, not in place yet, and then changes once at most."""

    variable: VariableOp
    reads: Sequence[ReadVariableOp]
    change: AssignVariableOp | None


class VariableInPlace(FunctionRule):
    """The rule above."""

    exact = "bits"
    needs = (VariableOp,)
    applied = "kernels"

    def rewrite_function(self, func: FuncOp, rewriter: PatternRewriter) -> bool:
        variables = [op for op in body_of(func).ops if isinstance(op, VariableOp)]
        return bool(sum(self._put_in_place(op, rewriter) for op in variables))

    def _put_in_place(self, variable: VariableOp, rewriter: PatternRewriter) -> bool:
        block = variable.parent
        assert block is not None
        place = {op: k for k, op in enumerate(block.ops)}
        uses = uses_of(variable)
        if uses is None:
            return False
        for written in (written_of(uses), None):
            change = uses.change if written is None else written
            if not is_read_before(uses, change, place):
                continue
            if written is not None:
                uses = self._write_there(uses, written, rewriter)
            for read in uses.reads:
                read.properties["in_place"] = UnitAttr()
                self.changed(read, rewriter)
            erase_unread([read.result for read in uses.reads], rewriter.erase, is_read)
            return True
        return False

    def _write_there(self, uses: Uses, written: ScatterUpdateOp, rewriter: PatternRewriter) -> Uses:
        """Write pieces into the variable, not into a copy of it that is then written back; return
        what is left of its uses."""
        assert uses.change is not None
        content, source = uses.change.input, written.input
        rewriter.erase(uses.change)
        erase_unread([content], rewriter.erase, lambda op: op.has_trait(View))
        if source.type != uses.variable.result.type:
            uses = self._of_type(uses, source.type, rewriter)
        update = UpdateVariableOp.create(
            operands=[uses.variable.result, *written.operands[1:]],
            result_types=[written.result.type],
            properties=written.properties,
        )
        update.location = written.location
        rewriter.insert(update, InsertPoint.before(written))
        self.replaced(written, update, rewriter)
        erase_unread([source], rewriter.erase, lambda op: op.has_trait(View))
        return uses

    def _of_type(self, uses: Uses, type_: Attribute, rewriter: PatternRewriter) -> Uses:
        """Let a variable have the shape in which it is written, and who reads it a view of that."""
        variable = VariableOp(uses.variable.sym.data, type_)
        rewriter.insert(variable, InsertPoint.before(uses.variable))
        reads: list[ReadVariableOp] = []
        for old in uses.reads:
            read = ReadVariableOp.create(operands=[variable.result], result_types=[type_])
            view = ReshapeOp.create(operands=[read.result], result_types=[old.result.type])
            for new in (read, view):
                new.location = old.location
                rewriter.insert(new, InsertPoint.before(old))
            self.replaced(old, view, rewriter)
            reads.append(read)
        rewriter.erase(uses.variable)
        return Uses(variable, reads, None)


def is_read(op: Operation) -> bool:
    return isinstance(op, ReadVariableOp)


def uses_of(variable: VariableOp) -> Uses | None:
    """Return the uses of a variable that may lie where it does; None of any other variable."""
    users = [use.operation for use in variable.result.uses]
    reads = [op for op in users if isinstance(op, ReadVariableOp) and op.in_place is None]
    changes = [op for op in users if isinstance(op, AssignVariableOp)]
    if not reads or len(changes) > 1 or len(reads) + len(changes) < len(users):
        return None
    return Uses(variable, reads, changes[0] if changes else None)


def written_of(uses: Uses) -> ScatterUpdateOp | None:
    """Return what puts pieces into what is read of a variable, which then holds the result; None if
    nothing does, or if that is returned, or made of the variable itself at once."""
    scatter = shown_of(uses.change.input).owner if uses.change is not None else None
    if not isinstance(scatter, ScatterUpdateOp):
        return None
    held = [read.result for read in uses.reads]
    returned = any(op.has_trait(IsTerminator) for op in readers_of(scatter.result))
    again = any(shown_of(value) in held for value in scatter.operands[1:])
    begins_alike = uses.variable.initial is None or scatter.input.type == uses.variable.result.type
    fits = shown_of(scatter.input) in held and begins_alike
    return scatter if fits and not returned and not again else None


def is_read_before(uses: Uses, change: Operation | None, place: Mapping[Operation, int]) -> bool:
    """Return whether all who read a variable stand before what changes it, and none returns it."""
    readers = [op for read in uses.reads for op in readers_of(read.result)]
    if change is not uses.change:  # it writes pieces into what it reads
        readers = [op for op in readers if op is not change]
    end = len(place) if change is None else place[change]
    return all(place[op] < end and not op.has_trait(IsTerminator) for op in readers)


def readers_of(value: SSAValue) -> list[Operation]:
    """Return the operations that read a value or a view of it."""
    readers: list[Operation] = []
    for op in (use.operation for use in value.uses):
        readers += readers_of(op.results[0]) if op.has_trait(View) else [op]
    return readers


def shown_of(value: SSAValue) -> SSAValue:
    """Return what a value is a view of, itself if it is none."""
    while isinstance(value, OpResult) and value.op.has_trait(View):
        value = value.op.operands[0]
    return value
