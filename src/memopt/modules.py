"""Modules of registries: the files of a folder of memopt, and of such a folder in users' packages.

    modules_in("memopt.targets")["cortex-m4"]         # "memopt.targets.cortex_m4"
    load("memopt.targets.cortex_m4", "TARGET").TARGET

A file's name with hyphens is what it is called, and nothing is imported before it is asked for. A
package takes part by one entry point of the group `memopt.plugins`, whose value is the package:
`toyboard/targets/toy.py` is to `toyboard` what `targets/toy.py` would be to memopt.
"""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import ModuleInfo, iter_modules
from types import ModuleType

from memopt.dialects.memgraph.errors import MemoptError
from memopt.text.distributions import declaring

GROUP, OURS = "memopt.plugins", "memopt."


@dataclass(frozen=True)
class Plugin:
    """A package of a user's, the distribution that brought it, and the package's folders."""

    package: str
    distribution: str
    folders: tuple[str, ...]


@cache
def plugins() -> tuple[Plugin, ...]:
    """Return the installed packages that take part, by name. Raises MemoptError."""
    if declaring(GROUP) == frozenset():
        return ()
    from importlib.metadata import entry_points  # a tenth of a small command, for the few

    by_package: dict[str, Plugin] = {}
    for point in entry_points(group=GROUP):
        name = point.dist.name if point.dist is not None else point.name
        try:
            spec = find_spec(point.value)  # imports what a dotted name begins with
        except Exception as error:
            raise _broken(point.value, name, error) from error
        if spec is None or spec.submodule_search_locations is None:
            raise MemoptError(
                f"package {name}: {GROUP} in its entry points names {point.value!r}, "
                "which is no package"
            )
        folders = tuple(spec.submodule_search_locations)
        by_package[point.value] = Plugin(point.value, name, folders)
    return tuple(by_package[package] for package in sorted(by_package))


def folders_of(package: str) -> dict[str, tuple[str, ...]]:
    """Return where the files of a package lie: its own folders, and of each plugin's package those
    of the same path below it."""
    if not package.startswith(OURS) or package in sys.modules:
        places = {package: tuple(import_module(package).__path__)}
    else:  # where it lies, without loading those above it
        places = {package: _below(sys.modules["memopt"].__path__, package)}
    if package.startswith(OURS):
        for one in plugins():
            inner = package.replace("memopt", one.package, 1)
            places[inner] = _below(one.folders, package)
    return places


def _below(folders: Iterable[str], package: str) -> tuple[str, ...]:
    return tuple(str(Path(folder, *package.split(".")[1:])) for folder in folders)


def modules_in(*packages: str) -> dict[str, str]:
    """Name -> module of every file of these packages, plugins' included: `auto` first, then by
    name. Raises MemoptError for a name that is there twice."""
    modules: dict[str, str] = {}
    for module, info in _files(packages):
        name = info.name.replace("_", "-")
        if name in modules:
            raise fault(module, f"is called {name!r}, as {modules[name]} is")
        modules[name] = module
    return dict(sorted(modules.items(), key=lambda entry: (entry[0] != "auto", entry[0])))


def _files(packages: Iterable[str]) -> Iterator[tuple[str, ModuleInfo]]:
    for package in packages:
        for place, folders in folders_of(package).items():
            for info in iter_modules(folders):
                yield f"{place}.{info.name}", info


@cache
def _sources(package: str) -> dict[str, str | None]:
    """Module -> text of every module of a package, None of those that are there without it, and of
    all that are not ours: nobody says how these are written."""
    texts: dict[str, str | None] = {}
    for module, info in _files((package,)):
        folder = getattr(info.module_finder, "path", None)  # which an archive has not
        if folder is None or not module.startswith(OURS):
            texts[module] = None
            continue
        path = Path(folder, info.name)
        files = sorted(path.rglob("*.py")) if info.ispkg else [path.with_suffix(".py")]
        is_written = bool(files) and all(file.is_file() for file in files)
        text = "\n".join(file.read_text(encoding="utf-8") for file in files) if is_written else None
        texts[module] = text
    return texts


def text_of(module: str) -> str | None:
    """Return the text of a module of a registry, None if it is there without it, or not ours."""
    return _sources(module.rpartition(".")[0])[module]


def mentioning(words: Iterable[str], package: str) -> tuple[str, ...]:
    """Return the modules of a package in whose files one of these words stands, not as a part of
    another, those without a source and all of plugins too: they may define what it names. None is
    loaded for that. A module that is a package itself has the files below its folder."""
    names, texts = tuple(words), _sources(package)
    return tuple(
        module
        for module, text in texts.items()
        if text is None or any(_stands_in(text, name) for name in names)
    )


def _stands_in(text: str, word: str) -> bool:
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        around = text[at - 1 : at] + text[end : end + 1]
        if not word.isidentifier() or not any(c.isalnum() or c == "_" for c in around):
            return True
        at = text.find(word, end)
    return False


@cache
def load(module: str, *names: str) -> ModuleType:
    """Return a module of a registry, which has one of `names` if there are any. Raises MemoptError
    that names the package of a plugin that cannot be loaded."""
    try:
        loaded = import_module(module)
    except Exception as error:
        plugin = _plugin_of(module)
        if plugin is None:
            raise
        raise _broken(module, plugin.distribution, error) from error
    if names and not any(hasattr(loaded, name) for name in names):
        raise fault(module, f"has no {' or '.join(names)}")
    return loaded


def fault(module: str, text: str) -> MemoptError:
    """Return the error that says what is wrong with a module of a registry, and whose it is."""
    plugin = _plugin_of(module)
    owner = plugin.distribution if plugin else "memopt"
    return MemoptError(f"package {owner}: {module} {text}")


def _plugin_of(module: str) -> Plugin | None:
    return next((p for p in plugins() if module.startswith(f"{p.package}.")), None)


def _broken(module: str, distribution: str, error: Exception) -> MemoptError:
    why = f"{type(error).__name__}: {error}"
    return MemoptError(f"package {distribution}: {module} cannot be loaded: {why}")
