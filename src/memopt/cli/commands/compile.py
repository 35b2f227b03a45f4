"""`memopt compile MODEL -o DIR`: plan a model; write code or a planned .tflite."""

import argparse
import json
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, ModuleOp

from memopt.analysis.sliding import kept_bytes
from memopt.backends.c.layouts import MAKE, layout_names
from memopt.backends.c.measure import measure_project
from memopt.backends.c.project import make_project, write_files
from memopt.backends.checked import Checked
from memopt.backends.report import timeline_of
from memopt.backends.tflm import is_safe, write_tflm
from memopt.before_after import check_choices, plan_both
from memopt.cli.folder import check_folder, publish, staging
from memopt.cli.planning_arguments import add_planning_arguments, choices_of, read_model
from memopt.cli.summary import summary
from memopt.cli.target_facts import c_facts, check_target_ram, tflm_facts
from memopt.cli.texts import bytes_of_text, sizes, stem_of
from memopt.diagnostics import write_file
from memopt.dialects.errors import MemoptError
from memopt.dialects.functions import only_function
from memopt.dialects.rewrite_attributes import REWRITES
from memopt.driver import IR, import_bytes, interpreter_of, model_files, relative_files
from memopt.frontends.core.registry import listed
from memopt.frontends.tflite.known_shapes import with_known_shapes
from memopt.narrowing import Narrowed, narrowed
from memopt.passes import share
from memopt.passes.fewest_rows import DoesNotFitError
from memopt.passes.memgraph_expand_rows import AUTO
from memopt.passes.pipelines import NO_RULES, Choices
from memopt.planning import (
    Seconds,
    as_it_was,
    check_kernels_first,
    report_dict,
    rewritten,
    whole_peak,
)
from memopt.targets.core.registry import target_named, target_names
from memopt.targets.core.target import Target
from memopt.text import module_text
from memopt.usage import UsageError, folder_text, path_text

TRIES = 3  # plans of a window that slides, the first of which keeps all

Planned = tuple[ModuleOp, ModuleOp, Checked]
"""As it was, planned, and what is known of its function."""


