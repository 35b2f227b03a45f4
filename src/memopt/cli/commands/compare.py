"""`memopt compare A B`: which figures grew between two versions of a model."""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from memopt.cli.arguments import add_planning_arguments, request_of
from memopt.compile.figures import BYTES, FIGURES, Growth, figures_of, growths, parse_limits
from memopt.compile.stages import compiled, estimate, plan, read, report
from memopt.dialects.memgraph.errors import MemoptError
from memopt.targets.core.target import target_named
from memopt.text.usage import path_text

REPORT = "report.json"
EPILOG = f"""figures: {", ".join(FIGURES)}

examples:
  memopt compare firmware/ candidate/ --max-growth=arena:0,flash:2%
  memopt compare old.tflite new.tflite --target=cortex-m4

Exit codes: 0 no figure grew beyond its limit, 1 one did, or wrong input, 2 wrong usage."""


def add_arguments(commands: Any) -> None:
    """The subcommand, on the subparsers of `memopt`."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "compare",
        help="what grew between two models, folders or reports",
        description="Compare the figures of two models, of folders that memopt compile wrote, or "
        "of their report.json.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for name, text in (("a", "what was"), ("b", "what is now")):
        parser.add_argument(
            name, type=path_text, metavar=name.upper(), help=f"{text}: a model, a folder, a report"
        )
    parser.add_argument(
        "--max-growth",
        metavar="FIGURE:GROWTH,...",
        help="by how much a figure may grow, such as arena:0,flash:2%%,ram:1K; a figure that is "
        "not known fails",
    )
    parser.add_argument("--json", action="store_true", help="the same as JSON")
    add_planning_arguments(parser)


def run(args: argparse.Namespace) -> None:
    """Print the table. Raises MemoptError if a figure has grown beyond its limit."""
    limits = parse_limits(args.max_growth) if args.max_growth is not None else {}
    paths = [Path(args.a), Path(args.b)]
    contents = [_content(args, path) for path in paths]
    old, new = map(figures_of, contents)
    lines = growths(old, new, limits)
    if args.json:
        print(json.dumps(_entries(paths, contents, lines), indent=2))
    else:
        print("\n".join(_table(contents, lines)))
    if over := [_excess(line) for line in lines if line.allowed is False]:
        raise MemoptError(f"beyond --max-growth={args.max_growth}: {', '.join(over)}", args.b)


def _content(args: argparse.Namespace, path: Path) -> dict[str, Any]:
    """Return the report that lies there; or that of a model, which is compiled, or only planned
    where nothing else is measured. Raises MemoptError, OSError."""
    if path.is_dir():
        path = path / REPORT
    if not path.exists():
        raise MemoptError("No such file or directory", str(path))
    if (content := _report_in(path)) is not None:
        return content
    target = target_named(args.target)
    has_device = target.output != "c" or target.has_memories
    imported = read(request_of(args, path, is_built=has_device))
    if has_device:
        return compiled(imported, is_advised=False).content
    return report(estimate(plan(imported)), is_advised=False).content


def _report_in(path: Path) -> dict[str, Any] | None:
    """Return the content of a report; None for any other file, which may be a graph in JSON."""
    if path.suffix != ".json":
        return None
    try:
        content: Any = json.loads(path.read_bytes())
        figures_of(content)
    except (ValueError, KeyError, TypeError):
        return None
    return content


def _entries(
    paths: Sequence[Path], contents: Sequence[Mapping[str, Any]], lines: Sequence[Growth]
) -> dict[str, Any]:
    figures = [
        {
            "figure": line.figure,
            "old": line.old,
            "new": line.new,
            "change": line.change,
            "allowed": line.allowed,
        }
        for line in lines
    ]
    sides = [
        {"path": str(path), "model": content["model"], "target": content["target"]["name"]}
        for path, content in zip(paths, contents, strict=True)
    ]
    return {"old": sides[0], "new": sides[1], "figures": figures}


def _table(contents: Sequence[Mapping[str, Any]], lines: Sequence[Growth]) -> list[str]:
    sides = [f"{content['model']} for {content['target']['name']}" for content in contents]
    rows = [f"{'':<14}{'old':>14}{'new':>14}{'change':>14}"]
    rows += [_row(line) for line in lines]
    return [f"{sides[0]} -> {sides[1]}", *rows]


def _row(line: Growth) -> str:
    unit = " B" if line.figure in BYTES else ""
    cells = ["unknown" if v is None else f"{v:,}{unit}" for v in (line.old, line.new)]
    change, share = "", ""
    if line.change is not None:
        change = f"{line.change:+,}{unit}" if line.change else "same"
        share = f"{100 * line.change / line.old:+.1f} %" if line.old and line.change else ""
    return f"{line.figure:<14}{cells[0]:>14}{cells[1]:>14}{change:>14}{share:>9}".rstrip()


def _excess(line: Growth) -> str:
    """Return what is wrong with a figure that is not allowed to be so."""
    if line.change is None:
        return f"{line.figure} is not known"
    return f"{line.figure} grew by {line.change:,}{' B' if line.figure in BYTES else ''}"
