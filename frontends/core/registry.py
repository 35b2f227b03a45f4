"""Frontends, found by their files: each package or file of `frontends/` has a `FRONTEND`.

    frontend_named("onnx").read(data, "net.onnx", path, shapes)
    frontend_of(".tflite").interpreter       # the target that runs such files as they are

So a new format is one new file or folder. Nothing of a format is loaded before it is read; what has
to be known earlier (for `--help`, or to tell formats apart) stands in its `FRONTEND`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from memopt.dialects.memgraph.errors import MemoptError
from memopt.frontends.core.shapes import Fixed, Shapes, check_none_fixed, check_shapes
from memopt.modules import load, modules_in
from memopt.targets.core.target import all_targets

SHARED = "core"  # the one entry of frontends/ that is no format


@dataclass(frozen=True)
class Frontend:
    """A format of model files.

    `reader` is the module with `read(data, name, path)`, which raises MemoptError; with `shapes` as
    its fourth parameter, and `fixed` as its fifth, if `fixes_shapes`: a file may leave dimensions
    open, and `--shape` says them, as `--fix` says what an input is. Of other formats `--shape` is
    checked only, and `--fix` refused.
    `looks`: whether bytes are of this format; None if they have no mark: then they are what is
    neither of another format nor text.
    `rules`: rewrite rules that belong to reading it, so every way of reading it ends with them.
    `rounds_freely`: whether runtimes round results as they like, so that rules that round otherwise
    are applied without being asked for. `also`: other suffixes, which other formats have too.
    """

    suffix: str
    reader: str
    looks: Callable[[bytes], bool] | None
    fixes_shapes: bool = False
    rules: tuple[str, ...] = ()
    rounds_freely: bool = False
    also: tuple[str, ...] = ()
    name: str = ""  # its file's

    @property
    def interpreter(self) -> str:
        """The target whose runtime runs such files as they are, and whose writer gives them back;
        "" for none."""
        return next((t.name for t in all_targets().values() if t.output == self.name), "")

    @property
    def planned(self) -> bool:
        """Return whether such a file may have a plan inside."""
        return bool(self.interpreter)

    def read(
        self, data: bytes, name: str, path: Path | None, shapes: Shapes, fixed: Fixed
    ) -> ModuleOp:
        """The module of a file's bytes; `path` is where they are, None: nowhere. `shapes` are those
        of its inputs, `fixed` what some of them are. No rule has been applied yet. Raises
        MemoptError."""
        read = load(self.reader, "read").read
        if self.fixes_shapes:
            module: ModuleOp = read(data, name, path, shapes, fixed)
            return module
        check_none_fixed(fixed, name)
        module = read(data, name, path)
        check_shapes(module, shapes)
        return module

    def read_planned(self, data: bytes, name: str) -> ModuleOp:
        """The planned module of a file that has its plan inside. Raises MemoptError."""
        module = self.read(data, name, None, {}, {})
        reader = all_targets()[self.interpreter].plan_reader
        import_module(reader).give_plan(module, data, name)
        return module


@cache
def all_frontends() -> Mapping[str, Frontend]:
    """Name -> frontend."""
    by_name: dict[str, Frontend] = {}
    for name, module in modules_in("memopt.frontends").items():
        if name != SHARED:
            frontend = load(module, "FRONTEND").FRONTEND
            assert isinstance(frontend, Frontend), module
            by_name[name] = replace(frontend, name=name)
    return by_name


def frontend_of(suffix: str) -> Frontend | None:
    """The frontend of files that end so, None if there is none."""
    return next((f for f in all_frontends().values() if suffix in (f.suffix, *f.also)), None)


def suffixes() -> tuple[str, ...]:
    """Return how the files of all formats end."""
    return tuple(f.suffix for f in all_frontends().values())


def frontend_of_bytes(data: bytes, name: str) -> Frontend | None:
    """The frontend of a file of which only the bytes are known, None if they are text without a
    format's mark, which IR is. Raises MemoptError if they are nothing."""
    known = all_frontends().values()
    for frontend in known:
        if frontend.looks is not None and frontend.looks(data):
            return frontend
    text = _text(data)
    if text is not None and not text.strip():
        raise MemoptError("is empty", name)
    if text is not None and all(c.isprintable() or c in "\t\r\n" for c in text[:4096]):
        return None
    return next(f for f in known if f.looks is None)


def _text(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def listed(*more: str) -> str:
    """The suffixes and some more for people: `.json, .onnx, .tflite or .mlir`."""
    return _joined(*suffixes(), *more)


def with_plans(first: str, *more: str) -> str:
    """The suffixes of formats that may hold a plan, between others: `.mlir, .tflite or .csv`."""
    return _joined(first, *(f.suffix for f in all_frontends().values() if f.planned), *more)


def _joined(*texts: str) -> str:
    return f"{', '.join(texts[:-1])} or {texts[-1]}"