def add_arguments(commands: Any) -> None:
    """The subcommand, on the subparsers of `memopt`."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "compile",
        help="plan a model and write code or a planned .tflite",
        description="Plan a model; leave report.json and the planned .tflite or a C project.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", type=path_text, help=listed(IR))
    parser.add_argument(
        "--target", choices=target_names("c", "tflite"), default="host", help="default: host"
    )
    parser.add_argument(
        "--ram",
        metavar="256K",
        help="what the board has for arena, stack and static RAM: fitted to it as by --fit, unless "
        "--rows says how or --place asks for shared objects; fails if it is not enough",
    )
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        type=folder_text,
        metavar="DIR",
        help="new, empty, or made by memopt: only what it wrote there is replaced",
    )
    parser.add_argument(
        "--force", action="store_true", help="overwrite what you edited of memopt's files in DIR"
    )
    parser.add_argument(
        "--layout",
        choices=layout_names(),
        help="for which build the C is written (C targets; default: make)",
    )
    add_planning_arguments(parser)


def run(args: argparse.Namespace) -> None:
    """Nothing is left behind unless everything went well."""
    path, directory, seconds = Path(args.model), Path(args.output), Seconds()
    ram = None if args.ram is None else bytes_of_text(args.ram)
    if ram is not None and args.memory is not None:
        raise UsageError("--ram is one memory, --memory says all of them; give one of the two")
    if args.layout is not None and args.target == "tflm":
        raise UsageError(f"--layout={args.layout} is of C targets; --target=tflm writes a .tflite")
    check_folder(directory, args.force)
    context, module = read_model(args, path, seconds)
    is_tflite = interpreter_of(path) == "tflm"
    if args.target == "tflm" and not is_tflite and path.suffix != IR:
        raise MemoptError("--target=tflm writes the imported .tflite again; this is another format")
    choices = choices_of(args, args.target, module)
    imported, ready, less = module, module, Narrowed()
    if args.target == "tflm" and choices.rewrite != (NO_RULES,):
        found: list[Narrowed] = []
        seconds.run("rewrite", lambda: found.append(narrowed(imported, choices.rewrite)))
        less, choices = found[0], replace(choices, rewrite=(NO_RULES,))
    network = less.network
    file = directory / f"{path.stem}.narrowed.tflite"
    if network is not None:
        module = ready = import_bytes(network, file.suffix, str(file), file)
        only_function(module).attributes[REWRITES] = ArrayAttr(less.did)
    check_choices(args.target, choices)
    if args.target != "tflm":
        ready = with_known_shapes(module) if is_tflite else module
        ready, choices = rewritten(context, ready, choices, seconds)
        check_kernels_first(context, ready, args.target, choices)

    def plan(choices: Choices) -> Planned:
        return plan_both(context, ready, args.target, choices, is_tflite, seconds, module)

    given = args.rows is not None or args.fit is not None
    # shared objects take no parts of tensors, so whole operators fit, or it is said what is missing
    if ram is not None and choices.slide is not None:
        before, after, known = _sliding_within(ram, target_named(args.target), choices, plan)
    elif ram is None or args.target == "tflm" or given or choices.place in share.METHODS:
        before, after, known = plan(choices)
    else:
        before, after, known = _within(ram, target_named(args.target), choices, plan)
    if network is not None:
        before = as_it_was(context, imported, is_tflite)
    if ram is not None:
        check_ram(known, ram)
    in_rows = known.plan.family.data == "rows"
    whole = whole_peak(context, ready, args.target, choices, seconds) if in_rows else None
    with staging(directory) as staged:
        facts: dict[str, Any] = {}
        if network is not None:
            write_file(staged / file.name, network)
        given = None if network is None else staged / file.name
        layout = args.layout or MAKE
        seconds.run(
            "emit",
            lambda: facts.update(_emit(after, known, staged, path, args.target, layout, given)),
        )
        if ram is not None:
            check_target_ram(facts, ram)
        report = report_dict(path.name, before, known, facts, seconds, whole)
        write_file(staged / "report.json", json.dumps(report, indent=2) + "\n")
        sources = (path, *model_files(after))
        relative_files(after, directory)
        write_file(staged / "plan.mlir", module_text(after))
        publish(staged, directory, args.force, sources)
    print(summary(report))
    if less.why:
        print(f"rewrite   {less.why}")
    print(f"written   {directory}")


def _within(
    ram: int, board: Target, choices: Choices, plan: Callable[[Choices], Planned]
) -> Planned:
    """The cheapest plan with which the board surely gets by; if there is none, that of the smallest
    arena, of which is measured what it needs."""
    auto = replace(choices, rows=(AUTO,))
    other = board.stack_bound + board.static_bound if board.has_memories else 0
    if ram > other:
        with suppress(DoesNotFitError):
            return plan(replace(auto, fit=ram - other))
    return plan(auto)


def _sliding_within(
    ram: int, board: Target, choices: Choices, plan: Callable[[Choices], Planned]
) -> Planned:
    """A plan with which the board gets by: as much is kept as there is room beside the arena, which
    grows with what is computed again."""
    other = board.stack_bound + board.static_bound if board.has_memories else 0
    found = plan(choices)
    for _ in range(TRIES):
        room = ram - other - found[2].plan.arena
        if choices.kept is not None or room < 1 or kept_bytes(found[2].func) <= room:
            break
        found = plan(replace(choices, kept=room))
    return found


def _emit(
    module: ModuleOp,
    known: Checked,
    directory: Path,
    path: Path,
    target: str,
    layout: str,
    network: Path | None = None,
) -> dict[str, Any]:
    """Write the target's files; returns the report's `target` entry. The weights of a narrower
    `network` lie there."""
    arena = known.plan.arena
    if target == "tflm":
        data = write_tflm(module, model_path=network, at_run_time=not is_safe(known.func))
        write_file(directory / f"{path.stem}.tflite", data)
        return tflm_facts(module, arena, network)
    project = make_project(module, stem_of(path), target, known=known)
    write_files(project, directory, layout)
    if layout == MAKE:
        return c_facts(module, target, arena, measure_project(directory, target))
    with tempfile.TemporaryDirectory(
        prefix="memopt-"
    ) as folder:  # the same code, as it is measured
        write_files(project, Path(folder), MAKE)
        return c_facts(module, target, arena, measure_project(Path(folder), target))


def check_ram(known: Checked, ram: int) -> None:
    """Raise MemoptError with operator, tensors and missing bytes if the arena exceeds `ram`."""
    arena = known.plan.arena
    if arena <= ram:
        return
    line = timeline_of(known.func, known)
    at, step = max(enumerate(line.steps), key=lambda s: s[1].bytes)
    tensors = sorted((line.buffers[i] for i in line.live_at(at)), key=lambda b: -b.bytes)
    named = ", ".join(f"{b.name} {b.bytes:,} B" for b in tensors[:6])
    more = f" and {len(tensors) - 6} more" if len(tensors) > 6 else ""
    raise MemoptError(
        f"the arena of {sizes(arena)} does not fit into {sizes(ram)}: {arena - ram:,} B are "
        f"missing; the peak is at {step.name} with {named}{more}"
    )
