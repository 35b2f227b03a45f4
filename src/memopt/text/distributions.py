"""Questions about installed distributions that take a millisecond.

    version_of("memopt")              # "0.1.0"
    declaring("memopt.plugins")       # frozenset(): nobody has entry points of that group

`importlib.metadata` answers them as well, and loads the email package and zip files, which takes 25
milliseconds of every command. So the folders that pip leaves are read here; where anything else may
hold distributions, such as a zip file or a finder of somebody's, `importlib.metadata` is asked.
"""

import os
import re
import sys
from collections.abc import Iterator

METADATA = {".dist-info": "METADATA", ".egg-info": "PKG-INFO"}
FINDERS = ("BuiltinImporter", "FrozenImporter", "PathFinder")


def version_of(name: str) -> str:
    """Return the version of an installed distribution, whose name has no punctuation. Raises
    PackageNotFoundError."""
    for entry in _folders() or ():
        if _name(entry) == name:
            text = _text(f"{entry.path}/{METADATA[_ending(entry)]}")
            if (match := re.search(r"^Version: (.*)$", text, re.MULTILINE)) is not None:
                return match[1]
            break
    from importlib.metadata import version  # for who is installed in another way, or not

    return version(name)


def declaring(group: str) -> frozenset[str] | None:
    """Return the names of the distributions that have entry points of that group; None if there may
    be some where only `importlib.metadata` looks."""
    folders = _folders()
    if folders is None:
        return None
    header = f"[{group}]"
    return frozenset(
        _name(entry) for entry in folders if header in _text(f"{entry.path}/entry_points.txt")
    )


def _folders() -> list[os.DirEntry[str]] | None:
    """Return the folders of distributions in the order of `sys.path`, None if there may be
    others."""
    known = all(
        getattr(finder, "__name__", "") in FINDERS or not hasattr(finder, "find_distributions")
        for finder in sys.meta_path
    )
    try:
        return [entry for place in sys.path for entry in _inside(place)] if known else None
    except OSError:
        return None


def _inside(place: object) -> Iterator[os.DirEntry[str]]:
    """Yield the distributions of an entry of `sys.path`. Raises OSError for one that is no folder
    and yet may hold some."""
    if not isinstance(place, str) or place.lower().endswith(".egg"):
        raise OSError
    try:
        with os.scandir(place or ".") as entries:
            yield from (entry for entry in entries if _ending(entry) in METADATA)
    except FileNotFoundError:
        return


def _ending(entry: os.DirEntry[str]) -> str:
    return "." + entry.name.rpartition(".")[2].lower()


def _name(entry: os.DirEntry[str]) -> str:
    """Return the name as names are compared: `my_package` of `My.Package-1.0.dist-info`."""
    own = re.split(r"-(?=\d)", entry.name.rpartition(".")[0], maxsplit=1)[0]
    return re.sub(r"[-_.]+", "_", own).lower()


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123  pathlib takes milliseconds
            return file.read()
    except (OSError, UnicodeDecodeError):
        return ""
