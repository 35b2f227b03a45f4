"""`memopt`: compile a model for a device, report on it, verify a plan.

memopt compile net.tflite --target=tflm -o out/
memopt report net.onnx --html report.html
memopt verify plan.mlir
memopt place buffers.csv --capacity=1M -o placed.csv
"""

import argparse
import sys
from collections.abc import Iterable, Sequence
from typing import cast

from memopt.modules import load, modules_in
from memopt.text.diagnostics import diagnosed
from memopt.text.usage import (
    Parser,
    answering,
    check_time_limit,
    collect_rarely,
    staying,
    version_line,
)

COMMANDS = modules_in("memopt.cli.commands")  # name -> module

EPILOG = """examples:
  memopt compile net.tflite --target=tflm -o out/       the same file, planned
  memopt compile net.tflite --target=cortex-m4 --ram=256K -o fw/
  memopt compile net.tflite --target=cortex-m7 --memory=dtcm:64K,sram:320K -o fw/
  memopt report net.tflite --html report.html           the arena over time, before and after
  memopt place buffers.csv --capacity=1M -o placed.csv  minimalloc's format
  memopt verify placed.csv                              or a plan: .mlir, planned .tflite
  memopt validate net.tflite --data=samples.npz         the C beside LiteRT, on your data
  memopt profile net.tflite --target=cortex-m4          what each operator takes
  memopt explore net.tflite --target=cortex-m4          options side by side, with commands
  memopt compare fw/ net.tflite --max-growth=arena:0    what grew since it was compiled
  memopt capture train.py:step -o step.json             a step of PyTorch as a graph
  source <(memopt completion bash)                      or zsh, fish: options by the tab key

memopt COMMAND --help says more. memopt-opt runs single passes and prints the IR.
Sizes: K = 1024, M = 1024 x 1024. Exit codes: 0 done, 1 wrong input, 2 wrong command line."""


def build_parser(names: Iterable[str] = COMMANDS) -> Parser:
    """The parser of these commands; each is loaded."""
    parser = Parser(
        prog="memopt",
        description="Fits neural networks into microcontrollers, and proves it.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="store_true")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name in names:
        load(COMMANDS[name], "add_arguments").add_arguments(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code: 0 done, 1 wrong input, 2 wrong usage."""
    collect_rarely()
    given = sys.argv[1:] if arguments is None else list(arguments)
    with staying():  # the others are not loaded for the one that is asked for
        parser = build_parser(given[:1] if given and given[0] in COMMANDS else COMMANDS)
    args = parser.parse_args(given)
    args.words = given
    if args.version:
        print(version_line())
        return 0
    if args.command is None:
        parser.print_help(sys.stderr)
        return 2
    with answering("memopt") as answer, diagnosed(answer, lambda: _at_hand(args)):
        check_time_limit(getattr(args, "time_limit", None))
        load(COMMANDS[args.command]).run(args)
    return answer.code


def _at_hand(args: argparse.Namespace) -> str:
    """The file that a command works on, "" for several at once."""
    paths = next((vars(args)[k] for k in ("model", "plan", "file") if vars(args).get(k)), "")
    if isinstance(paths, list):
        files = cast("list[str]", paths)
        return files[0] if len(files) == 1 else ""
    return str(paths)


if __name__ == "__main__":
    sys.exit(main())
