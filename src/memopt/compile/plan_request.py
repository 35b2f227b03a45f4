"""The options of a plan as somebody gives them, and what they mean for a target and a model.

    request, frontend = PlanOptions(target="cortex-m4", rows="all"), frontend_of(".tflite")
    imported, network = lowered(module, request, frontend)
    options = settled(request, network, frontend)

`memopt compile`, `memopt report` and `memopt.plan` take the same road, so that the same words give
the same plan.
"""

from typing import Any

from xdsl.dialects.builtin import ModuleOp

from memopt.compile.options import PlanOptions, check_conflicts, described
from memopt.compile.pipelines import SettledOptions, rows_alignment
from memopt.dialects.memgraph.functions import body_of, has_kind, only_function
from memopt.dialects.memgraph.structure import OpaqueOp
from memopt.dialects.rows.operations import family_of
from memopt.dialects.rows.steps import steps_of
from memopt.frontends.core.registry import Frontend
from memopt.frontends.tflite.branches import without_branches
from memopt.frontends.tflite.float32 import in_float32
from memopt.frontends.tflite.known_shapes import with_known_shapes
from memopt.passes.plan.words import ALL, AUTO, BALANCED, NONE
from memopt.rewrites import KERNELS, NO_RULES, RULES, SAFE, facts_of, named_rules, unknown_rule
from memopt.targets.core.target import target_names
from memopt.text.usage import UsageError


def is_tflite(frontend: Frontend | None) -> bool:
    """Return whether TensorFlow Lite Micro runs files of this format as they are."""
    return frontend is not None and frontend.planned


def lowered(
    module: ModuleOp, request: PlanOptions, frontend: Frontend | None
) -> tuple[ModuleOp, ModuleOp]:
    """Return the imported module that a plan is compared with, and the one that is planned: for C
    both without branches, and the second with shapes that are known before the run and with reals
    of float32. Raises MemoptError for a branch of which it is not known what it runs."""
    if request.runs_file or not is_tflite(frontend):
        return module, module
    if not has_kind(module.walk(), OpaqueOp):
        return module, in_float32(module)
    imported = without_branches(module)
    return imported, with_known_shapes(in_float32(imported))


def settled(request: PlanOptions, module: ModuleOp, frontend: Frontend | None) -> SettledOptions:
    """Return how to plan `module`, which `frontend` read (None: it is IR). Raises UsageError for
    options that contradict each other."""
    check_conflicts(request)
    rewrite = request.rewrite or _default_rules(request, module, frontend)
    if wrong := unknown_rule(rewrite.split(",")):
        raise UsageError(f"--rewrite: {wrong}")
    rows = request.rows or _default_rows(request, module, frontend, rewrite)
    decided: dict[str, Any] = {name: getattr(request, name) for name, _, _ in described()}
    decided |= {
        # an opened hyper-node has another order
        "fuse": request.fuse and request.schedule != "source",
        "rows": rows if request.fit is None else AUTO,
        "stream_input": request.stream_input or request.slide is not None,
        "rewrite": rewrite,
        "optimize": request.optimize or BALANCED,
    }
    return SettledOptions(**decided, alignment=rows_alignment(module))


def _default_rules(request: PlanOptions, module: ModuleOp, frontend: Frontend | None) -> str:
    """Return those that never cost anything and those that give operators a form that kernels have,
    where C runs what they leave; of formats whose results are exact only such as are. Rows are of
    operators that were rewritten before."""
    in_rows = family_of(list(body_of(only_function(module)).ops)) == "rows"
    if request.target not in target_names("c") or in_rows:
        return NO_RULES
    free = _rounds_freely(frontend)
    rules = {name: facts_of(name) for name in RULES}
    wanted = [name for name in RULES if rules[name].applied in (SAFE, KERNELS)]
    return ",".join(name for name in wanted if free or rules[name].exact == "bits")


def _rounds_freely(frontend: Frontend | None) -> bool:
    """Return whether the model's format leaves open how results are rounded."""
    return frontend is not None and frontend.rounds_freely


def _default_rows(
    request: PlanOptions, module: ModuleOp, frontend: Frontend | None, rewrite: str
) -> str:
    """Return rows where they may help: C runs them, something has them and is not in rows already,
    and nothing is asked for that is one of whole operators."""
    if request.slide is not None:
        return ALL
    if request.cmsis_nn and request.fit is None:
        return NONE  # the library has no rows
    usual = (
        request.schedule == PlanOptions.schedule
        and request.place in ("auto", PlanOptions.place)
        and request.memory is None
        and request.target in target_names("c")
    )
    if not usual:
        return NONE
    operations = list(body_of(only_function(module)).ops)
    able = any(steps_of(op) is not None for op in operations)
    if request.rewrite is not None or _rounds_freely(frontend):  # after which there may be rows
        able = able or any(
            facts_of(rule).applied == KERNELS for rule in named_rules(rewrite.split(","))
        )
    return AUTO if able and family_of(operations) != "rows" else NONE
