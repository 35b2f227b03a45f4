"""Powers, and quotients rounded down with what they leave, of reals."""

from collections.abc import Callable, Mapping
from typing import ClassVar

from xdsl.irdl import traits_def

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, unknown
from memopt.dialects.operators.base import derived
from memopt.dialects.operators.prelu import BentOp
from memopt.dialects.operators.traits import RealsOnly


class RealBentOp(BentOp):
    """Base of these."""

    COMMUTES: ClassVar[bool] = False
    traits = traits_def(RealsOnly())
    REALS: ClassVar[bool | None] = True

    def of_reals(self, a: Array, b: Array) -> Array:
        if a.dtype.kind != "f" and (self.REALS or str(a.dtype) not in ("int32", "int64")):
            raise unknown(self, "integers")
        with np.errstate(all="ignore"):
            return self.of_floats(a, b)

    def of_floats(self, a: Array, b: Array) -> Array:
        raise NotImplementedError

    def of_stored(self, a: Array, b: Array, bits: int) -> Array:
        raise unknown(self, "stored integers")


def real_function(
    name: str,
    words: str,
    real: Callable[[Array, Array], Array],
    c: Mapping[str, str],
    reals: bool = True,
    tflite: str = "",
    onnx: str = "",
) -> type[RealBentOp]:
    """Return the operation `memgraph.<name>`, the function `real` of two float32, or int32 and
    int64 too unless of `reals` alone; the others are as BinaryOp has them."""

    def of_floats(op: RealBentOp, a: Array, b: Array) -> Array:
        return real(a, b)

    fields = {"C": c, "REALS": reals, "TFLITE": tflite, "ONNX": onnx}
    return derived(RealBentOp, name, words, of_floats=of_floats, **fields)


PowOp = real_function(
    "pow",
    "The left operand to the power of the right one, with numpy's broadcasting.",
    lambda a, b: np.power(a, b),
    c={"f32": "powf(x, y)"},
    tflite="POW",
    onnx="Pow",
)
Atan2Op = real_function(
    "atan2",
    """The angle whose tangent is the left operand by the right one, in the quadrant that both say,
    with numpy's broadcasting.""",
    lambda a, b: np.arctan2(a, b),
    c={"f32": "atan2f(x, y)"},
    tflite="ATAN2",
)
FloorDivOp = real_function(
    "floor_div",
    "The quotient rounded down, with numpy's broadcasting; of integers by 0 it is 0.",
    lambda a, b: np.floor(a / b) if a.dtype.kind == "f" else np.floor_divide(a, b),
    c={"f32": "floorf(x / y)"},
    reals=False,
    tflite="FLOOR_DIV",
)
FloorModOp = real_function(
    "floor_mod",
    "Remainder of a quotient that is rounded down, with numpy's broadcasting.",
    lambda a, b: np.mod(a, b),
    c={},
    reals=False,
    tflite="FLOOR_MOD",
)
RemainderOp = real_function(
    "remainder",
    """Remainder of a quotient that is rounded towards zero, with the left operand's sign and
    numpy's broadcasting; of integers by 0 it is 0.""",
    lambda a, b: np.fmod(a, b),
    c={"f32": "fmodf(x, y)", **dict.fromkeys(("i32", "i64"), "y == 0 || y == -1 ? 0 : x % y")},
    reals=False,
)
