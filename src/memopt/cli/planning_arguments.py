"""The options of `compile` and `report` that say what is read and how it is planned."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from memopt.arguments import MEMORY, add_input_range, add_model_path, add_shape, add_time_limit
from memopt.claims import check_claims
from memopt.cli.texts import bytes_of_text
from memopt.customs import declare_customs, read_customs
from memopt.dialects.errors import MemoptError
from memopt.dialects.functions import body_of, only_function
from memopt.dialects.row_steps import steps_of
from memopt.dialects.rows import family_of
from memopt.driver import (
    IR,
    check_module,
    is_model,
    load_model,
    load_text,
    new_context,
    set_model_path,
    unknown_kind,
)
from memopt.frontends.core.fixed import check_none_fixed
from memopt.frontends.core.registry import frontend_of
from memopt.frontends.core.shapes import check_shapes
from memopt.passes.memgraph_expand_rows import ALL, AUTO, NONE
from memopt.passes.memgraph_input_range import declare_ranges
from memopt.passes.memgraph_kernels import BALANCED, HOW
from memopt.passes.pipelines import NO_RULES, Choices, rows_alignment
from memopt.planning import Seconds
from memopt.rewrites import KERNELS, RULES, SAFE, named_rules, rule_of, unknown_rule
from memopt.shorthands import parse_fixed, parse_input_ranges, parse_shapes
from memopt.targets.core.registry import target_names
from memopt.usage import UsageError


def add_planning_arguments(parser: argparse.ArgumentParser) -> None:
    """The options themselves."""
    parser.add_argument(
        "--schedule",
        default="auto",
        metavar="METHOD",
        help="auto (default), ilp, source (the file's order), ...: memopt-opt --help has all",
    )
    parser.add_argument(
        "--place",
        default="joint",
        metavar="METHOD",
        help="joint (default), auto, exact, shared-objects, ...: memopt-opt --help has all",
    )
    parser.add_argument("--memory", metavar=MEMORY[0], help=MEMORY[1])
    parser.add_argument("--no-fuse", action="store_true", help="schedule operator by operator")
    add_time_limit(parser, "for the whole command, with reading and writing")
    parser.add_argument(
        "--io", choices=("arena", "kept", "caller"), help="where inputs and outputs live"
    )
    parser.add_argument(
        "--inplace",
        choices=("on", "off"),
        help="results over dying operands (C targets; default: on)",
    )
    parser.add_argument(
        "--rows",
        metavar="all|auto|none|NAMES",
        help="cut operators into rows: all, as few as keep the peak of all, or those that make the "
        "named tensors (C targets; default: auto; "
        "none, whole operators, beside --memory or a --schedule or --place other than auto)",
    )
    parser.add_argument(
        "--fit",
        metavar="64K",
        help="the cheapest plan with an arena of so many bytes: whole operators if they fit, else "
        "as few rows as are found (C targets)",
    )
    parser.add_argument(
        "--stream-input",
        action="store_true",
        help="the caller hands over the input row by row, so it is never there as a whole (with "
        "rows; C targets)",
    )
    parser.add_argument(
        "--slide",
        metavar="N",
        help="the input is a window of a stream that slides by N rows: the caller pushes the new "
        "ones, and rows of the window before are kept and not computed again (all operators in "
        "rows; C targets)",
    )
    parser.add_argument(
        "--kept",
        metavar="8K",
        help="of a window that slides at most so many bytes stay for the next; what does not is "
        "computed again (with --slide)",
    )
    parser.add_argument(
        "--optimize",
        choices=HOW,
        help="what kernels that take scratch to be faster may cost: no RAM (ram), 6%% of it "
        "(balanced, default), or any (speed) (C targets)",
    )
    parser.add_argument(
        "--cmsis-nn",
        action="store_true",
        help="whole int8 operators call CMSIS-NN where the build has it "
        "(-DMEMOPT_CMSIS_NN=ON), and its scratch is planned (C targets)",
    )
    parser.add_argument(
        "--int8-io",
        action="store_true",
        help="take and return the stored integers instead of the real numbers that are quantized "
        "first and dequantized last (C targets)",
    )
    parser.add_argument(
        "--nhwc-io",
        action="store_true",
        help="take and return images channels last where the file has them channels first (with "
        "--rewrite=channels-last or all, C targets)",
    )
    parser.add_argument(
        "--rewrite",
        metavar="safe|all|none|RULES",
        help="rewrite rules: safe, those that keep every bit and never raise the least peak "
        "(default for C targets, of .onnx with those that kernels need); all; none (default for "
        f"tflm); or names, of {', '.join(RULES)}",
    )
    add_input_range(parser)
    add_shape(parser)
    add_model_path(parser, "where the weights of an .mlir are")
    parser.add_argument(
        "--custom",
        metavar="FILE.json",
        help='custom operators that you write yourself, {"name": {"scratch": BYTES, "state": '
        "BYTES}}: the C project calls memopt_custom_name (C targets)",
    )


def read_model(args: argparse.Namespace, path: Path, seconds: Seconds) -> tuple[Context, ModuleOp]:
    """The model or IR that the command line names, verified. Raises MemoptError, OSError."""
    context = new_context(True)
    found: list[ModuleOp] = []

    def read() -> None:
        shapes, ranges = parse_shapes(args.shape, args.batch), parse_input_ranges(args.input_range)
        fixed = parse_fixed(args.fix)
        if is_model(path):
            found.append(load_model(path, shapes, fixed))
        elif path.suffix == IR:
            found.append(load_text(context, path.read_text(encoding="utf-8"), str(path)))
            check_shapes(found[0], shapes)
            check_none_fixed(fixed)
        else:
            raise MemoptError(unknown_kind())
        if args.model_path:
            set_model_path(found[0], args.model_path)
        declare_ranges(found[0], ranges)
        if args.custom and getattr(args, "target", "") == "tflm":
            raise UsageError("--custom is of C targets; TensorFlow Lite Micro asks its kernels")
        if args.custom:
            declare_customs(found[0], read_customs(Path(args.custom)))
        check_module(found[0])
        check_claims(found[0])

    seconds.run("import", read)
    return context, found[0]


def choices_of(args: argparse.Namespace, target: str, module: ModuleOp) -> Choices:
    """How to plan. Raises UsageError for options that contradict each other."""
    slide = None if args.slide is None else _slide(args)
    rewrite = _rules(args.rewrite or _rules_by_default(args, target, module))
    if args.cmsis_nn and args.rows is None and args.fit is None and slide is None:
        default = NONE  # the library has no rows
    else:
        default = _rows_by_default(args, target, module, rewrite) if slide is None else ALL
    rows = tuple((args.rows or default).split(","))
    fit = None if args.fit is None else bytes_of_text(args.fit)
    if args.optimize is not None and target == "tflm":
        raise UsageError("--optimize is of C targets; TensorFlow Lite Micro has kernels of its own")
    if fit == 0:
        raise UsageError("--fit=0: no arena has no bytes")
    if fit is not None and args.memory is not None:
        raise UsageError("--fit is one arena, --memory says all of them; give one of the two")
    if fit is not None and args.rows is not None and rows != (AUTO,):
        raise UsageError(f"--fit chooses the rows, --rows={args.rows} others; give one of the two")
    return Choices(
        args.schedule,
        args.place,
        args.time_limit,
        not args.no_fuse and args.schedule != "source",  # an opened hyper-node has another order
        args.io,
        args.inplace,
        args.memory,
        rows if fit is None else (AUTO,),
        fit,
        args.stream_input or slide is not None,
        args.int8_io,
        args.nhwc_io,
        slide,
        _kept(args),
        rewrite,
        args.optimize or BALANCED,
        rows_alignment(module),
        args.cmsis_nn,
    )


def _rules_by_default(args: argparse.Namespace, target: str, module: ModuleOp) -> str:
    """Those that never cost anything, where C runs what they leave, and of formats whose operators
    have other forms than kernels those that change that; rows are of operators that were rewritten
    before."""
    in_rows = family_of(list(body_of(only_function(module)).ops)) == "rows"
    if target not in target_names("c") or in_rows:
        return NO_RULES
    frontend = frontend_of(Path(args.model).suffix)
    if frontend is None or not frontend.kernel_rules:
        return SAFE
    return ",".join(name for name in RULES if rule_of(name).applied in (SAFE, KERNELS))


def _rules(text: str) -> tuple[str, ...]:
    """The rules of --rewrite. Raises UsageError."""
    found = tuple(text.split(","))
    if wrong := unknown_rule(found):
        raise UsageError(f"--rewrite: {wrong}")
    return found


def _kept(args: argparse.Namespace) -> int | None:
    """The bytes of --kept. Raises UsageError."""
    if args.kept is None:
        return None
    if args.slide is None:
        raise UsageError("--kept is of a window that slides: --slide=N says by how much")
    found = bytes_of_text(args.kept)
    if not found:
        raise UsageError("--kept=0: no window is kept in that")
    return found


def _slide(args: argparse.Namespace) -> int:
    """The rows of --slide. Raises UsageError, also for what goes with no window that slides."""
    text: str = args.slide
    if not text.isascii() or not text.isdigit() or not int(text):
        raise UsageError(f"--slide={text}: a number of rows, from 1 on")
    if args.rows not in (None, ALL):
        raise UsageError(f"--slide cuts every operator that has rows, not --rows={args.rows}")
    for flag, value, why in (
        ("--fit", args.fit, "is of whole windows; --ram says what there is"),
        ("--memory", args.memory, "has no place for what stays from window to window"),
    ):
        if value is not None:
            raise UsageError(f"--slide: {flag} {why}")
    return int(text)


def _rows_by_default(
    args: argparse.Namespace, target: str, module: ModuleOp, rewrite: Sequence[str]
) -> str:
    """Rows where they may help: C runs them, something has them and is not in rows already, and
    nothing is asked for that is one of whole operators."""
    usual = args.schedule in ("auto", Choices.schedule) and args.place in ("auto", Choices.place)
    if not usual or args.memory is not None or target not in target_names("c"):
        return NONE
    operations = list(body_of(only_function(module)).ops)
    able = any(steps_of(op) is not None for op in operations)
    # after which there may be rows that are not yet
    able = able or any(rule_of(rule).applied == KERNELS for rule in named_rules(rewrite))
    return AUTO if able and family_of(operations) != "rows" else NONE
