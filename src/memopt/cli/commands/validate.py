"""`memopt validate MODEL --data x.npz`: the planned network beside a reference, on your data."""

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from memopt.backends.report.validation_page import validation_html
from memopt.cli.arguments import add_planning_arguments, request_of
from memopt.cli.page import check_page, facts_of
from memopt.dialects.memgraph.errors import MemoptError, printable
from memopt.text.diagnostics import progress, write_output
from memopt.text.usage import UsageError, path_text
from memopt.validate.differences import Difference
from memopt.validate.layers import Layer
from memopt.validate.samples import sample_files
from memopt.validate.validation import Labelled, OnBoard, Validation, validate

CLASSES = 16  # of which the confusion is printed
EPILOG = """references: litert-reference (the default of a .tflite), litert with XNNPACK, tflm;
onnxruntime (the default of an .onnx), onnxruntime-optimised; evaluate, our own definitions.

examples:
  memopt validate net.tflite --data=samples.npz --labels=y
  memopt validate net.tflite --data=samples.npz --target=cortex-m4 --against=tflm --layers
  memopt validate net.onnx --data=x.npy --max-different=0
  memopt validate net.tflite --data=rows.csv --labels=class --html=page.html
  memopt validate net.tflite --data=samples.npz --target=cortex-m4 --port=/dev/ttyACM0:115200"""


