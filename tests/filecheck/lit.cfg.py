"""Golden tests: `lit -sv tests/filecheck`, one .mlir file per pass or ability.

Tools are those beside the Python that runs lit, imported once for all (tests/helpers/warm.py);
results go to a temporary folder.

    %roundtrip   prints %s, and again from custom and from generic form: equal bytes that filecheck
                 reads
    %shared      the folder with models and graphs (`MEMOPT_SHARED`); tests that need it say
                 `REQUIRES: shared`
"""

import importlib
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

ShTest: Any = importlib.import_module("lit.formats").ShTest

here = Path(__file__).resolve().parent
shared = Path(os.environ.get("MEMOPT_SHARED", here.parent.parent.parent / "shared")).resolve()

config: Any = globals()["config"]
config.name = "memopt"
config.test_format = ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.excludes = ["Inputs"]
config.test_source_root = str(here)
config.test_exec_root = tempfile.mkdtemp(prefix="memopt-lit-")
config.environment["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
if "PYTHONPATH" in os.environ:  # a checkout that is not the installed one
    config.environment["PYTHONPATH"] = os.environ["PYTHONPATH"]

if "PYTHONPATH" in os.environ:  # of a checkout that another one is installed beside
    config.environment["PYTHONPATH"] = os.environ["PYTHONPATH"]
tools = Path(tempfile.mkdtemp(prefix="memopt-tools-"))
sys.path.append(str(here.parent / "helpers"))
importlib.import_module("warm").start(tools, config.environment)
config.environment["PATH"] = os.pathsep.join((str(tools), config.environment["PATH"]))

if (shared / "graphs").is_dir():
    config.available_features.add("shared")

OPT = "memopt-opt --split-input-file"
ROUNDTRIP = (
    f"{OPT} %s -o %t.custom.mlir && {OPT} %t.custom.mlir -o %t.again.mlir"
    " && cmp %t.custom.mlir %t.again.mlir"
    f" && {OPT} --print-op-generic %s -o %t.generic.mlir && {OPT} %t.generic.mlir -o %t.back.mlir"
    " && cmp %t.custom.mlir %t.back.mlir && filecheck %s < %t.custom.mlir"
)
config.substitutions += [("%roundtrip", ROUNDTRIP), ("%shared", str(shared))]
