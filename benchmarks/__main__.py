"""`python -m benchmarks`: measure, with progress, and write Markdown and JSON."""

import argparse
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from memopt.dialects.memgraph.errors import MemoptError, nearest
from memopt.text.diagnostics import diagnosed, write_output
from memopt.text.usage import (
    STDOUT,
    Parser,
    UsageError,
    add_time_limit,
    answering,
    check_time_limit,
    path_text,
)

if TYPE_CHECKING:
    from benchmarks.tables.table import Table

QUICK = ("hrnet_w18_small_v1", "darts_imagenet", "train_resnet18_b1")
QUICK_NODES = ("Gather",)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = Parser(
        prog="benchmarks",
        description="Measure on this machine; what is quoted from a paper is marked *.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "what",
        choices=(
            *("schedule", "place", "rows", "rewrite", "cortex-m", "scoreboard"),
            *("shapes", "limits", "passes", "onnx-nodes", "training"),
            *("executed", "serenity", "olla"),
        ),
    )
    parser.add_argument(
        "--quick", action="store_true", help="three graphs or instances, 5 s for each solver"
    )
    parser.add_argument(
        "--json", type=path_text, metavar="FILE", help="write the tables as JSON; - is stdout"
    )
    parser.add_argument(
        "--markdown",
        type=path_text,
        metavar="FILE",
        help="write the tables as Markdown; default: stdout",
    )
    parser.add_argument(
        "--graphs",
        nargs="+",
        default=[],
        metavar="GRAPH",
        help="names in optima.json or files, NAME:frelu for one convention; for place, names in"
        " shared/alloc, planted-BUFFERS-LIVE-SEED, or .csv files; for rows, cortex-m and"
        " scoreboard, .tflite files or names in shared/models; for rewrite, those, .onnx files and"
        " names in shared/graphs; for onnx-nodes, ONNX's operators, such as Conv; for training,"
        " names of captures; for executed, NETWORK:BATCH or NETWORK:BATCH:adam; for olla, those"
        " and .json files; for serenity, the titles of cells; default: all",
    )
    parser.add_argument(
        "--tables",
        nargs="+",
        default=[],
        metavar="TABLE",
        help="such as zhong-2; for place such as strategies, shared-objects, traffic; default: all",
    )
    add_time_limit(parser, "for each solver call; default: 10")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code: 0 done, 1 wrong input, 2 wrong usage."""
    args = build_parser().parse_args(arguments)
    with answering("benchmarks") as answer, diagnosed(answer):
        run(args)
    return answer.code


@contextmanager
def progress() -> Generator[Callable[[str], None]]:
    """A status line on a terminal; elsewhere one line per step on stderr."""
    if not sys.stderr.isatty():
        yield lambda text: print(text, file=sys.stderr, flush=True)
        return
    from rich.console import Console

    with Console(stderr=True).status("") as status:
        yield status.update


def run(args: argparse.Namespace) -> None:
    """Run the tables asked for. Raises UsageError, MemoptError, OSError."""
    check_time_limit(args.time_limit)
    from benchmarks.tables.table import to_json

    if args.json == args.markdown == STDOUT:
        raise UsageError("--json and --markdown cannot both go to stdout")
    started = time.perf_counter()
    limit = args.time_limit if args.time_limit is not None else 5.0 if args.quick else 10.0
    measure = {
        "schedule": _schedule,
        "place": _place,
        "rows": _rows,
        "rewrite": _rewrite,
        "cortex-m": _cortex_m,
        "scoreboard": _scoreboard,
        "shapes": _shapes,
        "limits": _limits,
        "passes": _passes,
        "onnx-nodes": _onnx_nodes,
        "training": _training,
        "executed": _executed,
        "serenity": _serenity,
        "olla": _olla,
    }
    titles, done = measure[args.what](args, limit)
    facts: dict[str, Any] = {
        "benchmark": args.what,
        "graphs": titles,
        "time_limit": limit,
        "seconds": round(time.perf_counter() - started, 1),
    }
    if args.json:
        write_output(args.json, to_json(done, facts))
    text = "\n".join(table.markdown() for table in done)
    if args.markdown:
        write_output(args.markdown, text)
    elif not args.json:
        print(text, end="")
    if args.what == "limits":
        from benchmarks.tables.limits import missed

        if late := missed(done[0]):
            raise MemoptError(f"{len(late)} limits were not kept: {'; '.join(late)}")


def _schedule(args: argparse.Namespace, limit: float) -> "tuple[list[str], list[Table]]":
    """The titles of the graphs, and the tables about them."""
    from benchmarks.tables.graphs import chosen, listed
    from benchmarks.tables.schedule import TABLES
    from benchmarks.tables.table import Run

    wanted = _wanted(args, list(TABLES))
    names = args.graphs or (QUICK if args.quick else ())
    cases = chosen(names) if names else listed()
    samples, operators = (200, 200) if args.quick else (2000, 2000)
    with progress() as tick:
        done = [
            TABLES[name](Run(cases, limit, samples, _prefixed(tick, prefix), operators))
            for name, prefix in wanted
        ]
    return [c.title for c in cases], done


def _place(args: argparse.Namespace, limit: float) -> "tuple[list[str], list[Table]]":
    """The names of the instances, and the tables about them; a summary after `strategies`."""
    from benchmarks.tables import place

    wanted = _wanted(args, list(place.TABLES))
    instances = place.instances(args.graphs or (place.QUICK if args.quick else ()))
    done: list[Table] = []
    with progress() as tick:
        for name, prefix in wanted:
            run = place.PlaceRun(instances, limit, args.quick, _prefixed(tick, prefix))
            done.append(place.TABLES[name](run))
            if name == "strategies":
                done.append(place.summary(done[-1]))
    return [name for name, _ in instances], done


def _rows(args: argparse.Namespace, limit: float) -> "tuple[list[str], list[Table]]":
    """The names of the models."""
    from benchmarks.tables.rows import chosen, rows

    _wanted(args, ["rows"])
    models = chosen(args.graphs, args.quick)
    with progress() as tick:
        return [name for name, _ in models], [rows(models, limit, tick)]


def _rewrite(args: argparse.Namespace, limit: float) -> "tuple[list[str], list[Table]]":
    """The names of the networks."""
    from benchmarks.tables.rewrite import chosen, rewrite

    _wanted(args, ["rewrite"])
    paths = chosen(args.graphs, args.quick)
    with progress() as tick:
        return [path.stem for path in paths], [rewrite(paths, limit, tick)]


def _cortex_m(args: argparse.Namespace, limit: float) -> "tuple[list[str], list[Table]]":
    """The names of the models, with a table of them and one of their operators."""
    from benchmarks.tables.boards import CORES, chosen, cortex_m, operators

    wanted = _wanted(args, ["cortex-m", "operators"])
    models = chosen(args.graphs, args.quick)
    done: list[Table] = []
    with progress() as tick:
        for name, prefix in wanted:
            say = _prefixed(tick, prefix)
            cores = CORES[:1] if args.quick else CORES
            one = name == "operators"
            done.append(operators(models, say) if one else cortex_m(models, cores, say))
    return [path.stem for path in models], done


def _scoreboard(args: argparse.Namespace, limit: float) -> "tuple[list[str], list[Table]]":
    """The names of the models."""
    from benchmarks.tables.boards import chosen, scoreboard

    _wanted(args, ["scoreboard"])
    models = chosen(args.graphs, args.quick)
    with progress() as tick:
        return [path.stem for path in models], [scoreboard(models, tick)]


def _shapes(args: argparse.Namespace, limit: float) -> "tuple[list[str], list[Table]]":
    """Random layers: no solver call takes `limit`."""
    from benchmarks.tables.shapes import COUNT, QUICK, layers, shapes

    _wanted(args, ["shapes"])
    if args.graphs:
        raise UsageError("shapes makes its layers itself and takes no --graphs")
    with progress() as tick:
        return [], [shapes(layers(QUICK if args.quick else COUNT), tick)]


def _limits(args: argparse.Namespace, limit: float) -> "tuple[list[str], list[Table]]":
    """Large problems of its own."""
    from benchmarks.tables.limits import limits

    _wanted(args, ["limits"])
    if args.graphs:
        raise UsageError("limits makes its problems itself and takes no --graphs")
    with progress() as tick:
        return [], [limits(limit, args.quick, tick)]


def _passes(args: argparse.Namespace, limit: float) -> "tuple[list[str], list[Table]]":
    """Every pass that is no search: no solver call takes `limit`."""
    from benchmarks.tables.passes import passes

    _wanted(args, ["passes"])
    if args.graphs:
        raise UsageError("passes makes its problems itself and takes no --graphs")
    with progress() as tick:
        return [], [passes(args.quick, tick)]


def _onnx_nodes(args: argparse.Namespace, limit: float) -> "tuple[list[str], list[Table]]":
    """The operators asked for. Each test is planned with a limit of its own."""
    from benchmarks.tables.onnx_nodes import cases, outcomes, tables

    wanted = _wanted(args, ["counts", "operators", "left"])
    with progress() as tick:
        results = list(outcomes(cases(args.graphs or (QUICK_NODES if args.quick else ())), tick))
    done = {table.name: table for table in tables(results)}
    return list(args.graphs), [done[name] for name, _ in wanted]


def _training(args: argparse.Namespace, limit: float) -> "tuple[list[str], list[Table]]":
    """The names of the captures."""
    from benchmarks.tables.captured import chosen, training
    from benchmarks.tables.captures import NAMES

    _wanted(args, ["training"])
    try:
        names = chosen(args.graphs, args.quick)
    except KeyError as error:
        text = f"no capture is called {error.args[0]!r}: one of {', '.join(NAMES)}"
        raise UsageError(text) from None
    with progress() as tick:
        return list(names), training(names, limit, tick)


def _executed(args: argparse.Namespace, _limit: float) -> "tuple[list[str], list[Table]]":
    """The names of the steps, which need PyTorch."""
    from benchmarks.executed.steps import chosen, executed

    _wanted(args, ["executed"])
    names = chosen(args.graphs, args.quick)
    with progress() as tick:
        return list(names), executed(names, args.time_limit, tick)


def _serenity(args: argparse.Namespace, limit: float) -> "tuple[list[str], list[Table]]":
    """The titles of the cells."""
    from benchmarks.figures.serenity import TABLES, chosen, measure

    wanted = _wanted(args, list(TABLES))
    cells = chosen(args.graphs, args.quick)
    with progress() as tick:
        done = [measure(cell, limit, tick) for cell in cells]
    return [cell.title for cell in cells], [TABLES[name](done) for name, _ in wanted]


def _olla(args: argparse.Namespace, limit: float) -> "tuple[list[str], list[Table]]":
    """The names of the steps, of which those that are not kept need PyTorch."""
    from benchmarks.figures.olla import TABLES, chosen, measured, table

    wanted = _wanted(args, list(TABLES))
    names = chosen(args.graphs, args.quick)
    with progress() as tick:
        steps = [measured(name, limit, tick) for name in names]
        return list(names), [table(name, steps) for name, _ in wanted]


def _wanted(args: argparse.Namespace, known: list[str]) -> list[tuple[str, str]]:
    """The tables asked for, each with what its progress begins with. Raises UsageError."""
    unknown = [t for t in args.tables if t not in known]
    if unknown:
        close = nearest(unknown[0], known)
        raise UsageError(f"unknown table {unknown[0]!r}{close}: one of {', '.join(known)}")
    names = args.tables or known
    return [(n, f"[{i + 1}/{len(names)}] {n}: ") for i, n in enumerate(names)]


def _prefixed(tick: Callable[[str], None], prefix: str) -> Callable[[str], None]:
    return lambda text: tick(prefix + text)


if __name__ == "__main__":
    sys.exit(main())
