"""From a file to a module, and through a pipeline: what both commands share.

`--time-limit` includes reading the file and printing the answer. `memopt-opt` has a limit for each
of its passes, `compile`, `report` and `memopt.plan` one for all.
"""

import os
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import ArgSpecParseError, PassFailedException

from memopt.compile.dropped import Decisions
from memopt.dialects.attributes.channels import has_claims
from memopt.dialects.foreign.context import ForeignContext
from memopt.dialects.memgraph.errors import MemoptError, nearest
from memopt.dialects.memgraph.functions import check_definitions, functions
from memopt.dialects.memgraph.parts import NAME as MEMGRAPH
from memopt.dialects.memgraph.parts import PARTS
from memopt.dialects.memgraph.plan import OFF_CHIP, PLAN, plan_of
from memopt.frontends.core.registry import frontend_of, listed
from memopt.frontends.core.shapes import Fixed, Shapes
from memopt.plugin import PASSES, UNIVERSE
from memopt.solvers import clock
from memopt.targets.core.planned_for import target_of
from memopt.text.diagnostics import progress, verify_module
from memopt.text.distributions import declaring
from memopt.text.ir_text import module_text, parse_module
from memopt.text.usage import UsageError

if TYPE_CHECKING:
    from xdsl.utils.arg_spec import ArgSpec

    from memopt.backends.checked import Checked
    from memopt.passes.plan.planned import Planned

FILES = "memgraph.files"
IR = ".mlir"
OF_NOBODY_ELSE = (frozenset({"xdsl"}), frozenset({"xdsl", "memopt"}))
LEAST = 0.1  # of a limit, which its pass has in any case


def new_context(allow_unregistered: bool = False) -> Context:
    """A context that knows every dialect of the environment, each loaded when it is met."""
    context = ForeignContext(allow_unregistered=allow_unregistered)
    for name, factory in {**_dialects(), MEMGRAPH: PARTS}.items():
        context.register_dialect(name, factory)
    context.load_registered_dialect("builtin")
    return context


@cache
def _dialects() -> Mapping[str, Callable[[], Dialect]]:
    """Return the dialects of all packages that have any, by name."""
    from xdsl.universe import XDSL_UNIVERSE, Universe

    if declaring("xdsl.universe") in OF_NOBODY_ELSE:
        return {**XDSL_UNIVERSE.all_dialects, **UNIVERSE.all_dialects}
    return Universe.get_multiverse().all_dialects


def extra_passes() -> dict[str, Callable[[], type[ModulePass]]]:
    """xDSL's own passes that are of use around a plan."""
    from xdsl.transforms import get_all_passes

    known = get_all_passes()
    return {name: known[name] for name in ("canonicalize", "cse", "dce")}


# -- reading ------------------------------------------------------------------------------------


def load_model(path: Path, shapes: Shapes, fixed: Fixed | None = None) -> ModuleOp:
    """Import a model file, with these shapes of its inputs, and inputs that are constants. Raises
    MemoptError and OSError."""
    return import_bytes(path.read_bytes(), path.suffix, str(path), path, shapes, fixed)


def import_bytes(
    data: bytes,
    suffix: str,
    name: str,
    path: Path | None,
    shapes: Shapes | None = None,
    fixed: Fixed | None = None,
) -> ModuleOp:
    """Import the bytes of a model file that would end so; `path` is where they are, None: nowhere.

    `shapes` are those of its inputs, `fixed` the elements of those that are constants. Raises
    MemoptError, also for a suffix of no format.
    """
    frontend = frontend_of(suffix)
    if frontend is None:
        raise MemoptError(unknown_kind(), name)
    module = frontend.read(data, name, path, shapes or {}, fixed or {})
    if frontend.rules:
        from memopt.rewrites import apply_rules

        apply_rules(module, frontend.rules, reading=True)
    return module


def unknown_kind() -> str:
    """Return the refusal of a file that is neither a model nor IR."""
    return f"unknown kind of file, expected {listed(IR)}"


def is_model(path: Path) -> bool:
    """Return whether a frontend reads such files."""
    return frontend_of(path.suffix) is not None


def load_text(context: Context, text: str, name: str, line_offset: int = 0) -> ModuleOp:
    """Parse and verify IR; model files that it names are found beside it."""
    module = parse_module(context, text, name, line_offset)
    verify_module(module)
    folder = Path(name).parent if name != "stdin" else Path()
    _move_files(module, lambda path: os.path.normpath(folder / path))
    return module


def check_module(module: ModuleOp) -> None:
    """Verify the IR, that values are made before they are used, which xDSL does not look at, and
    that each function's target is known."""
    verify_module(module)
    for func in functions(module):
        target_of(func)
        for block in func.body.blocks:
            check_definitions(block)


