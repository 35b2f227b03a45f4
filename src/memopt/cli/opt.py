"""`memopt-opt`: read a model or IR, run passes in the order written, print the result.

memopt-opt --fuse --schedule=ilp --place=auto in.mlir
memopt-opt net.tflite -p "memgraph-schedule{method=search time-limit=30}" -t c -o net.c
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memopt.cli.arguments import (
    add_model_path,
    add_shape,
    parse_fixed,
    parse_shapes,
    pipeline_text,
    shorthands,
)
from memopt.compile.driver import (
    IR,
    Options,
    build_pipeline,
    extra_passes,
    is_model,
    new_context,
    spelled,
)
from memopt.dialects.memgraph.errors import MemoptError
from memopt.frontends.core.registry import listed
from memopt.outputs import Target, is_binary, model_name, target_text
from memopt.passes.plan.option import choices, texts
from memopt.plugin import PASSES
from memopt.text.chunks import Job, read_chunks, run_chunk
from memopt.text.diagnostics import diagnose, unmatched, write_output
from memopt.text.usage import (
    STDOUT,
    Parser,
    UsageError,
    add_time_limit,
    answering,
    check_time_limit,
    collect_rarely,
    path_text,
    version_line,
)

EPILOG = """examples:
  memopt-opt --fuse --schedule=ilp in.mlir          order of least peak, printed as IR
  memopt-opt --schedule=auto --place=auto net.tflite -o net.mlir
  memopt-opt --model=alignment=1 --prepare=frelu --schedule=auto net.json --stats=json >/dev/null
  memopt-opt --schedule=auto --place=joint net.onnx -t svg -o arena.svg
  memopt-opt --schedule=auto --memory=dtcm:64K,sram:320K net.tflite -o net.mlir
  memopt-opt -p "memgraph-schedule,memgraph-traffic{on-chip=256K}" net.tflite -o net.mlir
  memopt-opt --schedule=auto net.tflite -t minimalloc-csv -o net.csv        for memopt place

Shorthands run in the order in which they stand; every one takes at most one value, after "=".
For any other option of a pass use -p, which does not mix with shorthands. Sizes: K = 1024.
Exit codes: 0 done, 1 the input is wrong or not supported, 2 the command line is wrong."""


class _Step(argparse.Action):
    """Collects the shorthands in the order in which they stand."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        steps: list[tuple[str, str]] = getattr(namespace, "steps", None) or []
        steps.append((self.dest, str(values) if isinstance(values, str) else ""))
        namespace.steps = steps


