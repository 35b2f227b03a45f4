"""A package of somebody else, built as a wheel and installed into a folder of its own."""

import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path


def installed(source: Path, folder: Path) -> dict[str, str]:
    """Build the package in `source`, install it into a folder below `folder`, and return the
    environment of a process that finds it."""
    copy, wheels, site = folder / "source", folder / "wheels", folder / "site"
    shutil.copytree(source, copy)
    options = ["--no-deps", "--quiet"]
    if int(version("setuptools").split(".")[0]) >= 77:
        options += ["--no-build-isolation", "--no-index"]  # else pip fetches one to build with
    _pip("wheel", *options, "--wheel-dir", str(wheels), str(copy))
    (wheel,) = wheels.glob("*.whl")
    _pip("install", "--no-deps", "--quiet", "--no-index", "--target", str(site), str(wheel))
    return finding(site)


def finding(site: Path) -> dict[str, str]:
    """Return the environment of a process that finds what is installed in `site`."""
    places = [str(site), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(places)}


def _pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