def check_claims(module: ModuleOp, data: bytes | None = None) -> None:
    """Raise MemoptError for a false claim about channels that were left out, or about traffic off
    the chip. `data` are the bytes of the model if it is in no file."""
    if claiming := [func for func in functions(module) if has_claims(func)]:
        from memopt.analysis.weights import Weights  # and all operators, for the few
        from memopt.verify.channels import verify_channels

        weights = Weights.of(module) if data is None else Weights.holding(data)
        for func in claiming:
            verify_channels(func, weights.array)
    check_off_chip(module)


def check_off_chip(module: ModuleOp) -> None:
    """Raise MemoptError for a false claim about traffic off the chip."""
    for func in functions(module):
        if OFF_CHIP in func.attributes:
            from memopt.passes.memgraph_traffic import check_traffic  # with solvers, for the few

            check_traffic(func)


def _move_files(module: ModuleOp, move: Callable[[str], str]) -> None:
    files = module.attributes.get(FILES)
    if isinstance(files, DictionaryAttr):
        moved = {
            key: StringAttr(move(value.data)) if isinstance(value, StringAttr) else value
            for key, value in files.data.items()
        }
        module.attributes[FILES] = DictionaryAttr(moved)


def model_files(module: ModuleOp) -> tuple[Path, ...]:
    """The files that the module's weights lie in."""
    files = module.attributes.get(FILES)
    values = files.data.values() if isinstance(files, DictionaryAttr) else ()
    return tuple(Path(value.data) for value in values if isinstance(value, StringAttr))


def set_model_path(module: ModuleOp, path: str) -> None:
    """Let every weight reference resolve in `path`; the hash is still checked on use."""
    _move_files(module, lambda _: path)


def relative_files(module: ModuleOp, folder: Path | None) -> None:
    """Name model files relative to the folder that the IR is written to.

    None is stdout: nobody knows where that ends up, so absolute paths stay.
    """

    def name(path: str) -> str:
        if folder is None:
            return path if Path(path).is_absolute() else os.path.relpath(path)
        return os.path.relpath(path, folder)

    _move_files(module, name)


# -- running ------------------------------------------------------------------------------------


@dataclass
class PassRun:
    """One pass that ran, and its own seconds."""

    name: str
    seconds: float


@dataclass
class Options:
    """Output while the pipeline runs; all of it goes to stderr."""

    print_before: bool = False
    print_after: bool = False
    time_passes: bool = False
    stats: bool = False
    verify: bool = True
    runs: list[PassRun] = field(default_factory=list[PassRun])


# sizes, memories and names, which xDSL's grammar takes in quotes only: 256K, dtcm:64K@1,sram:320K
_SIZES = re.compile(r"=(\d+[KMkm]|[^\s\"={}]*[:@/][^\s\"={}]*)(?=[\s}])")


# mlir-opt writes the operation that a pipeline runs on; ours run on the module, as its do then
_ANCHOR = re.compile(r"\s*builtin\.module\s*\((.*)\)\s*", re.DOTALL)
_QUOTED = re.compile(r'("(?:[^"\\]|\\.)*")')


def tidy(text: str) -> str:
    """A pipeline text without its anchor and without spaces that say nothing: xDSL takes neither.

    Within quotes every space stays.
    """
    anchored = _ANCHOR.fullmatch(text)
    parts = _QUOTED.split(anchored[1] if anchored else text)
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"\s*([,{}=])\s*", r"\1", re.sub(r"\s+", " ", parts[i]))
    return "".join(parts).strip()


def build_pipeline(text: str) -> tuple[ModulePass, ...]:
    """The passes of a pipeline text. Raises UsageError."""
    from xdsl.utils.arg_spec import parse_pipeline

    try:
        specs: list[ArgSpec] = list(parse_pipeline(_SIZES.sub(r'="\1"', tidy(text))))
    except ArgSpecParseError as error:
        reason = str(error).strip().splitlines()[-1].strip(" ^-")
        raise UsageError(f"cannot read the pipeline {text!r}: {reason}") from None
    passes: list[ModulePass] = []
    for spec in specs:
        factory = PASSES.get(spec.name) or extra_passes().get(spec.name)
        if factory is None:
            known = [*PASSES, *extra_passes()]
            text = f"unknown pass {spec.name!r}{nearest(spec.name, known)}"
            raise UsageError(f"{text}; there are: {', '.join(known)}")
        _check_options(factory(), spec)
        try:
            passes.append(factory().from_spec(spec))
        except (ValueError, PassFailedException) as error:
            reason = str(error).removeprefix(f"{spec.name}: ")
            raise UsageError(f"{spec.name}: {reason}") from None
    return tuple(passes)


