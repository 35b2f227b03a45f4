"""Functions of real numbers that no runtime of ours has of stored integers in one way."""

from collections.abc import Callable, Sequence
from math import erf
from typing import ClassVar

from xdsl.irdl import (
    irdl_op_definition,
)

from memopt.dialects.operators.unary import FunctionOp
from memopt.dialects.stored import Array, unknown


class RealFunctionOp(FunctionOp):
    """Base of functions of real numbers alone; what is not finite is as in C."""

    INTEGERS: ClassVar[bool] = False

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        import numpy as np

        with np.errstate(all="ignore"):
            return super().evaluate(operands)

    def of_stored(self, bits: int, values: tuple[int, int]) -> Callable[[int], int]:
        raise unknown(self, "stored integers")


@irdl_op_definition
class AbsOp(RealFunctionOp):
    """The absolute value, element-wise."""

    name = "memgraph.abs"

    def of_reals(self, x: Array) -> Array:
        import numpy as np

        return np.abs(x)


@irdl_op_definition
class NegOp(RealFunctionOp):
    """-x, element-wise."""

    name = "memgraph.neg"

    def of_reals(self, x: Array) -> Array:
        return -x


@irdl_op_definition
class SquareOp(RealFunctionOp):
    """x * x, element-wise."""

    name = "memgraph.square"

    def of_reals(self, x: Array) -> Array:
        return x * x


@irdl_op_definition
class SqrtOp(RealFunctionOp):
    """The square root, element-wise."""

    name = "memgraph.sqrt"

    def of_reals(self, x: Array) -> Array:
        import numpy as np

        return np.sqrt(x)


@irdl_op_definition
class RsqrtOp(RealFunctionOp):
    """1 over the square root, element-wise."""

    name = "memgraph.rsqrt"

    def of_reals(self, x: Array) -> Array:
        import numpy as np

        return 1 / np.sqrt(x)


@irdl_op_definition
class ExpOp(RealFunctionOp):
    """e to the power of x, element-wise."""

    name = "memgraph.exp"

    def of_reals(self, x: Array) -> Array:
        import numpy as np

        return np.exp(x.astype(np.float64))


@irdl_op_definition
class LogOp(RealFunctionOp):
    """The natural logarithm, element-wise."""

    name = "memgraph.log"

    def of_reals(self, x: Array) -> Array:
        import numpy as np

        return np.log(x.astype(np.float64))


@irdl_op_definition
class FloorOp(RealFunctionOp):
    """The largest whole number that is not above x, element-wise."""

    name = "memgraph.floor"

    def of_reals(self, x: Array) -> Array:
        import numpy as np

        return np.floor(x)


@irdl_op_definition
class CeilOp(RealFunctionOp):
    """The smallest whole number that is not below x, element-wise."""

    name = "memgraph.ceil"

    def of_reals(self, x: Array) -> Array:
        import numpy as np

        return np.ceil(x)


@irdl_op_definition
class RoundOp(RealFunctionOp):
    """The nearest whole number, halves to the even one, element-wise."""

    name = "memgraph.round"

    def of_reals(self, x: Array) -> Array:
        import numpy as np

        return np.rint(x)


@irdl_op_definition
class SinOp(RealFunctionOp):
    """The sine, element-wise."""

    name = "memgraph.sin"

    def of_reals(self, x: Array) -> Array:
        import numpy as np

        return np.sin(x.astype(np.float64))


@irdl_op_definition
class CosOp(RealFunctionOp):
    """The cosine, element-wise."""

    name = "memgraph.cos"

    def of_reals(self, x: Array) -> Array:
        import numpy as np

        return np.cos(x.astype(np.float64))


@irdl_op_definition
class AtanOp(RealFunctionOp):
    """The angle between -pi/2 and pi/2 whose tangent is x, element-wise."""

    name = "memgraph.atan"

    def of_reals(self, x: Array) -> Array:
        import numpy as np

        return np.arctan(x.astype(np.float64))


@irdl_op_definition
class ErfOp(RealFunctionOp):
    """The error function, element-wise."""

    name = "memgraph.erf"

    def of_reals(self, x: Array) -> Array:
        import numpy as np

        return np.vectorize(erf, otypes=[np.float64])(x.astype(np.float64))
