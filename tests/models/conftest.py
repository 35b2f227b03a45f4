"""Lets the tests of this directory import their helpers, which stand beside them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
