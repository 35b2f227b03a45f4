"""What the tests cover: `python tests/covered.py REPORT.json`, of `coverage json`.

Prints the modules that are covered least and the total, lines and branches together, and fails
below 90 % in all or below 70 % in a module. Where the shared models are missing, and with them the
tests that need them, nothing fails; what captures from PyTorch is not judged where that is missing.
"""

import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
OVERALL, MODULE = 90.0, 70.0
SHOWN = 10
NEEDS_TORCH = ("src/memopt/torch/", "src/memopt/cli/commands/capture.py")


def shares(report: dict[str, Any]) -> tuple[float, list[tuple[float, str]]]:
    """Per cent in all, and of each module that has something to run, the least first."""
    found = [
        (float(entry["summary"]["percent_covered"]), path)
        for path, entry in report["files"].items()
        if entry["summary"]["num_statements"]
    ]
    return float(report["totals"]["percent_covered"]), sorted(found)


def faults(report: dict[str, Any]) -> list[str]:
    """What is covered too little, in words."""
    total, modules = shares(report)
    found = [
        f"{path}: {part:.1f} %, at least {MODULE:g}"
        for part, path in modules
        if part < MODULE and not (path.startswith(NEEDS_TORCH) and left_out())
    ]
    return found + ([f"in all: {total:.1f} %, at least {OVERALL:g}"] if total < OVERALL else [])


def left_out() -> bool:
    """Whether PyTorch is missing, and with it the tests that capture."""
    return importlib.util.find_spec("torch") is None


def main(arguments: list[str]) -> int:
    """Returns the exit code."""
    report = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    total, modules = shares(report)
    for part, path in modules[:SHOWN]:
        print(f"{part:7.1f} %  {path}")
    print(f"{total:7.1f} %  in all {len(modules)} modules, lines and branches")
    if left_out():
        print(f"not judged: {', '.join(NEEDS_TORCH)}, whose tests need PyTorch")
    shared = Path(os.environ.get("MEMOPT_SHARED", ROOT.parent / "shared")) / "models"
    wrong = faults(report)
    if wrong and not shared.is_dir():
        print("not judged: without the shared models many tests are left out")
        return 0
    for fault in wrong:
        print(f"covered too little: {fault}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
