"""Paths of the checkout, wherever a test stands."""

from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent
FILECHECK = TESTS / "filecheck"
