"""Object files that tests of generated C share: the same command on the same text compiles once.

A project's kernels are the same files in every project that has them. What make would do is asked
of make itself, so that the command is the project's own.
"""

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

KEPT = "MEMOPT_TEST_OBJECTS"
_COMPILE = re.compile(r" -c (\S+) -o (\S+\.o)$")
_MACRO = re.compile(r"-D(MEMOPT_\w+)(=\w+)?$")
_INCLUDE = re.compile(rb'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def objects_folder(factory: pytest.TempPathFactory) -> Path:
    """Return where all processes of this run keep object files, or the run that started it does."""
    folder = factory.getbasetemp()
    own = folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder
    return Path(os.environ.get(KEPT, own / "objects"))


def make(command: Sequence[str], project: Path, build: str, kept: Path) -> None:
    """Put into the folder `build` what `kept` has of the object files, and into `kept` the rest.

    `command` builds the project; the object files are newer than all they are made of, so that make
    takes them. A file that does not compile is left to whoever runs make next.
    """
    plan = subprocess.run([*command, "-B", "-n"], capture_output=True, text=True, check=False)
    wanted: list[tuple[Path, Path]] = []
    for line in plan.stdout.splitlines():
        found = _COMPILE.search(line)
        if found is not None:
            how = line[: found.start()]
            wanted.append((project / found[2], kept / _key(how, project, found[1])))
    (project / build).mkdir(exist_ok=True)
    missing: list[tuple[Path, Path]] = []
    for made, known in wanted:
        made.parent.mkdir(parents=True, exist_ok=True)
        made.unlink(missing_ok=True)
        if known.exists():
            shutil.copyfile(known, made)
        else:
            missing.append((made, known))
    if not missing:
        return
    targets = [str(made.relative_to(project)) for made, _ in missing]
    if subprocess.run([*command, *targets], capture_output=True, check=False).returncode:
        return
    for made, known in missing:
        part = known.with_name(f"{known.name}.{os.getpid()}")
        shutil.copyfile(made, part)
        part.replace(known)


def _key(command: str, project: Path, source: str) -> str:
    """A name for what comes of the command; macros that no text mentions make no difference."""
    paths = sorted(set(_texts(project, project / source)))
    texts = b"\0".join(path.name.encode() + b"\0" + path.read_bytes() for path in paths)
    words = [
        word
        for word in command.split()
        if not (macro := _MACRO.match(word)) or macro[1].encode() in texts
    ]
    return f"{hashlib.sha256(' '.join([*words, source]).encode() + texts).hexdigest()}.o"


def _texts(project: Path, path: Path) -> Iterator[Path]:
    """The file and what it includes of the project's."""
    yield path
    for name in _INCLUDE.findall(path.read_bytes()):
        for folder in (path.parent, project, project / "kernels", project / "platform"):
            if (folder / name.decode()).exists():
                yield from _texts(project, folder / name.decode())
                break
