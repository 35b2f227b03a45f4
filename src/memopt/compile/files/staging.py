"""The folder in which files wait until all of them are there, and what killed runs left of such.

    DIR/.memopt-4kx0q2ab/owner.json     {"format": 1, "name": ".memopt-4kx0q2ab", "inode": 1311}
    DIR/.memopt-4kx0q2ab/out/           the files

A run holds a lock on its `owner.json`, which the system ends with the process, however that ends.
So where nobody holds it, the run was killed, and the next one removes what it left: a folder of
that name and inode, in which nothing lies but what memopt puts there.
"""

import json
import re
import shutil
import stat
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from memopt.dialects.memgraph.errors import MemoptError

try:
    import fcntl
except ImportError:  # no POSIX: nothing is ever taken for the rest of a killed run
    fcntl = None

OWNER = "owner.json"
FORMAT = 1
TRIES = 20  # to make a folder that no other run takes for a leftover
_NAME = re.compile(r"\.memopt-[a-z0-9_]{8}")
_INSIDE = re.compile(r"out|owner\.json|memopt-manifest\.json|\.(out|memopt-manifest\.json)\..*")


@contextmanager
def staging(directory: Path) -> Generator[Path]:
    """An empty folder on the disk of `directory`; at the end it goes.

    Folders made on the way to `directory` go too unless all went well.

    Raises MemoptError that names `directory`.
    """
    parent = directory.absolute().parent
    missing = [p for p in (parent, *parent.parents) if not p.exists()]
    done = False
    try:
        try:
            temporary, owner = _claim(directory, parent)
        except OSError as error:
            raise MemoptError(error.strerror or "cannot be written", str(directory)) from None
        try:
            with owner:
                _lock(owner)
                inode = temporary.stat().st_ino
                owner.write(json.dumps({"format": FORMAT, "name": temporary.name, "inode": inode}))
                owner.flush()
                staged = temporary / "out"
                staged.mkdir()
                yield staged
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
        done = True
    finally:
        if not done:
            with suppress(OSError):
                for folder in missing:
                    folder.rmdir()


def _claim(directory: Path, parent: Path) -> tuple[Path, IO[str]]:
    """Return a new folder and its open owner.json. A run beside this one may remove an empty
    folder, be it this one or `parent`, before the file is in it: then another is made. Raises
    OSError."""
    for _ in range(TRIES):
        with suppress(FileNotFoundError):
            return _new_folder(directory, parent)
    return _new_folder(directory, parent)


def _new_folder(directory: Path, parent: Path) -> tuple[Path, IO[str]]:
    parent.mkdir(parents=True, exist_ok=True)
    inside = directory if directory.is_dir() else parent
    remove_leftovers(inside)
    temporary = Path(tempfile.mkdtemp(dir=inside, prefix=".memopt-"))
    return temporary, (temporary / OWNER).open("w")


def _lock(file: IO[str]) -> bool:
    """Lock an open file until it is closed. Returns whether nobody else holds it."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def remove_leftovers(folder: Path) -> None:
    """Remove from a folder what runs that were killed left of theirs, and nothing else."""
    if not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        if _NAME.fullmatch(path.name):
            with suppress(OSError, ValueError):
                _remove_leftover(path)


def _remove_leftover(path: Path) -> None:
    """Remove one such folder, unless a run works in it or it is not memopt's. Raises OSError and
    ValueError for anything else."""
    mode = path.lstat()
    if not stat.S_ISDIR(mode.st_mode):
        return
    names = {p.name for p in path.iterdir()}
    if not names:
        path.rmdir()
        return
    if OWNER not in names or (path / OWNER).is_symlink():
        return
    with (path / OWNER).open() as owner:
        said = json.loads(owner.read(1000))
        own = said == {"format": FORMAT, "name": path.name, "inode": mode.st_ino}
        entries = list(path.rglob("*"))
        plain = all(not p.is_symlink() and (p.is_dir() or p.is_file()) for p in entries)
        if own and plain and all(map(_INSIDE.fullmatch, names)) and _lock(owner):
            shutil.rmtree(path)
