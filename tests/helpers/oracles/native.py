"""The native library in tests: held to the reference where it was built."""

from pathlib import Path

import pytest

from memopt.solvers.native.library import library

ROOT = Path(__file__).resolve().parents[3]
SOURCES = ROOT / "solvers/native"

needs_native = pytest.mark.skipif(
    library() is None, reason="needs the native library: python setup.py build_ext --inplace"
)
