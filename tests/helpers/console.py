"""Pages whose commands are run.

In a ```console block a line with `$ ` is a command, the lines under it are its output: `...` within
a line stands for anything, a line of just `...` for any number of lines.
"""

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path


def examples(text: str) -> list[tuple[str, str]]:
    """(command, expected output) in the order of the page."""
    found: list[tuple[str, list[str]]] = []
    for block in re.findall(r"^```console\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return [(command, "\n".join(lines)) for command, lines in found]


def pattern(expected: str) -> str:
    """A regular expression of the expected output. Blanks count once."""
    lines: list[str] = []
    for line in expected.splitlines():
        if line.strip() == "...":
            lines.append(r"(?:.*\n)*")
        else:
            words = [re.escape(word) for word in line.split()]
            lines.append(r" *".join(words).replace(re.escape("..."), ".*") + r"\n")
    return "".join(lines)


def normal(text: str) -> str:
    return "".join(" ".join(line.split()) + "\n" for line in text.splitlines())


def run_page(text: str, folder: Path, environment: Mapping[str, str]) -> int:
    """Run the commands of a page there, one after the other; how many there are. Each must succeed
    and print what the page says."""
    found = examples(text)
    for command, expected in found:
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}"
        assert re.fullmatch(pattern(expected), normal(done.stdout)), f"{command}\n{done.stdout}"
    return len(found)
