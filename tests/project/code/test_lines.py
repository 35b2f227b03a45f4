"""`make lines` holds each room to a number of lines that is raised on purpose."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

from scripts import TESTS, loaded

lines = loaded("lines")


def test_a_room_above_its_budget_is_named() -> None:
    counts = Counter({"passes": 11, "verify": 5})
    assert lines.faults(counts, {"passes": 11, "verify": 5}) == []
    assert lines.faults(counts, {"passes": 10, "verify": 5, "gone": 3}) == [
        "gone has no files, but a budget",
        "passes has 11 lines, 1 above its budget",
    ]


def test_only_code_that_git_knows_of_is_counted(tmp_path: Path) -> None:
    (tmp_path / "passes").mkdir()
    for name, text in (("a.py", "1\n2\n"), ("k.c", "1\n"), ("page.md", "1\n"), ("new.py", "1\n")):
        (tmp_path / "passes" / name).write_text(text)
    (tmp_path / "setup.py").write_text("1\n")
    subprocess.run(("git", "init", "-q"), cwd=tmp_path, check=True)
    known = ("passes/a.py", "passes/k.c", "passes/page.md", "setup.py")
    subprocess.run(("git", "add", *known), cwd=tmp_path, check=True)
    assert lines.count_lines(tmp_path) == {"passes": 3}


def test_this_checkout_is_within_its_budgets() -> None:
    done = subprocess.run(
        (sys.executable, str(TESTS / "lines.py")),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "product" in done.stdout