def _check_options(factory: type[ModulePass], spec: "ArgSpec") -> None:
    """Raise UsageError for an option that the pass has not, or needs and is not given."""
    from xdsl.passes import get_pass_option_infos

    infos = get_pass_option_infos(factory)
    known = [spelled(option.name) for option in infos]
    given = list(map(spelled, spec.parameters))
    for name in given:
        if name not in known:
            close = nearest(name, known)
            text = f"{spec.name} has no option {name!r}{close}; there are: "
            raise UsageError(text + (", ".join(known) or "none"))
    for option, name in zip(infos, known, strict=True):
        if option.default_value is None and name not in given:
            raise UsageError(f"{spec.name} requires the option {name!r}")


def spelled(option: str) -> str:
    """An option as it is written on the command line; of a keyword of Python, `from_`, without what
    sets it apart."""
    return option.rstrip("_").replace("_", "-")


def run_pipeline(
    context: Context,
    module: ModuleOp,
    passes: Sequence[ModulePass],
    options: Options,
    started: float,
    known: "dict[FuncOp, Planned]",
) -> frozenset[str]:
    """Run passes in the order given, verifying after each, within the limits counted since reading
    has `started`. The names of the functions whose plan only claims its bound: it was read, and no
    pass has proved one since. `known` is given what is known of the functions at the end."""
    if options.verify:
        check_module(module)
    passes = shorten_limits(passes, clock.now() - started)
    claimed, decisions = _planned(module), Decisions(module)
    for step in passes:
        if options.print_before:
            print(f"// IR before {step.name}\n{module_text(module)}", file=sys.stderr)
        start = time.perf_counter()
        with progress(step.name, clock.deadline(_limit(step))):
            run_pass(context, module, step, known)
        seconds = time.perf_counter() - start
        if not getattr(step, "lowers", False):  # there the plan has become addresses
            decisions.follow(step.name, module)
        options.runs.append(PassRun(step.name, seconds))
        if options.verify:
            check_module(module)
        claimed = frozenset[str]() if getattr(step, "proves", False) else claimed & _planned(module)
        if options.time_passes:
            print(f"{seconds:10.4f} s  {step.name}", file=sys.stderr)
        if options.stats:
            from memopt.compile.statistics import statistics  # with what derives figures

            for line in statistics(module, step.name, seconds, claimed):
                print(line, file=sys.stderr)
        if options.print_after:
            print(f"// IR after {step.name}\n{module_text(module)}", file=sys.stderr)
    decisions.note_dropped()
    return claimed


def shorten_limits(passes: Sequence[ModulePass], reading: float) -> tuple[ModulePass, ...]:
    """The passes with their limits in seconds such that what was asked for is kept as a whole: the
    first limit includes what `reading` and verifying the module took, the last what verifying and
    printing it takes, which is as much."""
    limited = [i for i, step in enumerate(passes) if _limit(step) is not None]
    timed = list(passes)
    for i in limited[:1] + limited[-1:]:
        requested, limit = _limit(passes[i]) or 0.0, _limit(timed[i]) or 0.0
        shorter = max(limit - reading, LEAST * requested)
        timed[i] = cast("ModulePass", replace(cast("Any", timed[i]), time_limit=shorter))
    return tuple(timed)


def in_budget(
    passes: Sequence[ModulePass], deadline: float | None, number: int = 0, functions: int = 1
) -> ModulePass:
    """The first of the passes, with its share of the seconds that are left for all of them, so that
    what one does not need is for those after it; `functions` divide that share, of which `number`
    have had theirs."""
    step, own = passes[0], _weight(passes[0]) / functions
    waiting = sum(map(_weight, passes)) - own * number
    requested, remaining = _limit(step), clock.left(deadline)
    if requested is None or remaining is None:
        return step
    share = max(remaining, LEAST * requested) * own / waiting
    return cast("ModulePass", replace(cast("Any", step), time_limit=share))


def _weight(step: ModulePass) -> int:
    """Return how many shares of the time a pass gets."""
    return 0 if _limit(step) is None else getattr(step, "shares", 1)


def _limit(step: ModulePass) -> float | None:
    return getattr(step, "time_limit", None)


def run_pass(
    context: Context, module: ModuleOp, step: ModulePass, known: "dict[FuncOp, Planned]"
) -> None:
    """Run one pass on what is `known` of the functions, and leave there what holds then."""
    from memopt.passes.plan.planned import PlanningPass  # and much else, which --help does not need

    if isinstance(step, PlanningPass):
        step.plan_all(module, known)
    else:
        step.apply(context, module)
        known.clear()


def checked_among(known: "Mapping[FuncOp, Planned]") -> "Checked | None":
    """The only function of a module, if its plan was verified and nothing has changed since."""
    planned = next(iter(known.values())) if len(known) == 1 else None
    plan = plan_of(planned.func) if planned is not None and planned.is_verified else None
    if planned is None or plan is None:
        return None
    from memopt.backends.checked import Checked  # with the verifier

    return Checked(planned.func, plan, planned.extracted.memory)


def _planned(module: ModuleOp) -> frozenset[str]:
    """The names of the functions that have a plan."""
    return frozenset(f.sym_name.data for f in functions(module) if PLAN in f.attributes)
