"""Fetch the public models of models.toml: `python benchmarks/fetch_models.py shared/models`.

A file whose SHA-256 is another is refused and not written, and what is there already is left alone.
"""

import argparse
import hashlib
import sys
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.parse import quote
from urllib.request import urlopen

LIST = Path(__file__).resolve().parent / "models.toml"
BASE = "https://github.com"
TIMEOUT = 60  # seconds

Open = Callable[[str], bytes]


@dataclass(frozen=True)
class Public:
    """A public model: where it is, and what its bytes are."""

    name: str
    repository: str
    commit: str
    path: str
    size: int
    sha256: str

    def url(self, base: str) -> str:
        """Return its address at a host that has GitHub's."""
        return f"{base}/{self.repository}/raw/{self.commit}/{quote(self.path)}"

    def fault(self, data: bytes) -> str | None:
        """Return what is wrong with bytes that are not the model's."""
        digest = hashlib.sha256(data).hexdigest()
        if digest == self.sha256:
            return None
        return f"{len(data)} bytes with SHA-256 {digest}, not {self.size} with {self.sha256}"


def listed(text: str) -> dict[str, Public]:
    """Return the models of a list by their names."""
    entries: Mapping[str, Mapping[str, str | int]] = tomllib.loads(text)
    models: dict[str, Public] = {}
    for name, entry in entries.items():
        repository, commit, path, sha256 = (
            str(entry[key]) for key in ("repository", "commit", "path", "sha256")
        )
        models[name] = Public(name, repository, commit, path, int(entry["bytes"]), sha256)
    return models


def read_url(url: str) -> bytes:
    """Return the bytes at an address. Raises OSError."""
    with urlopen(url, timeout=TIMEOUT) as answer:
        return answer.read()


def fetch(model: Public, folder: Path, base: str = BASE, read: Open = read_url) -> str:
    """Write a model into a folder, unless it is there, and return what was done. Raises OSError,
    and ValueError for bytes that are not the model's, of which nothing is written."""
    target = folder / model.name
    if target.exists():
        if (fault := model.fault(target.read_bytes())) is not None:
            raise ValueError(f"is there with {fault}")
        return "there already"
    data = read(model.url(base))
    if (fault := model.fault(data)) is not None:
        raise ValueError(f"{model.url(base)} has {fault}")
    folder.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{model.name}.part")
    partial.write_bytes(data)
    partial.replace(target)
    return f"{len(data):,} bytes"


def main(arguments: list[str] | None = None, read: Open = read_url) -> int:
    """Return the exit code: 1 if a model could not be fetched, 2 for one that is not listed."""
    parser = argparse.ArgumentParser(description="Fetch the public models of models.toml.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help="of these alone")
    parser.add_argument("--base", default=BASE, metavar="URL", help="another host")
    args = parser.parse_args(arguments)
    models = listed(LIST.read_text(encoding="utf-8"))
    if unknown := [name for name in args.names if name not in models]:
        parser.error(f"{unknown[0]} is not one of: {', '.join(models)}")
    failed = 0
    for name in args.names or models:
        try:
            print(f"{name}: {fetch(models[name], args.folder, args.base, read)}")
        except (OSError, URLError, ValueError) as error:
            print(f"{name}: error: {error}", file=sys.stderr)
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