def build_parser() -> Parser:
    """Return the parser of memopt-opt's options."""
    parser = Parser(
        prog="memopt-opt",
        description="Run memory planning passes on a neural network.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "input", nargs="?", type=path_text, help=f"{listed(IR)}; IR from stdin if not given, or -"
    )
    parser.add_argument(
        "-o",
        "--output",
        type=path_text,
        metavar="FILE",
        help="write here; stdout if -, the default",
    )
    parser.add_argument(
        "-t",
        "--target",
        type=target_text,
        default=Target("mlir"),
        metavar="TARGET",
        help="mlir (default), c, c{name=net}, c-calls, tflite, json, svg, html or minimalloc-csv",
    )
    group = parser.add_argument_group("passes, run in the order written")
    timed: list[str] = []
    for name, short in shorthands():
        flag = f"--{name.replace('_', '-')}"
        value: dict[str, Any] = {"metavar": short.metavar} if short.metavar else {"nargs": 0}
        group.add_argument(flag, action=_Step, dest=name, help=short.text, **value)
        timed += [flag] if short.timed else []
    group.add_argument("-p", "--passes", metavar="PIPELINE", help="the same, with every option")
    add_time_limit(
        group, f"for each {', '.join(timed[:-1])} and {timed[-1]}, with reading and printing"
    )
    add_shape(group)
    add_model_path(group, "where the IR's weights are")
    show = parser.add_argument_group("showing")
    show.add_argument("--print-ir-before-all", action="store_true", help="to stderr")
    show.add_argument("--print-ir-after-all", action="store_true", help="to stderr")
    show.add_argument("--print-op-generic", action="store_true", help="MLIR's generic form")
    show.add_argument("--time-passes", action="store_true", help="seconds per pass, to stderr")
    show.add_argument("--stats", choices=("json",), help="one line of JSON per pass, to stderr")
    show.add_argument(
        "--explain-peak", action="store_true", help="where it is, why, what would help; to stderr"
    )
    show.add_argument("--split-input-file", action="store_true", help='pieces between "// -----"')
    show.add_argument(
        "--verify-diagnostics", action="store_true", help="match // expected-error {{text}}"
    )
    show.add_argument("--allow-unregistered-dialect", action="store_true")
    show.add_argument("--list-passes", action="store_true")
    show.add_argument("--show-dialects", action="store_true")
    show.add_argument("--version", action="store_true")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code."""
    collect_rarely()
    parser = build_parser()
    args = parser.parse_args(arguments)
    with answering("memopt-opt") as answer:
        answer.code = run(args)
    return answer.code


def run(args: argparse.Namespace) -> int:
    """Run the passes on the input and print what is asked for; return the exit code."""
    if args.version:
        print(version_line())
        return 0
    if args.list_passes:
        return list_passes()
    if args.show_dialects:
        print("\n".join(sorted(new_context().registered_dialect_names)))
        return 0
    check_time_limit(args.time_limit)
    steps: list[tuple[str, str]] = getattr(args, "steps", None) or []
    if steps and args.passes is not None:
        raise UsageError("shorthands such as --schedule do not mix with -p")
    if args.passes is not None and args.time_limit is not None:
        raise UsageError("--time-limit goes with shorthands; in -p write time-limit=30.0")
    if is_binary(args.target.kind) and args.output is None:
        raise UsageError(f"-t {args.target.kind} is binary: name a file with -o")
    text = args.passes if args.passes is not None else pipeline_text(steps, args.time_limit)
    passes = build_pipeline(text) if text else ()
    options = Options(
        print_before=args.print_ir_before_all,
        print_after=args.print_ir_after_all,
        time_passes=args.time_passes,
        stats=args.stats == "json",
    )
    return process(args, passes, options)


def process(args: argparse.Namespace, passes: Sequence[object], options: Options) -> int:
    """Read, run and write each piece of the input; errors become one line each."""
    name = "stdin" if args.input in (None, STDOUT) else args.input
    output: str = args.output or STDOUT
    job = Job(
        name=name,
        is_model=is_model(Path(name)),
        passes=tuple(passes),  # type: ignore[arg-type]
        options=options,
        target=args.target.kind,
        folder=None if output == STDOUT else Path(output).parent,
        shapes=parse_shapes(args.shape, args.batch),
        fixed=parse_fixed(args.fix),
        model_path=args.model_path,
        generic=args.print_op_generic,
        allow_unregistered=args.allow_unregistered_dialect,
        explain=args.explain_peak,
        model_name=model_name(args.target, name, output),
    )
    outputs: list[str | bytes] = []
    failed = False
    try:
        chunks = read_chunks(job, args.split_input_file)
    except Exception as error:
        print(diagnose(error, name).with_source(), file=sys.stderr)
        return 1
    for text, line_offset in chunks:
        diagnosis = None
        try:
            outputs.append(run_chunk(job, text, line_offset))
        except Exception as error:
            if os.environ.get("MEMOPT_DEBUG"):
                raise
            diagnosis = diagnose(error, name, line_offset)
        if args.verify_diagnostics:
            for problem in unmatched(text or "", [diagnosis] if diagnosis else [], line_offset):
                print(problem, file=sys.stderr)
                failed = True
        elif diagnosis is not None:
            print(diagnosis.with_source(), file=sys.stderr)
            failed = True
    if failed:
        return 1
    joined = outputs[0] if outputs and isinstance(outputs[0], bytes) else None
    # a model is never replaced by what is none, which would still need its weights
    sources = (Path(name),) if job.is_model and Path(name).suffix != f".{job.target}" else ()
    try:
        write_output(output, joined or "// -----\n".join(map(str, outputs)), sources)
    except BrokenPipeError:
        raise
    except (MemoptError, OSError) as error:
        print(diagnose(error, "stdout" if output == STDOUT else output), file=sys.stderr)
        return 1
    return 0


def list_passes() -> int:
    """Every pass with the first line of its docstring and its options with a line of text each, and
    the standard pipelines."""
    from xdsl.passes import get_pass_option_infos

    from memopt.compile.pipelines import PIPELINES  # loads every pass

    for name, factory in {**PASSES, **extra_passes()}.items():
        pass_type = factory()
        lines = texts(pass_type)
        summary = (pass_type.__doc__ or "").strip().splitlines()
        print(f"{name}\n    {summary[0] if summary else ''}")
        for option in get_pass_option_infos(pass_type):
            default = "" if option.default_value is None else f" = {option.default_value}"
            known = choices(pass_type).get(option.name)
            kind = option.expected_type if known is None else f"one of {list(known)}"
            print(f"      {spelled(option.name)}: {kind}{default}")
            if option.name in lines:
                print(f"          {lines[option.name]}")
    for name, pipeline in PIPELINES.items():
        print(f"pipeline {name}\n    {(pipeline.__doc__ or '').splitlines()[0]}")
        for step in pipeline():
            print(f"      {step.run.name}: {step.why}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
