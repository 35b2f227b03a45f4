"""`memopt compile MODEL -o DIR`: plan a model; write code or a planned .tflite."""

import argparse
import sys
from pathlib import Path
from typing import Any

from memopt.backends.c.project.layouts import MAKE, layout_names
from memopt.backends.c.project.write import write_files
from memopt.backends.tflm import is_safe, write_tflm
from memopt.backends.tflm.wrong import wrong_answers
from memopt.cli.planning_arguments import add_planning_arguments
from memopt.cli.several_models import compile_several
from memopt.cli.summary import summary
from memopt.compile.advice import fitting_text
from memopt.compile.driver import IR
from memopt.compile.folder import check_folder, publish
from memopt.compile.measure import measured_model
from memopt.compile.plan import PlannedModel, check_target, plan_model
from memopt.compile.staging import remove_leftovers, staging
from memopt.compile.target_facts import check_target_ram, tflm_facts
from memopt.compile.write import leave
from memopt.formats.tflite import read_model
from memopt.frontends.core.registry import listed
from memopt.targets.core.registry import target_names
from memopt.text.diagnostics import write_file
from memopt.text.format import bytes_of_text
from memopt.text.usage import UsageError, folder_text, path_text

Emitted = tuple[PlannedModel, dict[str, Any]]
"""What was written, with the report's `target` entry."""


def add_arguments(commands: Any) -> None:
    """The subcommand, on the subparsers of `memopt`."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "compile",
        help="plan a model and write code or a planned .tflite",
        description="Plan a model; leave report.json and the planned .tflite or a C project.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "model",
        type=path_text,
        nargs="+",
        help=f"{listed(IR)}; of several each gets a folder of its name in DIR (C targets)",
    )
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
    parser.add_argument(
        "--specialise",
        choices=("on", "off"),
        help="off: what surrounds the loops of kernels is built for size: a smaller image for some "
        "more instructions (C targets; default: on)",
    )
    parser.add_argument(
        "--shared-kernels",
        action="store_true",
        help="kernels keep names of their own, so that several models share them; without it they "
        "begin with the model's name, so that nothing clashes (C targets)",
    )
    parser.add_argument(
        "--share-arena",
        action="store_true",
        help="several models that never run together: one arena, as large as the largest of theirs "
        "(C targets)",
    )
    add_planning_arguments(parser)


def run(args: argparse.Namespace) -> None:
    """Nothing is left behind unless everything went well."""
    check_target(args)
    directory = Path(args.output)
    remove_leftovers(directory)
    check_folder(directory, args.force)
    if len(args.model) == 1:
        (args.model,) = args.model
        _one(args, Path(args.model), directory)
    else:
        compile_several(args, directory)


def _one(args: argparse.Namespace, path: Path, directory: Path) -> None:
    if args.share_arena:
        raise UsageError("--share-arena is of several models; here is one")
    model = plan_model(args, path, directory)
    with staging(directory) as staged:
        emit = _emit_tflm if args.target == "tflm" else _emit_c
        model, facts = emit(model, staged, args)
        advice = model.advice(facts)
        if args.ram is not None:
            ram = bytes_of_text(args.ram)
            check_target_ram(facts, ram, fitting_text(advice, ram))
        report = model.report(facts, model.whole_peak(), advice)
        sources = leave(model, report, staged, directory)
        publish(staged, directory, args.force, sources)
    print(summary(report))
    for why in model.less.why:
        print(f"rewrite   {why}")
    print(f"written   {directory}")
    if args.stats:
        print(model.seconds.line(), file=sys.stderr)


def _emit_tflm(model: PlannedModel, directory: Path, args: argparse.Namespace) -> Emitted:
    """The planned .tflite, beside the narrower network where its weights lie."""
    network, found = model.less.network, dict[str, Any]()
    given = None if network is None else directory / model.file.name
    if given is not None and network is not None:
        write_file(given, network)

    def emit() -> None:
        safe = is_safe(model.known.func)
        data = write_tflm(model.after, model_path=given, at_run_time=not safe)
        write_file(directory / f"{model.path.stem}.tflite", data)
        for line in wrong_answers(read_model(data, model.path.name), data):
            print(f"{model.path}: warning: {line}", file=sys.stderr)
        found.update(tflm_facts(model.after, model.known.plan.arena, given))

    model.seconds.run("emit", emit)
    return model, found


def _emit_c(model: PlannedModel, directory: Path, args: argparse.Namespace) -> Emitted:
    found = measured_model(model, args)
    write_files(found.project, directory, args.layout or MAKE)
    return found.model, found.facts
