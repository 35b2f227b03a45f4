"""The folder that `memopt compile` leaves: only what memopt wrote into it is ever replaced.

`memopt-manifest.json` lists every file written, with its SHA-256:

    {"format": 1, "files": [{"name": "kernels/memopt_copy.c", "sha256": "9f86..."}]}

A folder is written if it is new, empty, or has a manifest. Of the last kind a file is replaced, or
removed when it is no longer made, if the manifest lists it and its bytes are still the listed ones;
whatever else lies there is the user's and stays. While files are moved the manifest lists both the
old and the new bytes: an interrupted run is repaired by running it again.
"""

import hashlib
import json
import os
import re
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from memopt.dialects.memgraph.errors import MemoptError
from memopt.text.diagnostics import write_file

MANIFEST = "memopt-manifest.json"
FORMAT = 1
_SHA256 = re.compile(r"[0-9a-f]{64}")

Listed = Mapping[str, frozenset[str]]
"""Name -> the SHA-256 of everything that memopt wrote under it; one, but for interrupted runs."""


@dataclass(frozen=True)
class Changes:
    """Names of what is to be moved into a folder, and of what is to be removed from it."""

    written: tuple[str, ...]
    removed: tuple[str, ...]


# -- the manifest -------------------------------------------------------------------------------


def is_plain(name: str) -> bool:
    """Return whether `name` is that of a file inside the folder, but the manifest's own."""
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        return False
    inside = all(part not in ("", ".", "..") for part in name.split("/"))
    return inside and "\0" not in name and name != MANIFEST


def manifest_text(listed: Listed) -> str:
    """The manifest as it is written: one row for each name and hash, in order."""
    rows = [{"name": n, "sha256": h} for n in sorted(listed) for h in sorted(listed[n])]
    return json.dumps({"format": FORMAT, "files": rows}, indent=1) + "\n"


def read_manifest(directory: Path) -> Listed | None:
    """Return the files that memopt wrote into a folder, None without a manifest. Raises
    MemoptError, OSError."""
    if _file(directory, MANIFEST) is None:
        return None
    path = directory / MANIFEST
    try:
        manifest: Any = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        raise MemoptError("is no manifest of memopt: not JSON", str(path)) from None
    return _listed(manifest, path)


def _listed(found: Any, path: Path) -> Listed:
    """Exactly what `manifest_text` writes; anything else is no manifest of ours."""

    def refuse(why: str) -> MemoptError:
        return MemoptError(f"is no manifest of memopt: {why}", str(path))

    if not isinstance(found, dict) or set(cast("Any", found)) != {"format", "files"}:
        raise refuse("expected the keys format and files")
    content = cast("dict[str, Any]", found)
    if type(content["format"]) is not int or content["format"] != FORMAT:
        raise refuse(f"the format is not {FORMAT}")
    if not isinstance(content["files"], list):
        raise refuse("files is no list")
    listed: dict[str, frozenset[str]] = {}
    for row in cast("list[Any]", content["files"]):
        if not isinstance(row, dict) or set(cast("Any", row)) != {"name", "sha256"}:
            raise refuse("a row needs name and sha256")
        name, digest = cast("dict[str, Any]", row)["name"], cast("dict[str, Any]", row)["sha256"]
        if not isinstance(name, str) or not is_plain(name):
            raise refuse(f"{name!r} is no name of a file inside the folder")
        if not isinstance(digest, str) or not _SHA256.fullmatch(digest):
            raise refuse(f"no SHA-256 for {name!r}")
        listed[name] = listed.get(name, frozenset()) | {digest}
    return listed


# -- what lies there ----------------------------------------------------------------------------


def _file(directory: Path, name: str) -> Path | None:
    """The file of that name, None if there is none.

    Raises MemoptError for anything but a plain file in plain folders: nothing is read or written
    through a link, which may lead out of the folder.
    """
    path = directory
    parts = name.split("/")
    for number, part in enumerate(parts, 1):
        path = path / part
        try:
            mode = path.lstat().st_mode
        except FileNotFoundError:
            return None
        if number == len(parts) and stat.S_ISREG(mode):
            return path
        if number == len(parts) or not stat.S_ISDIR(mode):
            what = "a link" if stat.S_ISLNK(mode) else "no plain file"
            raise MemoptError(
                f"is {what}, which memopt did not write; nothing is written", _shown(path)
            )
    return None


