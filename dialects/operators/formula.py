"""A formula of one tensor: several element-wise operators in one.

    %1 = memgraph.formula %0 "mul(x, logistic(x))" : (tensor<1x8xf32>) -> tensor<1x8xf32>

Calls are named after the operations that they stand for; what stands twice is computed once.
"""

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Final

from xdsl.dialects.builtin import Float32Type, StringAttr
from xdsl.irdl import prop_def, traits_def
from xdsl.utils.exceptions import VerifyException

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, element_of, unknown
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import elements_of
from memopt.dialects.operators.base import ROUNDING, TYPES
from memopt.dialects.operators.binary import (
    AddOp,
    BinaryOp,
    DivOp,
    MaximumOp,
    MinimumOp,
    MulOp,
    SubOp,
)
from memopt.dialects.operators.powers import PowOp
from memopt.dialects.operators.real_functions import (
    AbsOp,
    ErfOp,
    ExpOp,
    LogOp,
    NegOp,
    SqrtOp,
    SquareOp,
)
from memopt.dialects.operators.traits import Elementwise, RealsOnly
from memopt.dialects.operators.unary import FunctionOp, LogisticOp, Relu6Op, ReluOp, TanhOp, UnaryOp

_CALLS = (
    *(AddOp, SubOp, MulOp, DivOp, MinimumOp, MaximumOp, PowOp),
    *(AbsOp, ErfOp, ExpOp, LogOp, LogisticOp, NegOp, ReluOp, Relu6Op, SqrtOp, SquareOp, TanhOp),
)
CALLS: Final[dict[str, type[FunctionOp] | type[BinaryOp]]] = {
    op.name.removeprefix("memgraph."): op for op in _CALLS
}
"""Name of a call -> the operation that it is."""
PRODUCTS: Final = (MulOp, DivOp)
"""Operations that gate a tensor by a function of it."""
OPERAND: Final = 0
"""The value that is the operand `x`; step number k makes value k + 1."""
REGISTERS: Final = 4
"""How many values a kernel keeps at a time, the operand among them."""


@dataclass(frozen=True)
class Step:
    """A call: of values by their number, and of known numbers."""

    call: str
    operands: tuple[int | float, ...]


@operation_definition
class FormulaOp(UnaryOp):
    """Several element-wise operators of one tensor, element-wise, each step rounded to float32."""

    name = "memgraph.formula"
    formula = prop_def(StringAttr)
    traits = traits_def(Elementwise(), RealsOnly())
    assembly_format = "$input $formula" + ROUNDING + " " + TYPES

    def verify_(self) -> None:
        super().verify_()
        reals = (isinstance(element_of(v), Float32Type) for v in (self.input, self.result))
        self.require(all(reals), "a formula is of float32")
        try:
            registers_of(self.steps)
        except ValueError as error:
            raise VerifyException(f"{self.name}: {error}") from None

    @property
    def steps(self) -> list[Step]:
        """The steps of the formula. Raises ValueError if it is none."""
        return steps_of(self.formula.data)

    def macs(self) -> int:
        """Return one per product."""
        return elements_of(self.result) * [step.call for step in self.steps].count("mul")

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        if operands[0].dtype != np.float32:
            raise unknown(self, f"a formula of {operands[0].dtype}")
        values: list[Array] = [operands[0]]
        with np.errstate(all="ignore"):
            for step in self.steps:
                numbers = (
                    values[v] if isinstance(v, int) else np.float32(v) for v in step.operands
                )
                values.append(_of_reals(step.call, [*numbers]).astype(np.float32))
        return [values[-1]]


def _of_reals(call: str, operands: list[Array]) -> Array:
    kind = CALLS[call]
    op = kind.create()
    assert isinstance(op, FunctionOp | BinaryOp)
    return op.of_reals(*operands)  # type: ignore[call-arg]


def steps_of(text: str) -> list[Step]:
    """Return the steps of a formula, what stands twice once. Raises ValueError for what is none."""
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, RecursionError) as error:
        raise ValueError(f"{text!r} is no formula") from error
    numbers: dict[Step, int] = {}

    def value(term: ast.expr) -> int | float:
        match term:
            case ast.Name(id="x"):
                return OPERAND
            case ast.Constant(value=float() as number) if isfinite(number):
                return number
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant() as number):
                return -value(number)
            case ast.Call(func=ast.Name(id=call), args=args, keywords=[]) if call in CALLS:
                step = Step(call, tuple(map(value, args)))
                known = sum(isinstance(v, float) for v in step.operands)
                count = 2 if issubclass(CALLS[call], BinaryOp) else 1
                if len(args) == count and known < count:
                    return numbers.setdefault(step, len(numbers) + 1)
            case _:
                pass
        raise ValueError(f"{ast.unparse(term)!r} is no formula of x")

    if value(tree) != len(numbers) or not numbers:
        raise ValueError(f"{text!r} computes nothing")
    return list(numbers)


def registers_of(steps: Sequence[Step]) -> list[int]:
    """Return where a kernel keeps each value, the operand in register 0. Raises ValueError if there
    are not enough registers."""
    last = {v: k for k, step in enumerate(steps) for v in step.operands if isinstance(v, int)}
    places, free = [0], list(range(REGISTERS - 1, 0, -1))
    for k, step in enumerate(steps):
        ends = {v for v in step.operands if isinstance(v, int) and last[v] == k}
        free += [places[v] for v in sorted(ends)]
        if not free:
            raise ValueError(f"a formula keeps at most {REGISTERS} values at a time")
        places.append(free.pop())
    return places
