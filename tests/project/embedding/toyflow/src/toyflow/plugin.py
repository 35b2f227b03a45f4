"""What toyflow adds to every xDSL tool, `xdsl-opt` and `memopt-opt` among them."""

from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.universe import Universe


def _toy() -> Dialect:
    from toyflow.dialect import TOY

    return TOY


def _simplify() -> type[ModulePass]:
    from toyflow.passes import ToySimplifyPass

    return ToySimplifyPass


def _addresses() -> type[ModulePass]:
    from toyflow.passes import ToyAddressesPass

    return ToyAddressesPass


UNIVERSE = Universe(
    all_dialects={"toy": _toy},
    all_passes={"toy-simplify": _simplify, "toy-addresses": _addresses},
)