def digest_of(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _shown(path: Path | str) -> str:
    text = str(path)
    return text if text.isprintable() else ascii(text)


def _edited(directory: Path, listed: Listed, names: Iterable[str]) -> list[str]:
    """Return the listed names under which something else lies now."""
    edited: list[str] = []
    for name in names:
        try:
            path = _file(directory, name)
        except MemoptError:
            edited.append(name)
            continue
        if path is not None and digest_of(path) not in listed[name]:
            edited.append(name)
    return edited


def check_folder(directory: Path, force: bool, staged: Path | None = None) -> Listed:
    """Return the files that memopt wrote there before; called before hours of planning.

    `staged` is what `staging` made. Raises MemoptError for a folder that is not memopt's, and
    unless `force` for edited files.
    """
    if not directory.is_dir():
        if directory.exists() or directory.is_symlink():
            raise MemoptError("exists and is no folder", str(directory))
        return {}
    listed = read_manifest(directory)
    if listed is None:
        own = staged.parent.name if staged is not None else None
        first = min((p.name for p in directory.iterdir() if p.name != own), default=None)
        if first is None:
            return {}
        raise MemoptError(
            f"is not empty and was not made by memopt: it holds {_shown(first)} and no {MANIFEST}; "
            "name a new folder" + (", or remove that" if first.startswith(".memopt-") else ""),
            str(directory),
        )
    edited = [] if force else _edited(directory, listed, sorted(listed))
    if edited:
        more = f" and {len(edited) - 4} more" if len(edited) > 4 else ""
        raise MemoptError(
            f"edited since memopt wrote it: {', '.join(map(_shown, edited[:4]))}{more}; "
            "--force overwrites it",
            str(directory),
        )
    return listed


def changes(
    directory: Path, listed: Listed, new: Mapping[str, str], sources: Iterable[Path]
) -> Changes:
    """Return the files to move into the folder and those to remove, edited files already allowed
    for.

    `new` has the SHA-256 of each file to be written, `sources` are files that must survive. Raises
    MemoptError for a file in the way that memopt did not write.
    """
    written: list[str] = []
    for name, digest in new.items():
        path = _file(directory, name)
        if path is not None and name not in listed:
            raise MemoptError("was not written by memopt and is in the way", _shown(path))
        if path is None or digest_of(path) != digest:  # equal files keep their time, for make
            written.append(name)
    gone = sorted(set(listed) - set(new))
    edited = set(_edited(directory, listed, gone))
    removed = [n for n in gone if n not in edited and _file(directory, n) is not None]
    alive = [s for s in sources if s.exists()]
    for name in (*written, *removed):
        path = directory / name
        if path.exists() and any(path.samefile(source) for source in alive):
            raise MemoptError(
                "is read by this run and would be replaced; name another folder", _shown(path)
            )
    return Changes(tuple(written), tuple(removed))


# -- writing ------------------------------------------------------------------------------------


def publish(staged: Path, directory: Path, force: bool, sources: Iterable[Path]) -> None:
    """Move all files of `staged` into `directory` and list them; what is stale goes.

    `sources` are never touched. Raises MemoptError as check_folder and changes do, and OSError.
    """
    names = sorted(p.relative_to(staged).as_posix() for p in staged.rglob("*") if p.is_file())
    new = {name: digest_of(staged / name) for name in names}
    final = manifest_text({n: frozenset({h}) for n, h in new.items()})
    listed = check_folder(directory, force, staged)
    if not directory.exists():
        write_file(staged / MANIFEST, final)
        staged.rename(directory)
        return
    todo = changes(directory, listed, new, sources)
    both = {n: listed.get(n, frozenset()) | {h} for n, h in new.items()}
    _write_manifest(staged, directory, manifest_text({**listed, **both}))
    for name in todo.removed:
        (directory / name).unlink()
        _remove_empty(directory, Path(name).parent)
    for name in todo.written:
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (staged / name).replace(directory / name)
    _write_manifest(staged, directory, final)


def _write_manifest(staged: Path, directory: Path, text: str) -> None:
    """Write a manifest into `directory` in one step, which leaves nothing else there if killed."""
    beside = staged.parent / MANIFEST
    write_file(beside, text)
    beside.replace(directory / MANIFEST)


def _remove_empty(directory: Path, folder: Path) -> None:
    """Remove the folders that lost their last file, from the inside out."""
    with suppress(OSError):  # the user has files there
        while folder != Path():
            (directory / folder).rmdir()
            folder = folder.parent
