"""The same bytes whatever the seed of Python's hashes: golden files share one seed per run."""

import os
import subprocess
import sys

import pytest
from places import FILECHECK

FILES = FILECHECK
OPT = "from memopt.cli.opt import main; import sys; sys.exit(main())"


@pytest.mark.deep
@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (("--fuse", "--schedule=auto", "--place=joint", "--verify-plan"), "figure1.mlir"),
        (("--partition=2", "--schedule=greedy", "--place=shared-objects"), "figure1.mlir"),
        (
            ("--model=alignment=1,inplace=on", "--fit=300", "--schedule=auto", "--place=joint"),
            "memgraph-expand-rows-fit.mlir",
        ),
    ],
)
def test_the_seed_of_hashes_changes_nothing(arguments: tuple[str, ...], name: str) -> None:
    found: set[bytes] = set()
    for seed in ("1", "2", "3"):
        environment = os.environ | {"PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", OPT, *arguments, str(FILES / name)]
        found.add(subprocess.run(command, env=environment, capture_output=True, check=True).stdout)
    assert len(found) == 1 and found.pop()
