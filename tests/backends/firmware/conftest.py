"""Loads lab.py and what belongs to it for the tests here: test directories are no packages."""

from collections import Counter
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest
from compiled import objects_folder
from firmware_helpers import load
from numpy.typing import NDArray

from memopt.backends.c.weights import packing
from memopt.targets.core.target import all_targets

_lab = load("lab")
_lab.forge = load("forge")  # type: ignore[attr-defined]
_lab.scatter = load("scatter")  # type: ignore[attr-defined]
_lab.rounding = load("rounding")  # type: ignore[attr-defined]


@pytest.fixture(scope="session", autouse=True)  # also of files that load lab.py themselves
def lab(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """The helpers of lab.py, with those of forge.py as `lab.forge` and so on."""
    _lab.OBJECTS = objects_folder(tmp_path_factory)  # type: ignore[attr-defined]
    _lab.OBJECTS.mkdir(exist_ok=True)
    return _lab


def _always(*_: object) -> bool:
    return True


@pytest.fixture
def host_as_dsp(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that takes the kernels for the DSP extension, in portable C, also where a board would
    not gain by them: their bits are the same."""
    for family in ("narrow", "packed"):  # the first imports the second, unpatched
        monkeypatch.setattr(f"memopt.backends.c.kernels.{family}.pays", _always)
    host = all_targets()["host"]
    monkeypatch.setitem(all_targets(), "host", replace(host, isa=("dsp", "c")))


@pytest.fixture
def host_as_mve(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that takes the kernels for Helium, in portable C."""
    host = all_targets()["host"]
    monkeypatch.setitem(all_targets(), "host", replace(host, isa=("mve", "c")))


@pytest.fixture
def kinds(monkeypatch: pytest.MonkeyPatch) -> Counter[int]:
    """Counts the blocks of each kind that are packed."""
    blocks: Counter[int] = Counter()
    words = packing.block_words

    def counted(kind: int, block: Any) -> NDArray[Any]:
        blocks[kind] += 1
        return words(kind, block)

    monkeypatch.setattr(packing, "block_words", counted)
    return blocks
