"""The version of a build: that of the git tag. All else stands in pyproject.toml.

v0.2.0, three commits on, of which the last is 6c05292     ->  0.2.1.dev3+g6c05292
v0.2.0 itself                                              ->  0.2.0
no tag yet, 780 commits                                    ->  0.1.0.dev780+g6c05292
an sdist                                                   ->  what it was built as
neither git nor sdist                                      ->  0.1.0.dev0
"""

import re
import subprocess
from pathlib import Path

from setuptools import setup

HERE = Path(__file__).resolve().parent
FIRST = "0.1.0"  # what the first tag will say


def said(*command: str) -> str:
    """Return the output of git, or nothing."""
    try:
        done = subprocess.run(
            ("git", *command), cwd=HERE, capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def version() -> str:
    """By PEP 440; a tag that is none of ours is passed over."""
    info = HERE / "PKG-INFO"
    if info.exists():
        found = re.search(r"^Version: (\S+)$", info.read_text(encoding="utf-8"), re.MULTILINE)
        if found is not None:
            return found[1]
    if not (HERE / ".git").exists():  # another repository may be above
        return f"{FIRST}.dev0"
    wanted = ("--match", "v[0-9]*.[0-9]*.[0-9]*", "--exclude", "*-*")
    described = said("describe", "--tags", "--long", *wanted)
    tagged = re.fullmatch(r"v(\d+)\.(\d+)\.(\d+)-(\d+)-(g[0-9a-f]+)", described)
    if tagged is None:
        count, commit = said("rev-list", "--count", "HEAD"), said("rev-parse", "--short", "HEAD")
        return f"{FIRST}.dev{count}+g{commit}" if count and commit else f"{FIRST}.dev0"
    major, minor, patch, after, commit = tagged.groups()
    if after == "0":
        return f"{major}.{minor}.{patch}"
    return f"{major}.{minor}.{int(patch) + 1}.dev{after}+{commit}"


if __name__ == "__main__":
    setup(version=version())
