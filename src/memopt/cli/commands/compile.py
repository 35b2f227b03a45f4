"""`memopt compile MODEL -o DIR`: plan a model; write code or a planned .tflite."""

import argparse
import sys
from pathlib import Path
from typing import Any

from memopt.backends.c.emit.c_text import file_name
from memopt.backends.c.emit.sections import storage_of
from memopt.backends.c.project.layouts import layout_names
from memopt.backends.c.weights.storage import ArrayStorage
from memopt.cli.arguments import add_planning_arguments, request_of
from memopt.cli.summary import summary
from memopt.compile.driver import IR
from memopt.compile.files.folder import check_folder
from memopt.compile.files.staging import remove_leftovers
from memopt.compile.request import FULL, MEASURES, Building, Request
from memopt.compile.stages import check, compiled, read, write
from memopt.frontends.core.registry import listed
from memopt.text.format import bytes_of_text, hertz, stem_of
from memopt.text.usage import STDOUT, UsageError, folder_text, path_text


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
        "--flash",
        metavar="512K",
        help="what the board has for the whole image; fails if it is not enough",
    )
    parser.add_argument(
        "--clock",
        metavar="84M",
        help="of the board, in Hz (K, M: thousands, millions): what an inference takes in ms",
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
        "--no-startup",
        action="store_true",
        help="no start-up code, linker script and main: a library for your own program (C targets, "
        "--layout=make or cmake)",
    )
    parser.add_argument(
        "--serial",
        action="store_true",
        help="a header by which your program answers memopt validate --port through a serial port "
        "(C targets)",
    )
    parser.add_argument(
        "--section",
        action="append",
        metavar="weights:.qspi,tables:.itcm,arena:.dtcm",
        help="sections of the C's arrays: weights, tables that are looked up, the arena; your "
        "linker script says where they lie, and that of the project, if an address follows as in "
        "weights:.qspi@0x90000000 (C targets)",
    )
    parser.add_argument(
        "--check-weights",
        action="store_true",
        help="a function that reads all weights and compares their CRC-32; weights with a section "
        "have it (C targets)",
    )
    parser.add_argument(
        "--weights",
        choices=("source", "file"),
        default="source",
        help="file: they are no arrays of the C but NET.weights.bin, which the program gives the "
        "model when it runs, by net_set_weights; what is not that file is refused (C targets)",
    )
    parser.add_argument(
        "--measure",
        choices=MEASURES,
        default=FULL,
        help="what the report says of the image: quick builds it and runs nothing, so it has no "
        "instructions, cycles and painted stack; off does not build it, so it has no flash, and "
        "bounds of stack and static RAM (C targets; default: full)",
    )
    parser.add_argument(
        "--share-arena",
        action="store_true",
        help="several models that never run together: one arena, as large as the largest of theirs "
        "(C targets)",
    )
    parser.add_argument(
        "--html",
        type=path_text,
        metavar="FILE",
        help="a page with the picture, the figures and the network, no other file needed",
    )
    add_planning_arguments(parser)


def run(args: argparse.Namespace) -> None:
    """Compile the models; leave nothing behind unless everything went well."""
    if args.html == STDOUT or (args.html and len(args.model) > 1):
        raise UsageError("--html is a file, of one model")
    folder = Path(args.output)
    requests = [_request(args, Path(model), folder) for model in args.model]
    check(requests[0])
    remove_leftovers(folder)
    check_folder(folder, args.force)
    if len(requests) == 1:
        (args.model,) = args.model
        _one(args, requests[0])
    else:
        from memopt.cli.several_models import compile_several  # for the few who have them

        compile_several(args, requests, folder)


def _request(args: argparse.Namespace, path: Path, folder: Path) -> Request:
    sections = None if args.section is None else ",".join(args.section)
    try:
        words = sections, args.check_weights, args.weights == "file"
        storage = storage_of(*words) if words != (None, False, False) else ArrayStorage()
    except ValueError as error:
        raise UsageError(f"--section={sections}: {error}") from None
    building = Building(
        layout=args.layout,
        shared_kernels=args.shared_kernels,
        specialised=None if args.specialise is None else args.specialise == "on",
        storage=storage,
        has_startup=not args.no_startup,
        has_serial=args.serial,
        measure=args.measure,
    )
    flash = None if args.flash is None else bytes_of_text(args.flash)
    clock = None if args.clock is None else hertz(args.clock)
    own = folder if len(args.model) == 1 else folder / file_name(stem_of(path))
    budgets: dict[str, Any] = {"flash": flash, "clock": clock}
    return request_of(args, path, building=building, **budgets, is_built=True, folder=own)


def _one(args: argparse.Namespace, request: Request) -> None:
    if args.share_arena:
        raise UsageError("--share-arena is of several models; here is one")
    answer = compiled(read(request))
    write(answer, args.force)
    measured = answer.measured
    for line in measured.built.warnings if measured.built is not None else ():
        print(f"{request.path}: warning: {line}", file=sys.stderr)
    print(summary(answer.content))
    for why in measured.planned.less.why:
        print(f"rewrite   {why}")
    print(f"written   {request.folder}")
    if args.html:  # what draws it is loaded by who asks for it
        from memopt.cli.page import write_page

        write_page(args.html, args.words, measured.planned, answer.content)
    if args.stats:
        print(measured.planned.imported.seconds.line(), file=sys.stderr)