def add_arguments(commands: Any) -> None:
    """The subcommand, on the subparsers of `memopt`."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "validate",
        help="the planned network beside a reference, on your data",
        description="Run the generated C on the host or in QEMU, or the planned .tflite in TFLM, "
        "beside a reference runtime: accuracy, differences, and the first tensor that differs.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", type=path_text, metavar="MODEL", help=".tflite or .onnx, or .mlir")
    parser.add_argument(
        "--data",
        required=True,
        type=path_text,
        metavar="FILE",
        help="samples: a .npz with an array per input, a .npy, a .csv with a line per sample, or a "
        "folder of one file per sample",
    )
    parser.add_argument(
        "--labels",
        metavar="NAME|FILE",
        help="what is expected: an array of the .npz or a column of the .csv (default: y), a .npy "
        "or a .csv; numbers of "
        "classes, or real numbers as the output has them",
    )
    parser.add_argument(
        "--against", metavar="REFERENCE", help="the reference: see below; default by the file"
    )
    parser.add_argument(
        "--layers", action="store_true", help="compare the tensors of all operators (C targets)"
    )
    parser.add_argument("--samples", type=int, metavar="N", help="the first N samples alone")
    parser.add_argument(
        "--max-different",
        type=int,
        metavar="N",
        help="fail if more elements of the outputs differ from the reference",
    )
    parser.add_argument(
        "--port",
        metavar="PORT",
        help="the board behind it runs the samples: /dev/ttyUSB0, with its speed "
        "/dev/ttyUSB0:115200, or socket://HOST:PORT; its program has memopt compile --serial",
    )
    parser.add_argument("--json", action="store_true", help="the same as JSON")
    parser.add_argument(
        "--html",
        type=path_text,
        metavar="FILE",
        help="a page with the tables and the confusion, too",
    )
    add_planning_arguments(parser)


def run(args: argparse.Namespace) -> None:
    """Print what differs. Raises MemoptError if more differs than is allowed."""
    if args.samples is not None and args.samples < 1:
        raise UsageError(f"--samples={args.samples}: at least 1")
    sources = _sources(args)
    check_page(args.html, sources)
    request = request_of(args, Path(args.model), is_built=True)
    with progress("validating"):
        words = args.labels, args.against, args.layers, args.samples, args.port
        answer = validate(request, Path(args.data), *words)
    if args.json:
        print(json.dumps(answer.entries(), indent=2))
    else:
        print("\n".join(map(printable, lines_of(answer))))
    if args.html:
        page = validation_html(_facts(args, answer), answer.entries())
        write_output(args.html, page, sources)
    different = sum(one.different for one in answer.outputs)
    if args.max_different is not None and different > args.max_different:
        raise MemoptError(f"{different:,} elements differ from {answer.against}", args.model)


def _sources(args: argparse.Namespace) -> list[Path]:
    """Return the files that are read: model, samples and labels, these if they are a file."""
    data = Path(args.data)
    samples = sample_files(data, args.labels) if data.is_dir() else [data]
    return [Path(args.model), *samples, *(() if args.labels is None else (Path(args.labels),))]


def _facts(args: argparse.Namespace, answer: Validation) -> list[tuple[str, str]]:
    """Return what the page says of the comparison by name."""
    facts = [*facts_of(args.words, answer.target), ("data", args.data)]
    facts.append(("against", answer.against))
    if answer.board is not None:
        facts += [("board", line.removeprefix("board").strip()) for line in _board(answer.board)]
    return facts


def lines_of(answer: Validation) -> Iterator[str]:
    """Yield it for people."""
    head = f"{answer.model} for {answer.target}, {answer.samples:,} samples"
    yield f"model     {head}, against {answer.against}"
    if answer.board is not None:
        yield from _board(answer.board)
    for one in answer.outputs:
        yield f"output    {_output(one)}"
    yield from _labelled(answer.labelled)
    if answer.agree:
        yield f"odd one   {answer.against}: {_agreeing(answer.agree)}"
    for known in answer.known_errors:
        yield f"known     {answer.against}: {known}"
    yield from (f"not run   {why}" for why in answer.not_run.values())
    if answer.layers is not None:
        yield from _layers(answer, answer.layers)


def _board(board: OnBoard) -> Iterator[str]:
    cycles = ""
    if board.cycles is not None:
        numbers = " to ".join(f"{number:,}" for number in sorted(set(board.cycles)))
        cycles = f", {numbers} cycles an inference"
    yield f"board     at {board.port}{cycles}"
    if not board.is_same_code:
        yield "board     its code is not what these options make, but of this model"


def _output(one: Difference) -> str:
    if not one.different:
        return f"{one.name}: none of {one.elements:,} elements differs"
    cosine = "" if one.cosine is None else f", cosine {one.cosine:.6f}"
    return (
        f"{one.name}: {one.different:,} of {one.elements:,} elements differ, by at most "
        f"{one.max_abs:g}, {one.mean_abs:.3g} on the average; RMSE {one.rmse:.3g}, "
        f"MAE {one.mae:.3g}{cosine}"
    )


def _labelled(labelled: Labelled) -> Iterator[str]:
    if labelled.accuracy is not None and labelled.reference_accuracy is not None:
        yield (
            f"accuracy  {100 * labelled.accuracy:.2f} %, of the reference "
            f"{100 * labelled.reference_accuracy:.2f} %"
        )
        table = labelled.confusion or []
        if len(table) <= CLASSES:
            width = max(len(f"{n}") for row in table for n in row) + 1
            yield "confusion (a row: the label; a column: what it was taken for)"
            yield from ("          " + "".join(f"{n:>{width}}" for n in row) for row in table)
    if labelled.rmse is not None:
        yield (
            f"labels    RMSE {labelled.rmse:.4g}, MAE {labelled.mae:.4g}; of the reference "
            f"{labelled.reference_rmse:.4g}, {labelled.reference_mae:.4g}"
        )


def _agreeing(references: Sequence[str]) -> str:
    return f"{', '.join(references)} answer{'s' if len(references) == 1 else ''} as we do"


def _layers(answer: Validation, layers: tuple[Layer, ...]) -> Iterator[str]:
    known = [one for one in layers if one.against is not None]
    yield f"layers    {len(known):,} tensors compared, {len(layers) - len(known):,} known to nobody"
    wrong = [one for one in known if one.different]
    if not wrong:
        yield "layers    none differs"
        return
    if wrong[0].agree:
        yield f"odd one   {wrong[0].against}, of {wrong[0].tensor}: {_agreeing(wrong[0].agree)}"
    for one in wrong[:5]:
        first = "first to differ" if one is wrong[0] else "differs too"
        yield (
            f"layers    {one.tensor} ({one.operator.removeprefix('memgraph.')}) {first}: "
            f"{one.different:,} of {one.elements:,} elements, by at most {one.max_abs:g}, against "
            f"{one.against}"
        )
    if len(wrong) > 5:
        yield f"layers    and {len(wrong) - 5:,} more"
