"""Facts about installed distributions, beside what importlib.metadata says."""

import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

from memopt.text.distributions import declaring, version_of

pytestmark = pytest.mark.quick

GROUP = "memopt.tried"


def _installed(place: Path, name: str, version: str, *entry_points: str) -> None:
    folder = place / f"{name}-{version}.dist-info"
    folder.mkdir(parents=True)
    folder.joinpath("METADATA").write_text(f"Name: {name}\nVersion: {version}\n\nVersion: 0\n")
    folder.joinpath("entry_points.txt").write_text("\n".join(entry_points))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "path", [str(tmp_path / "first"), str(tmp_path / "none"), *sys.path])
    return tmp_path / "first"


@pytest.mark.parametrize("name", ["memopt", "xdsl", "numpy"])
def test_versions_are_those_of_importlib(name: str) -> None:
    assert version_of(name) == metadata.version(name)


@pytest.mark.parametrize("folder", ["My.Speaking-1.0.dist-info", "my_speaking.egg-info"])
def test_names_are_compared_as_pip_does(folder: str, place: Path) -> None:
    for name in (folder, "xdsl.ext-9.dist-info"):
        place.joinpath(name).mkdir(parents=True)
        for file in ("METADATA", "PKG-INFO"):
            place.joinpath(name, file).write_text("Name: any\nVersion: 9\n")
    place.joinpath(folder, "entry_points.txt").write_text(f"[{GROUP}]\nx = speaking\n")
    assert declaring(GROUP) == {"my_speaking"}
    assert {p.value for p in metadata.entry_points(group=GROUP)} == {"speaking"}
    assert version_of("xdsl") == metadata.version("xdsl") != "9"


def test_the_first_of_several_counts(place: Path) -> None:
    _installed(place, "xdsl", "99.1+g0")
    assert version_of("xdsl") == metadata.version("xdsl") == "99.1+g0"


def test_what_is_not_installed_is_said_as_importlib_says_it() -> None:
    with pytest.raises(metadata.PackageNotFoundError, match="nobody_has_this"):
        version_of("nobody_has_this")


def test_who_declares_entry_points(place: Path) -> None:
    _installed(place, "silent", "1", "[console_scripts]", f"x = {GROUP}:x")
    assert declaring(GROUP) == frozenset()
    _installed(place, "Speaking", "1", f"[{GROUP}]", "speaking = speaking")
    assert declaring(GROUP) == {"speaking"}
    assert {p.name for p in metadata.entry_points(group=GROUP)} == {"speaking"}
    assert {"xdsl", "memopt"} <= (declaring("xdsl.universe") or frozenset())


class Finder:
    """A finder that may know of distributions, and has none."""

    def find_distributions(self, *_: object) -> tuple[()]:
        return ()

    def find_spec(self, *_: object) -> None:
        return None


@pytest.mark.parametrize("kind", ["zip", "egg", "finder", "path"])
def test_nothing_is_said_where_others_may_have_some(
    kind: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind == "finder":
        monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder()])
    elif kind == "path":
        monkeypatch.setattr(sys, "path", [place, *sys.path])
    elif kind == "zip":
        zipfile.ZipFile(place.parent / "some.zip", "w").close()
        monkeypatch.setattr(sys, "path", [str(place.parent / "some.zip"), *sys.path])
    else:
        place.with_suffix(".egg").mkdir()
        monkeypatch.setattr(sys, "path", [str(place.with_suffix(".egg")), *sys.path])
    assert declaring(GROUP) is None
    assert version_of("xdsl") == metadata.version("xdsl")
