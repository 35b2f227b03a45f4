"""Functions on which `--place=joint` took the whole process with it: CP-SAT was given a hint that
is no solution, and checks its own answers. By the command line, as `compile` runs it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from memopt.cli import main

FOLDER = Path(__file__).parent / "joint"
PYTHON = "import sys; from memopt.cli.opt import main; sys.exit(main(sys.argv[1:]))"


@pytest.mark.deep
@pytest.mark.parametrize(("name", "arena"), [("joint_abort", 36), ("joint_abort2", 36)])
def test_the_process_lives_and_has_a_plan(
    name: str, arena: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "plan.mlir"
    arguments = [
        str(FOLDER / f"{name}.mlir"),
        "--schedule=source",
        "--place=joint",
        "-o",
        str(plan),
    ]
    done = subprocess.run(
        [sys.executable, "-c", PYTHON, *arguments], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    found = re.search(r" arena = (\d+),", plan.read_text())
    assert found is not None and int(found[1]) == arena
    assert main(["verify", str(plan)]) == 0
    assert f"arena {arena:,} B" in capsys.readouterr().out
