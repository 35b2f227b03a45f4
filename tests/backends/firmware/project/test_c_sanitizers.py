"""What the builds with sanitizers, of which the other files here are full, find at their level of
optimisation."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

PROGRAM = """
#include <stdint.h>
#include <stdlib.h>

static int8_t arena[16];

int main(int count, char **arguments) {
    int8_t *rows = malloc(16);
    int32_t sum = INT32_MAX - 1;
    int at = 15 + count; /* 16 without an argument */
    (void)arguments;
    STATEMENT;
    free(rows);
    return sum == 0;
}
"""


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("arena[at - 1] = 1; rows[at - 1] = 1; sum += at - 15", ""),
        ("arena[at] = 1", "index 16 out of bounds"),
        ("int8_t *end = arena + at; *end = 1", "insufficient space for an object"),
        ("rows[at] = 1", "heap-buffer-overflow"),
        ("free(rows); sum = rows[at - 1]", "heap-use-after-free"),
        ("sum += at", "signed integer overflow"),
        ("sum = 1 << (2 * at)", "shift exponent 32 is too large"),
        ("sum = *(int32_t *)(void *)(arena + at - 15)", "misaligned address"),
    ],
)
def test_faults_are_found(statement: str, message: str, tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    (tmp_path / "main.c").write_text(PROGRAM.replace("STATEMENT", statement))
    command = ["cc", *lab.SANITIZE.split(), "main.c", "-o", "main"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    done = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == (not message)
    assert message in done.stderr
