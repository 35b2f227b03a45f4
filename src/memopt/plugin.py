"""What memopt adds to every xDSL tool: its dialect and its passes, loaded when they are used."""

from collections.abc import Callable

from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.universe import Universe


def _memgraph() -> Dialect:
    from memopt.dialects.memgraph import MEMGRAPH

    return MEMGRAPH


def _model() -> type[ModulePass]:
    from memopt.passes.memgraph_model import MemgraphModelPass

    return MemgraphModelPass


def _prepare() -> type[ModulePass]:
    from memopt.passes.memgraph_prepare import MemgraphPreparePass

    return MemgraphPreparePass


def _fuse() -> type[ModulePass]:
    from memopt.passes.memgraph_fuse import MemgraphFusePass

    return MemgraphFusePass


def _partition() -> type[ModulePass]:
    from memopt.passes.memgraph_partition import MemgraphPartitionPass

    return MemgraphPartitionPass


def _schedule() -> type[ModulePass]:
    from memopt.passes.memgraph_schedule import MemgraphSchedulePass

    return MemgraphSchedulePass


def _place() -> type[ModulePass]:
    from memopt.passes.memgraph_place import MemgraphPlacePass

    return MemgraphPlacePass


def _memory() -> type[ModulePass]:
    from memopt.passes.memgraph_memory import MemgraphMemoryPass

    return MemgraphMemoryPass


def _traffic() -> type[ModulePass]:
    from memopt.passes.memgraph_traffic import MemgraphTrafficPass

    return MemgraphTrafficPass


def _verify_plan() -> type[ModulePass]:
    from memopt.passes.memgraph_verify_plan import MemgraphVerifyPlanPass

    return MemgraphVerifyPlanPass


PASSES: dict[str, Callable[[], type[ModulePass]]] = {
    "memgraph-model": _model,
    "memgraph-prepare": _prepare,
    "memgraph-fuse": _fuse,
    "memgraph-partition": _partition,
    "memgraph-schedule": _schedule,
    "memgraph-place": _place,
    "memgraph-memory": _memory,
    "memgraph-traffic": _traffic,
    "memgraph-verify-plan": _verify_plan,
}

UNIVERSE = Universe(all_dialects={"memgraph": _memgraph}, all_passes=dict(PASSES))
