"""The version of a build, and the native library in it. All else stands in pyproject.toml.

The version is that of the git tag:

v0.2.0, three commits on, of which the last is 6c05292     ->  0.2.1.dev3+g6c05292
v0.2.0 itself                                              ->  0.2.0
no tag yet, 780 commits                                    ->  0.1.0.dev780+g6c05292
an sdist                                                   ->  what it was built as
neither git nor sdist                                      ->  0.1.0.dev0

`python setup.py build_ext --inplace` builds the library where the checkout looks for it.
Without a compiler the searches run in Python, which takes longer and changes no answer.
"""

import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.errors import BaseError, CCompilerError

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


NATIVE = "src/memopt/solvers/native"
# no fused multiply and add: what is compared as a float is what it is in Python
FLAGS = ("-std=c++20", "-O2", "-ffp-contract=off", "-fvisibility=hidden", "-g0")


class Library(build_ext):
    """Builds a plain shared library: no part of it is Python's, so one does for every version."""

    def get_ext_filename(self, fullname: str) -> str:
        return f"{fullname.replace('.', '/')}.native"  # else Python takes it for a module

    def get_export_symbols(self, ext: Extension) -> list[str]:
        return ext.export_symbols  # no function of a Python module

    def build_extension(self, ext: Extension) -> None:
        is_msvc = self.compiler.compiler_type == "msvc"
        ext.extra_compile_args = ["/std:c++20", "/O2"] if is_msvc else list(FLAGS)
        super().build_extension(ext)

    def run(self) -> None:
        with TemporaryDirectory() as folder:
            if self.inplace or self.editable_mode:  # leaves nothing else in the checkout
                self.build_temp = self.build_lib = folder
            self.attempt()

    def attempt(self) -> None:
        try:
            super().run()
        except (BaseError, CCompilerError, OSError) as error:
            self.extensions = []  # nothing to copy, and nothing of this platform in the wheel
            why = str(error).splitlines()[0]
            print(
                f"memopt: without its native library, searches take longer: {why}", file=sys.stderr
            )


class Wheel(bdist_wheel):
    """Names the wheel after what is in it: a library of this platform, or none."""

    def get_tag(self) -> tuple[str, str, str]:
        built = self.get_finalized_command("build_ext").extensions
        return "py3", "none", super().get_tag()[2] if built else "any"


if __name__ == "__main__":
    root = Path(NATIVE)
    core = Extension(
        "memopt.solvers.native.core",
        [f"{NATIVE}/{p.name}" for p in sorted((HERE / root).glob("*.cpp"))],
        depends=[f"{NATIVE}/{p.name}" for p in sorted((HERE / root).glob("*.hpp"))],
        language="c++",
    )
    commands = {"build_ext": Library, "bdist_wheel": Wheel}
    setup(version=version(), ext_modules=[core], cmdclass=commands)
