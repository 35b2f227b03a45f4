"""Powers, and quotients rounded down with what they leave, of reals."""

from typing import ClassVar

from xdsl.irdl import irdl_op_definition, traits_def

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, unknown
from memopt.dialects.operators.prelu import BentOp
from memopt.dialects.operators.traits import RealsOnly


class RealBentOp(BentOp):
    """Base of these."""

    COMMUTES: ClassVar[bool] = False
    traits = traits_def(RealsOnly())
    REALS: ClassVar[bool] = True  # alone, and not int32 and int64, too

    def of_reals(self, a: Array, b: Array) -> Array:
        if a.dtype.kind != "f" and (self.REALS or str(a.dtype) not in ("int32", "int64")):
            raise unknown(self, "integers")
        with np.errstate(all="ignore"):
            return self.of_floats(a, b)

    def of_floats(self, a: Array, b: Array) -> Array:
        raise NotImplementedError

    def of_stored(self, a: Array, b: Array, bits: int) -> Array:
        raise unknown(self, "stored integers")


@irdl_op_definition
class PowOp(RealBentOp):
    """The left operand to the power of the right one, with numpy's broadcasting."""

    name = "memgraph.pow"

    def of_floats(self, a: Array, b: Array) -> Array:
        return np.power(a, b)


@irdl_op_definition
class Atan2Op(RealBentOp):
    """The angle whose tangent is the left operand by the right one, in the quadrant that both say,
    with numpy's broadcasting."""

    name = "memgraph.atan2"

    def of_floats(self, a: Array, b: Array) -> Array:
        return np.arctan2(a, b)


@irdl_op_definition
class FloorDivOp(RealBentOp):
    """The quotient rounded down, with numpy's broadcasting; of integers by 0 it is 0."""

    name = "memgraph.floor_div"
    REALS: ClassVar[bool] = False

    def of_floats(self, a: Array, b: Array) -> Array:
        return np.floor(a / b) if a.dtype.kind == "f" else np.floor_divide(a, b)


@irdl_op_definition
class FloorModOp(RealBentOp):
    """Remainder of a quotient that is rounded down, with numpy's broadcasting."""

    name = "memgraph.floor_mod"
    REALS: ClassVar[bool] = False

    def of_floats(self, a: Array, b: Array) -> Array:
        return np.mod(a, b)


@irdl_op_definition
class RemainderOp(RealBentOp):
    """Remainder of a quotient that is rounded towards zero, with the left operand's sign and
    numpy's broadcasting; of integers by 0 it is 0."""

    name = "memgraph.remainder"
    REALS: ClassVar[bool] = False

    def of_floats(self, a: Array, b: Array) -> Array:
        return np.fmod(a, b)
